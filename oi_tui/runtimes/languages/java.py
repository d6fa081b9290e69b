"""Java, by the JShell of a development kit."""

import hashlib
import json
import shutil
import sys
from pathlib import Path

from oi_tui import paths
from oi_tui.runtimes.language import DRIVERS, Choices, Language, Start
from oi_tui.runtimes.versions import find_version
from oi_tui.system import programs


def find(_: Choices) -> str | None:
    """Return the `java` beside the `jshell` on PATH: a mere runtime has no compiler."""
    shell = programs.find("jshell")
    if shell is None:
        return None
    for folder in (Path(shell).parent, Path(shell).resolve().parent):
        if program := shutil.which(str(folder / "java")):
            return program
    return None


def describe(program: str) -> str:
    """`Java 17.0.15 (JShell)`."""
    version = find_version(program, "-version", r'version "([0-9._]+)')
    return f"Java {version} (JShell)".replace("  ", " ")


#: Few threads; the best compiler for loops that go on, but not for the start, which it only slows down.
_MACHINE = (
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-XX:Tier4InvocationThreshold=40000",
    "-XX:Tier4MinInvocationThreshold=20000",
    "-XX:Tier4CompileThreshold=80000",
    "-Dfile.encoding=UTF-8",
)


#: Compiles the driver, which is as quick as anything that needs the compiler, and becomes the driver.
_COMPILE = (
    '"${1%java}javac" -proc:none -nowarn -XDignore.symbol.file -d "$2/classes" "$3"/*.java || exit; '
    'folder=$2; java=$1; shift 3; exec "$java" "$@"'
)


def start(program: str, folder: Path) -> Start:
    """Return the driver from the cache; where it is not there, compiled, and then it makes the cache."""
    cache = _cache(program)
    if cache and _is_whole(cache):
        archive = ("-Xshare:auto", f"-XX:SharedArchiveFile={cache / 'classes.jsa'}", "-Xlog:disable")
        return Start((program, *_MACHINE, *archive, "-cp", str(cache / "driver.jar"), "OiTui", str(folder)))
    options = (*_MACHINE, "-cp", str(folder / "classes"), "OiTui", str(folder))
    sources = str(DRIVERS / "java")
    making = ("nice", "-n", "19", *make_cache_command(program)) if cache else ()
    return Start(("/bin/sh", "-c", _COMPILE, "java", program, str(folder), sources, *options, *making))


def make_cache_command(program: str) -> tuple[str, ...]:
    """Return the command that builds the cache of a Java that has one."""
    return (
        sys.executable,
        "-I",
        "-B",
        str(DRIVERS / "java_cache.py"),
        str(_cache(program)),
        program,
        *_MACHINE,
    )


def _cache(program: str) -> Path | None:
    """Return the cache file for this exact Java; None where none can be kept."""
    home = Path(program).resolve().parent.parent
    try:
        parts = [(home / "release").read_bytes(), str(home).encode()]
        parts += [file.read_bytes() for file in sorted((DRIVERS / "java").iterdir())]
        folder = paths.make_private(paths.state() / "java")
    except OSError:
        return None
    version = hashlib.sha256(b"\0".join([*parts, *(option.encode() for option in _MACHINE)])).hexdigest()
    return folder / version[:20] if paths.is_safe_to_trust(folder) else None


def _is_whole(cache: Path) -> bool:
    """Return whether both files are as they were made; what is not is thrown away."""
    try:
        sums = json.loads((cache / "sums").read_bytes())
        if all(
            hashlib.sha256((cache / name).read_bytes()).hexdigest() == sums[name]
            for name in ("driver.jar", "classes.jsa")
        ):
            return True
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, TypeError):
        pass
    shutil.rmtree(cache, ignore_errors=True)
    return False


LANGUAGE = Language(
    name="java",
    title="Java",
    aliases=("jshell", "java11", "java17", "java21", "jdk", "openjdk"),
    hint="Install a Java development kit, 16 or later, from adoptium.net.",
    packages={
        "apt": "default-jdk-headless",
        "dnf": "java-latest-openjdk-devel",
        "pacman": "jdk-openjdk",
        "zypper": "java-21-openjdk-devel",
        "apk": "openjdk21-jdk",
        "brew": "openjdk",
    },
    keeps="variables, methods, classes, imports",
    input="reported",
    find=find,
    describe=describe,
    start=start,
    active_line="cell",
    interrupt_request="interrupt {nonce}",
    variables_request="variables {nonce}",
    variable_request="variable {nonce} {name}",
    timeout=60.0,
)
