"""Each place where code runs has names of its own, and some of them were given by code that nobody saw."""

from pathlib import Path

import pytest

from oi_tui.engine.events import ApprovalRequested
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.permissions import Permission
from oi_tui.engine.review.scanner import scan_code
from tests.fakes import call
from tests.unit.engine.test_session import make, run_turn, select

PLACE, FOLDER = "ssh:gpu1\non gpu1 as ana, /scratch/ana", "/scratch/ana"
#: It is harmless where nothing gave `clean` a meaning.
CODE = {"python": "list(map(clean, ['data']))", "shell": "ls", "sql": "select 1"}


def is_clear(earlier: EarlierCode, language: str, folder: Path) -> bool:
    findings = scan_code(language, CODE[language], folder, earlier)
    return "effects of earlier code" not in {item.what for item in findings.unchecked}


@pytest.mark.parametrize("language", CODE)
def test_code_is_not_clear_where_languages_have_a_past(language: str, tmp_path: Path) -> None:
    earlier = EarlierCode()
    earlier.enter(PLACE, FOLDER, past=[language])
    assert not is_clear(earlier, language, tmp_path)
    assert all(is_clear(earlier, other, tmp_path) for other in CODE if other != language)
    earlier.enter("")
    assert is_clear(earlier, language, tmp_path)
    earlier.enter(PLACE, FOLDER, past=[language])
    earlier.forget()
    assert not is_clear(earlier, language, tmp_path)
    earlier.enter(PLACE, FOLDER)
    assert is_clear(earlier, language, tmp_path)


def test_startup_code_counts_in_each_place_also_after_the_languages_forgot(tmp_path: Path) -> None:
    earlier = EarlierCode()
    earlier.enter("kernel\non a kernel")
    earlier.use_startup([("python", "import shutil\nclean = shutil.rmtree")], tmp_path)
    for place in ("", "kernel\non a kernel", PLACE):
        earlier.enter(place)
        assert not scan_code("python", CODE["python"], tmp_path, earlier).nothing_listed, place
        assert "clean" in earlier.names, place
    earlier.enter("")
    earlier.forget()
    earlier.use_startup([("python", "import shutil\nclean = shutil.rmtree")], tmp_path)
    assert not scan_code("python", CODE["python"], tmp_path, earlier).nothing_listed
    earlier.use_startup([], tmp_path)
    earlier.enter("ssh:gpu2\non gpu2")
    assert "clean" not in earlier.names


@pytest.mark.parametrize(("past", "asks"), [((), False), (("shell",), False), (("python",), True)])
def test_a_grant_by_findings_covers_no_code_where_languages_have_a_past(
    past: tuple[str, ...], asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make([call(CODE["python"])])
    session.permissions.add(Permission("unremarkable", "python"))
    monkeypatch.setattr(session.computer, "target_past", past)
    assert bool(select(run_turn(session), ApprovalRequested)) is asks
