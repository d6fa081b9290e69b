"""An MCP server for tests, made with the real library: over standard input, or at a port of this machine."""

import base64
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import anyio
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, Image, MCPServer, Resolve
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


@server.tool(description="Shows an image.")
def image() -> Image:
    return Image(data=PNG, format="png")


@server.tool(description="Shows a moving image.")
def moving() -> Image:
    return Image(data=GIF, format="gif")


@server.tool(description="Shows a broken image.")
def broken() -> Image:
    return Image(data=b"no image", format="png")


@server.tool(description="Offers one more tool.")
async def grow(ctx: Context) -> str:
    server.add_tool(later, description="Comes later.")
    await ctx.notify_tools_changed()
    return "grown"


async def wanted_name() -> Elicit[Name]:
    return Elicit("Your name?", Name)


@server.tool(description="Asks for a name.")
async def ask(name: Annotated[ElicitationResult[Name], Resolve(wanted_name)]) -> str:
    return str(name)


@server.tool(description="Asks in the way of older versions of the protocol.")
async def ask_as_before(ctx: Context) -> str:
    return str(await ctx.elicit("Your name?", Name))


class Trip(BaseModel):
    days: int
    class_: Literal["first", "second"] = "second"
    return_: bool
    note: str = ""


async def wanted_trip() -> Elicit[Trip]:
    return Elicit("Which trip?", Trip)


@server.tool(description="Asks for several things.")
async def book(trip: Annotated[Trip, Resolve(wanted_trip)]) -> str:
    return str(trip)


@server.tool(description="Reports how far it is.")
async def slow(ctx: Context, gate: str) -> str:
    await ctx.report_progress(3, 10, "reading")
    while not Path(gate).exists():
        await anyio.sleep(0.02)
    return "read"


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
    return f"{os.environ.get('REVIEW', 'Review this')}: {text}"


if os.environ.get("MORE"):

    @server.tool(description="Sends mail.")
    def mail() -> str:
        return "sent"


def answer_with(name: str) -> Callable[[], str]:
    return lambda: name


for alike in os.environ.get("ALIKE", "").split():
    server.add_tool(answer_with(alike), alike, description=f"Answers {alike}.", structured_output=False)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run(sys.argv[2] if len(sys.argv) > 2 else "streamable-http", port=int(sys.argv[1]))  # type: ignore[call-overload]
    else:
        server.run("stdio")
