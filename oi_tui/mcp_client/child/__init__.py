"""The process that talks to MCP servers; the application imports nothing of it."""
