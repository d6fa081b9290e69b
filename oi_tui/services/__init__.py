"""The services of a workspace, each with its settings."""
