"""Checks the installation: Python, required packages, and the program's own files."""

import importlib.util
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from oi_tui.doctor.finding import Diagnosis
from oi_tui.system.extras import make_install_command

#: The oldest Python that works.
OLDEST = (3, 11)
#: The modules of packages whose name is another.
_MODULES = {"pillow": "PIL", "pyyaml": "yaml", "ruamel-yaml": "ruamel.yaml"}
_ROOT = Path(__file__).resolve().parents[1]
#: Releases of LiteLLM not to use, and why.
_STOLEN = ("1.82.7", "1.82.8")
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(.*)")


def check_python() -> Iterator[Diagnosis]:
    """Check the interpreter that runs us."""
    version = ".".join(map(str, sys.version_info[:3]))
    where = f"Python {version}, {sys.executable or 'of unknown place'}"
    if sys.version_info < OLDEST:
        text = ".".join(map(str, OLDEST))
        yield Diagnosis(False, where, f"Python {text} or newer is needed: make PYTHON=python{text}")
    else:
        yield Diagnosis(True, where)
    if sys.prefix == sys.base_prefix:
        yield Diagnosis(None, "no virtual environment: packages are shared with the rest of the system")


def check_packages() -> Iterator[Diagnosis]:
    """Check every package that we were declared to need: a version that works, and importable."""
    try:
        requirements = metadata.requires("oi-tui") or []
    except metadata.PackageNotFoundError:
        yield Diagnosis(False, "oi-tui itself is not installed", "pip install . in its folder")
        return
    good = []
    for line in requirements:
        requirement, _, marker = line.partition(";")
        if "extra" in marker or not (match := _REQUIREMENT.match(requirement.strip())):
            continue
        name, limits = match[1], match[2].strip(" ()")
        problem = _check_package(name, limits)
        if problem:
            yield problem
        else:
            good.append(f"{name} {metadata.version(name)}")
    if good:
        yield Diagnosis(True, ", ".join(good))


def check_files() -> Iterator[Diagnosis]:
    """Check our own files that are no modules."""
    styles = _ROOT / "styles" if (_ROOT / "styles").is_dir() else _ROOT.parent / "styles"
    python = _ROOT / "runtimes" / "drivers" / "python"
    missing = [str(path) for path in (styles / "app.tcss", python / "python_driver.py") if not path.is_file()]
    if missing:
        yield Diagnosis(False, f"not there: {', '.join(missing)}", "Install oi-tui again.")
    else:
        yield Diagnosis(True, f"style sheets and drivers are in {_ROOT}")


def _check_package(name: str, limits: str) -> Diagnosis | None:
    """Check a package; None when nothing is wrong."""
    fix = make_install_command(f"{name}{limits}")
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Diagnosis(False, f"{name} is missing", fix)
    if name == "litellm" and version in _STOLEN:
        return Diagnosis(
            False,
            f"litellm {version} was compromised by an attacker",
            f"Remove it now ({fix}), and replace every key on this machine.",
        )
    if not _is_within(version, limits):
        return Diagnosis(False, f"{name} {version} does not match {limits}", fix)
    usual = re.sub(r"[-_.]+", "-", name).lower()
    module = _MODULES.get(usual, usual.replace("-", "_"))
    try:
        there = importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        there = False
    if not there:
        return Diagnosis(
            False, f"{name} {version} is installed, but cannot be imported", f"{fix} --force-reinstall"
        )
    return None


def _is_within(version: str, limits: str) -> bool:
    """Return whether a version satisfies limits such as `>=8.2,<9`, by its numbers alone."""
    return all(_is_satisfied(version, limit.strip()) for limit in limits.split(",") if limit.strip())


def _is_satisfied(version: str, limit: str) -> bool:
    comparison = re.match(r"(>=|<=|==|!=|~=|<|>)\s*(\S+)", limit)
    if not comparison:
        return True
    mine, theirs = _parse_numbers(version), _parse_numbers(comparison[2])
    match comparison[1]:
        case ">=":
            return mine >= theirs
        case "<=":
            return mine <= theirs
        case "<":
            return mine < theirs
        case ">":
            return mine > theirs
        case "!=":
            return mine != theirs
        case "==":
            return mine == theirs
        case _:
            return mine >= theirs and mine[: len(theirs) - 1] == theirs[:-1]


def _parse_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a release, without zeros at its end: 8.2.0 is 8.2."""
    numbers = [int(part) for part in re.findall(r"\d+", re.split(r"[a-zA-Z+]", version)[0])]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
