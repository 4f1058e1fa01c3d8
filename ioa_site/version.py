"""The version, written here because a package has no changelog; a test compares the two."""

from __future__ import annotations

VERSION = "0.7"
