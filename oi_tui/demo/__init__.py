"""A scripted model for a first try without key and network. It is not an AI."""
