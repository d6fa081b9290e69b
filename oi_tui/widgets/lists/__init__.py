"""Lists of conversations and variables."""
