"""The proxy's end inside the sandbox: forwards a local port to a socket in the file system.

The sandbox has a network of its own, in which this is the only way to others.
"""

# mypy: ignore-errors

import os
import socket
import threading
import time

#: In a network where nobody else is, any port will do.
PORT = 3128


def begin(path: str) -> None:
    """Start to listen, in a separate process without a terminal."""
    server = socket.create_server(("127.0.0.1", PORT), backlog=64)
    if os.fork():
        server.close()
        os.wait()
        return
    try:
        os.setsid()
        if os.fork() == 0:
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nothing, number)
            os.closerange(3, server.fileno())
            os.closerange(server.fileno() + 1, 256)
            _serve(server, path)
    finally:
        os._exit(0)


def _serve(server, path: str) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            if server.fileno() < 0:
                return
            # Without descriptors for the moment, later connections are served all the same.
            time.sleep(0.1)
            continue
        try:
            threading.Thread(target=_connect, args=(client, path), daemon=True).start()
        except RuntimeError:
            # The limit of processes counts threads, too.
            client.close()


def _connect(client, path: str) -> None:
    with client, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as outside:
        try:
            outside.connect(path)
        except OSError:
            return
        # Each small piece would wait for the answer to the one before.
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = threading.Thread(target=_carry, args=(outside, client), daemon=True)
        back.start()
        _carry(client, outside)
        back.join()


def _carry(source, target) -> None:
    try:
        while True:
            piece = source.recv(65536)
            if not piece:
                break
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
