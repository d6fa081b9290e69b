"""The other screens."""
