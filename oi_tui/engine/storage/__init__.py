"""Conversations on disk: journal, index, search."""
