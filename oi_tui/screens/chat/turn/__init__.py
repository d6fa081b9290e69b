"""What the chat screen does while a turn runs."""
