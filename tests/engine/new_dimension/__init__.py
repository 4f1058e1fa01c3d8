"""The exercise: one file more, and drift has one dimension more."""
