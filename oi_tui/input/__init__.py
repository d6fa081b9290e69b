"""User input: history, file names, mentions, messages of several lines."""
