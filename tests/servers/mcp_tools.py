"""An MCP server for tests, made with the real library: over standard input, or at a port of this machine."""

import os
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import Image, MCPServer

server = MCPServer("tools", version="1")
DESCRIPTION = os.environ.get("DESCRIPTION", "Adds two numbers.")


@server.tool(description=DESCRIPTION)
def add(a: int, b: int = 1) -> dict[str, int]:
    return {"sum": a + b}


@server.tool(description="Says a text.", structured_output=False)
def say(text: str = "hello") -> str:
    return text


@server.tool(description="Shows a picture.")
def picture() -> Image:
    return Image(data=b"\x89PNG\r\n\x1a\n", format="png")


@server.tool(description="Fails.")
def fail() -> str:
    raise ValueError("nothing there")


@server.tool(description="Ends the server.")
def leave() -> str:
    os.write(2, b"last words\n")
    os._exit(7)


@server.tool(description="Waits for long.")
def wait(mark: str) -> str:
    Path(mark).write_text("begun")
    time.sleep(600)
    return "done"


@server.tool(description="Tells the environment.", structured_output=False)
def environment(name: str) -> str:
    return os.environ.get(name, "not set")


@server.resource("notes://today", description="Notes of today")
def today() -> str:
    return "Buy milk."


@server.prompt(description="Reviews a text")
def review(text: str) -> str:
    return f"Review this: {text}"


if os.environ.get("MORE"):

    @server.tool(description="Sends mail.")
    def mail() -> str:
        return "sent"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
