"""Runs in a real terminal: passes everything between it and a program, and writes both directions down.

`python relay.py FOLDER COMMAND...` asks the terminal first how wide it draws some characters. FOLDER gets the
files `widths`, `size`, `from_terminal` and `to_terminal`. It uses the standard library only.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import tty
from pathlib import Path

#: Characters, and how many columns each must take.
WIDE = {"é": 1, "e\u0301": 1, "界": 2, "👍": 2, "①": 1, "│": 1}
#: How long the terminal may take to say where the cursor is, in seconds.
_TIMEOUT = 3.0


def measure() -> dict[str, int]:
    """Return by how many columns each character moves the cursor; without those that get no answer."""
    widths: dict[str, int] = {}
    for text in WIDE:
        os.write(1, f"\r{text}\x1b[6n".encode())
        answer = b""
        while not (match := re.search(rb"\x1b\[\d+;(\d+)R", answer)):
            if not select.select([0], [], [], _TIMEOUT)[0]:
                return widths
            answer += os.read(0, 1024)
        widths[text] = int(match[1]) - 1
    os.write(1, b"\r\x1b[K")
    return widths


def main() -> None:
    """Relay until the program ends."""
    folder, command = Path(sys.argv[1]), sys.argv[2:]
    before = termios.tcgetattr(0)
    tty.setraw(0)
    (folder / "widths").write_text(json.dumps(measure()), encoding="utf-8")
    child, program = pty.fork()
    if not child:
        os.execvp(command[0], command)

    def resize(*_: object) -> None:
        size = fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(program, termios.TIOCSWINSZ, size)
        rows, columns, width, height = struct.unpack("HHHH", size)
        (folder / "size").write_text(f"{columns} {rows} {width} {height}")

    signal.signal(signal.SIGWINCH, resize)
    resize()
    with (folder / "from_terminal").open("wb", 0) as typed, (folder / "to_terminal").open("wb", 0) as written:
        ways = {0: (program, typed), program: (1, written)}
        try:
            while True:
                for source in select.select(list(ways), [], [])[0]:
                    data = os.read(source, 65536)
                    if not data:
                        return
                    target, log = ways[source]
                    log.write(data)
                    while data:
                        data = data[os.write(target, data) :]
        except OSError:
            return
        finally:
            termios.tcsetattr(0, termios.TCSADRAIN, before)


if __name__ == "__main__":
    main()
