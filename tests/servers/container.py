"""One container of podman, made of this machine's programs: no image has to be fetched."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

#: Where a machine with both versions of control groups has the second one, which crun refuses.
_SECOND_CGROUPS = Path("/sys/fs/cgroup/unified")
_LINKS = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}
#: Seconds after which a container ends that nobody ended.
_LIFE = "3600"


class NoContainerError(Exception):
    """Podman is not there or starts no container here; the message is its own."""


class Container:
    """A container that runs until it is closed. It has its own users, files and network.

    Processes have the numbers that they have here, so that tests can see that none is left. `shared` is a
    folder that is the same there. Raises NoContainerError.
    """

    def __init__(self, folder: Path, shared: Path) -> None:
        if not shutil.which("podman"):
            raise NoContainerError("podman is not installed here")
        self.name = f"oi-tui-tests-{os.getpid()}"
        root = folder / "root"
        for name in ("usr", "tmp", "proc", "sys", "dev", "run", "etc", "root", "var/tmp"):
            (root / name).mkdir(parents=True)
        for name, place in _LINKS.items():
            (root / name).symlink_to(place)
        (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")
        (root / "etc/group").write_text("root:x:0:\n")
        options = ("--net=none", "--pid=host", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=8192:8192")
        mounts = ("-v", "/usr:/usr:ro", "-v", f"{shared}:{shared}")
        words = ["podman", "run", "-d", "--rm", "--name", self.name, *options, *mounts]
        self._start([*words, "--rootfs", str(root), "sleep", _LIFE])

    def _start(self, words: list[str]) -> None:
        if _SECOND_CGROUPS.exists() and os.getuid() == 0:
            hide = f'umount {_SECOND_CGROUPS} && exec "$@"'
            words = ["unshare", "--mount", "sh", "-c", hide, "--", *words]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            self.close()
            raise NoContainerError(f"podman starts no container here: {done.stderr.strip()[-200:]}")

    def target(self, folder: Path) -> str:
        """The target that runs code in this folder of the container."""
        return f"command:podman exec -i -w {shlex.quote(str(folder))} {self.name}"

    def close(self) -> None:
        """End the container, and what runs in it."""
        words = ["podman", "rm", "--force", "--time", "0", "--ignore", self.name]
        subprocess.run(words, capture_output=True, timeout=120, check=False)
