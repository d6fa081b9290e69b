"""Screens by their keys, with Textual's pilot."""
