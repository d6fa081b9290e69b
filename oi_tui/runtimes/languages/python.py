"""Python, in the interpreter of the person's choice."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from oi_tui import paths
from oi_tui.runtimes.language import DRIVERS, Choices, Language, Start
from oi_tui.runtimes.versions import find_version
from oi_tui.system import environment_names, programs


def find(choices: Choices) -> str | None:
    """Return the chosen interpreter, else the active virtual environment's,
    else the one on PATH, else ours.
    """
    if choices.python:
        path = paths.expand_typed(choices.python)
        if path.is_dir():
            path = path / "bin" / "python"
        program = shutil.which(str(path))
        # Languages start in folders of their own; a link stays one, or it would leave its environment.
        return os.path.abspath(program) if program else None  # noqa: PTH100
    environment = os.environ.get("VIRTUAL_ENV")
    if environment and (program := shutil.which(str(Path(environment, "bin", "python")))):
        return program
    return programs.find("python3") or sys.executable


def describe(program: str) -> str:
    """`Python 3.11.7 (.venv)`, from the environment's own description of itself where there is one."""
    folder = Path(program).parent.parent
    settings = folder / "pyvenv.cfg"
    try:
        lines = settings.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        version = find_version(program, "--version", r"Python (\S+)")
        return f"Python {version}".strip()
    values = dict(line.replace(" ", "").split("=", 1) for line in lines if "=" in line)
    version = values.get("version") or values.get("version_info", "")
    return f"Python {version} ({folder.name})".replace("  ", " ")


def start(program: str, folder: Path) -> Start:
    """Return the driver, started as a script, so that nothing is imported from the working directory."""
    spec = importlib.util.find_spec("cloudpickle")
    variables = {environment_names.CLOUDPICKLE: spec.origin} if spec and spec.origin else {}
    return Start(
        (program, str(DRIVERS / "python" / "python_start.py"), str(folder)),
        {**variables, **_activate(Path(program))},
    )


def _activate(program: Path) -> dict[str, str]:
    """Return the variables that activating the interpreter's environment sets, so
    that its programs are found first.
    """
    environment = program.parent.parent
    if not (environment / "pyvenv.cfg").is_file():
        return {}
    path = os.environ.get("PATH", os.defpath)
    return {"VIRTUAL_ENV": str(environment), "PATH": f"{program.parent}{os.pathsep}{path}"}


LANGUAGE = Language(
    name="python",
    title="Python",
    setting="python",
    aliases=("py", "python3", "python2", "ipython", "ipython3", "py3", "pycon", "jupyter"),
    hint="Install Python 3.8 or later from python.org.",
    packages={
        "apt": "python3",
        "dnf": "python3",
        "pacman": "python",
        "zypper": "python3",
        "apk": "python3",
        "brew": "python",
    },
    keeps="variables, functions, imports, working directory",
    input="reported",
    find=find,
    describe=describe,
    start=start,
    active_line="cell",
    variables_request="variables {nonce}",
    variable_request="variable {nonce} {name}",
    table_request="table {nonce} {name}",
    completion_request="complete {nonce} {name}",
)
