"""The first program in the sandbox: takes the terminal, reports its process id, and becomes the language.

Imported, with the arguments `REPORT LIMITS GATEWAY PROGRAM ARGUMENT...`. REPORT is the number of a socket:
the kernel tells whoever reads there which number the process has outside. LIMITS are those of the
kernel, with commas between: processes, bytes of memory, bytes of a file. GATEWAY is the socket of the proxy
outside, or `-`. The language leads a session of its own inside, so that what is typed and interrupted
reaches it and its children, but never the wrapper around them.
"""

# mypy: ignore-errors

import fcntl
import os
import resource
import sys
import termios


def main() -> None:
    """Become the program."""
    report, limits, gateway, argv = int(sys.argv[1]), sys.argv[2].split(","), sys.argv[3], sys.argv[4:]
    try:
        kinds = resource.RLIMIT_NPROC, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE
        for kind, limit in zip(kinds, map(int, limits)):
            hard = resource.getrlimit(kind)[1]
            # Nobody may have more than they were given before.
            number = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(kind, (number, number))
        # The kernel would start a program outside with what a program left in memory.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if gateway != "-":
            import forwarder

            forwarder.begin(gateway)
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
