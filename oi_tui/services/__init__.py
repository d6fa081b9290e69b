"""The services that a workspace is made of, each with its settings."""
