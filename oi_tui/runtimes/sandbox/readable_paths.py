"""Finds where programs and their libraries are installed: what a language must be able to read, and
nothing else.

Only names and places are looked at, and no program is asked: a program in the working directory may have been
put there by code in the sandbox, and would run outside of it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

#: Below the home folder: programs and libraries, of the many ways to have them without the system's help.
_OF_PEOPLE = (
    *(".local/lib", ".local/share/uv/python", ".local/share/uv/tools", ".local/share/pipx/venvs"),
    *(".local/share/mise/installs", ".local/share/mise/shims", ".asdf", ".pyenv", ".rbenv", ".rvm"),
    *(".local/share/fnm/node-versions", ".fnm/node-versions", ".nvm/versions", ".volta", ".npm-global/lib"),
    *(".local/share/gem", ".gem/ruby", "node_modules", "perl5", ".luarocks", "R", ".sdkman/candidates"),
    *(".jdks", ".juliaup", ".julia/packages", ".julia/artifacts", ".julia/compiled", ".julia/environments"),
    *(".cargo/bin", ".rustup", "go/pkg/mod", "sdk"),
    *("miniconda3", "miniforge3", "mambaforge", "anaconda3", ".conda/envs"),
)


def list_programs_at_home(home: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the folders of programs and libraries in a home folder, by their names and real names; no links,
    which could lead anywhere.
    """
    real_home = home.resolve()
    for name in _OF_PEOPLE:
        folder = home / name
        if folder.is_dir() and folder.resolve() == real_home / name:
            yield folder, real_home / name


def list_of_program(
    program: str, home: Path, cwd: Path
) -> tuple[list[tuple[Path, Path]], list[tuple[Path, str]]]:
    """Return the folders and files that a program's path leads to, by their names and real names, and the
    links on the way.

    Where the path leads through the working directory, code in the sandbox could have changed it. Outside of
    there only what proves to be an installation of Python counts from then on: otherwise a link could be made
    to anything, which would be shown. What was checked is the real name, so only that may be shown.
    """
    begins_inside = strict = is_in(program, cwd)
    folders: list[tuple[Path, Path]] = []
    links: list[tuple[Path, str]] = []
    path = Path(os.path.abspath(program))  # noqa: PTH100 -- a link on the way stays one
    for _ in range(40):
        prefix = path.parent.parent
        real = prefix.resolve()
        if path.parent.name in ("bin", "shims") and _is_installation(
            real, home, strict and not real.is_relative_to(cwd)
        ):
            # A name in the working directory leads to what is shown by the link that is there.
            folders.append((real if prefix.is_relative_to(cwd) else prefix, real))
        try:
            target = str(path.readlink())
        except OSError:
            break
        links.append((path, target))
        path = Path(os.path.normpath(path.parent / target))
        strict = strict or is_in(str(path), cwd)
    real = path.resolve()
    prefix = real.parent.parent
    if real.parent.name == "bin" and _is_installation(
        prefix, home, strict and not prefix.is_relative_to(cwd)
    ):
        folders.append((prefix, prefix))
    elif (not strict or (real.is_relative_to(cwd) and not begins_inside)) and real.is_file():
        folders.append((real, real))
    return folders, links


def _is_installation(prefix: Path, home: Path, strict: bool) -> bool:
    homes = dict.fromkeys((home, home.resolve()))
    if any(prefix in (item / ".local", item, *item.parents) for item in homes):
        return False
    if (prefix / "pyvenv.cfg").is_file() and not strict:
        return True
    try:
        if any((path / "os.py").is_file() for path in (prefix / "lib").glob("python3*")):
            return True
        return not strict and any((prefix / name).is_dir() for name in ("lib", "lib64", "libexec", "include"))
    except OSError:
        return False


def is_in(program: str, cwd: Path) -> bool:
    """Return whether the path itself, not the target of a link there, lies in the working directory."""
    return Path(os.path.realpath(Path(program).parent)).is_relative_to(cwd) or Path(
        os.path.abspath(program)  # noqa: PTH100
    ).is_relative_to(cwd)
