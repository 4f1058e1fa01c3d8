"""The agents and people who use the API."""
