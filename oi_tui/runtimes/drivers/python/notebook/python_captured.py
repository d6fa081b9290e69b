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


class CapturedIO:
    """What was kept; called, or by `show`, it is put out after all."""

    def __init__(self, shows, streams, outputs):
        self._shows, self._streams = shows, streams
        self.outputs = outputs

    @property
    def stdout(self):
        """What was printed."""
        return self._streams["stdout"].getvalue()

    @property
    def stderr(self):
        """What was printed as errors."""
        return self._streams["stderr"].getvalue()

    def show(self):
        """Put it out."""
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)
        for output in self.outputs:
            output.display()

    __call__ = show

    def __str__(self):
        return self.stdout


@contextlib.contextmanager
def capture(shows, stdout=True, stderr=True, display=True):
    """Capture what the block prints and displays, each if wanted; yield what is captured."""
    streams = {"stdout": io.StringIO(), "stderr": io.StringIO()}
    outputs = []
    with contextlib.ExitStack() as stack:
        for (name, stream), is_wanted in zip(streams.items(), (stdout, stderr)):
            if is_wanted:
                stack.enter_context(getattr(contextlib, "redirect_" + name)(stream))
        if display:
            stack.callback(setattr, shows, "kept", shows.kept)
            shows.kept = outputs
        yield CapturedIO(shows, streams, outputs)
        shows.finish()


def run(driver, arguments, source):
    """Run the code; what it puts out goes to the variable that is named, or nowhere."""
    flags = ["--no-" + name not in arguments for name in ("stdout", "stderr", "display")]
    with capture(driver.shows, *flags) as output:
        try:
            value = driver.run_part(source)
            if value is not None:
                sys.displayhook(value)
        finally:
            # Not before: the code may read what the name held until now.
            for name in arguments:
                if not name.startswith("-"):
                    driver.module.__dict__[name] = output


# What their `repr` shows, as in a notebook.
CapturedIO.__module__ = RichOutput.__module__ = "IPython.utils.capture"
