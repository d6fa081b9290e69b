"""Tools of MCP servers, for the model and for code. Needs the extra `mcp`; it runs in a separate process."""
