"""A command in front of another one, like ssh: passes bytes on, with a delay, until it is told to be cut off.

`python relay.py FOLDER COMMAND...`: while FOLDER/cut exists nothing passes, in either direction, and nothing
ends; while FOLDER/garble exists, more comes than was sent; FOLDER/delay holds seconds by which everything is
late, and FOLDER/rate bytes per second.
"""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

folder, command = Path(sys.argv[1]), sys.argv[2:]


def passed(source: int, sink: int) -> None:
    """Pass bytes on until they end."""
    while piece := os.read(source, 65536):
        time.sleep(number("delay"))
        if rate := number("rate"):
            time.sleep(len(piece) / rate)
        while (folder / "cut").exists():
            time.sleep(0.02)
        if (folder / "garble").exists():
            piece = b"x" * 20 + piece
        view = memoryview(piece)
        while view:
            view = view[os.write(sink, view) :]
    os.close(sink)


def number(name: str) -> float:
    try:
        return float((folder / name).read_text())
    except (OSError, ValueError):
        return 0.0


process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
assert process.stdin
assert process.stdout
threading.Thread(target=passed, args=(0, os.dup(process.stdin.fileno())), daemon=True).start()
process.stdin.close()
passed(process.stdout.fileno(), os.dup(1))
sys.exit(process.wait())
