"""What a process does whose work a fork server takes over. It imports little: it is started often."""

import json
import os
import signal
import socket
from collections.abc import Mapping, Sequence

#: Of the two numbers that a fork server answers with: the pid of the fork, and later its wait status.
NUMBER = 4
#: What a command that somebody runs is told from outside.
_PASSED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def order(
    connection: socket.socket,
    words: Sequence[str],
    streams: Sequence[int],
    environment: Mapping[str, str],
    folder: str,
) -> int:
    """Have a fork made that does what the words say; return its pid."""
    content = json.dumps({"environment": dict(environment), "folder": folder, "words": words}).encode()
    socket.send_fds(connection, [len(content).to_bytes(8, "big")], streams)
    connection.sendall(content)
    if not (pid := connection.recv(NUMBER)):
        raise ConnectionResetError("The fork server has ended.")
    return int.from_bytes(pid, "big")


def hand_over(address: str, words: Sequence[str] = (), pass_signals: bool = False) -> None:
    """Hand the streams and the environment to a process of the fork server, and end as it ends."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        pid = order(connection, words, [0, 1, 2], os.environ, os.getcwd())
        for number in _PASSED if pass_signals else ():
            signal.signal(number, lambda number, _: os.kill(pid, number))
        for stream in (0, 1):
            os.close(stream)
        # When this process is killed, the other sees the end of the connection, and ends as well.
        told = connection.recv(NUMBER)
    code = os.waitstatus_to_exitcode(int.from_bytes(told, "big")) if told else 1
    if pass_signals and code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code % 256)
