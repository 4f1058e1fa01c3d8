"""Tests of IOA Control."""
