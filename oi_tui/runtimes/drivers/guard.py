"""The guard: starts one language process, outlives it, and ends everything that it started.

Imported, so that it is compiled once, with the arguments

    MASTER TERMINAL FOLDER WRAPPED PROGRAM ARGUMENT...

where the first two are the numbers of inherited descriptors: both sides of a pseudo-terminal. It starts the
program as the leader of a new session there and says on standard output `pid N`, and later `exit STATUS` (as
of `waitpid`). It holds the master, so that nothing hangs up on the program where the application is killed.

WRAPPED is `-`, or the numbers of inherited descriptors, with commas, that a wrapper reads, which is then what
PROGRAM is: the language itself begins inside of it, takes the terminal itself, and reports on a socket, whose
number stands for the argument REPORT. As the kernel says who wrote there, N is its number as it is seen here.

When standard input ends, because the application closed it or has ended, or the guard gets another parent, or
its parent is a zombie, the program has a moment to leave by itself: the end of its requests tells it to.
After that, or at once when standard input brings the word `kill`, the guard ends everything that the program
ever started. On Linux that includes what left the session: the guard is the subreaper, so orphans become its
own.

R that is killed cannot remove its temporary folder. Its driver wrote the path into the file `temporary` of
FOLDER, and the guard removes it, unless R runs in a wrapper, out of which it must delete nothing.
"""

# mypy: ignore-errors

import _signal as signal  # what `signal` is without its enumerations, which are slow to make
import fcntl
import os
import sys
import termios
import time

#: How long a program may take to leave by itself, in seconds: to run its exit handlers and remove its files.
_GRACE = 1.0
#: How often it looks whether the application lives, in seconds. Standard input does not end with it where a
#: process holds the other end that the application forked, as `multiprocessing` does.
_LOOK = 2.0


def main() -> None:
    """Start the program and stay until nothing of it is left."""
    application = os.getppid()
    master, terminal = map(int, sys.argv[1:3])
    folder, wrapped, argv = sys.argv[3], sys.argv[4], sys.argv[5:]
    os.set_inheritable(master, False)
    descriptors = [] if wrapped == "-" else [int(number) for number in wrapped.split(",")]
    report, reporting = _report() if descriptors else (None, None)
    awake, wake = os.pipe()
    os.set_blocking(awake, False)
    os.set_blocking(wake, False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    child = os.fork()
    if child == 0:
        _become(terminal, argv, reporting)
    os.close(terminal)
    for number in descriptors:
        os.close(number)
    _adopt_orphans()
    leader = child
    if reporting is not None:
        reporting.close()
        leader = _wait_for_pid(report) or child
    # Nothing is run before this is sent, so no orphan can be missed.
    _say(f"pid {leader}\n")
    status, abandoned = _watch(child, awake, application)
    if descriptors and 128 < (status >> 8) < 128 + signal.NSIG:
        # So the wrapper says that a signal ended what it wrapped.
        status = (status >> 8) - 128
    _end_everything(leader)
    if not descriptors:
        _remove_temporary(folder)
    if abandoned:
        _remove(folder)
    _say(f"exit {status}\n")
    os._exit(0)


def _report():
    """Return where a wrapped program reports: the end to read, which the kernel tells who wrote,
    and the other.
    """
    import _socket

    near, far = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    near.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)
    near.setblocking(False)
    return near, far


def _wait_for_pid(report) -> "int | None":
    """Wait for the pid of the wrapped program; None when it did not start, or must end before."""
    import _socket
    import select
    import struct

    try:
        if 0 in select.select([0, report.fileno()], [], [])[0]:
            return None
        word, notes, _, _ = report.recvmsg(1, _socket.CMSG_SPACE(12))
        if word and notes:
            return struct.unpack("=iII", notes[0][2])[0]
        return None
    finally:
        report.close()


def _become(terminal: int, argv: "list[str]", reporting) -> None:
    """Become the program in the child, in its own session on the terminal."""
    try:
        signal.set_wakeup_fd(-1)
        for number in range(1, signal.NSIG):
            if number not in (signal.SIGKILL, signal.SIGSTOP) and signal.getsignal(number) is not None:
                try:
                    signal.signal(number, signal.SIG_DFL)
                except (OSError, ValueError):
                    continue
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.setsid()
        if reporting is None:
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        else:
            os.set_inheritable(reporting.fileno(), True)
            argv = [str(reporting.fileno()) if word == "REPORT" else word for word in argv]
        for number in (0, 1, 2):
            os.dup2(terminal, number)
        if terminal > 2:
            os.close(terminal)
        try:
            # Where memory runs out, the program must end, not the application that watches it.
            with open("/proc/self/oom_score_adj", "w") as score:
                score.write("500")
        except OSError:
            pass
        os.execvp(argv[0], argv)
    except BaseException as error:
        os.write(2, f"{argv[0]}: {error}\r\n".encode(errors="replace"))
    finally:
        os._exit(127)


def _adopt_orphans() -> None:
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    subreaper = 36  # PR_SET_CHILD_SUBREAPER, linux/prctl.h
    ctypes.CDLL(None).prctl(subreaper, 1, 0, 0, 0)


def _watch(child: int, awake: int, application: int) -> "tuple[int, bool]":
    """Wait until the program has ended or must end: its status, and whether the application is gone."""
    import select

    read, until = [0, awake], None
    while True:
        wait_seconds = _LOOK if until is None else until - time.monotonic()
        if wait_seconds <= 0:
            return int(signal.SIGKILL), True
        ready = select.select(read, [], [], wait_seconds)[0]
        if until is None and (os.getppid() != application or _is_ending(application)):
            read, until = [awake], time.monotonic() + _GRACE
            continue
        for number in ready:
            if number == 0:
                if os.read(0, 64):
                    return int(signal.SIGKILL), False
                read, until = [awake], time.monotonic() + _GRACE
            else:
                try:
                    os.read(awake, 4096)
                except BlockingIOError:
                    pass
        status = _reap(child)
        if status is not None:
            return status, until is not None


def _is_ending(pid: int) -> bool:
    """Return whether the process has ended but for a thread, such as one that waits for a disk
    and cannot be killed.

    Until that thread has ended the process is still our parent, and its descriptors are open.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except (OSError, IndexError):
        # Not Linux, or without /proc.
        return False


def _reap(child: int) -> "int | None":
    """Collect ended processes. Returns the status of `child` if it is among them."""
    child_status = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return child_status
        if pid == 0:
            return child_status
        if pid == child:
            child_status = status


def _end_everything(leader: int) -> None:
    """Stop, then kill, every descendant and member of the session, until none is left or 5 s went by."""
    stopped: "set[int]" = set()
    while True:
        fresh = _list_descendants(leader) - stopped
        if not fresh:
            break
        # What is stopped starts nothing new, so that the search comes to an end even against a fork bomb.
        for pid in fresh:
            _send(pid, signal.SIGSTOP)
        stopped |= fresh
    until = time.monotonic() + 5
    pause = 0.0005
    while time.monotonic() < until:
        pids = _list_descendants(leader)
        for pid in pids:
            _send(pid, signal.SIGKILL)
        _reap(leader)
        if not pids:
            return
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass


def _list_descendants(leader: int) -> "set[int]":
    """Return everything that descends from this process, and everything in the session
    of `leader`; no zombies.
    """
    here = os.getpid()
    table = _list_processes()
    pids = {pid for pid, (_, session, _zombie) in table.items() if session == leader}
    children: "dict[int, list[int]]" = {}
    for pid, (parent, _, _zombie) in table.items():
        children.setdefault(parent, []).append(pid)
    following = [here]
    while following:
        for pid in children.get(following.pop(), ()):
            if pid != here:
                pids.add(pid)
                following.append(pid)
    return {pid for pid in pids if not table[pid][2]}


def _list_processes() -> "dict[int, tuple[int, int, bool]]":
    """Parent, session and whether it is a zombie, for every process."""
    table = {}
    if sys.platform.startswith("linux"):
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    state, parent, _, session = file.read().rpartition(b")")[2].split()[:4]
            except (OSError, ValueError):
                continue
            table[int(name)] = int(parent), int(session), state in (b"Z", b"X")
        return table
    import subprocess

    # By its full name: the person's PATH is theirs.
    listing = subprocess.Popen(["/bin/ps", "-A", "-o", "pid=,ppid=,stat="], stdout=subprocess.PIPE, text=True)
    for line in listing.communicate()[0].splitlines():
        pid, parent, state = line.split()[:3]
        if int(pid) == listing.pid:
            # It lists itself, as a child of ours; each search would find a new one.
            continue
        try:
            session = os.getsid(int(pid))
        except OSError:
            session = 0
        table[int(pid)] = int(parent), session, state.startswith("Z")
    return table


def _remove_temporary(folder: str) -> None:
    try:
        with open(os.path.join(folder, "temporary"), encoding="utf-8", errors="surrogateescape") as file:
            paths = file.read().splitlines()
    except OSError:
        return
    for path in paths:
        if os.path.basename(path).startswith("Rtmp"):
            _remove(path)


def _remove(folder: str) -> None:
    try:
        for path, folders, files in os.walk(folder, topdown=False):
            for name in files:
                os.unlink(os.path.join(path, name))
            for name in folders:
                inner = os.path.join(path, name)
                (os.unlink if os.path.islink(inner) else os.rmdir)(inner)
        os.rmdir(folder)
    except OSError:
        pass


def _say(line: str) -> None:
    try:
        os.write(1, line.encode())
    except OSError:
        pass


main()
