"""Texts of programs that are not UTF-8, and paths with characters that a shell knows."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import oi_tui
from oi_tui.runtimes import Computer
from oi_tui.runtimes.languages import LANGUAGES
from tests.runtimes.playing import play
from tests.runtimes.samples import ALL

Make = Callable[..., Computer]

#: For a language: what fails with such a text, and what keeps one in a variable that is named `text`.
FAILURES = [
    ("perl", 'die "caf\\xe9\\n";', '$text = "\\xff";'),
    ("perl", "die 'x', 'é' x 400;", '$text = "é";'),
    ("lua", 'error("\\255")', 'text = "\\255"'),
    ("octave", 'error(["x" repmat("é",1,200)])', "text = char(255);"),
    ("octave", 'error(["oops" char(255)])', "text = char([97 255]);"),
    ("ruby", 'raise "\\xff".b', 'text = "\\xff".b; nil'),
    ("ruby", "raise 'é'.encode('UTF-16LE')", "text = 'é'.encode('UTF-16LE'); nil"),
    ("r", 'stop("oops\\xff")', 'text <- "a\\xff"'),
    ("php", 'throw new Exception("\\xff");', '$text = "\\xff";'),
    ("javascript", 'throw new Error("\\ud800")', 'var text = "\\ud800"; undefined'),
    ("python", "raise ValueError('\\udc80')", "text = '\\udc80'"),
    ("java", 'throw new RuntimeException("\\ud800");', 'String text = "\\ud800";'),
    ("shell", "printf '\\377'; false", "text=$'\\377'"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("language", "failure", "kept"), FAILURES)
def test_a_run_with_a_text_that_is_not_utf_8_ends_and_its_variables_are_listed(
    make: Make, language: str, failure: str, kept: str
) -> None:
    computer = make()
    assert play(computer, language, failure).state == "failed"
    assert play(computer, language, kept).state == "finished"
    variables = computer.inspector.read_variables(language)
    assert "text" in [variable.name.lstrip("$") for variable in variables]


#: Runs the first cell of each language, and prints how each ended.
RUN_ALL = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import oi_tui
assert oi_tui.__file__.startswith(sys.argv[1]), oi_tui.__file__
from oi_tui.messages import Printed
from oi_tui.runtimes import Computer
from oi_tui.runtimes.processes import channel

channel._find_folder_for_pipes = lambda: None
computer = Computer(cwd=Path.cwd())

def run(item):
    language, code = item
    reports = list(computer.run(language, code))
    text = "".join(report.text for report in reports if isinstance(report, Printed))
    return [language, text.replace("\\r", ""), reports[-1].state, reports[-1].reason]

with ThreadPoolExecutor(3) as pool:
    print(json.dumps(list(pool.map(run, json.loads(sys.argv[2])))))
computer.close()
"""


@pytest.mark.slow
def test_every_language_runs_below_folders_with_quotes_and_spaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / 'It\'s a "folder" $x é'
    odd.mkdir()
    (odd / "oi_tui").symlink_to(Path(oi_tui.__file__).parent)
    monkeypatch.setenv("TMPDIR", str(odd))
    computer = Computer(cwd=tmp_path)
    names = {language.name for language in LANGUAGES}
    cells = {
        sample.name: sample.hello
        for sample in ALL
        if sample.name in names and computer.find_program(sample.name)
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, str(odd), json.dumps(list(cells.items()))],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        check=True,
        timeout=200,
    )
    assert len(cells) > 1
    assert json.loads(done.stdout) == [[name, "hello\n", "finished", None] for name in cells]
