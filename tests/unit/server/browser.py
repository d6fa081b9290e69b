"""A headless Chromium, driven by its own protocol over a WebSocket."""

import itertools
import json
import os
import re
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from websockets.sync.client import connect

TIMEOUT = 30.0
PROGRAM = "chromium"
_ADDRESS = re.compile(rb"DevTools listening on ws://([^/]+)(/\S+)")


class Chromium:
    """A browser without a window, whose pages share nothing but its process."""

    def __init__(self, folder: Path) -> None:
        arguments = (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            "--remote-debugging-port=0",
            f"--user-data-dir={folder}",
            "about:blank",
        )
        # It leaves its socket behind, whose path must be short.
        self._temporary = tempfile.TemporaryDirectory(prefix="b-", ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [PROGRAM, *arguments],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": self._temporary.name},
        )

    def __enter__(self) -> Self:
        assert self.process.stderr
        lines = (_ADDRESS.search(line) for line in self.process.stderr)
        self.host, self.path = next((match[1].decode(), match[2].decode()) for match in lines if match)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(TIMEOUT)
        self._temporary.cleanup()
        assert self.process.stderr
        self.process.stderr.close()


class _Connection:
    """A connection to the browser or to one of its pages."""

    def __init__(self, address: str) -> None:
        self._open = ExitStack()
        self._socket = self._open.enter_context(connect(address, max_size=None))
        self._numbers = itertools.count(1)
        #: What the page's console and its security policy complained about.
        self.complaints: list[str] = []

    def close(self) -> None:
        self._open.close()

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol and return its result."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            record = json.loads(self._socket.recv(TIMEOUT))
            if record.get("method") == "Log.entryAdded":
                self.complaints.append(record["params"]["entry"]["text"])
            if record.get("method") == "Runtime.exceptionThrown":
                self.complaints.append(str(record["params"]["exceptionDetails"]))
            if record.get("id") == number:
                assert "error" not in record, record
                return record["result"]


class Browser(_Connection):
    """One page with cookies and storage of its own."""

    def __init__(self, chromium: Chromium, *, width: int = 1000, height: int = 800) -> None:
        self._whole = _Connection(f"ws://{chromium.host}{chromium.path}")
        #: Its cookies, storage and permissions are of this context of the browser.
        self.context = self._whole.call("Target.createBrowserContext")["browserContextId"]
        target = self._whole.call(
            "Target.createTarget",
            url="about:blank",
            browserContextId=self.context,
            width=width,
            height=height,
        )
        super().__init__(f"ws://{chromium.host}/devtools/page/{target['targetId']}")

    def __enter__(self) -> Self:
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._whole.call("Target.disposeBrowserContext", browserContextId=self.context)
        self._whole.close()

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
        end = time.monotonic() + TIMEOUT
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
