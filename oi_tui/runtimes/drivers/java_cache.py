"""Builds what lets Java start quickly: the compiled driver, and an archive of the classes that it needs.

`java_cache.py FOLDER JAVA OPTION...`, run by the driver of Java after its first cell. A folder that cannot
be made or written is no trouble: Java only starts as slowly as before.
"""

# mypy: ignore-errors

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

DRIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "java")
#: What was not made again for so long is no more needed, in seconds.
OLD = 30 * 86400


def main(folder: str, java: str, options: "list[str]") -> None:
    """Compile, make the cache, and write checksums of both files at the end. One does it at a time."""
    os.umask(0o077)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # another one makes it
    jar, archive = os.path.join(folder, "driver.jar"), os.path.join(folder, "classes.jsa")
    with tempfile.TemporaryDirectory(prefix="making-", dir=os.path.dirname(folder)) as making:
        _compile(os.path.dirname(java), making)
        # What is there is what archives were made for: their program checks it by its time.
        with contextlib.suppress(FileExistsError):
            os.link(os.path.join(making, "driver.jar"), jar)
        new_archive = os.path.join(making, "classes.jsa")
        _run_once([java, *options, "-XX:ArchiveClassesAtExit=" + new_archive, "-cp", jar, "OiTui"], making)
        sums = os.path.join(making, "sums")
        with open(sums, "w") as file:
            json.dump({"driver.jar": _sum_of(jar), "classes.jsa": _sum_of(new_archive)}, file)
        os.replace(new_archive, archive)
        os.replace(sums, os.path.join(folder, "sums"))
    _forget_old(os.path.dirname(folder))


def _compile(programs: str, making: str) -> None:
    classes = os.path.join(making, "classes")
    sources = [os.path.join(DRIVER, name) for name in sorted(os.listdir(DRIVER)) if name.endswith(".java")]
    compiler = [os.path.join(programs, "javac"), "-proc:none", "-nowarn", "-XDignore.symbol.file"]
    subprocess.run([*compiler, "-d", classes, *sources], check=True)
    jar = [os.path.join(programs, "jar"), "--create", "--file", os.path.join(making, "driver.jar")]
    subprocess.run([*jar, "-C", classes, "."], check=True)


def _run_once(command: "list[str]", making: str) -> None:
    """Have the driver take a request, with files in place of its pipes and its terminal."""
    cell = os.path.join(making, "cell-1")
    texts = {"cell-1": "int x = 6;\nx * 7", "requests": "run 0 " + cell + "\n", "events": "", "terminal": ""}
    for name, text in texts.items():
        with open(os.path.join(making, name), "w") as file:
            file.write(text)
    subprocess.run([*command, making], check=True, timeout=120)


def _sum_of(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _forget_old(folder: str) -> None:
    for entry in os.scandir(folder):
        age = time.time() - entry.stat().st_mtime
        if entry.is_dir(follow_symlinks=False) and age > (3600 if entry.name.startswith("making-") else OLD):
            shutil.rmtree(entry.path, ignore_errors=True)


if __name__ == "__main__":
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        main(sys.argv[1], sys.argv[2], sys.argv[3:])
