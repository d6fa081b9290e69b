"""The modules of the Python driver, which find each other by name across its folders."""

import subprocess
import sys

from oi_tui.runtimes.language import DRIVERS

_FOLDER = DRIVERS / "python"
#: Programs: the first starts the driver, the second is the main module of a spawned process.
_PROGRAMS = {"python_start", "python_spawned"}


def test_every_module_is_found_in_its_folder_and_has_a_name_of_its_own() -> None:
    files = [path for path in sorted(_FOLDER.rglob("python_*.py")) if path.stem not in _PROGRAMS]
    names = [path.stem for path in files]
    assert len(set(names)) == len(names)
    code = (
        "import sys\n"
        f"sys.path.insert(0, {str(_FOLDER)!r})\n"
        "from python_driver import import_quietly\n"
        "sys.path.pop(0)\n"
        f"for name in {names}: print(import_quietly(name).__file__)\n"
    )
    output = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert output.stderr == ""
    assert output.stdout.splitlines() == [str(path) for path in files]


def test_no_folder_of_the_driver_has_more_modules_than_one_look_takes_in() -> None:
    folders = {path.parent for path in _FOLDER.rglob("*.py")}
    assert max(len(list(folder.glob("*.py"))) for folder in folders) <= 25
