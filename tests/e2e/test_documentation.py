"""The Python examples of the README and the guides run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.project.test_readme import WRITTEN, blocks

EXAMPLES = [
    pytest.param(text, id=f"{path.stem}-{number}")
    for path in WRITTEN
    for number, text in enumerate(blocks(path, "python"))
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_python_example_runs(example: str, workplace: Path) -> None:
    for package in re.findall(r"^(?:from|import) (\w+)", example, re.MULTILINE):
        if package != "oi_tui":
            pytest.importorskip(package)
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=workplace,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
