"""Cells of the conversation: code with its state, its output and what it made."""
