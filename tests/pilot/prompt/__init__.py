"""The prompt and its keys."""
