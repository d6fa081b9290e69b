"""The conversation: blocks, layout, search, selection."""
