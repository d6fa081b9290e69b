"""`computer.skills`: Python functions that are saved for later conversations."""

from __future__ import annotations

import ast
import builtins
import importlib.util
import keyword
import os
import re
from pathlib import Path
from typing import Any

from oi_tui.computer.docs import find_best
from oi_tui.computer.errors import ComputerError
from oi_tui.computer.files import replace
from oi_tui.computer.tool import Tool

#: The environment variable with the folder.
VARIABLE = "OI_TUI_SKILLS"
#: What the function of a new skill uses itself.
_TAKEN = ("computer", "compile", "exec")


class Skills(Tool):
    """Python functions in a folder, one file for each, that every conversation can use."""

    def __init__(self, computer: Any) -> None:
        super().__init__(computer)
        self.path = os.environ.get(VARIABLE) or str(Path.home() / ".config" / "oi-tui" / "skills")
        self.new_skill = NewSkill(self)

    def list(self) -> builtins.list[str]:
        """Return the names of all skills."""
        return [file.stem for file in self._files()]

    def search(self, query: str) -> builtins.list[str]:
        """Return the names of the skills whose name or text fits `query`, the best first."""
        files = self._files()
        passages = [f"{file.stem.replace('_', ' ')}\n{_read_text(file)}" for file in files]
        return [files[passages.index(passage)].stem for passage in find_best(query, passages)]

    def run(self, skill: str, *args: Any, **options: Any) -> Any:
        """Call a skill by its name, with these arguments, and return its result."""
        return self._load(skill)(*args, **options)

    def import_skills(self) -> dict[str, Any]:
        """Return all skills as functions by name; `globals().update(...)` makes them names of a cell.

        A file that cannot be read is left out, with a line that says so.
        """
        functions = {}
        for name in self.list():
            try:
                functions[name] = self._load(name)
            except (ComputerError, Exception) as error:  # noqa: BLE001 -- a skill is code of anybody's
                print(f"The skill {name} was left out: {error}")
        return functions

    def _files(self) -> builtins.list[Path]:
        return sorted(Path(self.path).glob("[a-zA-Z]*.py"))

    def _load(self, name: str) -> Any:
        file = Path(self.path, f"{name}.py")
        if not file.is_file():
            raise ComputerError(f"There is no skill {name}. Skills: {', '.join(self.list()) or 'none'}.")
        spec = importlib.util.spec_from_file_location(f"skill_{name}", file)
        if spec is None or spec.loader is None:
            raise ComputerError(f"{file} cannot be loaded.")
        module = importlib.util.module_from_spec(spec)
        vars(module)["computer"] = self._computer
        spec.loader.exec_module(module)
        if not callable(function := getattr(module, name, None)):
            raise ComputerError(f"{file} has no function {name}.")
        return function


class NewSkill:
    """Makes a skill of steps that worked: `create`, a name, `add_step` for each, `save`."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills
        self._name = ""
        self.steps: list[tuple[str, str]] = []

    def create(self) -> None:
        """Begin a new skill."""
        self._name, self.steps = "", []

    @property
    def name(self) -> str:
        """The name of the function, such as "rename_photos"."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        word = re.sub(r"\W+", "_", name.strip()).strip("_").lower()
        if not word.isidentifier() or keyword.iskeyword(word) or word in _TAKEN:
            raise ComputerError(f"{name!r} cannot be the name of a function.")
        self._name = word

    def add_step(self, step: str, code: str) -> None:
        """Add a step: what it does in words, and its Python code."""
        try:
            ast.parse(code)
        except SyntaxError as error:
            raise ComputerError(f"This step is not valid Python: {error}.") from None
        self.steps.append((step, code))

    def save(self) -> str:
        """Write the skill into the folder of skills and return its path."""
        if not self._name or not self.steps:
            raise ComputerError(
                "A skill needs a name (new_skill.name = ...) and a step (new_skill.add_step)."
            )
        folder = Path(self._skills.path)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self._name}.py"
        replace(file, self._source())
        return str(file)

    def _source(self) -> str:
        steps = "\n\n".join(f"# {' '.join(step.split())}\n{code.strip()}" for step, code in self.steps)
        docs = "\n".join(
            f"{number}. {' '.join(step.split())}" for number, (step, _) in enumerate(self.steps, 1)
        )
        # The code is kept as text of its own, since indenting it would change texts of several lines in it.
        return (
            f"STEPS = {docs!r}\nCODE = {steps!r}\n\n\ndef {self._name}():\n"
            f'    names = {{"computer": computer}}\n    exec(compile(CODE, __file__, "exec"), names)\n\n\n'
            f"{self._name}.__doc__ = STEPS\n"
        )


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
