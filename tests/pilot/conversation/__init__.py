"""The conversation and its cells."""
