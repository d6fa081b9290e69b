"""Reads text aloud with the voice of the system."""

import contextlib
import re
import shutil
import subprocess
import threading
from collections.abc import Sequence

#: The programs that can speak, likeliest first. They read the words from their standard input.
_VOICES: tuple[tuple[str, ...], ...] = (
    ("say", "-f", "-"),
    ("spd-say", "--pipe-mode"),
    ("espeak-ng", "--stdin"),
    ("espeak", "--stdin"),
)
#: Longer texts are cut: a voice has no other stop.
_LONGEST = 2000
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_MARKUP = re.compile(r"[*_`#>|]+")


def find_voice() -> Sequence[str] | None:
    """Return the program that speaks here, with its arguments, or None."""
    return next((item for item in _VOICES if shutil.which(item[0])), None)


def explain_silence() -> str | None:
    """Return why speech does not work here; None where it does."""
    if find_voice():
        return None
    return "no speech program found; install speech-dispatcher (spd-say) or espeak-ng"


def make_speakable(text: str) -> str:
    """Return the words of Markdown text, without code and marks."""
    words = _MARKUP.sub(" ", _FENCE.sub(" ", text))
    return " ".join("".join(c if c.isprintable() else " " for c in words).split())[:_LONGEST]


class Voice:
    """Speaks one text after the other in its own threads; stops at once on request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._speaking: subprocess.Popen[bytes] | None = None

    def say(self, text: str) -> None:
        """Begin to speak, in place of what is being spoken; without a voice nothing happens."""
        words, program = make_speakable(text), find_voice()
        self.stop()
        if not words or program is None:
            return
        try:
            speaking = subprocess.Popen(
                program,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return
        with self._lock:
            self._speaking = speaking
        threading.Thread(target=_feed, args=(speaking, words), name="voice", daemon=True).start()

    def stop(self) -> None:
        """Stop speaking."""
        with self._lock:
            speaking, self._speaking = self._speaking, None
        if speaking is not None and speaking.poll() is None:
            speaking.terminate()
            try:
                speaking.wait(1)
            except subprocess.TimeoutExpired:
                speaking.kill()
                speaking.wait()


def _feed(speaking: "subprocess.Popen[bytes]", words: str) -> None:
    with contextlib.suppress(OSError):
        speaking.communicate(words.encode())
