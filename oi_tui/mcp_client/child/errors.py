"""The errors of an MCP server."""


class ServerError(Exception):
    """What a server did not do, in words that follow its name."""


class SessionOverError(ServerError):
    """A server no longer knows the session, and has not done what it was asked for."""
