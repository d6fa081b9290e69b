"""What the shells promise beyond the contract."""

# ruff: noqa: E501 - code of other languages, as it is

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.processes import channel as channels
from tests.runtimes.playing import play

Make = Callable[..., Computer]
pytestmark = pytest.mark.needs("bash")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("for i in 1 2\ndo\n  echo $i\ndone", "1\n2\n"),
        ("cat <<X\na  b\n\n'c\nX", "a  b\n\n'c\n"),
        ("echo 'two\nlines'", "two\nlines\n"),
        ("echo a \\\n  b", "a b\n"),
        ("f() { echo \"f $1\"; }\nf x | cat", "f x\n"),
        ("case x in x) echo yes;; esac", "yes\n"),
        ("echo '##active_lineabc##'; echo '##end_of_execution##'", "##active_lineabc##\n##end_of_execution##\n"),
        ("(echo sub; exit 0); echo on", "sub\non\n"),
        ("x=$(printf 'a\\n\\n'); echo \"[$x]\"", "[a]\n"),
        ("printf 'no newline'", "no newline"),
        ("echo \"vanilla nil > ... undefined\"", "vanilla nil > ... undefined\n"),
        ("echo '!!' !x", "!! !x\n"),
        ("true # comment", ""),
        ("echo a & wait", "a\n"),
        ("set -o pipefail; true | true; echo $?", "0\n"),
        ('if [[ "${BASH_SOURCE[0]}" == "${0}" ]]; then echo main; fi', "main\n"),
        ("echo $0", "bash\n"),
        ("trap 'echo trapped' USR1; kill -USR1 $$; echo after", "trapped\nafter\n"),
    ],
)  # fmt: skip
def test_what_a_terminal_would_print_is_printed(shared: Computer, code: str, text: str) -> None:
    played = play(shared, "shell", code)
    lines = [line for line in played.text.splitlines(True) if not line.startswith("[1]")]
    assert ("".join(lines), played.state) == (text, "finished")


@pytest.mark.parametrize("shell", ["bash", "zsh", "dash"])
@pytest.mark.parametrize(
    ("code", "states"),
    [
        ("exit", {"finished"}),
        ("exit 3", {"failed"}),
        ("exec true", {"lost"}),
        ("set -e; false; echo no", {"failed"}),
        ("set -u; echo $nothing_such", {"failed", "finished"}),
        ("echo 'open", {"failed"}),
        ("if true; then", {"failed"}),
        ("}", {"failed"}),
        ("kill -9 $$", {"lost"}),
        ("exec >/dev/null 2>&1; echo hidden", {"finished"}),
        ("exec 0</dev/null; read x", {"failed"}),
        ("break; continue; return 4", {"failed"}),
        ("trap 'echo bye' EXIT; exit 2", {"failed", "lost"}),
        ("set -x; set -v; true; set +xv", {"finished"}),
        ("alias printf=false .=false; printf() { false; }", {"finished"}),
        ("stty raw -echo", {"finished"}),
    ],
)
def test_each_run_ends_in_a_defined_state_and_the_next_one_works(
    make: Make, shell: str, code: str, states: set[str]
) -> None:
    computer = make(shell=shell)
    played = play(computer, "shell", code)
    assert played.state in states
    assert "no\n" not in played.text
    after = play(computer, "shell", "exec >/dev/tty 2>&1\necho alive")
    assert "alive\n" in after.text


@pytest.mark.parametrize(
    ("shell", "text"),
    [
        ("bash", "bash: cell 1: line 2: syntax error near unexpected token `)'"),
        ("zsh", "cell 1:2: parse error near `)'"),
        ("dash", 'dash: 2: cell 1: Syntax error: ")" unexpected'),
    ],
)
def test_errors_name_the_cell(make: Make, shell: str, text: str) -> None:
    played = play(make(shell=shell), "shell", "echo first\n)")
    assert text in played.text


@pytest.mark.parametrize("shell", ["bash", "zsh", "dash"])
@pytest.mark.parametrize(
    ("code", "after"),
    [
        # In zsh the first of them is the second.
        ("path=/nowhere; PATH=/nowhere", "PATH=/usr/bin:/bin"),
        ("unset PATH", "PATH=/usr/bin:/bin"),
        ("exec >&-", ":"),
        ("exec 1>&- 0<&-", ":"),
        ("printf() { :; }", "unset -f printf"),
    ],
)
def test_a_cell_may_lose_its_programs_and_its_output_and_the_next_one_runs(
    make: Make, shell: str, code: str, after: str
) -> None:
    computer = make(shell=shell)
    played = play(computer, "shell", f"kept=41\n{code}")
    assert (played.state, played.steps) == ("finished", [])
    assert play(computer, "shell", "echo on").text == "on\n"
    assert "kept" in {variable.name for variable in computer.inspector.read_variables("shell")}
    assert play(computer, "shell", f"{after}; ls -d /; echo $((kept + 1))").text == "/\n42\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "dash"])
def test_a_cell_that_closes_its_output_for_errors_does_so_for_itself(make: Make, shell: str) -> None:
    computer = make(shell=shell)
    assert play(computer, "shell", "kept=41; exec 1>&- 2>&-").state == "finished"
    # zsh says later what it could not say then.
    text = play(computer, "shell", "ls /nowhere; echo $((kept + 1))").text.removeprefix("zsh: write error\n")
    assert text.startswith("ls: ")
    assert text.endswith("\n42\n")
    assert play(computer, "shell", "exec 2>errors; ls /nowhere").text == ""
    assert play(computer, "shell", "ls /nowhere; exec 2>/dev/tty; wc -l <errors").text.strip() == "2"


def test_a_cell_that_closes_all_that_is_open_leaves_the_memory(computer: Computer) -> None:
    code = 'kept=41\nfor place in /proc/$$/fd/*; do eval "exec ${place##*/}>&-"; done'
    assert play(computer, "shell", code).state == "finished"
    for _ in range(2):
        assert play(computer, "shell", "ls -d / /nowhere; echo $((kept + 1))").text.endswith("\n/\n42\n")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_words_that_the_end_of_a_run_needs_may_be_taken(make: Make, shell: str) -> None:
    computer = make(shell=shell)
    code = "kept=41\ncommand() { :; }; printf() { :; }"
    assert play(computer, "shell", code).state == "finished"
    assert play(computer, "shell", "echo $((kept + 1))").text == "42\n"


@pytest.mark.parametrize(
    ("shell", "code"),
    [
        ("bash", "unset -f $(compgen -A function)"),
        ("zsh", "unfunction -m '*'"),
        ("dash", "unset -f __oi_end"),
    ],
)
def test_a_shell_that_has_forgotten_all_functions_still_ends_its_run(
    make: Make, shell: str, code: str
) -> None:
    computer = make(shell=shell)
    play(computer, "shell", ":")
    assert play(computer, "shell", code).state in ("lost", "failed")
    assert play(computer, "shell", "echo on").text == "on\n"


@pytest.mark.needs("zsh")
def test_a_zsh_cell_runs_in_zsh_beside_the_shell(computer: Computer) -> None:
    assert play(computer, "zsh", "list=(a b); print -r -- ${(U)list[1]} $ZSH_NAME").text == "A zsh\n"
    assert play(computer, "bash", "echo ${list[0]-none} ${BASH_VERSION:+bash}").text == "none bash\n"


@pytest.mark.needs("zsh")
def test_zsh_as_the_shell_runs_cells_of_both_names(make: Make) -> None:
    computer = make(shell="zsh")
    assert computer.resolve("zsh") == "shell"
    play(computer, "zsh", "kept=41")
    assert play(computer, "shell", "print $((kept + 1))").text == "42\n"


def test_a_zsh_cell_does_not_run_in_another_shell(
    computer: Computer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "bash").symlink_to("/bin/bash")
    end = play(computer, "zsh", "echo ran")
    assert end.state == "failed"
    assert (end.reason or "").startswith("Zsh is not installed. ")


@pytest.mark.needs("zsh")
@pytest.mark.parametrize("wait", ["wait", "wait $!", "f() { wait; echo no; }; f"])
def test_waiting_for_jobs_in_zsh_can_be_stopped(make: Make, wait: str) -> None:
    computer = make(shell="zsh")
    play(computer, "shell", "kept=41")
    played = play(computer, "shell", f"sleep 60 &\necho go; {wait}; echo no", stop_at="go\r\n")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert "no\n" not in played.text
    assert play(computer, "shell", "sleep 0.05 & wait $!; echo $? $((kept + 1))").text.endswith("0 42\n")
    assert {variable.name for variable in computer.inspector.read_variables("shell")} in (
        {"kept"},
        {"kept", "f"},
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "dash"])
def test_a_subshell_that_leaves_is_not_the_end_of_the_cell(make: Make, shell: str) -> None:
    computer = make(shell=shell)
    for code in ("(exit 4)", "x=$(exit 4)", "(set -e; false)", "(exit 4) | cat", "(trap : EXIT; exit 4)"):
        played = play(computer, "shell", f"kept=41; {code}; echo more")
        assert (played.text, played.state) == ("more\n", "finished"), code
    assert play(computer, "shell", "(exit 4)").reason == "exit status 4"
    assert play(computer, "shell", "echo $? $((kept + 1))").text == "4 42\n"


def test_directories_functions_aliases_and_exports_persist(computer: Computer) -> None:
    play(computer, "shell", "mkdir d; cd d; export E=1; f() { echo fun; }; alias a='echo ali'; v=(1 2)")
    played = play(computer, "shell", "basename $PWD; sh -c 'echo $E'; f; a; echo ${v[1]}")
    assert played.text == "d\n1\nfun\nali\n2\n"


def test_leaving_keeps_what_can_be_kept(computer: Computer) -> None:
    play(
        computer, "shell", "mkdir d; cd d; export E=1; f() { echo fun; }; alias a='echo ali'; v=(1 2); exit 1"
    )
    played = play(computer, "shell", "basename $PWD; sh -c 'echo $E'; f; a; echo ${v[1]}")
    assert played.text == "d\n1\nfun\nali\n2\n"


@pytest.mark.parametrize(
    "shell", ["bash", "zsh", "dash", pytest.param("busybox", marks=pytest.mark.needs("busybox"))]
)
def test_leaving_keeps_a_folder_with_any_name(make: Make, tmp_path: Path, shell: str) -> None:
    (tmp_path / "ash").symlink_to(str(shutil.which("busybox")))
    computer = make(shell=str(tmp_path / "ash") if shell == "busybox" else shell)
    name = "It's; x='; touch ran; ' \"$HOME\""
    (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / name)
    for folder in (name, "link"):
        place = tmp_path / folder
        play(computer, "shell", f"kept=41; cd {shlex.quote(str(place))}; exit")
        played = play(computer, "shell", 'echo "$PWD" $((kept + 1))')
        assert (played.text, played.state) == (f"{place} 42\n", "finished")
        assert not (tmp_path / "ran").exists()


def test_the_last_status_is_there_in_the_next_run(computer: Computer) -> None:
    assert play(computer, "shell", "(exit 7)").reason == "exit status 7"
    assert play(computer, "shell", "echo $?").text == "7\n"


def test_passwords_are_asked_for_masked_and_never_shown(shared: Computer) -> None:
    played = play(shared, "shell", "read -rsp 'Key: ' key; echo; echo ${#key}", answers=("secret\n",))
    assert [(asked.prompt, asked.masked) for asked in played.asked] == [("Key: ", True)]
    assert "secret" not in played.text
    assert "6\n" in played.text


def test_a_password_read_from_the_terminal_itself_is_masked(shared: Computer) -> None:
    code = "sh -c 'stty -echo </dev/tty; printf \"Password: \" >/dev/tty; read x </dev/tty; stty echo </dev/tty; echo got' </dev/null"
    played = play(shared, "shell", code, answers=("secret\n",))
    assert played.asked[0].masked
    assert "secret" not in played.text
    assert "got\n" in played.text


@pytest.mark.needs("less")
def test_a_pager_waits_and_can_be_left(computer: Computer) -> None:
    played = play(computer, "shell", "seq 500 | less; echo left", answers=("q",))
    assert played.asked
    assert "left" in played.text


def test_lines_are_those_of_the_cell_in_functions_and_heredocs_too(shared: Computer) -> None:
    code = "f() {\n  sleep 0.15\n}\ncat <<X\na\nX\nsleep 0.15\nf\nfor i in 1; do\n  sleep 0.15\ndone"
    lines = [line for line in play(shared, "shell", code).lines if line in (2, 7, 10)]
    assert lines == [7, 2, 10]


def test_interrupted_pipelines_and_background_jobs_leave_the_shell_in_order(computer: Computer) -> None:
    for code in (
        "echo go; sleep 60 | cat | cat",
        "echo go; (sleep 60; echo no)",
        "echo go; wait $!; cat",
        "sleep 60 & echo go; wait",
    ):
        played = play(computer, "shell", code, stop_at="go\r\n")
        assert played.state == "interrupted", code
        assert "no\n" not in played.text
    assert play(computer, "shell", "echo on").text.endswith("on\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "dash"])
def test_a_prompt_of_the_persons_never_stands_among_the_output(make: Make, shell: str) -> None:
    computer = make(shell=shell)
    hooks = "precmd() { echo before; }; preexec() { echo after; }; precmd_functions=odd"
    assert (
        play(computer, "shell", f"PS1='prompt> '; PS2='more> '; {hooks}; PROMPT_COMMAND='echo command'").text
        == ""
    )
    assert play(computer, "shell", "echo one").text == "one\n"
    assert play(computer, "shell", "PS1='again> '; exit 3").text == ""
    played = play(computer, "shell", "echo two; (exit 5)")
    assert (played.text, played.reason) == ("two\n", "exit status 5")
    assert play(computer, "shell", "echo $?").text == "5\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "dash"])
def test_an_exported_prompt_never_stands_among_the_output(
    make: Make, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PROMPT_COMMAND", "PS1", "PS2"):
        monkeypatch.setenv(name, "echo command" if name == "PROMPT_COMMAND" else "$(echo prompt)> ")
    assert play(make(shell=shell), "shell", "echo one").text == "one\n"


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_history_holds_nothing_of_ours(make: Make, shell: str) -> None:
    computer = make(shell=shell)
    play(computer, "shell", "true")
    text = play(computer, "shell", "history; fc -l; echo listed").text
    assert text.endswith("listed\n")
    assert "__oi" not in text


def test_a_plain_shell_lists_its_functions_too(make: Make) -> None:
    computer = make(shell="dash")
    play(computer, "shell", "greet() { echo hi; }\n  other () (ls)\necho 'fake() {'")
    play(computer, "shell", "unset -f other; word=1")
    found = {variable.name: variable.type for variable in computer.inspector.read_variables("shell")}
    assert found == {"greet": "function", "word": "string"}


#: One after the other; what watches commands is the cells' alone, stays from cell to cell, and goes when told to.
WATCHED = [
    ("trap 'echo \"D $BASH_COMMAND\"' DEBUG", ""),
    ("# nothing", ""),
    ("echo one", "D echo one\none\n"),
    ("for n in 1; do :; done", "D for n in 1\nD :\n"),
    ("trap - DEBUG; echo two", "D trap - DEBUG\ntwo\n"),
    ("echo three", "three\n"),
    ("trap 'echo E' ERR", ""),
    ("false; true", "E\n"),
    ("trap - ERR; false; true", ""),
    ("set -x", ""),
    ("echo four; set +x", "++ echo four\nfour\n++ set +x\n"),
    ("set -u; set -T; shopt -s extdebug; trap 'true' DEBUG", ""),
    ("shopt -q extdebug && echo $-", "huBT\n"),
    ("set +uT; shopt -u extdebug; trap - DEBUG", ""),
    ("trap | grep -v EXIT; echo $-", "hBi\n"),
]


def test_traps_and_options_that_watch_commands_see_only_the_cells(computer: Computer) -> None:
    for code, text in WATCHED:
        played = play(computer, "shell", code)
        assert played.state == "finished", code
        assert played.text == text or code.startswith(("shopt -q", "trap |")), code


def test_the_matches_of_a_pattern_are_kept_for_the_next_cell(computer: Computer) -> None:
    play(computer, "shell", "[[ v1.25 =~ v([0-9]+) ]]")
    assert play(computer, "shell", 'trap -p USR1; echo "${BASH_REMATCH[1]}"').text == "1\n"


def test_a_trap_sees_no_line_of_ours_after_a_failure_an_interrupt_or_an_exit(computer: Computer) -> None:
    play(computer, "shell", "trap 'echo D' DEBUG")
    assert play(computer, "shell", "false").text == "D\n"
    assert play(computer, "shell", "echo go; sleep 60", stop_at="go\r\n").text.startswith("D\ngo\n")
    assert play(computer, "shell", "trap - DEBUG; trap 'echo E' ERR; (exit 3)").text == "D\nE\n"
    assert play(computer, "shell", "echo $?").text == "3\n"
    assert play(computer, "shell", "exit 4").text == ""


#: One after the other. Where a trap is made, it also sees the command of ours that comes next.
WATCHED_BY_ZSH = [
    ("trap 'echo D' DEBUG; :", None),
    ("# nothing", ""),
    ("echo one; f() { :; }; f", "D\none\nD\nD\nD\n"),
    ("trap - DEBUG; echo two", "D\ntwo\n"),
    ("TRAPDEBUG() { echo $ZSH_DEBUG_CMD }", None),
    ("echo three", "echo three\nthree\n"),
    ("unfunction TRAPDEBUG", "unfunction TRAPDEBUG\n"),
    ("false; echo $?", "1\n"),
]


@pytest.mark.needs("zsh")
def test_a_trap_of_zsh_sees_only_the_commands_of_later_cells(computer: Computer) -> None:
    for code, text in WATCHED_BY_ZSH:
        played = play(computer, "zsh", code)
        assert played.state == "finished", code
        assert text is None or played.text == text, code


def test_a_trap_is_told_the_line_of_the_first_command_too(computer: Computer) -> None:
    play(computer, "shell", "trap 'echo D $LINENO' DEBUG")
    assert play(computer, "shell", "# one\n:\n:").text == "D 2\nD 3\n"
    assert play(computer, "shell", "trap - DEBUG").text == "D 1\n"


def test_a_shell_that_is_left_keeps_its_variables_also_after_a_cell_removed_its_trap(
    computer: Computer,
) -> None:
    play(computer, "shell", "word=kept; trap 'echo bye' EXIT; trap - EXIT")
    played = play(computer, "shell", "exit 3")
    assert (played.text, played.state, played.reason) == ("", "failed", "exit status 3")
    assert play(computer, "shell", "echo $word").text == "kept\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "dash"])
def test_where_the_output_of_a_shell_goes_is_reported(make: Make, tmp_path: Path, shell: str) -> None:
    computer = make(shell=shell)
    words = f"the output of Shell goes to {tmp_path}/written, not here"
    assert play(computer, "shell", f"exec >{tmp_path}/written").reason == words
    played = play(computer, "shell", "echo hidden")
    assert (played.state, played.text, played.reason) == ("finished", "", words)
    assert play(computer, "shell", "exec >/dev/tty; echo seen").reason == ""


def test_what_was_saved_earlier_is_not_taken_for_what_was_lost(computer: Computer) -> None:
    play(computer, "shell", "kept=1; exit")
    played = play(computer, "shell", "kept=2; kill -9 $$")
    assert (played.state, "its variables are lost" in played.reason) == ("lost", True)
    assert play(computer, "shell", "echo [$kept]").text == "[]\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "dash"])
def test_a_cell_fails_with_a_reason_where_the_pipes_were_removed(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shell: str
) -> None:
    monkeypatch.setattr(channels, "_find_folder_for_pipes", lambda: str(tmp_path))
    computer = make(shell=shell)
    play(computer, "shell", "x=1")
    (folder,) = tmp_path.glob("oi-tui-*")
    shutil.rmtree(folder)
    played = play(computer, "shell", "echo ran")
    assert (played.text, played.state) == ("", "failed")
    assert played.reason.endswith(f"the pipe {folder}/requests was removed. Use %restart")
    computer.reset()
    assert play(computer, "shell", "echo ran").text == "ran\n"


@pytest.mark.needs("busybox")
def test_the_shell_of_busybox_does_not_greet_and_keeps_its_terminal(make: Make, tmp_path: Path) -> None:
    shell = tmp_path / "ash"
    shell.symlink_to(str(shutil.which("busybox")))
    computer = make(shell=str(shell))
    assert play(computer, "shell", "x=5; [ -t 1 ] && [ -t 2 ] && echo terminal").text == "terminal\n"
    assert play(computer, "shell", "echo $x; exit 3").state == "failed"
    asked = play(computer, "shell", "echo $x; read -p 'name? ' n; echo hello $n", answers=("Ada\n",))
    assert asked.text.startswith("5\n")
    assert "hello Ada" in asked.text
