"""Replies of the model: text, code blocks, tool calls."""
