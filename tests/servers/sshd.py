"""OpenSSH's own server on loopback, as an ordinary process with keys and a port of its own."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from tests import programs
from tests.ports import choose_port

#: The name under which `ssh` finds the server, by the configuration in the folder.
HOST = "oi-tui-there"
_SERVER = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/client_key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
PrintMotd no
AcceptEnv *
SetEnv HOME={folder}/home
"""
_CLIENT = """\
Host {host}
    HostName 127.0.0.1
    Port {port}
    User {user}
    IdentityFile {folder}/client_key
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile none
    LogLevel ERROR
"""


class Sshd:
    """A server that runs until it is closed; `bin` holds an `ssh` that knows it."""

    def __init__(self, folder: Path, more: str = "") -> None:
        """`more` is what else its configuration says."""
        self.folder = folder
        self.port = choose_port()
        for name in ("host_key", "client_key"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(words, check=True)
        about = {"folder": folder, "port": self.port, "host": HOST, "user": getpass.getuser()}
        (folder / "server").write_text(_SERVER.format(**about) + more)
        self.config = folder / "client"
        self.config.write_text(_CLIENT.format(**about))
        public = (folder / "host_key.pub").read_text()
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {public}")
        self.bin = write_ssh(folder, self.config)
        if os.getuid() == 0:
            # Where its service makes it otherwise; without it the server refuses to be root's.
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        (folder / "home").mkdir()
        server = programs.find_sshd()
        assert server
        self._log = (folder / "log").open("wb")
        # -e: it writes to us what it would write to the system's log.
        self.process = subprocess.Popen(
            [server, "-D", "-e", "-f", str(folder / "server")],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        self._wait()

    def _wait(self) -> None:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                assert self.process.poll() is None, (self.folder / "log").read_text()
                time.sleep(0.02)
            else:
                return
        raise AssertionError("sshd does not answer")

    def through(self, port: int, folder: Path) -> Path:
        """A folder with an `ssh` that reaches the server through another port of this machine."""
        name = f"Port {port}\n    HostKeyAlias [127.0.0.1]:{self.port}"
        config = folder / "client"
        text = self.config.read_text().replace(f"Port {self.port}", name)
        # As most people have it: with the reasons for which a connection ends.
        config.write_text(text.replace("LogLevel ERROR", "LogLevel INFO"))
        return write_ssh(folder, config)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(10)
        self._log.close()


def write_ssh(folder: Path, config: Path) -> Path:
    """Write an `ssh` with that configuration; the folder for PATH."""
    found = folder / "bin"
    found.mkdir()
    ssh = found / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {config} "$@"\n')
    ssh.chmod(0o755)
    return found
