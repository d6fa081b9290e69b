"""The first program on the remote host: receives our modules through standard input and becomes `worker`.

It is passed on the command line, and has to be understood by any Python 3, to say that one is too old.
"""

# mypy: ignore-errors

import os
import sys

MARK = b"oi-tui-far-1"
# How long what is sent may take, in seconds, for each piece of so many bytes. Beats are smaller.
TIMEOUT = 30
PIECE = 2000
READS = "Another program there reads it, such as one that the command or a start file (.bashrc) runs"
CLOSED = (
    "Python started there, but its standard input is closed. The command must pass it on: "
    "podman, docker and kubectl do so with exec -i, ssh without -n and -f"
)


def say(words):
    """Send a line to the application, on a new line even after partial output."""
    os.write(1, b"\n" + MARK + b" " + words.encode("ascii", "replace") + b"\n")


def become_newer_python():
    """Become a newer Python, where this one is too old and there is one."""
    import shutil
    import subprocess

    nothing = subprocess.DEVNULL
    for minor in range(30, 7, -1):
        path = shutil.which("python3.%d" % minor)
        words = [path, "-I", "-S", "-c", ""]
        # What has the name may be a stand-in, as those of pyenv, for a Python that is not chosen.
        if path and subprocess.call(words, stdin=nothing, stdout=nothing, stderr=nothing) == 0:
            loader = "import base64,sys;exec(base64.b64decode(sys.argv[1]))"
            # The word tells it that the first one on PATH does not do for cells either.
            os.execv(path, [path, "-I", "-S", "-B", "-c", loader, sys.argv[1], "newer"])
    say("old %d.%d" % sys.version_info[:2])
    sys.exit(1)


def read(size):
    """Read exactly `size` bytes."""
    import select
    import time

    pieces, fresh = [], 0
    until = time.monotonic() + TIMEOUT
    while size:
        if not select.select([0], [], [], max(0, until - time.monotonic()))[0]:
            refuse("Python started there, but what is sent to it does not arrive. " + READS)
        piece = os.read(0, min(size, 1 << 20))
        if not piece:
            refuse(CLOSED)
        fresh += len(piece)
        if fresh >= PIECE:
            until, fresh = time.monotonic() + TIMEOUT, 0
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def refuse(reason):
    """Tell the application why nothing can run here, and end."""
    import json

    answer = json.dumps({"is": "refused", "reason": reason}).encode() + b"\n"
    try:
        os.write(1, len(answer).to_bytes(4, "big") + answer)
    except OSError:
        # The application is gone: it gave the connection up.
        pass
    sys.exit(1)


def list_places():
    """List where a folder may be made: in memory, where there is room for the modules, and on the disk."""
    import tempfile

    memory = "/dev/shm"
    room = os.statvfs(memory) if os.access(memory, os.W_OK | os.X_OK) else None
    if room is not None and room.f_bavail * room.f_frsize >= 4 * 10**6:
        yield memory
    yield tempfile.gettempdir()


def start_keeper(folder):
    """Start what removes the folder when we end, however that comes. It is there before the folder is."""
    import subprocess

    # `read` is built in: there is one process, and it is no other's child.
    program = 'while read -r line; do :; done; rm -rf -- "$0"'
    return subprocess.Popen(
        ["/bin/sh", "-c", program, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )


def write_modules(files):
    """Write the modules into a new private folder; it, and its keeper. Raises OSError."""
    problem = None
    for place in list_places():
        folder = os.path.join(place, "oi-tui-" + os.urandom(12).hex())
        keeper = start_keeper(folder)
        try:
            write_into(folder, files)
        except OSError as error:
            problem = error
            # Until it has removed what is there.
            keeper.communicate()
        else:
            return folder, keeper
    raise problem


def write_into(folder, files):
    """Make a private folder with the modules in it. Raises OSError."""
    os.mkdir(folder, 0o700)
    for name in files:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(files[name])


def main():
    """Receive the modules, put them into a private folder, and go on there."""
    if sys.version_info < (3, 8):
        become_newer_python()
    try:
        import json
        import shutil
        import tempfile  # noqa: F401 -- whether it is there
        import tty
        import zlib
    except ImportError as error:
        say("partial %s" % error.name)
        sys.exit(1)
    if not sys.executable:
        # Where PATH is not set, Python does not know where it is itself.
        sys.executable = shutil.which("python3")
    if os.isatty(0):
        tty.setraw(0)
    say("ready %d.%d" % sys.version_info[:2])
    try:
        size = int(read(12))
        files = json.loads(zlib.decompress(read(size)).decode())
    except OSError:
        refuse(CLOSED)
    except (ValueError, zlib.error):
        refuse("only a part of what is sent to Python arrives there. " + READS)
    if sys.platform.startswith("linux") and not os.path.exists("/proc/self/stat"):
        # Without it nobody knows which processes code has started, so that they could be ended.
        refuse("there is no /proc there. Mount it (mount -t proc proc /proc)")
    try:
        folder, keeper = write_modules(files)
    except OSError as error:
        refuse("cannot write there: %s" % error)
    sys.path.insert(0, folder)
    import old_python

    old_python.prepare()
    from oi_tui.runtimes.remote import worker

    worker.main(folder, keeper)


main()
