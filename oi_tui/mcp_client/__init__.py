"""Tools of MCP servers, for the model and for code. Needs the extra `mcp`, in a process of its own."""
