"""`In`, `Out` and displays in Python cells, as notebooks use them."""

import sys
from collections.abc import Iterator

import pytest

from oi_tui.engine.output.plain import make_plain
from oi_tui.messages import RunEnded
from oi_tui.runtimes import Computer
from tests.runtimes.playing import Played


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer with the Python of the tests, which may have IPython."""
    computer = Computer(cwd=tmp_path_factory.mktemp("history"), python=sys.executable)
    assert run(computer, "before = (_, __, ___)", 1).state == "finished"
    yield computer
    computer.close()


def run(computer: Computer, code: str, number: int) -> Played:
    played = Played([(0.0, report) for report in computer.run("python", code, number)])
    assert isinstance(played.reports[-1][1], RunEnded)
    return played


def test_cells_and_results_are_found_by_the_number_of_the_cell(python: Computer) -> None:
    run(python, "6 * 7", 3)
    assert run(python, "Out[3], _3, _, In[3], _i3, _i", 7).text == "(42, 42, 42, '6 * 7', '6 * 7', '6 * 7')\n"
    assert run(python, "None", 8).text == ""
    assert (
        run(python, "sorted(Out), In[4:7], In[8], _i8", 9).text == "([3, 7], ['', '', ''], 'None', 'None')\n"
    )
    assert run(python, "Out", 10).state == "finished"
    assert run(python, "10 in Out", 11).text == "False\n"


def test_names_of_the_program_come_first_and_nothing_is_added_to_its_variables(python: Computer) -> None:
    assert (
        run(python, "{name for name in dir() if name in ('In', 'Out') or name[:2] == '_i'}", 20).text
        == "set()\n"
    )
    assert run(python, "Out = 'mine'\nOut", 21).text == "'mine'\n"
    assert run(python, "del Out\nOut[21]", 22).text == "'mine'\n"


def test_the_names_of_results_are_empty_texts_before_the_first(python: Computer) -> None:
    assert run(python, "before", 5).text == "('', '', '')\n"
    assert run(python, "6 * 7\n_", 6).text == "('', '', '')\n"


def test_a_failed_cell_and_a_number_that_is_used_again(python: Computer) -> None:
    assert run(python, "'first'", 30).state == "finished"
    assert run(python, "1 / 0", 31).state == "failed"
    assert run(python, "'second'", 30).state == "finished"
    assert (
        run(python, "Out[30], In[30], 31 in Out, In[31]", 32).text
        == "('second', \"'second'\", False, '1 / 0')\n"
    )


def _up(lines: int) -> str:
    """What goes back to the first of the last lines, and removes them."""
    return f"\x1b[{lines}A\r\x1b[J"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("for n in range(3):\n    h.update(n)", f"0\n{_up(1)}0\n{_up(1)}1\n{_up(1)}2\n"),
        ("h.update(list(range(60)))\nh.update('short')", None),
        ("print('between')\nh.update(1)", f"0\nbetween\n{_up(2)}1\nbetween\n"),
        ("print('half', end='')\nh.update([1, 2])", f"0\nhalf{_up(1)}[1, 2]\nhalf"),
        ("print('50%\\r60%')\nh.update(1)", "0\n50%\r60%\n1\n"),
        (
            "k = display(5, display_id=True)\nh.update(1)\nk.update(6)\nprint('end')\nk.update(7)",
            f"0\n5\n{_up(2)}1\n5\n{_up(1)}6\nend\n{_up(2)}7\nend\n",
        ),
        ("print('x' * 9000)\nh.update(1)", "0\n" + "x" * 9000 + "\n1\n"),
        ("print('half', end='')\nk = display(5, display_id=True)\nk.update(6)", "0\nhalf5\n6\n"),
        ("display(1, display_id='h')\ndisplay(2, display_id='h');", "0\n1\n2\n"),
    ],
)
def test_updated_text_takes_the_place_of_the_last_lines(
    python: Computer, code: str, text: str | None
) -> None:
    played = run(python, f"h = display(0, display_id='h')\n{code}", 44).text
    assert played == text if text else played.endswith(f"{_up(60)}'short'\n")


def test_many_updates_are_one_line(python: Computer) -> None:
    played = run(python, "h = display(0, display_id=True)\nfor n in range(1200):\n    h.update(n)", 45)
    assert played.text.endswith(f"{_up(1)}1198\n{_up(1)}1199\n")
    assert played.text.count(_up(1)) == 1200


def test_a_display_with_an_id_has_a_handle(python: Computer) -> None:
    played = run(
        python, "handle = display('one', display_id=True)\nhandle.update('two')\nhandle.display('three')", 40
    )
    assert played.text == f"'one'\n{_up(1)}'two'\n'three'\n"
    assert run(python, "display('x', display_id='mine').display_id", 41).text == "'x'\n'mine'\n"
    assert run(python, "display('x')", 42).text == "'x'\n"
    assert "display_id required" in run(python, "display('x', update=True)", 43).text


def test_forms_of_a_value_are_shown_by_their_types(python: Computer) -> None:
    played = run(python, "display({'text/plain': 'words', 'text/html': '<b>words</b>'}, raw=True)", 50)
    assert played.text == "words\n"
    assert [(shown.format, shown.content) for shown in played.shown] == [("html", "<b>words</b>")]
    page = run(python, "display({'text/html': '<b>words</b>'}, raw=True)", 51)
    assert (page.text, [shown.view for shown in page.shown]) == ("words\n", ["words"])
    assert run(python, "display({'text/markdown': '*a*'}, raw=True)", 52).text == "*a*\n"
    assert "takes a dictionary" in run(python, "display(3, raw=True)", 53).text


def test_the_output_of_a_cell_is_cleared(python: Computer) -> None:
    pytest.importorskip("IPython", reason="IPython is not installed")
    code = "from IPython.display import clear_output, display, update_display\n"
    loop = code + "for n in range(50):\n    clear_output(wait=True)\n    print('step', n)\n    print('of 50')"
    assert make_plain(run(python, loop, 60).text).split("\n")[:2] == ["step 49", "of 50"]
    assert run(python, code + "update_display('shown', display_id='a')", 61).text == "'shown'\n"
    kept = (
        "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as kept:\n    clear_output()\n"
    )
    assert run(python, kept + "kept.getvalue()", 62).text == "''\n"


def test_an_updated_figure_keeps_the_key_of_the_one_before(python: Computer) -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed")
    code = (
        "from PIL import Image\ndef image(size):\n    return Image.new('RGB', (size, size))\n"
        "handle = display(image(1), display_id=True)\nhandle.update(image(2))\ndisplay(image(3))\n"
        "display(image(4), display_id='mine')\ndisplay(image(5), display_id='mine')\n"
        "display(image(6), display_id='mine', update=True)"
    )
    first, again, other, mine, new, newer = (shown.key for shown in run(python, code, 70).shown)
    assert first
    assert first == again
    assert other is None
    assert mine != new == newer


def test_ipython_itself_finds_the_shell_of_the_cells(python: Computer) -> None:
    pytest.importorskip("IPython", reason="IPython is not installed")
    assert run(python, "import IPython\nIPython.get_ipython() is get_ipython()", 80).text == "True\n"


def test_libraries_work_with_the_shell_that_they_find(python: Computer) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    pytest.importorskip("IPython", reason="IPython is not installed")
    played = run(
        python, "import IPython\nfrom matplotlib import pyplot\npyplot.plot([1, 2])\npyplot.show()", 90
    )
    assert (played.state, [shown.format for shown in played.shown]) == ("finished", ["base64.png"])


@pytest.mark.parametrize(
    ("library", "code"),
    [
        ("tqdm", "from tqdm.auto import tqdm\nfor _ in tqdm(range(300)):\n    pass"),
        ("rich", "from rich.progress import track\nfor _ in track(range(30)):\n    pass"),
    ],
)
def test_a_progress_bar_stays_in_its_line(python: Computer, library: str, code: str) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    (line,) = make_plain(run(python, code, 95).text).strip("\n").split("\n")
    assert "100%" in line
