"""What R promises beyond the contract."""

# ruff: noqa: E501 - code of other languages, as it is

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from oi_tui.actions.tables import find_table
from oi_tui.messages import Printed
from oi_tui.runtimes import Computer
from oi_tui.runtimes.completions import CompletionSet
from oi_tui.runtimes.tables import TableError, TableQuery, TableRow
from oi_tui.widgets.conversation.inline_table import InlineTable
from tests.programs import R_DATA_TABLE
from tests.runtimes.playing import play

if TYPE_CHECKING:
    from oi_tui.services.languages import Languages

pytestmark = pytest.mark.needs("R")


@pytest.fixture(scope="module")
def r(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer whose R runs, which the tests share."""
    computer = Computer(cwd=tmp_path_factory.mktemp("r"))
    assert play(computer, "r", "").state == "finished"
    yield computer
    computer.close()


def test_its_temporary_folder_is_removed_with_it(tmp_path: Path) -> None:
    computer = Computer(cwd=tmp_path)
    folder = Path(play(computer, "r", "file.create(tempfile()); cat(tempdir())").text.splitlines()[-1])
    assert list(folder.iterdir())
    computer.close()
    assert not folder.exists()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("1+1", "[1] 2\n"),
        ("x <- 5", ""),
        ("(x <- 5)", "[1] 5\n"),
        ("invisible(3)", ""),
        ("f <- function() invisible(7); f()", ""),
        ("NULL", "NULL\n"),
        ("1; 2", "[1] 1\n[1] 2\n"),
        ("data.frame(a = 1:2, b = c('x', 'y'))", "  a b\n1 1 x\n2 2 y\n"),
        ("print.mine <- function(x, ...) cat('MINE\\n'); structure(1, class = 'mine')", "MINE\n"),
        ("setClass('P', representation(x = 'numeric')); setMethod('show', 'P', function(object) cat('a P\\n')); new('P', x = 1)", "a P\n"),
        ("g <- function(x) {\n  x^2 # kept\n}\ng", "function(x) {\n  x^2 # kept\n}\n"),
        ("'a\\\\b'", "[1] \"a\\\\b\"\n"),
        ("8; .Last.value", "[1] 8\n[1] 8\n"),
        ("if (TRUE) 'yes'", '[1] "yes"\n'),
        ("s <- 0; for (i in 1:3) s <- s + i; s", "[1] 6\n"),
        ("cat('a\\n')\r\ncat('b\\n')\r\n", "a\nb\n"),
        ("tryCatch(stop('a'), error = function(e) cat('caught\\n'), finally = cat('last\\n'))", "caught\nlast\n"),
        ("system('echo child')", "child\n"),
        ("print(1:30)", " [1]  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25\n[26] 26 27 28 29 30\n"),
        ("rm(list = ls(all.names = TRUE)); ls(all.names = TRUE)", "character(0)\n"),
        ("parallel::mclapply(1:2, function(i) i * 2)[[2]]", "[1] 4\n"),
        ("q()", ""),
        ("environmentName(environment())", '[1] "R_GlobalEnv"\n'),
        ("environmentName(parent.frame())", '[1] "R_GlobalEnv"\n'),
        ("assign('kept', 5, envir = parent.frame()); kept", "[1] 5\n"),
        ("sys.nframe(); sys.calls()", "[1] 0\nNULL\n"),
        ("on.exit(cat('never\\n')); cat('x\\n')", "x\n"),
        ("sink('hidden.txt'); 1; sink(); 2", "[1] 2\n"),
        ("closeAllConnections(); 3", "[1] 3\n"),
        ("closeAllConnections(); mine <- lapply(1:5, function(i) file(paste0('f', i), 'w')); for (m in mine) close(m); 4", "[1] 4\n"),
    ],
)  # fmt: skip
def test_cells_print_what_the_prompt_would(r: Computer, code: str, text: str) -> None:
    played = play(r, "r", code)
    assert (played.text, played.state) == (text, "finished")


@pytest.mark.parametrize(
    ("code", "reason", "text"),
    [
        ("stop('oops')", "Error: oops", "Error: oops\n"),
        ("f <- function(a) {\n  g(a)\n}\ng <- function(b) {\n  stop('bad ', b)\n}\nf(2)", "Error in g(a): bad 2", "Calls:\n  f(2)\n  g(a)  (cell "),
        ("log('a')", "Error in log(\"a\"): non-numeric argument", "Error in log(\"a\") : non-numeric argument to mathematical function\n"),
        ("if (", "Error: cell ", "unexpected end of input"),
        ("x <- 1 2", "Error: cell ", "unexpected numeric constant"),
        ("nothing_such", "Error: object 'nothing_such' not found", ""),
        ("library(nothing.such)", "Error in library(nothing.such): there is no package", 'install.packages("nothing.such")'),
        ("stopifnot('must be so' = 1 == 2)", "Error: must be so", ""),
        ("f <- function(n) f(n + 1); f(1)", "Error", ""),
        ("quit(status = 4)", "exit status 4", ""),
        ("base::q('no', 5)", "exit status 5", ""),
        ("warning('w'); stop('after')", "Error: after", "Warning message:\nw \nError: after\n"),
        ("invokeRestart('abort')", "it was aborted", ""),
        ("cat('x\\n'); break", "Error", "x\n"),
    ],
)  # fmt: skip
def test_errors_say_what_happened(r: Computer, code: str, reason: str, text: str) -> None:
    played = play(r, "r", code)
    assert played.state == "failed"
    assert played.reason.startswith(reason)
    assert text in played.text
    assert "note_trouble" not in played.text
    assert play(r, "r", "1").text == "[1] 1\n"


def test_warnings_come_after_their_statement(r: Computer) -> None:
    played = play(r, "r", "w <- function() warning('second'); warning('first'); w(); as.integer('a')")
    assert played.text == (
        "Warning message:\nfirst \nWarning message:\nIn w() : second \n[1] NA\nWarning message:\nNAs introduced by coercion \n"
    )
    assert played.state == "finished"
    many = play(r, "r", "for (i in 1:60) warning(i)").text
    assert many == "There were 50 or more warnings (use warnings() to see them)\n"
    assert play(r, "r", "length(warnings())").text == "[1] 50\n"
    assert play(r, "r", "options(warn = 2); as.integer('a')").state == "failed"
    assert play(r, "r", "options(warn = -1); as.integer('a')").text == "[1] NA\n"
    play(r, "r", "options(warn = 0)")


@pytest.mark.parametrize(
    ("code", "images"),
    [
        ("plot(1:3)", 1),
        ("plot(1:3); lines(3:1); abline(h = 2)", 1),
        ("for (i in 1:3) plot(i)", 3),
        ("par(mfrow = c(1, 2)); plot(1); plot(2)", 1),
        ("hist(c(1, 2, 2)); dev.off()", 1),
        ("png('own.png'); plot(1); n <- dev.off()", 0),
        ("grid::grid.newpage(); grid::grid.rect(); grid::grid.newpage(); grid::grid.text('x')", 2),
        ("plot(1); stop('late')", 1),
        ("x <- 1", 0),
    ],
)
def test_plots_are_shown(r: Computer, code: str, images: int) -> None:
    played = play(r, "r", code)
    assert [shown.format for shown in played.shown] == ["base64.png"] * images
    for shown in played.shown:
        assert base64.b64decode(shown.content, validate=True).startswith(b"\x89PNG")


def test_an_image_comes_where_it_was_drawn(r: Computer) -> None:
    played = play(r, "r", "plot(1)\ncat('between\\n')\nplot(2)\ncat('after\\n')")
    kinds = [type(report).__name__ for _, report in played.reports]
    assert kinds.index("Printed") < kinds.index("Displayed")
    assert kinds.count("Displayed") == 2
    first = played.reports[kinds.index("Displayed")][0]
    assert played.when("between") <= first <= played.when("after")


@pytest.mark.parametrize(
    ("code", "prompt", "answers", "text"),
    [
        ("n <- readline('name? '); n", "name? ", ("Ada\n",), '[1] "Ada"\n'),
        ("y <- readLines(stdin(), 1); y", "", ("Bob\n",), '[1] "Bob"\n'),
        ("y <- readLines('stdin', 1); y", "", ("Cid\n",), '[1] "Cid"\n'),
        ("scan(n = 1, quiet = TRUE)", "1: ", ("5\n",), "[1] 5\n"),
        ("menu(c('a', 'b'))", "Selection: ", ("2\n",), "[1] 2\n"),
        ("local({ browser(); 3 })", "Browse[1]> ", ("c\n",), "[1] 3\n"),
    ],
)
def test_questions_are_asked_and_answered(
    r: Computer, code: str, prompt: str, answers: tuple[str, ...], text: str
) -> None:
    played = play(r, "r", code, answers=answers)
    assert [asked.prompt for asked in played.asked] == [prompt]
    assert (played.text.endswith(text), played.state) == (True, "finished")


def shown_table(r: Computer, code: str) -> tuple[str, dict[str, Any]]:
    """What the model gets of the frame that a cell shows, and the table that the person sees."""
    printed = [item for _, item in play(r, "r", code).reports if isinstance(item, Printed) and item.view]
    assert printed
    assert printed[0].table
    assert InlineTable.read(printed[0].table)
    return str(printed[0].view), json.loads(printed[0].table)


def test_the_model_gets_all_columns_of_a_data_frame_at_any_width(r: Computer) -> None:
    r.resize(40, 20)
    code = "wide <- as.data.frame(matrix(1:3000, 100, 30)); wide$V7[3:5] <- NA\nwide"
    view, table = shown_table(r, code)
    r.resize(80, 24)
    assert view.startswith("data.frame: 100 rows by 30 columns\nColumns: V1 integer, V2 integer, ")
    assert "V7 integer (3 missing), V8 integer" in view
    assert "V30 integer\n" in view
    assert "\n1,1,101,201," in view
    assert "\n… 88 rows not shown …\n97," in view
    assert (table["name"], table["total"], table["width"], table["head"]) == ("wide", 100, 30, 8)
    assert (len(table["columns"]), len(table["rows"])) == (30, 12)
    assert table["rows"][2][1][6] is None


def test_a_cell_of_a_data_frame_may_hold_anything(r: Computer) -> None:
    code = (
        "d <- data.frame(a = c(1.5, NA), b = c('x,\"y\"', 'ü\\nz'), c = as.Date('2020-01-01') + 0:1, "
        "d = factor(c('u', NA)), row.names = c('one', 'two'))\nd$l <- list(1, 1:3)\nd"
    )
    view, table = shown_table(r, code)
    assert 'one,1.5,"x,""y""",2020-01-01,u,1\n' in view
    assert view.endswith("two,,ü\\nz,2020-01-02,,<integer of 3>")
    assert table["rows"][1] == ["two", [None, "ü\\nz", "2020-01-02", None, "<integer of 3>"]]
    assert [column[2] for column in table["columns"]] == [True, False, False, False, False]
    view, table = shown_table(r, "d[0, ]")
    assert (
        view == "data.frame: 0 rows by 5 columns\nColumns: a numeric, b character, c Date, d factor, l list"
    )
    assert table["rows"] == []


def test_names_and_missing_values_of_a_data_frame_are_clear_to_the_model(r: Computer) -> None:
    code = (
        "odd <- setNames(data.frame(1:2, c('', NA), 3), c('a', 'b,c', ''))\nodd$l <- list(NULL, 1)\n"
        "odd$inner <- data.frame(p = 1:2, q = 3:4)\nodd"
    )
    view, _ = shown_table(r, code)
    listed = "a integer, 'b,c' character (1 missing), '' numeric, l list (1 missing), inner data.frame (p, q)"
    assert f"\nColumns: {listed}\n" in view
    assert view.endswith('\n\n1,1,"",3,,<data.frame>\n2,2,,3,1,<data.frame>')


@pytest.mark.parametrize(
    "code",
    ["anova(lm(mpg ~ wt, mtcars))", "print(head(mtcars))", "structure(list(1:2), class = 'data.frame')"],
)
def test_what_prints_itself_in_another_way_is_no_table(r: Computer, code: str) -> None:
    played = play(r, "r", code)
    assert [item for _, item in played.reports if isinstance(item, Printed) and item.view] == []
    assert played.text


@pytest.mark.parametrize("length", [4095, 8190])
def test_a_line_that_fills_the_buffers_of_the_console_is_answered(r: Computer, length: int) -> None:
    played = play(r, "r", "nchar(readline())", answers=("a" * length + "\n",))
    assert played.text.endswith(f"[1] {length}\n")


def test_leaving_the_debugger_leaves_no_more_than_the_cell(r: Computer) -> None:
    play(r, "r", "kept <- 1")
    for _ in range(3):
        played = play(r, "r", "local({ browser(); 3 })\ncat('no\\n')", answers=("Q\n",))
        assert (played.state, "no\n" in played.text) == ("failed", False)
    assert play(r, "r", "kept").text == "[1] 1\n"
    failed = play(r, "r", "f <- function() g()\ng <- function() stop('deep')\nf()")
    assert "Calls:\n  f()\n  g()" in failed.text
    assert "eval(" not in failed.text


def test_a_child_that_the_program_forked_takes_no_requests(r: Computer) -> None:
    assert play(r, "r", "child <- parallel:::mcfork(); cat('forked\\n')").state == "finished"
    for n in range(5):
        # The child goes on with the cell by itself, and may print its word at any time.
        assert f"[1] {n}\n" in play(r, "r", f"{n}").text.replace("forked\n", "")


def test_width_and_help_follow_the_screen(r: Computer) -> None:
    r.resize(40, 20)
    assert max(map(len, play(r, "r", "print(1:100)").text.splitlines())) <= 40
    r.resize(80, 24)
    assert "Sum of Vector Elements" in play(r, "r", "?sum").text


def test_variables_are_reported_with_types_and_shapes(computer: Computer) -> None:
    play(computer, "r", "n <- 3; b <- 'text'; v <- 1:1000 + 0; d <- data.frame(x = 1:4, y = 0)")
    assert len(computer.inspector.read_variables("r")) == 4
    play(
        computer,
        "r",
        "a <- matrix(1:6, 2); f <- function(x, ...) x; l <- list(1, 2); k <- factor('u'); e <- new.env()",
    )
    found = [(v.name, v.type, v.summary) for v in computer.inspector.read_variables("r")]
    assert found[:4] == [
        ("b", "character", '"text"'),
        ("d", "data.frame", "data.frame 4x2"),
        ("n", "numeric", "3"),
        ("v", "numeric", "numeric of 1000"),
    ]
    assert found[4:] == [
        ("a", "matrix", "matrix 2x3"),
        ("e", "environment", "environment"),
        ("f", "function", "function(x, ...)"),
        ("k", "factor", "factor of 1"),
        ("l", "list", "list of 2"),
    ]
    sizes = {v.name: v.size for v in computer.inspector.read_variables("r")}
    assert (sizes["v"] or 0) >= 8000
    assert sizes["e"] is None


def test_what_a_variable_holds_can_be_looked_at(computer: Computer) -> None:
    play(
        computer,
        "r",
        "d <- data.frame(x = 1:2, y = factor(c('a', 'b'))); l <- list(1, k = 'v'); f <- function(x) {\n  x # same\n}",
    )
    play(computer, "r", "day <- as.Date('2024-02-29'); m <- lm(mpg ~ wt, mtcars); big <- 1:1e6 + 0")

    def preview(name: str) -> str:
        detail = computer.inspector.inspect("r", name)
        assert detail is not None
        return detail.preview

    assert preview("d") == "  x y\n1 1 a\n2 2 b"
    assert preview("l") == '[[1]]: 1\n$k: "v"'
    assert preview("f") == "function(x) {\n  x # same\n}"
    assert "2024-02-29" in preview("day")
    assert preview("m") == ""
    assert len(preview("big")) < 20_001
    assert computer.inspector.inspect("r", "nothing_such") is None


def test_telling_variables_runs_no_method_of_the_program(computer: Computer) -> None:
    code = (
        "calls <- 0\nlength.nosy <- function(x) { calls <<- calls + 1; 1L }\ndim.nosy <- length.nosy\nformat.nosy <- length.nosy\n"
        "nosy <- structure(list(1), class = 'nosy')\nmakeActiveBinding('live', function() { calls <<- calls + 1; 1 }, globalenv())"
    )
    play(computer, "r", code)
    assert {"nosy", "live"} <= {variable.name for variable in computer.inspector.read_variables("r")}
    assert play(computer, "r", "calls").text == "[1] 0\n"


def test_an_interrupt_runs_what_the_code_promised_at_its_exit(r: Computer) -> None:
    code = "f <- function() { on.exit(cat('cleaned\\n')); cat('go\\n'); Sys.sleep(60) }\nf()"
    played = play(r, "r", code, stop_at="go\r\n")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert "cleaned\n" in played.text


def test_what_the_program_names_as_r_does_changes_nothing_for_the_driver(computer: Computer) -> None:
    code = "paste <- paste0 <- sub <- gsub <- cat <- c <- list <- sprintf <- lapply <- function(...) base::stop('mine')"
    assert play(computer, "r", code).state == "finished"
    assert play(computer, "r", "f <- function() stop('late')\nf()").reason == "Error in f(): late"
    assert play(computer, "r", "warning('careful')").text == "Warning message:\ncareful \n"
    assert len(computer.inspector.read_variables("r")) == 10
    assert play(computer, "r", "print(6 * 7)").text == "[1] 42\n"


def test_a_limit_of_time_ends_with_its_run(computer: Computer) -> None:
    assert play(computer, "r", "memory <- 41; setTimeLimit(elapsed = 0.2); repeat {}").state == "failed"
    assert play(computer, "r", "setTimeLimit(elapsed = 0.05)").state == "finished"
    for n in range(3):
        played = play(computer, "r", f"Sys.sleep(0.1); memory + {n}")
        assert (played.text, played.state) == (f"[1] {41 + n}\n", "finished")


def test_what_the_program_wants_done_at_an_error_is_done(computer: Computer) -> None:
    assert (
        play(computer, "r", "options(error = quote(cat('noted\\n'))); stop('oops')").text
        == "Error: oops\nnoted\n"
    )
    played = play(computer, "r", "options(error = function() stop('twice')); stop('once')")
    assert (played.text, played.reason) == ("Error: once\nError: twice\n", "Error: once")


def test_warnings_at_once_name_nothing_of_the_driver(computer: Computer) -> None:
    assert play(computer, "r", "options(warn = 1); warning('now'); 5").text == "Warning: now\n[1] 5\n"


@pytest.mark.parametrize(
    ("redirect", "place", "way_back"),
    [
        ("sink('written')", "written", "sink()"),
        ("kept <- textConnection('lines', 'w'); sink(kept)", "memory", "sink()"),
        ("sink('one'); sink('two')", "two", "while (sink.number() > 0) sink()"),
        ("sink('shown', split = TRUE); sink('two')", "two", "while (sink.number() > 0) sink()"),
    ],
)
def test_where_the_output_goes_is_reported_until_it_is_back(
    r: Computer, redirect: str, place: str, way_back: str
) -> None:
    reported = play(r, "r", redirect).text
    assert reported.startswith(f"(R's output goes to {place} since cell ")
    assert reported.endswith(f"; {way_back} brings it back.)\n")
    assert play(r, "r", "cat('unseen\\n')").text == reported
    assert play(r, "r", f"{way_back}; cat('seen\\n')").text == "seen\n"
    assert play(r, "r", "cat('seen\\n')").text == "seen\n"


def test_messages_that_go_elsewhere_are_reported_too(r: Computer) -> None:
    reported = play(r, "r", "notes <- file('notes', 'w'); sink(notes, type = 'message')").text
    assert reported.startswith("(R's messages and errors go to notes since cell ")
    assert play(r, "r", "sink(type = 'message'); message('seen')").text == "seen\n"


def test_output_that_is_seen_here_too_is_no_news(r: Computer) -> None:
    assert play(r, "r", "sink('both', split = TRUE); cat('seen\\n')").text == "seen\n"
    assert play(r, "r", "sink(); cat(readLines('both'))").text == "seen"
    assert play(r, "r", "length(capture.output(print(1)))").text == "[1] 1\n"
    assert "In sink(" in play(r, "r", "sink()").text


TABLES = """
d <- data.frame(a = c(3.25, NA, 0.1 + 0.2, 1e20), k = c('Ä', 'y\\nz', NA, 'x'), day = as.Date('2024-01-01') + 0:3)
d$l <- list(1, 1:3, 'q', NULL)
m <- matrix(1:2400, 60, 40)
v <- c(low = 1, high = 2)
big <- data.frame(x = seq_len(1e6), y = rep(c('a', 'b', 'b', 'c'), 2.5e5))
f <- function() 1
"""


def test_tables_are_opened_page_by_page(r: Computer) -> None:
    assert play(r, "r", TABLES).state == "finished"
    table = r.inspector.open_table("r", "d")
    shape = table.shape(TableQuery())
    assert (shape.kind, shape.rows, shape.total) == ("data.frame", 4, 4)
    assert [(column.name, column.type, column.numeric) for column in shape.columns] == [
        ("a", "numeric", True),
        ("k", "character", False),
        ("day", "Date", False),
        ("l", "list", False),
    ]
    assert table.page(TableQuery(), 1, 1, 1, 2) == [TableRow("2", ("y\\nz", "2024-01-02"))]
    assert table.page(TableQuery(), 2, 1, 0, 1)[0].cells == ("0.3",)
    assert table.page(TableQuery(), 2, 1, 0, 1, whole=True)[0].cells == ("0.30000000000000004",)
    by_number = table.page(TableQuery(sort=0, descending=True), 0, 9, 0, 1)
    assert [row.label for row in by_number] == ["4", "1", "3", "2"]
    assert [row.label for row in table.page(TableQuery(words="ä"), 0, 9, 0, 4)] == ["1"]
    assert table.page(TableQuery(), 0, 9, 3, 1) == [
        TableRow("1", ("1",)),
        TableRow("2", ("<integer of 3>",)),
        TableRow("3", ("q",)),
        TableRow("4", (None,)),
    ]
    matrix = r.inspector.open_table("r", "m")
    assert matrix.page(TableQuery(), 59, 1, 38, 2) == [TableRow("60", ("2340", "2400"))]
    assert r.inspector.open_table("r", "v").page(TableQuery(), 0, 2, 0, 1) == [
        TableRow("low", ("1",)),
        TableRow("high", ("2",)),
    ]
    big = r.inspector.open_table("r", "big")
    assert big.page(TableQuery(sort=1, descending=True), 0, 1, 0, 2) == [TableRow("4", ("4", "c"))]
    assert find_table("v", cast("Languages", r)).shape(TableQuery()).kind == "numeric"
    assert find_table("d", cast("Languages", r)).shape(TableQuery()).kind == "data.frame"
    for name, words in (
        ("f", "f is not a table: it is of class function."),
        ("nothing", "no variable nothing"),
    ):
        with pytest.raises(TableError, match=words):
            r.inspector.open_table("r", name).shape(TableQuery())


def test_a_column_is_described_in_figures(r: Computer) -> None:
    play(r, "r", TABLES)
    numbers = r.inspector.open_table("r", "big").statistics(0)
    assert dict(numbers.facts) == {
        "rows": "1,000,000", "missing": "0", "min": "1", "25 %": "250000.8", "median": "500000.5",
        "mean": "500000.5", "75 %": "750000.2", "max": "1000000", "std": "288675.3",
    }  # fmt: skip
    assert [many for _, many in numbers.bars] == [100_000] * 10
    assert r.inspector.open_table("r", "big").statistics(1).bars == (
        ("b", 500_000),
        ("a", 250_000),
        ("c", 250_000),
    )
    days = r.inspector.open_table("r", "d").statistics(2)
    assert ("max", "2024-01-04") in days.facts
    assert days.bars[0] == ("2024-01-01", 1)


def test_a_table_that_a_cell_showed_is_opened_by_its_key(r: Computer) -> None:
    _, table = shown_table(r, "head(mtcars)")
    assert (table["language"], table["name"]) == ("r", "")
    assert r.inspector.open_table("r", table["key"]).shape(TableQuery()).rows == 6
    _, named = shown_table(r, "cars")
    assert named["key"] == "cars"
    view, matrix = shown_table(r, "matrix(1:2400, 60, 40)")
    assert view.startswith("matrix: 60 rows by 40 columns\nColumns: V1, V2, ")
    assert "V40, each of type integer\n" in view
    assert r.inspector.open_table("r", matrix["key"]).shape(TableQuery()).rows == 60
    _, viewed = shown_table(r, "View(cars)")
    assert viewed["key"] == "cars"
    assert play(r, "r", "matrix(1:4, 2)").text == "     [,1] [,2]\n[1,]    1    3\n[2,]    2    4\n"


@pytest.mark.needs(R_DATA_TABLE)
def test_a_data_table_that_was_changed_in_its_place_is_not_shown(r: Computer) -> None:
    view, _ = shown_table(r, "suppressMessages(library(data.table)); t <- data.table(a = 1:3)\nt")
    assert view.startswith("data.table: 3 rows by 1 column\n")
    assert play(r, "r", "t[, b := 2]").text == ""
    assert play(r, "r", "t").text == "   a b\n1: 1 2\n2: 2 2\n3: 3 2\n"


COMPLETED = """
sales <- data.frame(region = "n", `net total` = 1, amount = 2L, check.names = FALSE)
conf <- list(colour = list(text = "red")); e <- new.env(); e$deep <- 3
makeActiveBinding("live", function() { cat("EVIL\\n"); sales }, globalenv())
add_up <- function(first, second = 2, ...) first
setClass("P", representation(x = "numeric")); p <- new("P", x = 1)
dir.create("data", FALSE); invisible(file.create("data/prices.csv"))
"""


@pytest.fixture(scope="module")
def typing_r(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer whose R remembers what is completed."""
    computer = Computer(cwd=tmp_path_factory.mktemp("r"))
    assert play(computer, "r", COMPLETED).state == "finished"
    yield computer
    computer.close()


@pytest.mark.parametrize(
    ("before", "typed", "first"),
    [
        ("sal", 3, ("sales", "data.frame 1x3")),
        ("sales$", 0, ("region", '"n"')),
        ("sales$n", 1, ("`net total`", "1")),
        ("conf$colour$", 0, ("text", '"red"')),
        ("e$", 0, ("deep", "3")),
        ("p@", 0, ("x", "1")),
        ("add_up(1, ", 0, ("first = ", "")),
        ("add_up(sec", 3, ("second = ", "2")),
        ("sales |>\n  subset(am", 2, ("amount", "integer of sales")),
        ('sales[["am', 2, ("amount", "")),
        ('sales[, "', 0, ("region", "")),
        ("stats::medi", 4, ("median", "function(x, na.rm, ...)")),
        ("library(meth", 4, ("methods", "")),
        ('read.csv("data/', 5, ("data/prices.csv", "")),
        ("seq_le", 6, ("seq_len", "function(length.out)")),
    ],
)
def test_code_is_completed(typing_r: Computer, before: str, typed: int, first: tuple[str, str]) -> None:
    found = typing_r.inspector.complete("r", before)
    assert found
    assert found.typed == typed
    assert (found.found[0].text, found.found[0].facts) == first


def test_completing_runs_no_code_of_the_program(typing_r: Computer) -> None:
    for before in ("live$", "liv", "subset(live, a"):
        found = typing_r.inspector.complete("r", before)
        assert found
        assert [item for item in found.found if "region" in item.text] == []
    assert typing_r.inspector.complete("r", "# it's \"") == CompletionSet(0, ())
    called = typing_r.inspector.complete("r", "add_up(")
    assert called
    assert called.note == "add_up(first, second = 2, ...)"
    assert play(typing_r, "r", "1").text == "[1] 1\n"


def test_functions_are_compiled_as_at_its_prompt(computer: Computer) -> None:
    for _ in range(3):
        played = play(computer, "r", "cat('go\\n'); while (TRUE) {}", stop_at="go\r\n")
        assert played.state == "interrupted"
    code = "f <- function(n) { for (i in 1:n) NULL; n }\nfor (i in 1:3) f(2)\nf\ngetOption('prompt')\nexists('.First')"
    played = play(computer, "r", code)
    assert "<bytecode" in played.text
    assert played.text.splitlines()[-2:] == ['[1] "> "', "[1] FALSE"]


#: What R tells a program about its calls, as at its prompt.
ABOUT_CALLS = [
    ("f <- function() { print(sys.nframe()); print(sys.call()); length(sys.calls()) }; f()", "[1] 1\nf()\n[1] 1\n"),
    ("invisible(lapply(1, function(i) print(c(sys.nframe(), sys.parents()))))", "[1] 2 0 1\n"),
    ("f <- function() list(sys.call(-1), sys.parent(), identical(sys.frame(-1), globalenv())); str(f())", None),
    ("f <- function() sys.call(-20); cat(try(f(), silent = TRUE))", "Error in sys.call(-20) : not that many frames on the stack\n"),
    ("f <- function(kind = c('one', 'two')) match.arg(kind); f()", '[1] "one"\n'),
    ("f <- function() sys.function(); identical(body(f()), quote(sys.function()))", "[1] TRUE\n"),
    ("f <- function(...) match.call(); f(1, a = 2)", "f(1, a = 2)\n"),
    ("sys.nframe(); sys.calls()", "[1] 0\nNULL\n"),
]  # fmt: skip


def test_calls_are_counted_from_the_cell(r: Computer) -> None:
    for code, text in ABOUT_CALLS:
        played = play(r, "r", code)
        assert played.state == "finished", code
        assert text is None or played.text == text, code
    assert "do.call" not in play(r, "r", "f <- function() dput(sys.calls()); f()").text


def test_the_calls_of_the_last_error_are_there(r: Computer) -> None:
    play(r, "r", "g <- function(x) stop('bad')\nh <- function() g(1)\nh()", number=3)
    assert play(r, "r", "traceback()").text == '3: stop("bad") at cell 3#1\n2: g(1) at cell 3#2\n1: h()\n'


def test_the_calls_of_an_error_in_a_function_that_do_call_was_given_are_there(r: Computer) -> None:
    play(r, "r", "g <- function(x) stop('bad'); f <- function(x) g(x); do.call(f, list(1))", number=3)
    lines = play(r, "r", "traceback()").text.splitlines()
    assert [line.split(" at ")[0] for line in lines[:2]] == ['4: stop("bad")', "3: g(x)"]
    assert lines[-1].startswith("1: do.call(f, list(1))")
    play(r, "r", "g <- function(x) stop(simpleError('bad')); do.call(f, list(1))", number=4)
    assert play(r, "r", "traceback()").text.startswith('4: stop(simpleError("bad"))')


def test_calls_with_large_arguments_are_shown_by_their_beginning(r: Computer) -> None:
    code = "fails <- function(...) stop('bad'); do.call('fails', list({}, 1))"
    for large in ("as.list(seq_len(1e6))", "strrep('x', 1e6)"):
        played = play(r, "r", code.format(large))
        assert (played.state, len(played.text) < 5000) == ("failed", True)
        assert len(play(r, "r", "traceback()").text) < 10_000
