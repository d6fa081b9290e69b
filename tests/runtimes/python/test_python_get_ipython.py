"""`get_ipython()` in Python cells: what notebook code asks of it."""

# ruff: noqa: E501 - code as it is written in cells

import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import play

Make = Callable[..., Computer]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("get_ipython().run_line_magic('matplotlib', 'inline')\n3", "3\n"),
        ("get_ipython().run_line_magic('pwd', '')", r"'/.*'\n"),
        ("get_ipython().run_line_magic('time', 'sum(range(10))')", r"CPU times: (.|\n)*45\n"),
        ("get_ipython().magic('%pwd')", r"'/.*'\n"),
        ("get_ipython().run_cell_magic('bash', '', 'echo from bash\\n')", "from bash\n"),
        ("get_ipython().run_cell_magic('time', '', 'gi = 7\\ngi + 1')", r"CPU times: (.|\n)*8\n"),
        ("get_ipython().run_cell_magic('capture', 'gi_kept', 'print(5)')\ngi_kept.stdout", r"'5\\n'\n"),
        ("gi_word = 'filled in'\nget_ipython().system('echo $gi_word')", "filled in\n"),
        ("get_ipython().system('exit 3')\n_exit_code", "3\n"),
        ("get_ipython().getoutput('printf \"a\\\\nb\"')", r"\['a', 'b'\]\n"),
        ("get_ipython().getoutput('printf \"a\\\\nb\"', split=False)", r"'a\\nb'\n"),
        ("get_ipython().user_ns['gi_set'] = 4\ngi_set", "4\n"),
        ("get_ipython().user_ns is globals()", "True\n"),
        ("get_ipython().push({'gi_pushed': 6})\ngi_pushed", "6\n"),
        ("def gi():\n    inner = 8\n    get_ipython().push('inner')\ngi()\ninner", "8\n"),
        ("get_ipython().ex('gi_ex = 2')\nget_ipython().ev('gi_ex + 1')", "3\n"),
        ("done = get_ipython().run_cell('%pwd\\n2 + 2')\ndone.success, done.result", r"4\n\(True, 4\)\n"),
        ("get_ipython() is get_ipython()", "True\n"),
        ("%cd -q /\nget_ipython().run_line_magic('cd', '-q -')", ""),
        ("gi_word = 'filled in'\nget_ipython().var_expand('a $gi_word')", "'a filled in'\n"),
        ("get_ipython().set_next_input('next = 1')", "next = 1\n"),
        ("gi_del = 1\nget_ipython().del_var('gi_del')\n'gi_del' in globals()", "False\n"),
        ("get_ipython().check_complete('for x in y:'), get_ipython().check_complete('1')", r"\(\('incomplete', '    '\), \('complete', ''\)\)\n"),
        ("get_ipython().user_expressions({'two': '1 + 1', 'bad': '1/0'})['two']['data']", r"\{'text/plain': '2'\}\n"),
        ("get_ipython().alias('gi_say', 'echo said')\n%gi_say x", "said x\n"),
        ("get_ipython().display_pub.publish({'text/plain': 'published'})", "published\n"),
        ("'time' in get_ipython().magics_manager.magics['cell']", "True\n"),
        ("list(get_ipython().history_manager.get_range())[-1][2][:4]", "'list'\n"),
        ("class GiShown: pass\nget_ipython().display_formatter.formatters['text/plain'].for_type(GiShown, lambda v, p, cycle: p.text('own text'))\nGiShown()", "own text\n"),
        ("import asyncio\n(await get_ipython().run_cell_async('4 + 4', silent=True)).result", "8\n"),
        ("open('gi_file.py', 'w').write('gi_from_file = 5')\nget_ipython().safe_execfile('gi_file.py', globals())\ngi_from_file", "16\n5\n|5\n"),
        ("get_ipython().ast_node_interactivity", "'last_expr'\n"),
        ("import os\nos.path.basename(get_ipython().profile_dir.location)", "'profile_default'\n"),
        ("get_ipython().profile_dir.startup_dir.startswith(get_ipython().ipython_dir)", "True\n"),
        ("try:\n    1/0\nexcept Exception:\n    gi_text = get_ipython().InteractiveTB.text(None, None, None)\ngi_text.splitlines()[-1]", "'ZeroDivisionError: division by zero'\n"),
        ("ip = get_ipython()\n'IPKernelApp' in ip.config or 'ZMQ' in str(type(ip))", "False\n"),
    ],
)  # fmt: skip
def test_notebook_code_finds_its_shell(shared: Computer, code: str, text: str) -> None:
    played = play(shared, "python", code)
    assert re.fullmatch(text, played.text), played.text
    assert played.end.state == "finished"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("get_ipython().run_line_magic('nonsense', '')", "NameError: %nonsense is not known here"),
        ("get_ipython().events.register('no_event', print)", "KeyError: 'there is no event no_event"),
        ("get_ipython().events.unregister('pre_execute', print)", "ValueError: Function"),
        ("get_ipython().events.register('pre_execute', 1)", "TypeError: Need a callable, got 1"),
    ],
)
def test_what_the_shell_does_not_know_is_an_error(shared: Computer, code: str, reason: str) -> None:
    end = play(shared, "python", code).end
    assert end.state == "failed"
    assert (end.reason or "").startswith(reason), end.reason


def test_an_error_in_code_that_the_shell_runs_is_shown_and_returned(shared: Computer) -> None:
    played = play(shared, "python", "gi_bad = get_ipython().run_cell('1/0')\ngi_bad.success")
    assert "ZeroDivisionError: division by zero" in played.text
    assert played.text.endswith("False\n")
    assert played.end.state == "finished"


def test_functions_are_called_before_and_after_each_cell(computer: Computer) -> None:
    register = """
def before(info): print("before", info.raw_cell)
def after(result): print("after", result.success, type(result.error_in_exec).__name__)
events = get_ipython().events
events.register("pre_run_cell", before)
events.register("post_run_cell", after)
"""
    assert play(computer, "python", register).text == "after True NoneType\n"
    assert play(computer, "python", "1 + 1").text == "before 1 + 1\n2\nafter True NoneType\n"
    failed = play(computer, "python", "1/0")
    assert failed.text.startswith("before 1/0\nafter False ZeroDivisionError\n"), failed.text
    assert failed.end.state == "failed"
    removed = 'events.unregister("pre_run_cell", before)\nevents.unregister("post_run_cell", after)'
    assert "after" not in play(computer, "python", removed).text.replace(removed, "")
    assert play(computer, "python", "3").text == "3\n"


def test_a_function_that_fails_before_a_cell_does_not_stop_the_cell(computer: Computer) -> None:
    register = "get_ipython().events.register('pre_execute', lambda: 1/0)"
    play(computer, "python", register)
    played = play(computer, "python", "'ran'")
    assert "Error in callback" in played.text
    assert "ZeroDivisionError" in played.text
    assert played.text.endswith("'ran'\n")
    assert played.end.state == "finished"


def test_get_ipython_comes_back_after_a_cell_deleted_it(computer: Computer) -> None:
    play(computer, "python", "import builtins\ndel builtins.get_ipython")
    assert play(computer, "python", "get_ipython().ev('2')").text == "2\n"


def test_an_extension_is_loaded(make: Make, tmp_path: Path) -> None:
    (tmp_path / "gi_extension.py").write_text(
        "def load_ipython_extension(shell):\n"
        "    shell.register_magic_function(lambda line: line.upper(), magic_name='shout')\n"
    )
    computer = make(cwd=tmp_path)
    assert play(computer, "python", "%load_ext gi_extension\n%shout loud").text == "'LOUD'\n"
    missing = play(computer, "python", "%load_ext gi_none")
    assert missing.reason == "ModuleNotFoundError: No module named 'gi_none'"
    assert "importlib" not in missing.text
    assert "it has no load_ipython_extension" in play(computer, "python", "%load_ext json").text


def test_magics_of_ipython_classes_are_known(shared: Computer) -> None:
    pytest.importorskip("IPython", reason="IPython is not installed here")
    code = (
        "from IPython.core.magic import Magics, magics_class, line_magic\n"
        "@magics_class\nclass GiMagics(Magics):\n"
        "    @line_magic\n    def gi_twice(self, line): return line * 2, self.shell is get_ipython()\n"
        "get_ipython().register_magics(GiMagics)\n%gi_twice ab"
    )
    assert play(shared, "python", code).text == "('abab', True)\n"


EVERY = "1\n2;\nx = 3\nfor n in (4, 5):\n    n\nif x:\n    x + 3\n"


@pytest.mark.parametrize(
    ("choose", "text"),
    [
        ("get_ipython().ast_node_interactivity = 'all'", "1\n2\n4\n5\n6\n"),
        ("%config InteractiveShell.ast_node_interactivity = 'last'", "6\n"),
        ("%config ZMQInteractiveShell.ast_node_interactivity = 'none'", ""),
        ("%config InteractiveShell.ast_node_interactivity = 'last_expr'", ""),
    ],
)
def test_a_notebook_chooses_whose_values_are_shown(computer: Computer, choose: str, text: str) -> None:
    assert play(computer, "python", choose).state == "finished"
    assert play(computer, "python", EVERY).text == text
    # A semicolon at the end hides all of them.
    assert play(computer, "python", EVERY + "7;").text == ""


def test_an_assigned_value_is_shown_where_that_is_chosen(computer: Computer) -> None:
    play(computer, "python", "%config InteractiveShell.ast_node_interactivity = 'last_expr_or_assign'")
    played = [
        play(computer, "python", code).text for code in ("a = 3", "a += 1", "a: int = 9", "a, b = 1, 2")
    ]
    assert played == ["3\n", "4\n", "9\n", ""]


def test_the_class_of_ipython_chooses_too(make: Make) -> None:
    pytest.importorskip("IPython", reason="IPython is not installed")
    computer = make(python=sys.executable)
    code = "from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.ast_node_interactivity = 'all'"
    assert play(computer, "python", code).state == "finished"
    assert play(computer, "python", "1\n2").text == "1\n2\n"


def test_an_interactivity_that_does_not_exist_is_refused(computer: Computer) -> None:
    played = play(computer, "python", "get_ipython().ast_node_interactivity = 'some'")
    assert "ast_node_interactivity is one of all, last, last_expr, none, last_expr_or_assign" in played.reason


def test_variables_are_stored_between_sessions(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    first = make()
    played = play(first, "python", "numbers, word = [1, 2], 'x'\n%store numbers word\n%store word > out.txt")
    assert played.text == (
        "Stored 'numbers' (list)\nStored 'word' (str)\nWriting 'word' (str) to file 'out.txt'.\n"
    )
    assert (tmp_path / "ipython/profile_default/db/autorestore/numbers").is_file()
    second = make()
    assert play(second, "python", "%store -r numbers\nnumbers").text == "[1, 2]\n"
    assert play(second, "python", "%store -r\nword, open('out.txt').read()").text == "('x', 'x\\n')\n"
    listed = "Stored variables and their in-db values:\nnumbers -> [1, 2]\nword    -> 'x'\n"
    assert play(second, "python", "%store").text == listed
    assert (
        play(second, "python", "%store -d numbers\n%store -z\n%store").text
        == listed.partition("\n")[0] + "\n"
    )
    assert "there is no variable nothing" in play(second, "python", "%store nothing").reason
    assert "cannot be stored" in play(second, "python", "f = open('out.txt')\n%store f").reason


def test_what_ipython_stored_is_restored(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    folder = tmp_path / "profile_default/db/autorestore"
    folder.mkdir(parents=True)
    (folder / "kept").write_bytes(pickle.dumps({"a": 1}, protocol=2))
    (folder / "torn").write_bytes(b"no pickle")
    text = play(make(), "python", "%store -r\nkept").text
    assert "Unable to restore variable 'torn'" in text
    assert text.endswith("{'a': 1}\n")


def test_options_are_listed_read_and_set(computer: Computer) -> None:
    assert "    InlineBackend\n    InteractiveShell\n" in play(computer, "python", "%config").text
    text = play(computer, "python", "%config InlineBackend").text
    assert "InlineBackend.figure_format='png'\n" in text
    code = "%config InlineBackend.figure_format = 'retina'\n%config InlineBackend.figure_format"
    assert play(computer, "python", code).text == "'retina'\n"
    # What is not known here is kept, as in IPython, and nothing that was never set can be read.
    assert (
        play(computer, "python", "%config SqlMagic.autopandas = True\n%config SqlMagic.autopandas").text
        == "True\n"
    )
    assert "known are" in play(computer, "python", "%config Nothing").reason
