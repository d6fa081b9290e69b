"""An MCP server for tests, made with the real library: over standard input, or at a port of this machine."""

import base64
import os
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import Context, Image, MCPServer
from pydantic import BaseModel

server = MCPServer("tools", version="1")


class Name(BaseModel):
    name: str


PNG, GIF = map(
    base64.b64decode,
    (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
    ),
)


def later() -> str:
    return "later"


DESCRIPTION = os.environ.get("DESCRIPTION", "Adds two numbers.")


@server.tool(description=DESCRIPTION)
def add(a: int, b: int = 1) -> dict[str, int]:
    return {"sum": a + b}


@server.tool(description="Says a text.", structured_output=False)
def say(text: str = "hello") -> str:
    return text


@server.tool(description="Shows a picture.")
def picture() -> Image:
    return Image(data=PNG, format="png")


@server.tool(description="Shows a moving picture.")
def moving() -> Image:
    return Image(data=GIF, format="gif")


@server.tool(description="Shows a broken picture.")
def broken() -> Image:
    return Image(data=b"no picture", format="png")


@server.tool(description="Offers one more tool.")
async def grow(ctx: Context) -> str:
    server.add_tool(later, description="Comes later.")
    await ctx.notify_tools_changed()
    return "grown"


@server.tool(description="Asks for a name.")
async def ask(ctx: Context) -> str:
    return str(await ctx.elicit("Your name?", Name))


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
        server.run(sys.argv[2] if len(sys.argv) > 2 else "streamable-http", port=int(sys.argv[1]))  # type: ignore[call-overload]
    else:
        server.run("stdio")
