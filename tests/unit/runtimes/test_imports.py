"""What the package imports by itself."""

import subprocess
import sys

CODE = """
import sys
import oi_tui.runtimes
assert "oi_tui.runtimes.languages" not in sys.modules
from oi_tui.runtimes import Computer
assert Computer is sys.modules["oi_tui.runtimes.computer"].Computer
"""


def test_the_package_imports_none_of_its_modules_so_that_two_threads_can_import_some() -> None:
    subprocess.run([sys.executable, "-c", CODE], check=True)
