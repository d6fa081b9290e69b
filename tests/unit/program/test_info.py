"""`%info` fits on a screen, whatever is installed."""

from collections.abc import Sequence

from oi_tui.actions.info import describe_conversation
from oi_tui.engine.settings.profile import Profile
from oi_tui.runtimes.availability import Availability
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm


class Equipped(Computer):
    """A computer with many languages, one of which may not run where code runs."""

    languages = ("python", "shell", "react", "sql")

    def check_availability(self) -> Sequence[Availability]:
        return [
            Availability("python", "Python 3.12.1", "/bin/python", True),
            Availability("shell", "bash 5.2", "/bin/bash", True),
            Availability("react", "a page, saved as a file; React from node_modules", "/bin/x", False),
            Availability("sql", "SQL runs on your own machine only.", None, False),
            Availability("julia", "Julia is not installed. Install it from julialang.org.", None, False),
            Availability("typescript", "TypeScript is not installed. Install Node.js.", None, False),
        ]


def test_languages_take_a_line_and_those_that_are_missing_another() -> None:
    lines = describe_conversation(
        Workspace(Profile(model="demo"), None, llm=Llm(), computer=Equipped())
    ).splitlines()
    assert lines[-3:] == [
        "languages: Python 3.12.1, bash 5.2, react",
        "  sql: SQL runs on your own machine only.",
        "not available: julia, typescript (see %languages)",
    ]
    assert lines[1] == "model: demo"


def test_the_lines_fit_on_a_small_screen() -> None:
    workspace = Workspace(Profile(model="demo"), None, llm=Llm(), computer=Equipped())
    rows = sum(-(-len(line) // 68) for line in describe_conversation(workspace).splitlines())
    assert rows <= 20
