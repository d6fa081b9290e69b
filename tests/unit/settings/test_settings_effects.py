"""Every setting is seen to act: what can be observed is different once it is set."""

import asyncio
import base64
import contextlib
import io
import json
import logging
import os
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image
from textual.message import Message as Notification

from oi_tui import app
from oi_tui.cli import main
from oi_tui.cli.flags import make_parser
from oi_tui.engine import speech
from oi_tui.engine.cell_requests import describe_calls
from oi_tui.engine.events import ApprovalRequested, MessageRecorded, ModelCalled, Run, TurnEnded
from oi_tui.engine.llm import request as request_writer
from oi_tui.engine.llm.base import Text, Usage
from oi_tui.engine.models.known_windows import KnownWindows
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.review.model_calls import ModelCalls
from oi_tui.engine.settings import yaml_file
from oi_tui.engine.settings.profile import Profile, explain_no_effect, list_settings
from oi_tui.engine.settings.setting import Setting, Value
from oi_tui.messages import LineReached, Message, Printed
from oi_tui.runtimes.computer import Computer as RealComputer
from oi_tui.runtimes.remote import left_targets
from oi_tui.runtimes.sandbox import sandbox
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.terminal.graphics import choose_protocol
from oi_tui.terminal.queries import Answers
from oi_tui.window import address
from oi_tui.workspace import Workspace
from tests import bare_python, programs
from tests.fakes import Computer, Llm, call
from tests.pilot.test_chat import open_chat
from tests.setting_values import other_value

Observe = Callable[[Profile], object]


@dataclass(frozen=True)
class Effect:
    """How to see a setting act: what to observe, and the value that makes the difference."""

    observe: Observe
    value: Value | Callable[[], str] = None
    #: Settings that must be so for this one to matter.
    given: dict[str, Value] | None = None


def image() -> str:
    """An image that is too large for providers, as base64."""
    image = Image.frombytes("RGB", (1500, 1500), random.Random(1).randbytes(1500 * 1500 * 3))
    out = io.BytesIO()
    image.save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode()


ASKED = Message(role="user", type="message", content="go")
RAN = Message(role="assistant", type="code", format="python", content="1", state="finished", seconds=0.1)
CALLED = RAN.replace(call="c1")
TALK = [
    ASKED,
    RAN,
    Message(role="computer", type="console", format="output", content="x" * 5000, parent=RAN.id),
    Message(role="assistant", type="message", content="Done."),
    Message(role="user", type="message", content="and"),
    CALLED,
    Message(role="computer", type="image", format="base64.png", content="aGk=", parent=CALLED.id),
    Message(role="assistant", type="message", content="Well."),
]


def request(*, tools: bool) -> Observe:
    def observe(profile: Profile) -> object:
        written = request_writer.write(TALK, profile, ["python"], tools=tools, vision=True)
        return repr(written.request) + str(written.request.api_key)

    return observe


def silent(profile: Profile) -> object:
    quiet = [ASKED, RAN, Message(role="user", type="message", content="and")]
    return repr(request_writer.write(quiet, profile, ["python"], tools=False).request)


def large_image(profile: Profile) -> object:
    shown = [ASKED, Message(role="user", type="image", format="base64.png", content=image())]
    sent = request_writer.write(shown, profile, ["python"], tools=True, vision=True).request
    return "image_url" in json.dumps(sent.messages[-1]["content"])


def observe_turn(*replies: Any) -> Observe:
    """What a turn of a session comes to: events by name, what ran, how it ended."""

    def observe(profile: Profile) -> object:
        llm, computer = Llm(*replies), Computer()
        space = Workspace(profile, llm=llm, computer=computer)
        reported: list[object] = []
        try:
            for event in space.session.turn("go"):
                if isinstance(event, ApprovalRequested):
                    reported.append(("asked", event.caution))
                    event.reply(Run(event.message.content))
                elif isinstance(event, TurnEnded):
                    reported.append(event)
                elif isinstance(event, MessageRecorded):
                    reported.append((event.message.state, event.message.reason))
                elif isinstance(event, ModelCalled):
                    reported.append("model")
        finally:
            space.close()
        return reported, computer.ran, [bool(item.tools) for item in llm.requests]

    return observe


def observe_run(language: str, code: str) -> Observe:
    """What a real language prints, and the lines that it reports."""

    def observe(profile: Profile) -> object:
        space = Workspace(profile, llm=Llm())
        try:
            reports = list(space.computer.run(language, code))
        finally:
            space.close()
        return (
            "".join(report.text for report in reports if isinstance(report, Printed)),
            any(isinstance(report, LineReached) for report in reports),
        )

    return observe


def in_a_sandbox(code: str) -> Observe:
    """What a shell prints in a sandbox whose folder has files that are usually read-only."""

    def observe(profile: Profile) -> object:
        if problem := sandbox.explain_unavailable():
            pytest.skip(problem)
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            Path(".envrc").write_text("")
            return observe_run("shell", code)(profile)

    return observe


def limits(profile: Profile) -> object:
    """What `%info` says of the sandbox's limits, which tests of their own see kept."""
    space = Workspace(profile, llm=Llm())
    try:
        return space.computer.limits
    finally:
        space.close()


def described(language: str) -> Observe:
    def observe(profile: Profile) -> object:
        space = Workspace(profile, llm=Llm())
        try:
            return space.computer.describe(language)
        finally:
            space.close()

    return observe


def saved(profile: Profile) -> object:
    """The folders in which a conversation is after a turn, in a home of its own."""
    with pytest.MonkeyPatch.context() as patch:
        home = Path(os.environ["HOME"]) / f"home{random.getrandbits(60)}"
        patch.setenv("OI_TUI_HOME", str(home))
        observe_turn([call("1")], [Text("ok")])(profile)
        found = [item.parent for item in Path(os.environ["HOME"]).rglob("*.jsonl")]
        return sorted(
            str(item).replace(str(home), "") for item in found if home in item.parents or "else" in str(item)
        )


def snapshots(profile: Profile) -> object:
    space = Workspace(profile, llm=Llm(), computer=Computer())
    try:
        return space.session._watcher is None
    finally:
        space.close()


def logged(profile: Profile) -> object:
    """What stands in the log after a turn, times aside."""
    records: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record.getMessage())

    log, handler = logging.getLogger("oi_tui"), Keep()
    log.addHandler(handler)
    try:
        observe_turn([call("1")], [Text("Said in reply")])(profile)
    finally:
        log.removeHandler(handler)
    return bool(records), any("Said in reply" in item for item in records)


def themed(profile: Profile) -> object:
    made = app.OiTui(lambda: Workspace(profile, llm=Llm()), theme=profile.theme)
    return made.theme


def show_image(profile: Profile) -> object:
    return choose_protocol(profile.images, Answers(True, "kitty(0.40)"), None, {"TERM": "xterm-kitty"})


def moused(profile: Profile) -> object:
    return app.OiTui(lambda: Workspace(profile, llm=Llm()), mouse=profile.mouse).mouse


def found_by_agents(profile: Profile) -> object:
    """How many windows other agents find."""

    async def work() -> object:
        async with open_chat(**chosen(profile)) as ui:
            await ui.view.host_cells.listen()
            return len(address.list_published(Path("/")))

    return asyncio.run(work())


def keyed(profile: Profile) -> object:
    """What the keys of the application do."""

    async def work() -> object:
        async with open_chat(**chosen(profile)) as ui:
            return sorted(
                key for key, bound in ui.app.screen.active_bindings.items() if "command.new" in str(bound)
            )

    return asyncio.run(work())


def spoken(profile: Profile) -> object:
    """What a voice is given to read, with a program that only notes it."""
    folder = Path(os.environ["HOME"]) / "bin"
    folder.mkdir(exist_ok=True)
    heard = folder / "heard"
    heard.unlink(missing_ok=True)
    program = folder / "say"
    program.write_text(f"#!/bin/sh\ncat > {heard}\n")
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        voice = speech.Voice()
        if profile.speak_messages and speech.explain_silence() is None:
            voice.say("**Hello** `there`")
            speaking = voice._speaking
            assert speaking is not None
            speaking.wait(30)
    return heard.read_text() if heard.exists() else None


def beside(profile: Profile) -> object:
    """Whether the sidebar stands beside the conversation on a wide screen."""

    async def work() -> object:
        async with open_chat([Text("ok")], **chosen(profile)) as ui:
            await ui.pilot.resize_terminal(160, 40)
            await ui.type("hello")
            await ui.idle()
            return ui.view.sidebar.shown

    return asyncio.run(work())


def typed_as_in_vi(profile: Profile) -> object:
    """What the prompt holds after keys that mean something else in vi."""

    async def work() -> object:
        async with open_chat([Text("ok")], **chosen(profile)) as ui:
            await ui.pilot.press("a", "b", "escape", "x")
            return ui.prompt

    return asyncio.run(work())


def seated(profile: Profile) -> object:
    """What the application does in a turn: whom it calls how, whether it has a title, what it asks for."""

    async def work() -> object:
        seen: list[object] = []
        async with open_chat([Text("ok")], [Text("A title")], **chosen(profile)) as ui:
            post = ui.app.post_message

            def note(message: Notification) -> bool:
                if isinstance(message, ChatScreen.AttentionRequested):
                    seen.append(message.mode)
                return post(message)

            ui.app.post_message = note  # type: ignore[method-assign]
            await ui.type('"""one')
            typed = ui.prompt
            if typed:
                await ui.type('"""')
            await ui.idle()
            ui.view.post_message(ui.view.AttentionRequested("it waits"))
            await ui.until(lambda: seen)
            await ui.until(lambda: len(ui.llm.requests) == 1 + profile.model_titles)
            moves = ui.app.animation_level
            return typed, sorted(set(map(str, seen))), bool(ui.chat._title), len(ui.llm.requests), moves

    return asyncio.run(work())


def chosen(profile: Profile) -> dict[str, Value]:
    """What was set, by name."""
    return {name: getattr(profile, name) for name in profile.origins if name != "model"}


def needless(profile: Profile) -> object:
    return explain_no_effect(profile)


def told_of_languages(profile: Profile) -> object:
    """What the model is told of the languages."""
    workspace = Workspace(profile, llm=Llm())
    try:
        return workspace.computer.notes
    finally:
        workspace.close()


def left_running(profile: Profile) -> object:
    """What is left running on a target when we quit, and for how many days it would be."""
    workspace = Workspace(profile.with_changes(target="command:env"), llm=Llm())
    try:
        assert list(workspace.computer.run("shell", "true"))
        connected = left_targets.load()
    finally:
        workspace.close()
    after = left_targets.load()
    for left in after:
        computer = RealComputer()
        computer.targets.attach(left)
        computer.close()
    return len(connected), len(after), [round((left.until - left.since) / 86400) for left in connected]


def variables_kept(profile: Profile) -> object:
    """The languages whose variables are kept when the conversation is left."""
    space = Workspace(profile, llm=Llm())
    try:
        list(space.session.run("python", "amount = 41"))
    finally:
        space.close()
    return sorted(space.store.variables.find(space.conversation.id))


def told_of_requests(profile: Profile) -> object:
    """What the model is told of requests that its code can send."""
    workspace = Workspace(profile, llm=Llm())
    try:
        return workspace.languages.write_notes()
    finally:
        workspace.close()


def servers_listed(profile: Profile) -> object:
    """The MCP servers, none of which is started."""
    workspace = Workspace(profile, llm=Llm())
    try:
        return [status.server for status in workspace.mcp.servers.status]
    finally:
        workspace.close()


LOOPED = observe_turn([Text("Hm.")], [Text("The task is done.")], [Text("python")])
EFFECTS: dict[str, Effect] = {
    "model": Effect(request(tools=True)),
    "api_base": Effect(request(tools=True)),
    "api_key": Effect(request(tools=True)),
    "api_version": Effect(request(tools=True)),
    "temperature": Effect(request(tools=True)),
    "supports_functions": Effect(observe_turn([Text("ok")]), False),
    "supports_vision": Effect(request(tools=True), False),
    "fast": Effect(request(tools=True)),
    "local": Effect(observe_turn([Text("ok")])),
    "offline": Effect(observe_turn([Text("ok")])),
    "context_window": Effect(lambda profile: ModelInfo().find_window(profile)),
    "assumed_window": Effect(lambda profile: KnownWindows().complete(ModelInfo(), profile)),
    "max_tokens": Effect(request(tools=True)),
    "max_output": Effect(request(tools=True)),
    "max_budget": Effect(observe_turn([call("1"), Usage(1, 1, 3.0)], [Text("ok")]), 2.0),
    "cell_requests": Effect(told_of_requests, 0),
    "cell_cost": Effect(
        lambda profile: describe_calls(ModelCalls(("llm",)), profile, ModelInfo(prompt_price=1e-6), 0.0), 0.5
    ),
    "timeout": Effect(request(tools=True)),
    "auto_run": Effect(observe_turn([call("1")], [Text("ok")])),
    "safe_mode": Effect(
        observe_turn([call("import shutil; shutil.rmtree('/x')")], [Text("ok")]), "ask", {"auto_run": True}
    ),
    "target": Effect(told_of_languages),
    "keep_running": Effect(left_running, "always"),
    "keep_running_days": Effect(left_running, 3, {"keep_running": "cut"}),
    "sandbox": Effect(observe_run("shell", "grep NoNewPrivs /proc/self/status; ls -a ~")),
    "sandbox_writable": Effect(in_a_sandbox("echo x >.envrc"), (".envrc",), {"sandbox": True}),
    "sandbox_hosts": Effect(
        # Nothing listens at that port, which the proxy answers differently from a host that is not allowed.
        in_a_sandbox(
            "exec 3<>/dev/tcp/127.0.0.1/3128\n"
            "printf 'CONNECT 127.0.0.1:9 HTTP/1.1\\r\\n\\r\\n' >&3; head -1 <&3"
        ),
        ("*.example.com", "127.0.0.1:9"),
        {"sandbox": True},
    ),
    "sandbox_memory": Effect(limits, 1.5, {"sandbox": True}),
    "sandbox_processes": Effect(limits, 30, {"sandbox": True}),
    "sandbox_disk": Effect(limits, 1.5, {"sandbox": True}),
    "sandbox_time": Effect(limits, 1.5, {"sandbox": True}),
    "loop": Effect(LOOPED),
    "python": Effect(described("python"), bare_python.interpreter),
    "shell": Effect(described("shell"), "/bin/sh"),
    "highlight_active_line": Effect(observe_run("python", "import time\ntime.sleep(0.2)\na = 1\n")),
    "languages": Effect(observe_turn([call("1")], [Text("ok")]), ("shell",)),
    "mcp_servers": Effect(servers_listed),
    "custom_languages": Effect(described("shout"), (str(Path(__file__).parents[2] / "shouting.py"),)),
    "emit_images": Effect(request(tools=True)),
    "shrink_images": Effect(large_image),
    "share_keys": Effect(observe_run("shell", "echo key:$CANARY_API_KEY")),
    "pass_environment": Effect(observe_run("shell", "echo key:$CANARY_API_KEY"), ("CANARY_*",)),
    "import_computer_api": Effect(told_of_languages),
    "os": Effect(told_of_languages),
    "unmasked_screen": Effect(
        observe_run("python", "from oi_tui.computer import bridge\nprint(bridge.allows_unmasked('why'))"),
        given={"import_computer_api": True},
    ),
    "custom_instructions": Effect(request(tools=True)),
    "system_message": Effect(request(tools=True)),
    "execution_instructions": Effect(request(tools=False)),
    "user_message_template": Effect(request(tools=True)),
    "always_apply_user_message_template": Effect(
        request(tools=True), given={"user_message_template": "<{content}>"}
    ),
    "code_output_template": Effect(request(tools=False)),
    "empty_code_output_template": Effect(silent),
    "code_output_sender": Effect(request(tools=False)),
    "loop_message": Effect(request(tools=True), given={"loop": True}),
    "loop_breakers": Effect(LOOPED, ("python",), {"loop": True}),
    "conversation_history": Effect(saved),
    "conversation_history_path": Effect(saved),
    "file_snapshots": Effect(snapshots),
    "keep_variables": Effect(variables_kept, 5.0),
    "theme": Effect(themed),
    "images": Effect(show_image, "blocks"),
    "other_agents": Effect(found_by_agents),
    "keys": Effect(keyed),
    "motion": Effect(seated),
    "mouse": Effect(moused),
    "sidebar": Effect(beside),
    "multi_line": Effect(seated),
    "editing": Effect(typed_as_in_vi),
    "notifications": Effect(seated),
    "terminal_title": Effect(seated),
    "model_titles": Effect(seated),
    "speak_messages": Effect(spoken),
    "verbose": Effect(logged),
    "debug": Effect(logged),
    "disable_telemetry": Effect(needless),
    "contribute_conversation": Effect(needless),
}


def by_flag(before: Profile, setting: Setting, after: Profile) -> Profile:
    """The settings as they are with a flag on top."""
    value = getattr(after, setting.name)
    if setting.kind is bool:
        flags = [setting.long_flag if value else f"--no-{setting.long_flag[2:]}"]
    else:
        flags = [
            f"{setting.long_flag}={value if setting.masked else '; '.join(setting.show(value).splitlines())}"
        ]
    found, _ = main.read_profile(make_parser().parse_args(flags), write=False)
    return before.with_changes("flag", **{setting.name: getattr(found, setting.name)})


def by_file(before: Profile, setting: Setting, after: Profile) -> Profile:
    """The settings as they are with a line of YAML on top."""
    value = getattr(after, setting.name)
    text = yaml.safe_dump({setting.key: list(value) if isinstance(value, tuple) else value})
    found = Profile.from_entries(yaml_file.parse(text), "p.yaml")
    return before.with_changes("profile", **{setting.name: getattr(found, setting.name)})


#: What is seen of these is what a shell does.
SEEN_IN_SHELL = ("sandbox", "sandbox_hosts", "sandbox_writable", "share_keys", "pass_environment")
#: Settings that are seen to act on the target `command:env`.
IN_ENV = ("target", "keep_running", "keep_running_days")


@pytest.mark.slow
@pytest.mark.parametrize("setting", list_settings(), ids=lambda item: item.name)
def test_a_setting_is_seen_to_act(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    programs.need(*(("bash",) if setting.name in SEEN_IN_SHELL else ()))
    programs.need(*(("env",) if setting.name in IN_ENV else ()))  # command:env
    assert setting.name in EFFECTS, "say here how this setting can be seen to act"
    monkeypatch.setenv("CANARY_API_KEY", "canary-in-environment")
    effect = EFFECTS[setting.name]
    before = Profile(model="openai/x").with_changes(**(effect.given or {}))
    value = effect.value() if callable(effect.value) else effect.value
    value = other_value(setting) if value is None else value
    after = before.with_changes("flag", **{setting.name: value})
    assert getattr(after, setting.name) != getattr(before, setting.name)
    # Whichever way it is set, it is these settings that are seen to act.
    assert by_flag(before, setting, after) == by_file(before, setting, after) == after
    assert effect.observe(after) != effect.observe(before)


def test_what_differs_is_the_setting_and_not_the_weather() -> None:
    profile = Profile(model="openai/x")
    for effect in (
        request(tools=True),
        request(tools=False),
        observe_turn([call("1")], [Text("ok")]),
        logged,
    ):
        assert effect(profile) == effect(profile)


@pytest.mark.parametrize("name", ["contribute_conversation", "disable_telemetry"])
def test_a_setting_without_effect_says_why(name: str) -> None:
    (words,) = explain_no_effect(Profile().with_changes("flag", **{name: True}))
    assert "has no effect: " in words
    assert explain_no_effect(Profile()) == []
