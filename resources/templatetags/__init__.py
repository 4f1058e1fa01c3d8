"""Template tags of the web pages."""
