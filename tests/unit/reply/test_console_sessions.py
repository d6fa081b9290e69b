"""Sessions as models write them down: only what stands behind their prompts is code."""

# ruff: noqa: E501 - code of other languages, as it is

import json

import pytest

from oi_tui.engine.llm.base import Delta, Finish, Text, ToolCallPiece
from oi_tui.engine.reply.console_sessions import ConsoleSession, is_open
from oi_tui.engine.reply.parser import CodeGrew, CodeStarted, ReplyParser, TextPart, join
from oi_tui.runtimes.languages import LANGUAGES

WORDS = {word: language.name for language in LANGUAGES for word in (language.name, *language.aliases)}


def read(text: str, cut: int = 0, *, call: bool = False) -> list[tuple[str, str]]:
    """Each code in a reply with its language; what was said is left out."""
    parser = ReplyParser(lambda word: WORDS.get(word.lower()), fences=True)
    size = cut or len(text)
    deltas: list[Delta] = [
        ToolCallPiece(0, "c", "execute", text[at : at + size]) if call else Text(text[at : at + size])
        for at in range(0, len(text), size)
    ]
    parts = [part for delta in [*deltas, Finish("stop")] for part in parser.feed(delta)]
    codes: list[tuple[str, str]] = []
    for part in join(parts + parser.finish()):
        if isinstance(part, CodeStarted):
            codes.append((WORDS.get(part.language, part.language), ""))
        elif isinstance(part, CodeGrew):
            codes[-1] = codes[-1][0], codes[-1][1] + part.text
    return codes


@pytest.mark.parametrize("word", ["bash", "sh", "shell", "console", "shell-session", "terminal", "zsh"])
@pytest.mark.parametrize("cut", [0, 1, 7])
@pytest.mark.parametrize(
    ("session", "commands"),
    [
        ("$ ls", "ls"),
        ("$ cd /tmp\n$ ls -la", "cd /tmp\nls -la"),
        ("$ ls\na.txt\nb.txt\n\n$ wc -l a.txt\n3 a.txt", "ls\nwc -l a.txt"),
        ("# first\n$ ls\n# not a command\n", "# first\nls"),
        ("$ echo a \\\n    b\na b", "echo a \\\n    b"),
        ("$ for i in 1 2; do\n>   echo $i\n> done\n1\n2", "for i in 1 2; do\n  echo $i\ndone"),
        ("$ for i in 1 2; do\n    echo $i\n  done\n1\n2", "for i in 1 2; do\n    echo $i\n  done"),
        ("$ cat <<EOF > f\na $x\n$ no prompt\nEOF\n$ cat f\na", "cat <<EOF > f\na $x\n$ no prompt\nEOF\ncat f"),
        ("$ echo 'two\nlines'\ntwo\nlines", "echo 'two\nlines'"),
        ("$ a() {\n  ls\n}\n$ a\nx", "a() {\n  ls\n}\na"),
        ("me@host:~/x$ pwd\n/home/me/x\nme@host:~/x$ ls", "pwd\nls"),
        ("(venv) $ pip list\nPackage", "pip list"),
        ("[me@host dir]$ ls\nx", "ls"),
        ("root@host:/# whoami\nroot", "whoami"),
        ("me@mac dir % ls\nx", "ls"),
        ("% ls\nx", "ls"),
        ("$ ls |\n  wc\n3", "ls |\n  wc"),
        ("$ ls\n$ \n$", "ls"),
    ],
)  # fmt: skip
def test_the_shell_is_given_the_commands_alone(word: str, cut: int, session: str, commands: str) -> None:
    assert read(f"Do this:\n```{word}\n{session}\n```\n", cut) == [(WORDS[word], commands)]


@pytest.mark.parametrize("cut", [0, 1, 5])
@pytest.mark.parametrize(
    ("session", "code"),
    [
        (">>> 1 + 1\n2", "1 + 1"),
        (">>> for i in [1]:\n...     print(i)\n...\n1\n>>> x = 2", "for i in [1]:\n    print(i)\n\nx = 2"),
        ("In [1]: x = 1\n\nIn [2]: x\nOut[2]: 1", "x = 1\nx"),
    ],
)
def test_python_is_given_what_follows_its_prompts(cut: int, session: str, code: str) -> None:
    arguments = json.dumps({"language": "python", "code": session})
    assert read(arguments, cut, call=True) == [("python", code)]


def test_calls_with_prompts_are_commands_too() -> None:
    arguments = '{"language": "bash", "code": "$ ls\\nout\\n$ pwd"}'
    for cut in (0, 1, 3):
        assert read(arguments, cut, call=True) == [("shell", "ls\npwd")]


@pytest.mark.parametrize("cut", [0, 1, 3])
@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("bash", "ls\n$ not"),
        ("bash", "#!/bin/bash\n# $ ls\n\necho '$ x'"),
        ("bash", "# only a comment"),
        ("bash", "$HOME/bin/run --x"),
        ("bash", "$(which ls) -l"),
        ("bash", "%1"),
        ("bash", "x=1\n\n  echo $x  \n"),
        ("bash", "me@host"),
        ("python", "x = 1\n>>> y"),
        ("python", "#>>> x\nprint('>>> 1')"),
        ("python", "In = [1]\nIn [0]"),
        ("python", "\n\n'''\n>>> doc\n'''"),
        ("javascript", "x\n$ ('x')\n>>> y"),
    ],
)
def test_code_without_prompts_comes_as_it_is(word: str, code: str, cut: int) -> None:
    assert read(f"```{word}\n{code}\n```", cut) == [(WORDS[word], code)]


def test_a_session_that_shows_output_alone_is_no_code() -> None:
    parser = ReplyParser(lambda word: WORDS.get(word), fences=True)
    text = "It prints:\n```console\ntotal 3\nhello world\n```\n"
    assert join(parser.feed(Text(text)) + parser.finish()) == [TextPart(text)]


@pytest.mark.parametrize(
    "command",
    ["echo \\", "echo 'a", 'echo "a', "if true; then", "for x in 1", "while true; do\nls", "f() {", "(ls", "ls |",
     "ls &&", "case x in", "cat <<X\na", "cat <<-'X'\nX y", "if a; then\nif b; then\nfi"],
)  # fmt: skip
def test_commands_that_go_on_are_known(command: str) -> None:
    assert is_open(command)


@pytest.mark.parametrize(
    "command",
    ["ls", "echo if", "echo 'a' \"b\"", "if true; then ls; fi", "for x in 1; do ls; done", "f() { ls; }", "cat <<X\na\nX",
     "cat <<<x", "echo for done { (x)", "ls # it's", "echo \\'", "case x in x) ls;; esac", "git commit -m 'do it'"],
)  # fmt: skip
def test_commands_that_are_whole_are_known(command: str) -> None:
    assert not is_open(command)


def test_what_comes_out_at_once_is_not_held_back() -> None:
    reader = ConsoleSession("shell")
    assert reader.feed("ls -") == "ls -"
    assert ConsoleSession("python").feed("import ") == "import "
    assert ConsoleSession("ruby").feed("$") == "$"
