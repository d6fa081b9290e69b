"""What the sandbox lets through, and what it does not."""
