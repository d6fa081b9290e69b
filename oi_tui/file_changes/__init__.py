"""Changes that code makes to files: detected, shown, restored."""
