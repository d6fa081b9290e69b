"""What the user types: history, file names, mentions, messages of several lines."""
