"""A headless Chromium, driven by its own protocol over a WebSocket."""

import itertools
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import httpx
from websockets.sync.client import connect

PATIENCE = 30.0
PROGRAM = "chromium"
_ADDRESS = re.compile(rb"DevTools listening on ws://([^/]+)/")


class Browser:
    """One page in a browser of its own, which keeps its files in the folder."""

    def __init__(self, folder: Path, *, width: int = 1000, height: int = 800) -> None:
        arguments = (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            "--remote-debugging-port=0",
            f"--user-data-dir={folder}",
            f"--window-size={width},{height}",
            "about:blank",
        )
        # It leaves its socket behind, whose path must be short.
        self._temporary = tempfile.TemporaryDirectory(prefix="b-", ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [PROGRAM, *arguments],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": self._temporary.name},
        )
        self._numbers = itertools.count(1)
        #: What the page's console and its security policy complained about.
        self.complaints: list[str] = []

    def __enter__(self) -> Self:
        assert self._process.stderr
        lines = (_ADDRESS.search(line) for line in self._process.stderr)
        host = next(match[1].decode() for match in lines if match)
        targets = httpx.get(f"http://{host}/json", timeout=PATIENCE).json()
        address = next(item["webSocketDebuggerUrl"] for item in targets if item["type"] == "page")
        self._opening = connect(address, max_size=None)
        self._socket = self._opening.__enter__()
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._opening.__exit__(None, None, None)
        self._process.terminate()
        self._process.wait(PATIENCE)
        self._temporary.cleanup()
        assert self._process.stderr
        self._process.stderr.close()

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol and return its result."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            record = json.loads(self._socket.recv(PATIENCE))
            if record.get("method") == "Log.entryAdded":
                self.complaints.append(record["params"]["entry"]["text"])
            if record.get("method") == "Runtime.exceptionThrown":
                self.complaints.append(str(record["params"]["exceptionDetails"]))
            if record.get("id") == number:
                assert "error" not in record, record
                return record["result"]

    def open(self, address: str) -> None:
        """Go to an address."""
        self.call("Page.navigate", url=address)

    def value(self, expression: str) -> Any:
        """The value of an expression of the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait_for(self, expression: str) -> Any:
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE
        # While the page loads, its elements are not there yet.
        guarded = f"(() => {{ try {{ return {expression}; }} catch (error) {{ return false; }} }})()"
        while not (found := self.value(guarded)):
            shown = self.value("document.body && document.body.innerText")
            assert time.monotonic() < end, f"{expression} is not true: {shown}"
        return found

    def click(self, selector: str) -> None:
        """Click the middle of an element, as a person does."""
        self.wait_for(f"document.querySelector({selector!r}).disabled !== true")
        place = self.value(
            f"(() => {{ const r = document.querySelector({selector!r}).getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1
            )

    def type(self, selector: str, text: str) -> None:
        """Click into an element and type."""
        self.click(selector)
        self.call("Input.insertText", text=text)

    def press_enter(self) -> None:
        """Press enter."""
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key="Enter",
                code="Enter",
                windowsVirtualKeyCode=13,
                text="\r",
            )
