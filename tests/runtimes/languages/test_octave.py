"""What Octave promises beyond the contract."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.messages import Displayed, LineReached, Printed, Report
from oi_tui.runtimes import Computer
from oi_tui.runtimes.runs.octave_line import mark_statements
from oi_tui.runtimes.tables import TableError, TableQuery, TableRow
from tests.programs import OCTAVE_FIGURES
from tests.runtimes.playing import play

pytestmark = pytest.mark.needs("octave")


@pytest.fixture(scope="module")
def octave(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer whose Octave runs, which the tests share."""
    computer = Computer(cwd=tmp_path_factory.mktemp("octave"))
    assert play(computer, "octave", "").state == "finished"
    yield computer
    computer.close()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("x = 5", "x = 5\n"),
        ("x = 5;", ""),
        ("true", "ans = 1\n"),
        ("function f()\n  disp('f')\nend\nf()", "f\n"),
        ("warning('careful')", "warning: careful\n"),
        ("try, error('a'), catch e, disp(e.message), end", "a\n"),
        ("clear all; disp(exist('x'))", "0\n"),
        ("s = system('exit 2')", "s = 2\n"),
        ("[s, out] = system('printf child')", "s = 0\nout = child\n"),
        ("p = popen('tty', 'r'); disp(strncmp(fgetl(p), '/dev/', 5)); pclose(p);", "1\n"),
        ("unix('echo child');", "child\n"),
        ("argv()", "ans = {}(0x0)\n"),
        ("exit", ""),
        ("quit(0)", ""),
        ("fgetl(stdin)", "error: stdin: a cell cannot read from stdin; ask with input instead\n"),
        ("fclose('all'); f = fopen(tempname(), 'w'); disp(2); fclose(f);", "2\n"),
        ("keyboard", "error: keyboard: a cell cannot stop in the debugger; show values with disp instead\n"),
    ],
)
def test_cells_print_what_the_prompt_would(octave: Computer, code: str, text: str) -> None:
    assert play(octave, "octave", code).text.startswith(text)
    assert play(octave, "octave", "disp(1)").text == "1\n"


def test_an_error_names_the_cell_and_the_calls(octave: Computer) -> None:
    played = play(octave, "octave", "function f(n)\n  error('my:id', 'oops %d', n)\nend\nx = 1;\nf(x)")
    assert played.reason == "oops 1"
    words, called, inner, outer = played.text.splitlines()
    assert (words, called) == ("error: oops 1", "error: called from")
    assert inner.strip() == "f at line 2 column 3"
    assert outer.strip().startswith("cell ")
    assert outer.endswith("at line 5 column 1")
    undefined = play(octave, "octave", "x = 3; none(2)")
    assert undefined.reason.startswith("'none' undefined near line 1, column 8")


def test_code_that_cannot_be_parsed_is_named_by_its_cell(octave: Computer) -> None:
    played = play(octave, "octave", "disp(1)\nx = [1 2\ny = )")
    assert played.reason.startswith("parse error near line 3 of cell ")
    assert "/" not in played.text


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("input('n? ') + 1", "ans = 7"),
        ("pause(); disp('on')", "on\n"),
        ("kbhit()", "ans = 2"),
    ],
)
def test_what_reads_gets_it_from_the_terminal(octave: Computer, code: str, text: str) -> None:
    played = play(octave, "octave", code, answers=("2*3\n",))
    assert text in played.text
    assert played.state == "finished"


def test_a_program_that_an_interrupt_ends_ends_the_cell(octave: Computer) -> None:
    code = "kept = 7;\nsystem('echo go; sleep 60');\ndisp('went on')"
    played = play(octave, "octave", code, stop_at="go\r\n")
    assert played.state == "interrupted"
    assert "went on" not in played.text
    assert play(octave, "octave", "disp(kept)").text == "7\n"


def test_variables_are_listed_with_types_and_sizes(octave: Computer) -> None:
    code = (
        "clear all; n = 3; t = 'hello'; b = true; m = zeros(2, 5); c = {1, 'a'}; s.field = 2;\n"
        "f = @(x) x; i = int8(4); e = [];"
    )
    assert play(octave, "octave", code).text == ""
    variables = octave.inspector.read_variables("octave")
    listed = {item.name: (item.type, item.summary, item.size) for item in variables}
    assert listed["n"] == ("double", "3", 8)
    assert listed["t"] == ("char", '"hello"', 5)
    assert listed["b"] == ("logical", "true", 1)
    assert listed["m"] == ("matrix", "double 2x5", 80)
    assert listed["c"][:2] == ("cell", "cell 1x2")
    assert listed["s"][:2] == ("struct", "struct 1x1")
    assert listed["f"][0] == "function_handle"
    assert listed["i"][:2] == ("int8", "int8 1x1")
    assert listed["e"][:2] == ("double", "double 0x0")
    detail = octave.inspector.inspect("octave", "m")
    assert detail
    assert (detail.description, detail.preview) == ("double 2x5", "   0   0   0   0   0\n" * 2)
    structure = octave.inspector.inspect("octave", "s")
    assert structure
    assert "field = 2" in structure.preview


def test_questions_between_runs_leave_the_variables_as_they_were(octave: Computer) -> None:
    assert play(octave, "octave", "clear all; only = 1;").state == "finished"
    assert [item.name for item in octave.inspector.read_variables("octave")] == ["only"]
    assert octave.inspector.inspect("octave", "only")
    assert octave.inspector.complete("octave", "onl")
    assert [item.name for item in octave.inspector.read_variables("octave")] == ["only"]
    assert play(octave, "octave", "6 * 7;").state == "finished"
    assert octave.inspector.complete("octave", "onl")
    with pytest.raises(TableError):
        octave.inspector.open_table("octave", "nothing").shape(TableQuery())
    assert [item.summary for item in octave.inspector.read_variables("octave")] == ["42", "1"]
    assert play(octave, "octave", "ans").text == "ans = 42\n"


def test_names_and_fields_are_completed(octave: Computer) -> None:
    play(octave, "octave", "clear all; price_list = [1 2 3]; order.customer = 'Ada';")
    found = octave.inspector.complete("octave", "x = sum(price_l")
    assert found
    assert found.typed == len("price_l")
    assert [(item.text, item.facts) for item in found.found] == [("price_list", "double 1x3")]
    fields = octave.inspector.complete("octave", "disp(order.cu")
    assert fields
    assert fields.typed == len("order.cu")
    assert [item.text for item in fields.found] == ["order.customer"]
    play(octave, "octave", "mkdir('data'); fclose(fopen('data/prices.csv', 'w'));")
    files = octave.inspector.complete("octave", "load('data/pr")
    assert files
    assert [item.text for item in files.found] == ["data/prices.csv"]
    functions = octave.inspector.complete("octave", "y = linspac")
    assert functions
    assert [item.text for item in functions.found] == ["linspace"]


@pytest.mark.needs(OCTAVE_FIGURES)
def test_figures_are_shown_at_the_end_of_their_cell(octave: Computer) -> None:
    played = play(octave, "octave", "plot(1:3); figure; bar([1 2]);\ndisp('drawn')")
    images = [report for _, report in played.reports if isinstance(report, Displayed)]
    assert [image.format for image in images] == ["base64.png"] * 2
    assert all(base64.b64decode(image.content).startswith(b"\x89PNG") for image in images)
    assert played.text == "drawn\n"
    assert play(octave, "octave", "disp(numel(get(0, 'children')))").text == "0\n"


def test_a_figure_that_cannot_be_drawn_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCTAVE_FONTS_DIR", str(tmp_path))
    computer = Computer(cwd=tmp_path)
    played = play(computer, "octave", "plot(1:3)")
    computer.close()
    assert "fonts-freefont-otf" in played.text or "gnuplot-nox" in played.text


def test_the_line_that_runs_is_reported(octave: Computer) -> None:
    code = "for n = 1:2\n  x = n;\nend\ninput('go? ', 's');\nm = [1 2\n  3 4]';"

    def answer(report: Report, _: str) -> None:
        if isinstance(report, LineReached) and report.line == 4:
            octave.send_input("on\n")

    played = play(octave, "octave", code, on=answer)
    assert played.state == "finished"
    assert 4 in played.lines
    assert set(played.lines) <= {1, 4, 5, None}


@pytest.mark.parametrize(
    ("code", "marked"),
    [
        ("a\nb", [1, 2]),
        ("% c\n\na = 1 % b\n# d", [3]),
        ("if a\n  b\nelse\n  c\nend\nd", [1, 6]),
        ("for n = 1:3, f(end), end\nd", [1, 2]),
        ("x = [1 2\n3 4];\nd", [1, 3]),
        ("x = {'it''s', ...\n \"[\"};\nd", [1, 3]),
        ("x = a';\ny = [a' 'b['];\nd", [1, 2, 3]),
        ("%{\nno\n%}\nd", [4]),
        ("function f()\n  x\nend\nf()", [4]),
        ("function f()\n  x\nf()", []),
        ("1;\nfunction f()\n  if x, y, endif\nendfunction\nf()", [1, 5]),
        ("s.end = 3; s.if = 2;\nd", [1, 2]),
        ("do\n x++;\nuntil x > 3\nd", [1, 4]),
        ("try, error('a'), catch e, disp(e), end\nd", [1, 2]),
        ("hold end\nd", []),
        ("disp('% no comment ['); # [\nd", [1, 2]),
        ("a = b + \\\n c\nd", [1, 3]),
        ("switch a\n case {1, 2}\n  b\nendswitch\nd", [1, 5]),
        ("unwind_protect\n a\nunwind_protect_cleanup\n b\nend_unwind_protect\nd", [1, 6]),
    ],
)
def test_statements_of_the_top_level_are_marked(code: str, marked: list[int]) -> None:
    lines = mark_statements(code).split("\n")
    assert [n for n, line in enumerate(lines, 1) if line.startswith(f"oi_tui_line({n}")] == marked
    kept = [re.sub(rf"oi_tui_line\({n}(,'\w+')?\);", "", line) for n, line in enumerate(lines, 1)]
    assert "\n".join(kept) == code


def test_statements_that_print_a_variable_name_it() -> None:
    assert mark_statements("m") == "oi_tui_line(1,'m');m"
    assert mark_statements("m = f(1, 2)") == "oi_tui_line(1);m = f(1, 2);oi_tui_line(1,'m');m"
    for code in (
        "m;",
        "m = 1;",
        "m == 1",
        "m, n",
        "m = 1 % note",
        "m(1) = 2",
        "m += 1",
        "hold on",
        "m = [1",
        "5",
    ):
        assert mark_statements(code) == f"oi_tui_line(1);{code}"


def test_a_table_that_a_cell_prints_is_a_table_in_the_conversation(octave: Computer) -> None:
    code = (
        "shown = reshape(1:75, 25, 3)\nx = 5\nrecords = struct('a', {1, 2}, 'b', {'x', 'y, z'});\nrecords\n"
        "clear part; part = 'text'\n[1 2; 3 4]"
    )
    played = play(octave, "octave", code)
    printed = [report for _, report in played.reports if isinstance(report, Printed)]
    # A slow system reports a table in more than one piece.
    pieces = {report.table: report for report in reversed(printed) if report.table}
    first, second = reversed(pieces.values())
    numbers, records = json.loads(first.table or ""), json.loads(second.table or "")
    assert (numbers["key"], numbers["total"], numbers["width"], numbers["head"]) == ("shown", 25, 3, 8)
    assert numbers["rows"][-1] == ["25", ["25", "50", "75"]]
    assert records["columns"] == [["a", "double", True], ["b", "text", False]]
    assert first.text.startswith("shown =")
    assert first.view is not None
    assert "25,25,50,75" in first.view
    assert second.view == (
        "struct: 2 rows by 2 columns\nColumns: a double, b text\nRows as CSV (row, then the columns):\n"
        '1,1,x\n2,2,"y, z"'
    )
    assert "".join(report.text for report in printed if not report.table).startswith("x = 5")
    assert played.text.rstrip().endswith("3   4")
    failed = play(octave, "octave", "1;\nm = nosuch(3)")
    assert "'nosuch' undefined near line 2, column 5" in failed.text


def test_the_view_of_a_table_tells_how_many_values_are_missing(octave: Computer) -> None:
    code = (
        "m = reshape(1:66, 22, 3); m([3 4], 2) = NaN;\nm\n"
        "r = struct('a', {1, [], NaN}, 'b', {'x', 'y', 'z'});\nr\n"
        "wide = cell(100001, 3); wide(:) = {1};\nwide"
    )
    printed = [report for _, report in play(octave, "octave", code).reports if isinstance(report, Printed)]
    # A long text is printed in parts.
    matrix, records, wide = dict.fromkeys(str(report.view) for report in printed if report.view)
    assert "Columns: 1 double, 2 double (2 missing), 3 double\n" in matrix
    assert "(2 missing), b text\n" in records
    assert "(missing values were not counted)\n" in wide


def test_tables_are_opened_page_by_page(octave: Computer) -> None:
    code = (
        "m = reshape(1:12, 3, 4) / 8; m(2, 1) = NaN; s = struct('a', {1, 2, 3}, 'b', {'x', 'Ä', 'z'});\n"
        "t = struct(); t.day = [3 1 2]; t.name = {'p', 'q', 'p'}; c = {1, 'a'; 2, []}; w = 'word'; "
        "big = zeros(1e6, 2);"
    )
    assert play(octave, "octave", code).state == "finished"
    matrix = octave.inspector.open_table("octave", "m")
    assert matrix.shape(TableQuery()).rows == 3
    assert matrix.page(TableQuery(), 0, 2, 0, 2) == [
        TableRow("1", ("0.125", "0.5")),
        TableRow("2", (None, "0.625")),
    ]
    assert [row.label for row in matrix.page(TableQuery(sort=0, descending=True), 0, 3, 0, 1)] == [
        "3",
        "1",
        "2",
    ]
    records = octave.inspector.open_table("octave", "s")
    assert [column.type for column in records.shape(TableQuery()).columns] == ["double", "text"]
    assert records.page(TableQuery(words="ä"), 0, 9, 0, 2) == [TableRow("2", ("2", "Ä"))]
    columns = octave.inspector.open_table("octave", "t")
    assert columns.page(TableQuery(sort=0), 0, 1, 0, 2) == [TableRow("2", ("1", "q"))]
    assert columns.statistics(1).bars == (("p", 2), ("q", 1))
    facts = dict(columns.statistics(0).facts)
    assert (facts["rows"], facts["median"], facts["std"]) == ("3", "2", "1")
    assert octave.inspector.open_table("octave", "c").page(TableQuery(), 1, 1, 0, 2) == [
        TableRow("2", ("2", None))
    ]
    assert octave.inspector.open_table("octave", "big").shape(TableQuery()).total == 1_000_000
    for name in ("w", "nothing"):
        with pytest.raises(TableError, match=name):
            octave.inspector.open_table("octave", name).shape(TableQuery())
