"""The process that talks to MCP servers; nothing of it is imported by the application."""
