"""Found by every Python that the tests start: a model process lets a fork of the nursery do its work.

See tests/quick_models/nursery.py. Any other Python goes on as if this were not here.
"""

import os
import sys

_ADDRESS = os.environ.get("OI_TUI_TEST_NURSERY")

if _ADDRESS and any("oi_tui.engine.llm.transport.process import" in word for word in sys.orig_argv):
    import json
    import socket

    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(_ADDRESS)
        order = json.dumps({"environment": dict(os.environ)}).encode()
        socket.send_fds(connection, [len(order).to_bytes(8, "big")], [0, 1, 2])
        connection.sendall(order)
        for stream in (0, 1):
            os.close(stream)
        # It ends with the other; when this process is killed, the other sees it the same way.
        connection.recv(1)
    os._exit(0)
