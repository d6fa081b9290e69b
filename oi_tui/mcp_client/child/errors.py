"""The errors of an MCP server."""


class ServerError(Exception):
    """What a server did not do, in words that follow its name."""
