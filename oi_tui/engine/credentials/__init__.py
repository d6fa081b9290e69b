"""API keys: storage, redaction, and trust."""
