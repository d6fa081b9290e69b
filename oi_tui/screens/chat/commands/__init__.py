"""The commands of the chat screen."""
