"""Every place where text is shown that somebody else wrote, and texts that somebody could mean badly.

Adding a place is one entry in PLACES: how the text gets there, through the real screens. Adding a text is one
entry in TEXTS.
"""

import logging
from collections.abc import Callable

from textual import events
from textual.widgets import Input, TextArea

from oi_tui import log
from oi_tui.commands import COMMANDS
from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    FilesChanged,
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    Noticed,
    RetryScheduled,
    RunReported,
    TurnEnded,
)
from oi_tui.engine.models.local_servers import LocalModel
from oi_tui.engine.models.model_check import CheckResult
from oi_tui.engine.review.permissions import Permission
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from oi_tui.file_changes.snapshots import ChangeSet, FileChange
from oi_tui.messages import InputRequested, Message
from oi_tui.runtimes.variables import Detail, Memory, Variable
from oi_tui.screens import keymap
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.screens.diff import DiffScreen
from oi_tui.screens.help import HelpScreen
from oi_tui.screens.llamafile import LlamafileScreen
from oi_tui.screens.models import ModelChoice, ModelsScreen
from oi_tui.screens.navigator.screen import NavigatorScreen
from oi_tui.screens.pager import PagerScreen
from oi_tui.screens.profile.editor import ProfileEditor
from oi_tui.screens.profile.menu import DifferencesDialog, MenuEntry, NameDialog, ProfileMenu
from oi_tui.screens.profile.model_test import ModelTest
from oi_tui.screens.profile.yaml import ProfileYaml
from oi_tui.screens.question import QuestionDialog
from oi_tui.screens.terminal import ProgramScreen
from oi_tui.screens.variables import VariablesScreen
from oi_tui.widgets.pager.long_text import LongText
from oi_tui.widgets.prompt.completion_list import CompletionOffer
from tests.pilot.untrusted_text_app import Place, Stage

#: "SEEN" is seen with the brackets before it, or the brackets acted; nothing that begins with "EVIL" is ever
#: the content of a sequence.
TEXTS = {
    "sequences": "a\x1b[2J\x1b[99;99Hb\x1b]52;c;RVZJTA==\x07c\x1b]8;;http://evil\x1b\\d\x1b[?1049l\x1b[5me\x1bPq#0\x1b\\"
    "f\x1b_EVIL\x1b\\\x1bcg\x1b]0;EVIL\x07h\x9b31mi\x9d52;c;QQ==\x9cj\x90EVIL\x9ck\x1b[3",
    "controls": "a\rb\x08\x08c\x00d\x07e\x0cg\x7fh\x0e\x0fi\x85j\u200bb\u2060c\ufeffd\xade\u200d\u180e\u3164f"
    "\u202eb\u2066c\u2069d\u200fe\u061cf\ud800b\udfffc\uffffd\ufffee\U000e0041f\U0010fffe",
    "markup": "[b]SEEN[/b] [red]x[/] [@click=app.quit]y[/] [/] [link=http://evil]z[/link] "
    "\\[b]SEEN [[b]SEEN]] %s {0} {x!r} $text-error [=] [@click=('",
    "half markup": "[/] [b]SEEN $x [",
    "emoji": "👩‍👩‍👧 🏳️‍🌈 👍🏽 🇪🇺 ☺️ #️⃣" * 8 + "e" + "\u0301\u0336\u20dd" * 300 + "f",
    "wide": "x" + "界" * 200,
    "long": "[b]SEEN[/b]" + "W" * 10_000,
    "lines": " \xa0\u3000one\ttwo\r\nthree\u2028four\u2029five\x0bsix\x85seven\n\n\t\teight\n",
    "nothing": "",
    "Markdown": "# [a](javascript:x)\n\n```\x1b]52;c;QQ==\x07\n| \x1b[2J | b |\n|--|--|\n![i](\x1b\\)",
}


def _message(text: str, role: str = "assistant", kind: str = "message", **more: object) -> Message:
    return Message(role=role, type=kind, content=text, **more)  # type: ignore[arg-type]


def _code(text: str, **more: object) -> Message:
    return _message(text, kind="code", **{"format": "python", "state": "finished", **more})


def streamed(stage: Stage, text: str, kind: str = "message", role: str = "assistant") -> list[Event]:
    """The text in pieces, as it comes from a model or a program."""
    code = _code("1", id=stage.fresh(), state="running")
    first = [MessageRecorded(code)] if kind == "console" else []
    form = "output" if kind == "console" else "python" if kind == "code" else None
    message = _message("", role, kind, id=stage.fresh(), format=form, parent=code.id)
    if kind == "code":
        message = message.replace(state="writing")
    pieces = [text[at : at + 7] for at in range(0, min(len(text), 700), 7)]
    return [*first, MessageStarted(message), *(MessageGrew(message.id, piece) for piece in pieces)]


async def unfolded(stage: Stage, *happened: Event) -> None:
    """Show it, and unfold the newest block."""
    stage.show(*happened)
    transcript = stage.view.conversation.transcript
    transcript.focus()
    await stage.pilot.pause()
    transcript.action_block("fold")
    transcript.action_block("open")


async def asked(stage: Stage, code: str = "x", language: str = "python", **more: str) -> None:
    """The question stands there."""
    message = _code(code, id=stage.fresh(), format=language, state="waiting")
    stage.show(MessageRecorded(message), ApprovalRequested(message, **more))
    await stage.pilot.pause()


async def editing(stage: Stage, code: str) -> None:
    """The code is in the editor."""
    await asked(stage, code)
    stage.view.conversation.edit(stage.view.approval.request.message.id)
    await stage.pilot.pause()


async def replacing(stage: Stage, text: str, field: str) -> None:
    await editing(stage, "x = 1")
    stage.view.replace_line.open("x")
    line = stage.view.replace_line
    line.query_one(field, Input).value = text
    if field == "#replace-text":
        line.action_pattern()
    await stage.pilot.pause(0.2)


async def finding(stage: Stage, text: str) -> None:
    stage.show(MessageRecorded(_message(f"before {text} after")))
    stage.view.find_line.open(one_row(text) or "before")
    await stage.pilot.pause(0.15)


def one_row(text: str) -> str:
    """As it can be in a field of one line."""
    return text.replace("\r", " ").replace("\n", " ")[:400]


async def granted(stage: Stage, text: str, *, listed: bool = False) -> None:
    grants = stage.view.session.permissions
    grants.clear()
    grants.add(Permission("code", "python", text))
    grants.add(Permission("language", text[:500]))
    if listed:
        stage.commands.screens.open_permissions()
    stage.chat.refresh_status()


async def palette(stage: Stage, text: str) -> None:
    await granted(stage, text)
    stage.commands.screens.open_palette()
    await stage.pilot.pause(0.1)
    stage.app.screen.query_one(Input).value = one_row(text)
    await stage.pilot.pause(0.1)
    stage.app.screen.query_one(Input).value = "ask again"
    await stage.pilot.pause(0.1)
    stage.view.session.permissions.clear()


async def pasted(stage: Stage, text: str) -> None:
    stage.chat.prompt.post_message(events.Paste(text))
    await stage.pilot.pause()
    stage.chat.prompt.action_open_paste()


async def recalled(stage: Stage, text: str) -> None:
    stage.chat.prompt._recall.add(text)
    stage.chat.prompt.action_search_history()
    await stage.pilot.pause()


async def mentioned(stage: Stage, text: str) -> None:
    name = text.replace("/", "").replace("\0", "")[:60]
    path = stage.folder / "data" / (name.strip(".") or "x")
    path.parent.mkdir(exist_ok=True)
    try:
        path.write_text("x")
    except (OSError, UnicodeError):
        path = stage.folder
    stage.computer.remembered = (Memory("python", "known", (Variable(text, text, text),), 1),)
    stage.view.completer.forget()
    stage.view.completer.files.refresh()
    stage.chat.prompt.text = "@da"
    stage.chat.prompt.move_cursor(stage.chat.prompt.document.end)
    stage.chat.prompt._find_offers()
    await stage.settle()
    if path.is_file():
        path.unlink()


async def offered(stage: Stage, text: str) -> None:
    stage.post(type(stage.chat.prompt).Offered([CompletionOffer(text, text, text)] * 3, 1, text))
    await stage.pilot.pause()


async def commanded(stage: Stage, text: str, name: str) -> None:
    """What a command says of an argument that it cannot use."""
    stage.chat._dispatch(f"%{name} {text}")
    await stage.settle()


async def navigated(stage: Stage, text: str, *keys: str) -> None:
    """A conversation in the list, with its preview."""
    store = Store(stage.folder / stage.fresh())
    for _ in range(2):
        journal = store.create(cwd=text, model=text, title=text)
        journal.put(_message(f"said {text}", "user"))
        journal.put(_code(text, format=text))
        journal.put(_message(text, "computer", "console", format="output"))
        journal.close()
    (store.folder / "broken.jsonl").write_bytes(b'{"v": 99, "id": "' + text.encode("utf-8", "replace"))
    navigator = NavigatorScreen(store, folder=stage.folder)
    stage.open(navigator)
    await stage.settle()
    await stage.pilot.pause(0.15)
    await stage.settle()
    navigator._list.focus()
    await stage.pilot.press(*keys)
    await stage.settle()


async def sought(stage: Stage, text: str) -> None:
    await navigated(stage, text)
    stage.app.screen.query_one("#navigator-search", Input).value = "said"
    await stage.pilot.pause(0.2)
    await stage.settle()
    stage.app.screen.query_one("#navigator-search", Input).value = one_row(text)
    await stage.pilot.pause(0.2)
    await stage.settle()


async def seen_variable(stage: Stage, text: str, *, look: bool = False, gone: bool = False) -> None:
    stage.computer.remembered = (
        Memory("python", "known", (Variable(text, text, text, 9), Variable("x", text, text)), 2),
        Memory(text, "silent"),
    )
    stage.computer.details = {} if gone else {("python", text): Detail(text, text)}
    stage.open(VariablesScreen(stage.computer))
    await stage.settle()
    if look:
        stage.app.screen.action_look()
        await stage.settle()


async def profile(stage: Stage, text: str, *keys: str) -> ProfileEditor:
    """The profile editor with a text in every setting that takes one."""
    given: dict[str, object] = {
        "model": text or "x",
        "api_base": text,
        "custom_instructions": text,
        "system_message": text,
        "keys": "",
        "loop_breakers": [text],
    }
    path = stage.folder / f"{stage.fresh()}.yaml"
    path.write_text(f"# {one_row(text)}\n".encode("utf-8", "replace").decode(), "utf-8")
    editor = ProfileEditor(Profile(**given), path)  # type: ignore[arg-type]
    stage.open(editor)
    await stage.settle()
    await stage.pilot.press(*keys)
    return editor


async def wrong_value(stage: Stage, text: str) -> None:
    editor = await profile(stage, "x")
    for field in editor.query("SettingField"):
        for box in field.query(Input):
            box.value = one_row(text)
        for area in field.query(TextArea):
            area.text = text
    editor.show_notice(text)
    await stage.pilot.pause()


async def profile_file(stage: Stage, text: str) -> None:
    path = stage.folder / "odd.yaml"
    path.write_bytes(f"llm: {one_row(text)}\n{text}: 1\n".encode("utf-8", "replace"))
    stage.open(ProfileYaml(path))
    await stage.pilot.pause()
    stage.app.screen.query_one(TextArea).text = f"auto_run: '{one_row(text)}'\n"
    await stage.pilot.pause()


async def models(stage: Stage, text: str, *, wanted: bool = False) -> None:
    screen = ModelsScreen(text, wanted=ModelChoice(text) if wanted else None, local=wanted)
    stage.open(screen)
    await stage.settle()
    screen.post_message(screen.ModelsFound([LocalModel(text, text, text, 5)]))
    await stage.pilot.pause()
    screen.post_message(screen.KeyChecked(ModelChoice(text, text, text), False, text))
    await stage.pilot.pause()


async def starting(stage: Stage, text: str) -> None:
    screen = LlamafileScreen("no-such-file.llamafile")
    stage.open(screen)
    await stage.pilot.pause()
    if stage.app.screen is screen:
        screen.handle_progressed(LlamafileScreen.Progressed(text))


async def read(stage: Stage, text: str) -> None:
    reader = PagerScreen(text, LongText.of(f"{text}\n{text}"), text)
    stage.open(reader)
    await stage.pilot.pause()
    reader.action_where()
    reader._sought = one_row(text)
    reader.action_again(False)
    await stage.settle()


async def program(stage: Stage, text: str) -> None:
    screen = ProgramScreen(text, 0.0, typed=lambda _: None, resized=lambda *_: None)
    stage.open(screen)
    await stage.pilot.pause()
    screen.view.feed(f"\x1b[?1049h\x1b[1;31m{text}\r\n{text}")
    await stage.pilot.pause(0.1)


async def keys_of_the_profile(stage: Stage, text: str) -> None:
    changed, reported = keymap.read_chosen(f"command.help: {one_row(text)}\n{one_row(text)}: f3\n{text}")
    for problem in reported:
        stage.commands.show_notice(problem, warning=True)
    stage.open(HelpScreen("At the prompt", [(text, text), *changed.items()]))


async def trusted(stage: Stage, text: str) -> None:
    (stage.folder / ".oi-tui.yaml").write_bytes(
        f"custom_instructions: |\n  {text}\n".encode("utf-8", "replace")
    )
    stage.commands.trust_folder()
    await stage.pilot.pause()
    (stage.folder / ".oi-tui.yaml").unlink()


async def resumed(stage: Stage, text: str) -> None:
    """A conversation from a file that somebody sent."""
    journal = stage.workspace.store.create(cwd=text, model=text, title=text)
    for message in (
        _message(text, "user"),
        _message(text, kind="reasoning"),
        _message(text),
        _code(
            text, format=text, proposed=f"{text}\nx", grant=text, decision="auto", reason=text, state="failed"
        ),
        _message(text, "computer", "console", format="output"),
        _message(text, "computer", "image", format="path"),
        _message(text, "computer", "image", format="base64.png"),
        _message(text, "user", "file", format="path"),
    ):
        journal.put(message)
    journal.close()
    stage.commands.open_conversation(journal.id)
    await stage.settle()


async def elsewhere(stage: Stage, text: str) -> None:
    """The window's title, and the call of a person who looks elsewhere."""
    stage.post(ChatScreen.Titled(text))
    stage.post(ChatScreen.AttentionRequested("desktop", text))
    await stage.pilot.pause()


async def headline(stage: Stage, text: str) -> None:
    view = stage.view
    model = one_row(text).replace("\0", "").strip() or "x"
    view.session.profile = stage.workspace.profile.with_changes("changed", model=model)
    view.progress.doing = text
    view.turns.busy = True
    stage.chat.refresh_status()
    await stage.pilot.pause()
    view.turns.busy = False
    view.progress.doing = ""


async def logged(stage: Stage, text: str) -> None:
    record = logging.LogRecord("oi_tui", logging.INFO, "", 1, text, (), None)
    for _ in range(3):
        log.recent.handle(record)
    stage.commands.log.follow(True)
    await stage.pilot.pause(0.3)


async def cells(stage: Stage, text: str) -> None:
    """What can be read of a cell on screens of its own."""
    code = _code(text, id=stage.fresh(), format=text, proposed="y")
    stage.show(
        MessageRecorded(code),
        MessageRecorded(_message(text or "x", "computer", "console", format="output", parent=code.id)),
    )
    await stage.pilot.pause()
    for what in ("view", "diff", "known"):
        stage.commands.cells.act(code.id, what)
        await stage.pilot.pause()


def reported(*more: Callable[[Stage, str], Event]) -> Place:
    return lambda stage, text: stage.show(*(item(stage, text) for item in more))


PLACES: dict[str, Place] = {
    # what is said and run
    "your message": lambda s, t: s.show(MessageRecorded(_message(t, "user"))),
    "the model's words": lambda s, t: s.show(*streamed(s, t)),
    "the whole answer": lambda s, t: s.show(MessageRecorded(_message(t))),
    "thinking": lambda s, t: unfolded(s, *streamed(s, t, "reasoning")),
    "code": lambda s, t: s.show(MessageRecorded(_code(t))),
    "code that comes": lambda s, t: s.show(*streamed(s, t, "code")),
    "code that was changed": lambda s, t: s.show(MessageRecorded(_code(t, proposed="x", decision="edited"))),
    "the name of a language": lambda s, t: s.show(MessageRecorded(_code("x", format=t))),
    "output": lambda s, t: s.show(*streamed(s, t, "console", "computer")),
    "output, open": lambda s, t: unfolded(s, *streamed(s, f"{t}\n" * 20, "console", "computer")),
    "why a run ended": lambda s, t: s.show(MessageRecorded(_code("x", state="failed", reason=t))),
    "why code was refused": lambda s, t: s.show(MessageRecorded(_code("x", state="rejected", reason=t))),
    "which grant let it run": lambda s, t: s.show(MessageRecorded(_code("x", decision="auto", grant=t))),
    "an image's path": lambda s, t: s.show(MessageRecorded(_message(t, "user", "image", format="path"))),
    "an image that is none": lambda s, t: s.show(
        MessageRecorded(_message(t, "computer", "image", format="base64.png"))
    ),
    "a file that was sent": lambda s, t: s.show(MessageRecorded(_message(t, "user", "file", format="path"))),
    "a note": lambda s, t: s.show(Noticed(t)),
    "a warning": lambda s, t: s.show(Noticed(t, "warning")),
    "an error": lambda s, t: s.show(Noticed(t, "error")),
    "why a turn ended": lambda s, t: s.show(TurnEnded("failed", t, t)),
    "why it tries again": lambda s, t: s.show(RetryScheduled(t, 3)),
    "files that changed": lambda s, t: s.show(
        MessageRecorded(_code("x", id="files")),
        FilesChanged("files", ChangeSet("files", "/", (FileChange(t, "created"),), t)),
    ),
    "a conversation that is resumed": resumed,
    "cells, read": cells,
    # the question
    "the code in question": asked,
    "the language in question": lambda s, t: asked(s, language=t),
    "caution and note": lambda s, t: asked(s, caution=t, note=t),
    "what was found": lambda s, t: asked(
        s, f"open({t!r}, 'w')\nimport os\nos.system({t!r})\nos.remove({t!r})"
    ),
    "the code in the editor": editing,
    "find in code": lambda s, t: replacing(s, one_row(t), "#replace-text"),
    "replace in code": lambda s, t: replacing(s, one_row(t), "#replace-with"),
    "changes": lambda s, t: s.open(DiffScreen(t, f"a\n{t}", f"{t}\nb")),
    "the mode, with grants": granted,
    "the list of grants": lambda s, t: granted(s, t, listed=True),
    "the palette": palette,
    # a program that runs
    "what a program asks": lambda s, t: s.show(RunReported("x", InputRequested(t, False))),
    "what it asks in secret": lambda s, t: s.show(RunReported("x", InputRequested(t, True))),
    "a program on all of the screen": program,
    # the prompt
    "the prompt": lambda s, t: setattr(s.chat.prompt, "text", t),
    "a paste": pasted,
    "a long paste": lambda s, t: pasted(s, f"{t}\n" * 40),
    "history": recalled,
    "files and variables to complete": mentioned,
    "completions": offered,
    "the queue": lambda s, t: [s.view._queue_bar.add(t) for _ in range(5)] and None,
    "find": finding,
    # how things stand
    "first and last line": headline,
    "title and call": elsewhere,
    "the log": logged,
    # other screens
    "reader": read,
    "a question on a page": lambda s, t: s.open(ConfirmDialog(t, [t, t])),
    "a question of ssh": lambda s, t: s.open(QuestionDialog(t, t, masked=True)),
    "a folder's settings": trusted,
    "navigator": navigated,
    "navigator, renaming": lambda s, t: navigated(s, t, "r"),
    "navigator, exporting": lambda s, t: navigated(s, t, "x"),
    "navigator, deleting": lambda s, t: navigated(s, t, "d", "d"),
    "navigator, a folder": lambda s, t: navigated(s, t, "o"),
    "navigator, searching": sought,
    "variables": seen_variable,
    "a variable": lambda s, t: seen_variable(s, t, look=True),
    "a variable that is gone": lambda s, t: seen_variable(s, t, look=True, gone=True),
    "the profile": profile,
    "the profile, wrong": wrong_value,
    "the profile's menu": lambda s, t: s.open(ProfileMenu(t, [MenuEntry("text", "Edit", list)])),
    "a profile's name": lambda s, t: s.open(NameDialog(t, one_row(t))),
    "a profile's differences": lambda s, t: s.open(DifferencesDialog([t, t])),
    "the profile as text": profile_file,
    "models": models,
    "a model that is not there": lambda s, t: models(s, t, wanted=True),
    "the test of a model": lambda s, t: s.open(ModelTest(t, iter([CheckResult("host", False, t, t)]))),
    "a model that is fetched": starting,
    "keys of one's own": keys_of_the_profile,
    # what commands answer
    **{
        f"%{name}": lambda s, t, name=name: commanded(s, t, name)
        for name in (*(command.name for command in COMMANDS.values() if command.usage), "nothing")
        if name != "theme"
    },
}
