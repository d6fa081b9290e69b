"""The first program in the sandbox: takes the terminal, reports itself, and becomes the language.

Imported, with the arguments `REPORT LIMITS PROGRAM ARGUMENT...` where REPORT is the number of a socket, and
LIMITS are those of the kernel: processes, bytes of memory, and bytes of a file, with commas between. Whoever
reads there is told by the kernel which number the process has outside. It leads a session of its own inside,
so that what is typed and interrupted reaches it and its children, but never the wrapper around them.
"""

# mypy: ignore-errors

import fcntl
import os
import resource
import sys
import termios


def main() -> None:
    """Become the program."""
    report, limits, argv = int(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]
    try:
        kinds = resource.RLIMIT_NPROC, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE
        for kind, wanted in zip(kinds, map(int, limits)):
            hard = resource.getrlimit(kind)[1]
            # Nobody may have more than they were given before.
            number = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(kind, (number, number))
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        os.write(report, b"!")
        os.close(report)
        os.execvp(argv[0], argv)
    except BaseException as error:
        os.write(2, f"{argv[0]}: {error}\r\n".encode(errors="replace"))
    finally:
        os._exit(127)


main()
