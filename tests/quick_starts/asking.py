"""What a process does whose work a fork of a nursery takes over. It imports little: it is started often."""

import json
import os
import socket
from collections.abc import Sequence


def hand_over(address: str, words: Sequence[str] = ()) -> None:
    """Hand the streams and the environment to a fork of the nursery, and end as it ends."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        order = json.dumps({"environment": dict(os.environ), "folder": os.getcwd(), "words": words}).encode()
        socket.send_fds(connection, [len(order).to_bytes(8, "big")], [0, 1, 2])
        connection.sendall(order)
        for stream in (0, 1):
            os.close(stream)
        # When this process is killed, the other sees the end of the connection, and ends as well.
        status = connection.recv(1)
    os._exit(status[0] if status else 1)
