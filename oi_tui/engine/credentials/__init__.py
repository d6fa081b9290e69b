"""API keys: where they are kept, and what keeps them out of sight."""
