"""Looks through code of shells: what it does, and what of it is known to be harmless."""
