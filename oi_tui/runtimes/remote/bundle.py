"""Packs what is sent to the remote host: modules, the drivers of the languages, and two libraries."""

import base64
import hashlib
import importlib.util
import json
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
_BEGINNING = _PACKAGE / "runtimes" / "drivers" / "remote"
#: Modules beside those of the runtimes that these import.
_BESIDES = (
    "file_changes/restore",
    "file_changes/snapshots",
    "file_changes/watcher",
    "messages",
    "paths",
    "secret_shapes",
    "system/environment",
    "system/environment_names",
    "system/failures",
    "system/opener",
    "system/programs",
)
#: The modules of the runtimes that say what crosses the wire.
_SHARED = ("completions", "variables", "remote/wire", "remote/file_answers", "remote/outbox")
#: Libraries without which there is no terminal; both are plain Python.
_LIBRARIES = ("pexpect", "ptyprocess")
#: What only the application needs. There is no sandbox on the remote host.
_NOT_SENT = (
    "__pycache__",
    "custom",
    "jupyter",
    "availability.py",
    "cell_runner.py",
    "cell_socket.py",
    "comments.py",
    "computer.py",
    "connected_target.py",
    "guest_runtime.py",
    "inspector.py",
    "language_catalog.py",
    "tables.py",
    "targets.py",
    "files.py",
    "confinement.py",
    "askpass.py",
    "left_targets.py",
    "bundle.py",
    "connecting.py",
    "known_targets.py",
    "link.py",
    "registry.py",
    "remote_target.py",
    "runtime.py",
    "ssh_hosts.py",
    "target.py",
)
#: Starts the program that is its own last argument, which no shell can misread.
_LOADER = "import base64,sys;exec(base64.b64decode(sys.argv[1]))"
_NO_PYTHON = "oi-tui-far-1 missing"
#: A stand-in of pyenv, asdf or mise fails where no version is chosen. Then the system's own Python is taken,
#: and the word tells it that the first one on PATH does not do for cells either.
_PASS_OVER_SHIM = (
    "p=python3; word=; case $(command -v $p) in */shims/*) $p -I -S -c pass </dev/null >/dev/null 2>&1 || "
    "for p in /usr/bin/python3 /usr/local/bin/python3 python3; do word=newer; [ -x $p ] && break; done;; esac"
)


@cache
def make_bundle() -> bytes:
    """Return everything that the remote host runs, compressed, behind its length in 12 digits."""
    files = dict(_list_files())
    data = zlib.compress(json.dumps(files).encode(), 9)
    return b"%012d" % len(data) + data


@cache
def compute_wire_version() -> str:
    """Return a checksum of the modules that application and worker share; it must be the same in both."""
    names = ("messages.py", *(f"runtimes/{name}.py" for name in _SHARED))
    digest = hashlib.sha256(b"".join((_PACKAGE / name).read_bytes() for name in names))
    return digest.hexdigest()[:16]


def start_script() -> str:
    """Return the words for `sh -c` on the remote host: find Python, and have it take the bundle."""
    source = (_BEGINNING / "bootstrap.py").read_bytes()
    program = base64.b64encode(source).decode()
    return (
        f"command -v python3 >/dev/null 2>&1 || {{ echo; echo {_NO_PYTHON}; exit 127; }}; {_PASS_OVER_SHIM}; "
        f'exec $p -I -S -B -c "{_LOADER}" {program} $word'
    )


def _list_files() -> Iterator[tuple[str, str]]:
    yield "old_python.py", (_BEGINNING / "old_python.py").read_text(encoding="utf-8")
    for folder in ("oi_tui", "oi_tui/file_changes", "oi_tui/runtimes", "oi_tui/system"):
        # Theirs would import the whole of the application.
        yield f"{folder}/__init__.py", ""
    for name in _BESIDES:
        yield f"oi_tui/{name}.py", (_PACKAGE / f"{name}.py").read_text(encoding="utf-8")
    runtimes = _PACKAGE / "runtimes"
    for path in sorted(runtimes.rglob("*")):
        place = path.relative_to(runtimes)
        left_out = any(part in _NOT_SENT or part.startswith(".") for part in place.parts)
        if path.is_file() and path.suffix != ".toml" and not left_out and str(place) != "__init__.py":
            yield f"oi_tui/runtimes/{place}", path.read_text(encoding="utf-8")
    for library in _LIBRARIES:
        spec = importlib.util.find_spec(library)
        assert spec is not None
        assert spec.origin is not None
        for path in sorted(Path(spec.origin).parent.glob("*.py")):
            yield f"{library}/{path.name}", path.read_text(encoding="utf-8")
