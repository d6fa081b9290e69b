"""Jupyter's own server and its kernel gateway on loopback, as ordinary processes with a token."""

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.ports import choose_port

TOKEN = "a-token-of-the-tests"
_COMMANDS = {
    "jupyter_server": (
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        "--ServerApp.open_browser=False",
        "--ServerApp.allow_root=True",
        "--ServerApp.root_dir={folder}",
        "--IdentityProvider.token={token}",
        # How soon it sees that a kernel has ended, in seconds.
        "--KernelRestarter.time_to_dead=0.3",
    ),
    "kernel_gateway": (
        "--KernelGatewayApp.ip=127.0.0.1",
        "--KernelGatewayApp.port={port}",
        "--KernelGatewayApp.port_retries=0",
        "--KernelGatewayApp.auth_token={token}",
        "--KernelRestarter.time_to_dead=0.3",
    ),
}


class Jupyter:
    """A server that runs until it is closed."""

    def __init__(self, kind: str, folder: Path, more: Sequence[str] = ()) -> None:
        """`more` are further options, in place of those of the same name."""
        self.port = choose_port()
        self.host = f"127.0.0.1:{self.port}"
        self.target = f"kernel:http://{self.host}/"
        self._log = folder / "log"
        named = {word.partition("=")[0]: word for word in (*_COMMANDS[kind], *more)}
        words = [word.format(port=self.port, folder=folder, token=TOKEN) for word in named.values()]
        environment = {
            **os.environ,
            "HOME": str(folder),
            "IPYTHONDIR": str(folder / "ipython"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
        }
        environment.pop("JUPYTER_TOKEN", None)
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", kind, *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
            )
        try:
            self._wait()
        except BaseException:
            # Nobody would have it yet who could close it.
            self.close()
            raise

    def _wait(self) -> None:
        until = time.monotonic() + 60
        while self.ask("GET", "/api") is None:
            assert self.process.poll() is None, self._log.read_text()
            assert time.monotonic() < until, self._log.read_text()
            time.sleep(0.05)

    def ask(self, method: str, path: str) -> bytes | None:
        """What the server answers; None where it does not."""
        connection = http.client.HTTPConnection(self.host, timeout=20)
        try:
            connection.request(method, path, headers={"Authorization": f"token {TOKEN}"})
            return connection.getresponse().read()
        except OSError:
            return None
        finally:
            connection.close()

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
