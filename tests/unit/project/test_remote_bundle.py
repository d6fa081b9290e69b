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


@pytest.mark.slow
def test_what_runs_on_another_machine_imports_only_what_is_sent_there() -> None:
    files = json.loads(zlib.decompress(make_bundle()[12:]))
    modules = {name.removesuffix(".py").replace("/", "."): source for name, source in files.items()}
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
