"""What is sent to other machines has all that it imports."""

import ast
import json
import zlib
from collections.abc import Iterator

import pytest

from oi_tui.runtimes.remote.bundle import make_bundle


def list_imports(source: str) -> Iterator[str]:
    """Yield the modules of the application that a file imports as it is loaded."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("oi_tui."):
            yield node.module


def list_all_imports(source: str) -> Iterator[str]:
    """Yield the modules of the application that a file imports at any time, and what it takes from them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and f"{node.module}.".startswith("oi_tui."):
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def read_modules() -> dict[str, str]:
    """The source of each Python module that is sent, by its name."""
    files = json.loads(zlib.decompress(make_bundle()[12:]))
    return {name.removesuffix(".py").replace("/", "."): source for name, source in files.items()}


def test_what_is_sent_to_another_machine_is_used_there() -> None:
    modules = read_modules()
    remaining, reached = ["oi_tui.runtimes.remote.worker"], set[str]()
    while remaining:
        name = remaining.pop()
        if name not in reached:
            reached.add(name)
            remaining += list_all_imports(modules.get(name) or modules.get(f"{name}.__init__", ""))
    ours = {name for name in modules if name.startswith("oi_tui.") and not name.endswith(".__init__")}
    drivers = {name for name in ours if name.startswith("oi_tui.runtimes.drivers.")}
    assert ours - drivers - reached == set()


@pytest.mark.slow
def test_what_runs_on_another_machine_imports_only_what_is_sent_there() -> None:
    modules = read_modules()
    remaining, reached, missing = ["oi_tui.runtimes.remote.worker"], set[str](), set[str]()
    while remaining:
        name = remaining.pop()
        if name in reached:
            continue
        reached.add(name)
        if name in modules:
            remaining += list_imports(modules[name])
        elif f"{name}.__init__" not in modules:
            missing.add(name)
    assert missing == set()
    assert "oi_tui.runtimes.pty_runtime" in reached
