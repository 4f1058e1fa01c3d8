"""The product in real browsers."""
