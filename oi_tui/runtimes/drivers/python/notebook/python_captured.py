"""Keeping what code prints and displays: `%%capture`."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import contextlib
import io
import sys


class RichOutput:
    """A value that was shown, in its forms by their types."""

    def __init__(self, shows, data):
        self._shows = shows
        self.data, self.metadata, self.transient, self.update = data, {}, {}, False

    def display(self):
        """Show it after all."""
        self._shows.display(self.data, raw=True)

    def __repr__(self):
        return "<RichOutput of {}>".format(", ".join(self.data))


class CapturedOutput:
    """What was kept; called, or by `show`, it is put out after all."""

    def __init__(self, shows, stdout, stderr, outputs):
        self._shows = shows
        self.stdout, self.stderr, self.outputs = stdout, stderr, outputs

    def show(self):
        """Put it out."""
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)
        for output in self.outputs:
            output.display()

    __call__ = show

    def __str__(self):
        return self.stdout


def run(driver, words, source):
    """Run the code; what it puts out goes to the variable that is named, or nowhere."""
    options = [word for word in words if word.startswith("--")]
    names = [word for word in words if not word.startswith("-")]
    streams = {"stdout": io.StringIO(), "stderr": io.StringIO()}
    with contextlib.ExitStack() as stack:
        for name, stream in streams.items():
            if "--no-" + name not in options:
                stack.enter_context(getattr(contextlib, "redirect_" + name)(stream))
        outputs = []
        if "--no-display" not in options:
            stack.callback(setattr, driver.shows, "kept", driver.shows.kept)
            driver.shows.kept = outputs
        try:
            value = driver.run_part(source)
            if value is not None:
                sys.displayhook(value)
            driver.shows.finish()
        finally:
            texts = [stream.getvalue() for stream in streams.values()]
            for name in names:
                driver.module.__dict__[name] = CapturedOutput(driver.shows, *texts, outputs)
