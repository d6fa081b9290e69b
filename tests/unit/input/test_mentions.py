"""What `@name` stands for in a message, and what a pasted path is."""

from pathlib import Path

import pytest

from oi_tui.input.mentions import expand, find_typed_mention, parse_dropped, write_mention
from oi_tui.runtimes.variables import Detail, Memory, Variable
from tests.fakes import Computer


def computer() -> Computer:
    computer = Computer()
    computer.remembered = (
        Memory(
            "python", "known", (Variable("df", "DataFrame", "DataFrame 3x2"), Variable("both", "int", "1"))
        ),
        Memory("ruby", "known", (Variable("both", "Integer", "2"), Variable("@field", "Integer", "2"))),
    )
    computer.details = {
        ("python", "df"): Detail("DataFrame, 3 rows x 2 columns: a (int64), b (object)", "a b\n1 secret"),
        ("python", "both"): Detail("int 1", "1"),
        ("ruby", "both"): Detail("Integer 2", "2"),
        ("ruby", "@field"): Detail("Integer 2", "2"),
    }
    return computer


def expand_mentions(text: str, root: Path) -> str:
    return expand(text, root, computer())


def test_a_variable_becomes_its_name_and_the_model_is_reported_its_shape_but_not_its_contents(
    tmp_path: Path,
) -> None:
    message = expand_mentions("plot @df, then (@df) again", tmp_path)
    assert message == (
        "plot df, then (df) again\n\n"
        "(`df` is a python variable: DataFrame, 3 rows x 2 columns: a (int64), b (object))"
    )


def test_a_name_of_two_languages_is_reported_of_both_unless_one_is_reported(tmp_path: Path) -> None:
    assert (
        expand_mentions("@both", tmp_path)
        == "both\n\n(`both` is a python variable: int 1)\n(`both` is a ruby variable: Integer 2)"
    )
    assert expand_mentions("@ruby:both", tmp_path) == "both\n\n(`both` is a ruby variable: Integer 2)"
    assert expand_mentions("@@field?", tmp_path) == "@field?\n\n(`@field` is a ruby variable: Integer 2)"


def test_a_file_becomes_its_path_in_quotes_where_it_has_spaces(tmp_path: Path) -> None:
    (tmp_path / "my file.csv").write_text("x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "end.").write_text("x")
    assert expand_mentions('read @"my file.csv" and @sub/.', tmp_path) == 'read "my file.csv" and sub/.'
    assert expand_mentions("is it @sub?", tmp_path) == "is it sub?"
    assert expand_mentions("it is @end.", tmp_path) == "it is end."


def test_a_file_of_this_machine_is_named_as_such_where_code_runs_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("x")
    message = expand(
        "read @sales.csv and @gone.csv", tmp_path, computer(), elsewhere="on gpu1 as ana, /scratch"
    )
    assert message == (
        "read sales.csv and @gone.csv\n\n"
        "(`sales.csv` is a file of the user's own machine; code runs on gpu1 as ana, /scratch.)"
    )


@pytest.mark.parametrize(
    "text",
    ["me@example.com", "@nobody said @nothing", "@", "a @ b", '@"open', "x = a@b", "@\0", "@" + "x" * 9000],
)
def test_what_points_at_nothing_stays_as_it_was_typed(text: str, tmp_path: Path) -> None:
    assert expand_mentions(text, tmp_path) == text


@pytest.mark.parametrize(
    ("before", "typed"),
    [
        ("@", ""),
        ("look at @sr", "sr"),
        ("(@a/b", "a/b"),
        ('@"my fi', "my fi"),
        ('@"done" x', None),
        ("me@exam", None),
        ("@done ", None),
        ("plain", None),
        ("@one @two", "two"),
    ],
)
def test_a_mention_that_is_being_typed_is_seen(before: str, typed: str | None) -> None:
    assert find_typed_mention(before) == typed


def test_a_mention_is_written_so_that_it_is_read_as_a_whole() -> None:
    assert [write_mention(name) for name in ("a.py", "my file", "end.", "dir/")] == [
        "@a.py",
        '@"my file"',
        '@"end."',
        "@dir/",
    ]


def test_files_dropped_into_the_terminal_are_understood_in_all_their_forms(tmp_path: Path) -> None:
    for name in ("a.png", "my file.csv", "it's.txt"):
        (tmp_path / name).write_text("x")
    a, b, c = (tmp_path / name for name in ("a.png", "my file.csv", "it's.txt"))
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    forms = {
        f"{a}": ["a.png"],
        f"'{b}' ": ["my file.csv"],
        f'"{b}"': ["my file.csv"],
        str(b).replace(" ", "\\ "): ["my file.csv"],
        f"{b}": ["my file.csv"],
        b.as_uri(): ["my file.csv"],
        f"file://localhost{a}\r\n": ["a.png"],
        f"{a} '{b}'": ["a.png", "my file.csv"],
        f"{a}\n{b}\n{c}\n": ["a.png", "my file.csv", "it's.txt"],
        f"'{a}''{tmp_path}/nothing'": None,
        f"{a} is a file": None,
        "/help": None,
        "see /etc": None,
        f"{tmp_path}/nothing": None,
        "'unclosed": None,
        "": None,
        "/": ["/"],
        "file://elsewhere/etc": None,
        "file://[x": None,
        "file://[::1/a": None,
        "x" * 10_000: None,
    }
    assert {form: parse_dropped(form, tmp_path) for form in forms} == forms
    assert parse_dropped(str(a), elsewhere) == [str(a)]
