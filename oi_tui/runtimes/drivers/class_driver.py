"""The driver of a custom language: runs cells in its class, in the person's own Python.

What it prints and what it yields as text goes to the terminal; lines, images and rich results are events.
"""

# mypy: ignore-errors

from __future__ import annotations

import base64
import inspect
import os
import sys
import threading
import traceback
import types

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, _HERE)
from plain_channel import Channel

#: How long `stop` and `terminate` are waited for, in seconds.
_TIMEOUT = 1.0
_FRAMES = -4


class ClassDriver:
    """Runs the code of cells in one object of the class, made when it is needed."""

    def __init__(self, channel, folder, path, name):
        self._channel = channel
        self._text = os.path.join(folder, "language.py")
        self._path = path
        self._name = name
        self._object = None

    def run(self, code):
        try:
            if self._object is None:
                self._object = self._make()
            output = self._object.run(code)
            if isinstance(output, (str, bytes, dict)) or not hasattr(output, "__iter__"):
                output = (output,)
            for chunk in output:
                self._report_chunk(chunk)
        except Exception as error:
            sys.stdout.flush()
            sys.stderr.write(_describe_error(error))
            reason = "".join(traceback.format_exception_only(type(error), error)).strip()
            return "failed", reason.partition("\n")[0]
        except SystemExit as error:
            return "failed", "SystemExit: {}".format(error.code)
        finally:
            sys.stdout.flush()
        return "finished", None

    def call(self, name):
        """Have the object stop or end, but wait no longer than a moment."""
        method = getattr(self._object, name, None)
        if callable(method):
            thread = threading.Thread(target=_call_quietly, args=(method,), daemon=True)
            thread.start()
            thread.join(_TIMEOUT)

    def _make(self):
        module = types.ModuleType(os.path.splitext(os.path.basename(self._path))[0])
        module.__file__ = self._path
        sys.modules[module.__name__] = module
        sys.path.insert(0, os.path.dirname(self._path))
        with open(self._text, encoding="utf-8") as file:
            exec(compile(file.read(), self._path, "exec"), module.__dict__)
        class_ = getattr(module, self._name)
        required = [
            parameter
            for parameter in inspect.signature(class_).parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        ]
        return class_(*[None for _ in required])

    def _report_chunk(self, chunk):
        if chunk is None:
            return
        if isinstance(chunk, (str, bytes)):
            chunk = {"type": "console", "format": "output", "content": chunk}
        if not isinstance(chunk, dict) or not ({"type", "output", "active_line"} & set(chunk)):
            raise ValueError("run() yielded {!r}, which is not a chunk".format(chunk))
        kind, form, content = chunk.get("type"), chunk.get("format"), chunk.get("content")
        if kind is None:
            kind, content = "console", chunk.get("output")
            self._report_line(chunk.get("active_line"))
        if form == "active_line":
            self._report_line(content)
        elif content is None:
            return
        elif kind in ("console", "message", "error"):
            sys.stdout.write(_read_text(content))
            sys.stdout.flush()
        elif kind == "image":
            self._show(form, content)
        elif kind == "code":
            self._channel.send(
                "display", placed=True, format=str(form or "text"), content=_read_text(content)
            )
        elif kind not in ("confirmation", "review", "status"):
            raise ValueError("run() yielded a chunk of the unknown type {!r}".format(kind))

    def _report_line(self, number):
        if isinstance(number, int) and number > 0:
            self._channel.send("line", line=number)

    def _show(self, form, content):
        form = str(form or "")
        if form == "path":
            with open(os.path.expanduser(_read_text(content)), "rb") as file:
                content = file.read()
            form = "jpeg" if content.startswith(b"\xff\xd8") else "png"
        if isinstance(content, bytes):
            content = base64.b64encode(content).decode()
        kind = "jpeg" if form.endswith(("jpeg", "jpg")) else "png"
        self._channel.send("display", placed=True, format="base64." + kind, content=_read_text(content))


def _read_text(content):
    return content.decode("utf-8", "replace") if isinstance(content, bytes) else str(content)


def _call_quietly(method):
    try:
        method()
    except Exception:
        # The run has ended either way, and nobody reads what comes after it.
        return


def _describe_error(error):
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    lines = [*traceback.format_list(frames[_FRAMES:]), *traceback.format_exception_only(type(error), error)]
    return ("Traceback (most recent call last):\n" if frames else "") + "".join(lines)


def main(folder, path, name):
    sys.path.remove(_HERE)
    channel = Channel(folder)
    driver = ClassDriver(channel, folder, path, name)
    channel.serve(driver.run, lambda: driver.call("stop"), lambda: driver.call("terminate"))


main(*sys.argv[1:])
