"""The object `tools` of cells: tools of MCP servers as functions, `tools.github.search(query="...")`."""

# mypy: ignore-errors

from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import base64
import json
import os

import python_requests

#: Set by the application to the path of its socket, where there are such tools.
VARIABLE = "OI_TUI_TOOLS"


def install():
    """Make `tools` a name that every cell knows."""
    builtins.tools = Tools()
    return builtins.tools


class ToolError(Exception):
    """A tool that failed or may not be called; the message says why."""


class Tools:
    """Tools of MCP servers, by server: `tools.SERVER.TOOL(argument=value)`; `tools` lists them."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return Server(name)

    def __dir__(self):
        return sorted({item["server"] for item in _ask({"list": True})})

    def __repr__(self):
        lines = [
            f"tools.{item['server']}.{item['tool']}: {item['description']}" for item in _ask({"list": True})
        ]
        return "\n".join(lines) or "no tools"


class Server:
    """The tools of one server."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Tool(self._name, name)

    def __dir__(self):
        return sorted(item["tool"] for item in _ask({"list": True}) if item["server"] == self._name)

    def __repr__(self):
        return f"tools.{self._name}: {', '.join(dir(self)) or 'no tools'}"


class Tool:
    """One tool; call it with its arguments by name, or with a dictionary of them."""

    def __init__(self, server, name):
        self._server = server
        self._tool = name

    def __call__(self, *given, **more):
        if len(given) > 1 or not all(isinstance(item, dict) for item in given):
            raise TypeError("give the arguments by name, or as a dictionary")
        given = {**(given[0] if given else {}), **more}
        return _make_value(_ask({"server": self._server, "tool": self._tool, "arguments": given}))

    @property
    def __doc__(self):
        for item in _ask({"list": True}):
            if (item["server"], item["tool"]) == (self._server, self._tool):
                return f"{item['description']}\n\nArguments: {json.dumps(item['schema'], indent=2)}"
        return "This tool is not known."

    def __repr__(self):
        return f"tools.{self._server}.{self._tool}\n{self.__doc__}"


def _ask(request):
    path = os.environ.get(VARIABLE)
    if not path:
        raise ToolError("There are no tools here.")
    try:
        json.dumps(request)
    except (TypeError, ValueError) as error:
        raise TypeError(f"arguments of a tool must be values of JSON: {error}") from None
    answer = next(python_requests.exchange(path, request, ToolError), None)
    if answer is None:
        raise ToolError("oi-tui ended before the tool answered.")
    if "error" in answer:
        raise ToolError(answer["error"])
    return answer["result"]


def _make_value(result):
    """Return the result as an object: its data, or its texts, read as JSON where they are."""
    blocks = [_block(block) for block in result.get("content", ())]
    if result.get("isError"):
        raise ToolError("\n".join(map(str, blocks)) or "The tool failed.")
    if "structuredContent" in result:
        data = result["structuredContent"]
        # Servers put a value that is no object into one with this single key.
        return data["result"] if isinstance(data, dict) and list(data) == ["result"] else data
    return blocks[0] if len(blocks) == 1 else blocks


def _block(block):
    if block.get("type") == "text":
        text = block.get("text", "")
        try:
            return json.loads(text) if text.lstrip()[:1] in ("{", "[") else text
        except ValueError:
            return text
    if block.get("type") in ("image", "audio"):
        return base64.b64decode(block.get("data", ""))
    return block.get("resource", block)
