"""The conversation navigator."""
