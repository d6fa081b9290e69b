"""Slurm with this machine as its only node: its daemons as ordinary processes with a key of their own."""

import getpass
import os
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.ports import choose_port

_CONFIG = """\
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
MailProg=/bin/true
NodeName={host} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=tests Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class NoSlurmError(Exception):
    """Slurm does not start here; the message says what its daemons said."""


class Slurm:
    """A cluster of one node that runs until it is closed; `environment` is what its commands need.

    Raises NoSlurmError.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = (folder / "log").open("wb")
        self._daemons: list[subprocess.Popen[bytes]] = []
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "key").write_bytes(os.urandom(1024))
        (folder / "key").chmod(0o400)
        config = folder / "slurm.conf"
        about = {"folder": folder, "host": socket.gethostname().partition(".")[0], "user": getpass.getuser()}
        config.write_text(_CONFIG.format(**about, ports=[choose_port(), choose_port()]))
        self.environment = {"SLURM_CONF": str(config)}
        try:
            places = [f"--{name}-file={folder / name}" for name in ("key", "pid", "log", "seed")]
            self._start("munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *places)
            self._wait(lambda: (folder / "munge.socket").exists())
            self._start("slurmctld", "-D", "-f", str(config))
            self._start("slurmd", "-D", "-f", str(config))
            self._wait(lambda: self.run("sinfo", "-h", "-o", "%t").strip() == "idle")
        except NoSlurmError:
            self.close()
            raise

    def run(self, *command: str) -> str:
        """Run one of Slurm's commands; return what it printed."""
        environment = {**os.environ, **self.environment}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        return done.stdout

    def close(self) -> None:
        """End the jobs, and the daemons."""
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._log.close()

    def _start(self, *command: str) -> None:
        environment = {**os.environ, **self.environment}
        options = {"stdin": subprocess.DEVNULL, "stdout": self._log, "stderr": self._log}
        self._daemons.append(subprocess.Popen(command, env=environment, **options))

    def _wait(self, is_ready: Callable[[], bool]) -> None:
        until = time.monotonic() + 30
        while not is_ready():
            if time.monotonic() > until or any(daemon.poll() is not None for daemon in self._daemons):
                said = (self._folder / "log").read_text(errors="replace").strip()
                raise NoSlurmError(f"Slurm does not start here: {said[-300:]}")
            time.sleep(0.05)
