"""Changes that code makes to files: watched, shown, restored."""
