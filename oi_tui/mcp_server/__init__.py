"""A server for hosts that speak the Model Context Protocol. Needs the extra `mcp`."""
