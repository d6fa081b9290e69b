"""The keys of vi: what they do to a text is what vim does to it."""

import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.app import App, ComposeResult

from oi_tui.themes import DARK
from oi_tui.widgets.editor.code_editor import CodeEditor
from oi_tui.widgets.prompt.prompt import Prompt
from oi_tui.widgets.vi.command import MOST_TIMES, ParsedCommand, read
from oi_tui.widgets.vi.text_edits import multiply

ESC = "\x1b"
WORDS = "one two-three  four\n\n  foo(bar, [1, 2])  x = 'a b'\nlast"
CODE = "def f(x):\n    if x:\n        return g(x, h(1))\n\nfoo {\n    one\n    two\n}\n\nprint('done')"
#: What is typed, from the first character on: ⎋ is escape, ⏎ enter, ↻ ctrl+r and _ a space.
IN_WORDS = """
    w 2w 3w 4w 5w 9w W 2W 3W Gb G3b GB G2B e 2e 4e 5e E 3E $ 2$ 2j^ 2j0 $j $2j lljjj
    fo 2fo tw ft; to; to;; $Fo $To 2fo, fz jjf(% jj%
    dw d2w 2dw d3w 4wdw db wdb de d2e dW d$ D d0 wd0 x 3x 99x $x X $3X dd 2dd 9dd jdd Gdd dj jdk dG Gdgg
    dfo dto $dFo $dTo d; dfz cwX⎋ c2wX⎋ wcwX⎋ 3lcwX⎋ ccX⎋ jjccX⎋ 2ccX⎋ CX⎋ sX⎋ 2sX⎋ SX⎋
    diw wdiw 4ldiw daw wdaw $daw diW daW 12ldiw 12ldaw ciwX⎋
    jjdi' jjda' jj$di' jjfrdi( jjfrda( jjf2di[ jjf2di( yi'
    yyp yyP 2yyjp ywP ywp yw3p y$jp xp ddp ddP dwjjp wyb Gyk yjp YGp yiwjp ylGp yy2p
    iX_Y⎋ aX_Y⎋ IX_Y⎋ AX_Y⎋
    jjIX_Y⎋ jjaX_Y⎋ oX_Y⎋ OX_Y⎋ jjoX_Y⎋ jjOX_Y⎋ 3iX_Y⎋ 2AX_Y⎋ $aX_Y⎋ $iX_Y⎋ jiX_Y⎋ jaX_Y⎋
    J 3J jJ jjJ rX 3rX 99rX ~ 5~ 99~ $~ GJ
    dw. dw2. x.. 3x. dd. iX⎋. AX⎋jj. cwX⎋w. rXl. J. oX⎋. 2iX⎋. ywPjj.
    dwu ddu oX_Y_Z⎋u >>u ciwX⎋u
    vd vld wved ved v$hd $vbd vjd Vd Vjd jjVkd vey$p Vyp vwy vecX⎋ VcX⎋ viwd vawd jjfrvi(d wviwrX
    ve~ veU VU VJ vjJ v⎋x vlo⎋x wvllohd v$d v$y$p vVd Vvd vvx yiwwviwp Vj> vipd 2wvbx vwwou
"""
IN_CODE = """
    G 3G 3Ggg } 2} 9} G{ G2{ 2G% 5G$% 4j% jj- + /x⏎ /x⏎n /x⏎nN w* w*n /no_such⏎ 3j5k
    d} jd} 3jd} Gd{ d/x⏎ jddp >> j>j j<< 2j<G dip dap
    5jdi{ 5jda{ 5jdiB 2jfgdi( 2jfhdib 2jf1dab 4jdi{ di( 2jdi"
"""
TYPED = str.maketrans("⎋⏎↻_", "\x1b\r\x12 ")
CASES = [
    (text, keys.translate(TYPED))
    for text, table in ((WORDS, IN_WORDS), (CODE, IN_CODE))
    for keys in table.split()
]


class EditorApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.register_theme(DARK)
        self.theme = "oi-dark"
        self.editor = CodeEditor("", "text")
        self.prompt = Prompt(["hello there, again"], id="prompt")
        self.lines: list[str] = []
        self.escapes = 0

    BINDINGS = [("escape", "escaped", "")]

    def compose(self) -> ComposeResult:
        yield self.editor
        yield self.prompt

    def on_code_editor_vi_command(self, event: CodeEditor.ViCommand) -> None:
        self.lines.append(event.line)

    def action_escaped(self) -> None:
        self.escapes += 1


@asynccontextmanager
async def editor_app() -> AsyncIterator[EditorApp]:
    app = EditorApp()
    async with app.run_test(size=(80, 20)):
        app.editor.use_vi(True)
        app.prompt.use_vi(True)
        app.editor.focus()
        yield app


NAMES = {ESC: "escape", "\r": "enter", "\x12": "ctrl+r"}


async def press(area: CodeEditor | Prompt, keys: str) -> None:
    """Hand keys to an area, as if a person typed them with pauses."""
    for number, key in enumerate(keys):
        name = NAMES.get(key)
        event = events.Key(name or key, None if name else key)
        event.time = event.time + number
        await area._on_message(event)


def show_caret(area: CodeEditor | Prompt) -> str:
    """The text with | at the caret."""
    row, column = area.cursor_location
    lines = area.text.split("\n")
    lines[row] = f"{lines[row][:column]}|{lines[row][column:]}"
    return "\n".join(lines)


def as_vim_does(cases: Sequence[tuple[str, str]], folder: Path) -> list[str]:
    """What vim makes of the cases, in one process."""
    script = ["set autoindent shiftwidth=4 expandtab tabstop=4 nohlsearch"]
    for number, (text, keys) in enumerate(cases):
        (folder / f"{number}").write_text(text + "\n", encoding="utf-8")
        script += [f"edit! {folder}/{number}", "1", f"normal! {keys}", "normal! i|", "write!"]
    (folder / "script").write_text("\n".join(script) + "\n", encoding="utf-8")
    command = ["vim.tiny", "-u", "NONE", "-i", "NONE", "-nNes", "-S", str(folder / "script"), "-c", "qa!"]
    subprocess.run(command, stdin=subprocess.DEVNULL, timeout=60, check=False)
    return [(folder / f"{number}").read_text(encoding="utf-8")[:-1] for number in range(len(cases))]


@pytest.mark.needs("vim.tiny")
async def test_every_command_does_what_vim_does(tmp_path: Path) -> None:
    wanted = as_vim_does(CASES, tmp_path)
    wrong: list[str] = []
    async with editor_app() as app:
        for (text, keys), result in zip(CASES, wanted, strict=True):
            app.editor.open(text, "text")
            await press(app.editor, keys)
            # vim ends a command that is not whole; its caret then stands on a character.
            if (found := show_caret(app.editor)) != result:
                wrong.append(f"{keys!r} on {text!r}\n  vim: {result!r}\n  us:  {found!r}")
    assert not wrong, f"{len(wrong)} of {len(CASES)}\n" + "\n".join(wrong)


async def test_undo_and_redo_go_by_whole_commands() -> None:
    async with editor_app() as app:
        app.editor.open("one two three", "text")
        for keys, text in (
            ("dwdw", "three"),
            ("u", "two three"),
            ("u", "one two three"),
            ("u", "one two three"),
            ("\x12", "two three"),
            ("\x12", "three"),
            ("2u", "one two three"),
            (f"iX Y{ESC}aZ Z{ESC}", "X YZ Zone two three"),
            ("u", "X Yone two three"),
        ):
            await press(app.editor, keys)
            assert app.editor.text == text, keys


async def test_the_editor_shows_its_mode_and_keeps_its_text_from_keys_and_escapes() -> None:
    async with editor_app() as app:
        app.editor.open("one\ntwo", "text")
        vi = app.editor.vi
        assert vi
        await press(app.editor, ESC + ESC + "Q2d")
        assert (vi.shown, app.editor.text, app.escapes) == ("NORMAL 2d", "one\ntwo", 0)
        await press(app.editor, ESC + "vl")
        assert (vi.shown, app.editor.selected_text) == ("VISUAL", "on")
        await press(app.editor, ESC + ":2\r:w")
        assert (vi.shown, app.editor.cursor_location) == (":w", (1, 0))
        await press(app.editor, "q\rcc")
        assert vi.shown == "INSERT"
        await press(app.editor, ESC + "ZQZZ")
        await app.animator.wait_until_complete()
        await app.workers.wait_for_complete()
        assert app.editor.text == "one\n"


async def test_a_prompt_begins_in_insert_mode_and_leaves_history_and_a_second_escape_to_its_keys() -> None:
    async with editor_app() as app:
        prompt, vi = app.prompt, app.prompt.vi
        assert vi
        await press(prompt, "hello world" + ESC)
        assert (vi.shown, show_caret(prompt)) == ("NORMAL", "hello worl|d")
        await press(prompt, "bcwthere" + ESC)
        assert prompt.text == "hello there"
        await press(prompt, "k")
        assert prompt.text == "hello there, again"
        await press(prompt, "j")
        assert prompt.text == "hello there"
        assert not vi.handle_key(events.Key("escape", None))
        await press(prompt, ":q/")
        assert (vi.mode, prompt.text) == ("insert", "hello there"), "/ searches the messages"
        await press(prompt, ESC + "\r")
        assert (vi.mode, prompt.text) == ("insert", "")
        prompt.use_vi(False)
        await press(prompt, "x" + ESC + "x")
        assert (prompt.vi, prompt.text) == (None, "xx")


@pytest.mark.slow
async def test_numbers_without_bounds_do_what_can_be_done_and_end() -> None:
    async with editor_app() as app:
        app.editor.open("one\ntwo\nthree", "text")
        for keys, place in (
            (":²\r", (0, 0)),
            (f":{'9' * 4_400}\r", (2, 0)),
            (":1\r", (0, 0)),
            (":٢\r", (1, 0)),
        ):
            await press(app.editor, ESC + keys)
            assert app.editor.cursor_location == place, keys[:9]
        await press(app.editor, "ggdd999999999u")
        assert app.editor.text == "one\ntwo\nthree"
        for keys in ("999999999\x12", "dw", "9999999u", "9999999w", "gg9999999e", "99999d99999k", "u"):
            await press(app.editor, keys)
        assert app.editor.text == "one\ntwo\nthree"


def test_a_count_of_thousands_of_digits_is_a_number_and_no_text_grows_without_a_bound() -> None:
    assert read("9" * 5_000 + "w", visual=False) == ParsedCommand(MOST_TIMES, "", "w")
    assert read("99999d99999w", visual=False) == ParsedCommand(MOST_TIMES, "d", "w")
    assert read("12d3w", visual=False) == ParsedCommand(36, "d", "w")
    assert len(multiply("x" * 300_000, MOST_TIMES)) == 900_000
    assert multiply("ab", 3) == "ababab"
