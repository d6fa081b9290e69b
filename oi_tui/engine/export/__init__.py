"""Export of conversations to files."""
