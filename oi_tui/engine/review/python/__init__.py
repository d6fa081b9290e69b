"""Looks through Python code: what it does, and what of it is known to be harmless."""
