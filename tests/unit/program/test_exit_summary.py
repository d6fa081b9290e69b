"""The line that stays in the terminal when the program ends."""

import re
from pathlib import Path

import pytest

from oi_tui.engine.llm.base import Text, Usage
from oi_tui.engine.settings.profile import Profile
from oi_tui.exit_summary import write_exit_summary
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm, call


def make_workspace(tmp_path: Path, *replies: object, **settings: object) -> Workspace:
    computer = Computer()
    computer.cwd = tmp_path
    profile = Profile(model="gpt-4o", auto_run=True, **settings)
    workspace = Workspace(profile, None, llm=Llm(*replies), computer=computer)
    for _ in workspace.session.turn("Sum it up"):
        pass
    return workspace


def test_it_says_how_to_resume_and_what_was_used(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, [Text("Done."), Usage(1000, 20, 0.5)])
    line = write_exit_summary(workspace)
    match = re.fullmatch(r"Saved\. Resume with: oi-tui --resume (\S+) · 1,020 tokens · \$0\.50", line)
    assert match
    assert workspace.store.find(match[1]) == match[1]
    workspace.close()


def test_it_is_empty_where_nothing_was_saved(tmp_path: Path) -> None:
    workspace = Workspace(Profile(model="gpt-4o"), None, llm=Llm(), computer=Computer())
    assert write_exit_summary(workspace) == ""
    workspace.close()
    workspace = make_workspace(tmp_path, [Text("Done.")], conversation_history=False)
    assert write_exit_summary(workspace) == ""
    workspace.close()


@pytest.mark.parametrize(("many", "words"), [(2, "wrote file0, file1"), (5, "5 files written")])
def test_it_names_the_files_that_code_wrote(tmp_path: Path, many: int, words: str) -> None:
    class Writing(Computer):
        def run(self, language: str, code: str, number: int | None = None):  # type: ignore[no-untyped-def]
            for place in range(many):
                (tmp_path / f"file{place}").write_text("x")
            yield from super().run(language, code)

    computer = Writing()
    computer.cwd = tmp_path
    workspace = Workspace(
        Profile(model="gpt-4o", auto_run=True), None, llm=Llm([call("1")], [Text("Done.")]), computer=computer
    )
    for _ in workspace.session.turn("Write"):
        pass
    assert write_exit_summary(workspace).endswith(f" · {words}")
    workspace.close()
