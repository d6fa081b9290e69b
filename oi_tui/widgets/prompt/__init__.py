"""The prompt: text, completion, queue."""
