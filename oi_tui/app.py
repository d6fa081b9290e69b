"""The full-screen application: introduces screens, styles and themes to each other."""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path, PurePath
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rich.text import Text
from textual import events, on
from textual._context import active_message_pump
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter
from textual.geometry import Size
from textual.notifications import Notify, SeverityLevel
from textual.worker import WorkerFailed, active_worker

from oi_tui import commands, log, paths
from oi_tui.engine.credentials.redaction import redact
from oi_tui.screens.base import is_closed, is_incomplete
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.system.environment import close_to_others
from oi_tui.system.failures import describe_failure
from oi_tui.terminal.contrast_filter import ContrastFilter
from oi_tui.terminal.driver import TerminalDriver
from oi_tui.terminal.filter_chain import FilterChain
from oi_tui.terminal.notifications import Notifier, run_tool
from oi_tui.terminal.sanitize_filter import SanitizeFilter
from oi_tui.text import escape_controls
from oi_tui.themes import DARK, LIGHT, mute
from oi_tui.widgets.idle import IdleClock
from oi_tui.widgets.images.protocol import ImageSupportMixin
from oi_tui.widgets.mouse import is_mouse_wanted
from oi_tui.widgets.timer import schedule

if TYPE_CHECKING:
    from oi_tui.engine.settings.profile import Profile
    from oi_tui.workspace import Workspace

_log = logging.getLogger("oi_tui")
#: Seconds after a signal to end, by which the application has ended, one way or the other.
TIMEOUT = 2.0
#: Signals that end a program and can be caught; the terminal is restored before each of them does.
ENDING = (
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGVTALRM,
    signal.SIGPROF,
    signal.SIGXCPU,
)
#: How long handing the terminal back may take when nothing else is waited for any more, in seconds.
_LAST_WRITE = 0.5
#: How long after a key, a click or a change of its size the terminal is asked for its size, in seconds.
_SIZE_CHECK = 1.0
#: How much can go on beside the screen: a turn, a title, what a language is asked, a table, a check of a key.
_THREADS = 64
#: One of each: what was drawn is kept for the same filters.
_CONTRAST, _SANITIZE = ContrastFilter(), SanitizeFilter()


@cache
def _make_color_filter(color_system: str | None) -> LineFilter | None:
    """Return what maps a theme's colours to those of a terminal that has only some, by Rich's name for it."""
    if color_system == "standard":
        from oi_tui.terminal.ansi16_filter import Ansi16Filter

        return Ansi16Filter()
    if color_system == "256":
        from oi_tui.terminal.ansi256_filter import Ansi256Filter

        return Ansi256Filter()
    return None


def _import_command_entries() -> type[Provider]:
    from oi_tui.screens.palette import CommandEntries

    return CommandEntries


def _import_permission_entries() -> type[Provider]:
    from oi_tui.screens.palette import PermissionEntries

    return PermissionEntries


def _import_profile_entries() -> type[Provider]:
    from oi_tui.screens.palette import ProfileEntries

    return ProfileEntries


class OiTui(ImageSupportMixin, IdleClock):
    """Open Interpreter on a full screen."""

    TITLE = "oi-tui"
    #: What the first frame needs: reading all style sheets would take a fifth of the time until then.
    CSS_PATH: ClassVar[list[str | PurePath]] = [paths.styles() / "first.tcss"]
    #: What conversation and dialogs need; other screens bring their own.
    LATER_CSS: ClassVar[list[Path]] = [paths.styles() / name for name in ("app.tcss", "conversation.tcss")]
    COMMANDS = {_import_command_entries, _import_permission_entries, _import_profile_entries}
    DEFAULT_MODE = "conversation"
    #: Whether the colours are known; until then Textual would compute those of its own theme for nothing.
    _has_first_theme = False
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+shift+f12"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", id="app.quit", show=False, priority=True),
        Binding("f1", "help_here", "Show keys for the focused part", id="app.help", show=False),
    ]

    def __init__(
        self,
        open_workspace: Callable[[], "Workspace"],
        *,
        theme: str = DARK.name,
        mouse: bool = True,
        images: str = "auto",
        words: str = "",
        resume: str | None = None,
        navigator: bool = False,
        come_back: str = "",
    ) -> None:
        """`open_workspace` is called once, after the first frame, because it is slow."""
        super().__init__()
        self.attention = Notifier(self.write_as_it_is)
        self._open_workspace = open_workspace
        self.mouse = mouse
        self._wanted_images = images
        self._words = words
        #: The target on which something was left running that is come back to.
        self._left_target = come_back
        self._resume = resume
        self._navigator = navigator
        self._filter_chain = FilterChain(())
        self._size_check: asyncio.TimerHandle | None = None
        self._was_resized = False
        self._tending: asyncio.Task[None] | None = None
        #: Signals that arrived before the event loop could handle them.
        self.early_signals: list[int] = []
        #: Signals to end, for the thread that ends a program which does not end by itself.
        self._end_signals: SimpleQueue[int] = SimpleQueue()
        #: Set once the program that called `run` goes on: a signal from before must not end it.
        self.is_left = threading.Event()
        # The first screen of a mode, and not the default screen, which keys do not wait for.
        self.add_mode(self.DEFAULT_MODE, self._make_first_screen)
        for item in (DARK, LIGHT):
            self.register_theme(item)
        self._apply_first_theme(theme)

    def _apply_first_theme(self, theme: str) -> None:
        """Apply the theme before the first frame.

        Set as it is later on, it would come after Textual's own, and all style sheets would be read twice.
        """
        self._has_first_theme = True
        self.set_reactive(OiTui.theme, theme)
        self.set_class(self.current_theme.dark, "-dark-mode", update=False)
        self.set_class(not self.current_theme.dark, "-light-mode", update=False)
        self._refresh_truecolor_filter(self.ansi_theme)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_css_variables(self) -> dict[str, str]:
        """Return the theme's variables, with a colour for muted text.

        Most themes have "auto 60%" there. Parts of a text that are drawn in it get all of it, so they
        would stand out from the text that is not muted.
        """
        if not self._has_first_theme:
            return {}
        variables = super().get_css_variables()
        if variables["text-muted"].startswith("auto"):
            variables["text-muted"] = mute(variables["foreground"], variables["background"])
        return variables

    def refresh(self, *, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Draw the screen again; after a layout, only what that has moved.

        Textual (8.2.8) asks for a layout once a closed screen is gone. The one below was drawn by then.
        """
        return super().refresh(repaint=repaint and not layout, layout=layout, recompose=recompose)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the last guards: no unsafe character leaves through any widget, and words can be read."""
        fewer = None if self.native_ansi_color else _make_color_filter(self.console.color_system)
        filters = (*super().get_line_filters(), _CONTRAST, *([fewer] if fewer else []), _SANITIZE)
        if self._filter_chain.filters != filters:
            self._filter_chain = FilterChain(filters)
        return [self._filter_chain]

    def get_driver_class(self) -> type[Driver]:
        """Return a driver that tells what the terminal answers from what is typed,
        unless another was chosen.
        """
        driver_class = super().get_driver_class()
        return TerminalDriver if driver_class is LinuxDriver else driver_class

    async def on_mount(self) -> None:
        """Listen to those who end or stop programs, and show the conversation."""
        from concurrent.futures import ThreadPoolExecutor  # asyncio would load it with the first thread

        loop = asyncio.get_running_loop()
        # Those of asyncio are six on two cores: what waits for a slow language would hold up the next turn.
        loop.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="worker"))
        if not self.is_headless:
            threading.Thread(target=self._end_in_time, name="end", daemon=True).start()
            for number in ENDING:
                loop.add_signal_handler(number, self._end, number)
                # Python calls this also while the loop is busy, which then comes to its own handler too late.
                signal.signal(number, lambda number, _: self._end_signals.put(number))
            # Not by the loop, which at its end would give ctrl+c back to Python, to end everything midway.
            signal.signal(signal.SIGINT, partial(_call_in, loop, self._stop_activity))
        if self.early_signals:
            self._end(self.early_signals[0])
        self.app_resume_signal.subscribe(self, self._draw_again)

    def on_unmount(self) -> None:
        """Leave the garbage to Python."""
        if self._tending:
            self._tending.cancel()

    def _make_first_screen(self) -> ChatScreen:
        self._chat = ChatScreen(self._open_workspace, resumes=self._resume is not None)
        # It gets the present styles as it is mounted. Without this, Textual reads all style sheets twice.
        self._chat._css_update_count = self._css_update_count
        return self._chat

    def on_ready(self) -> None:
        """Do the rest once the first frame is on the screen."""
        self._chat.call_after_refresh(self._load_rest)

    def _load_rest(self) -> None:
        self._read_later_css()
        self.run_worker(self._chat.load_view(), exit_on_error=False)

    def _read_later_css(self) -> None:
        if self.css_monitor is not None:
            self.css_monitor.add_paths(self.LATER_CSS)
        self.stylesheet.read_all(self.LATER_CSS)
        self.stylesheet.parse()
        if self.screen is not self._chat:  # a key was quicker than this
            self.stylesheet.update(self.screen)

    def _report_sandbox_problem(self, problem: str | None) -> None:
        from oi_tui.engine.events import Noticed

        if problem:
            self._chat.chat_view.turns.queue_notice(Noticed(problem, "warning"))

    @on(ChatScreen.Ready)
    def handle_ready(self) -> None:
        """Start what is slow, and show what was asked for at the command line."""
        workspace = self._chat.chat_view.workspace
        workspace.warm_up()
        self._start_background_work()
        self.show_images(self._wanted_images)
        self._apply_keymap(workspace.profile.keys)
        self._show_remarks(workspace)
        self._open_first_view(workspace)
        self._chat.dispatch_early()

    def _start_background_work(self) -> None:
        if not self.is_headless:
            self.run_worker(self._chat.chat_view.host_cells.listen(), exit_on_error=False)
            from oi_tui.system.garbage import GarbageCollector

            garbage = GarbageCollector()
            garbage.take_over()
            # No worker: those come to an end, and are waited for.
            self._tending = asyncio.create_task(garbage.run(lambda: self.last_key))
        else:
            gc.enable()

    def _show_remarks(self, workspace: "Workspace") -> None:
        """Show what may be wrong with the settings, the log and the sandbox."""
        from oi_tui.engine.llm import endpoint

        for remark in workspace.remarks:
            self._chat.commands.show_notice(remark, warning=True)
        if wrong := endpoint.check_provider_address(workspace.profile):
            self._chat.commands.show_notice(wrong.sentence, warning=True)
        if unkept := log.find_problem():
            self._chat.commands.show_notice(unkept, warning=True)
        if workspace.computer.sandbox:
            self._chat.commands.run_then(
                workspace.computer.explain_sandbox_failure, self._report_sandbox_problem
            )

    def _open_first_view(self, workspace: "Workspace") -> None:
        """Show the conversation, list or question that the command line asks for, else what is missing."""
        from oi_tui.screens.chat import first_run

        if self._resume:
            self._chat.commands.open_conversation(self._resume, returning_to=self._left_target)
        elif workspace.session.messages:
            self._chat.chat_view.show_session()
        if self._left_target:
            self._chat.commands.target.attach(self._left_target)
        if self._navigator:
            self._chat.commands.screens.open_navigator()
        elif self._chat.commands.choosing.choose_local(self._say_words):
            pass
        elif self._words:
            self._say_words()
        elif not (self._resume or self._left_target) and first_run.is_due(workspace):
            first_run.FirstRun(self._chat.commands, self._chat.chat_view).begin()
        else:
            self._chat.commands.show_missing_model()

    def _apply_keymap(self, text: str) -> None:
        """Set the keys to what the profile says; report entries that cannot work."""
        if not text.strip():
            commands.rekey({})
            return
        from oi_tui.screens import keymap

        self.remapped, problems = keymap.read_chosen(text)
        self.set_keymap(dict(self.remapped))
        commands.rekey(self.remapped)
        in_profile = self._chat.chat_view.workspace.profile.origins.get("keys") == "profile"
        for problem in problems:
            self._chat.commands.show_notice(
                f"In your profile: {problem}" if in_profile else problem, warning=True
            )

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a short notice, unless the same one is on the screen."""
        from oi_tui.widgets.notice import Notice

        if all(notification.message != message for notification in self._notifications):
            seconds = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
            self.post_message(Notify(Notice(message, title, severity, seconds, markup=markup)))

    def action_command_palette(self) -> None:
        """Open the command palette, once: something may lie over it."""
        from oi_tui.screens.dialog import Palette

        if not any(isinstance(screen, Palette) for screen in self.screen_stack):
            self.push_screen(Palette())

    def action_choose_command(self, name: str) -> None:
        """Carry out a command that was clicked in a list."""
        self._chat.choose_command(commands.COMMANDS[name])

    def action_help_here(self) -> None:
        """Show the keys of what has the focus, and all others."""
        from oi_tui.screens.help import HelpScreen
        from oi_tui.screens.keymap import list_keys_here

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(*list_keys_here(self.screen)))

    def _say_words(self) -> None:
        """Send the request that was given at the command line."""
        if self._words:
            self._chat.chat_view.say(self._words)

    @on(ChatScreen.AttentionRequested)
    def handle_attention_requested(self, event: ChatScreen.AttentionRequested) -> None:
        """Call the person back."""
        if command := self.attention.call(event.mode, event.why):
            self.run_worker(lambda: run_tool(command), thread=True, exit_on_error=False)

    @on(ChatScreen.Titled)
    def handle_titled(self, event: ChatScreen.Titled) -> None:
        """Say in the window's title what goes on."""
        self.attention.show_title(event.text)

    async def _dispatch_action(self, namespace: DOMNode, action_name: str, params: Any) -> bool:
        """Carry out an action; one that misses a widget of a screen that opens or was closed does nothing."""
        try:
            return await super()._dispatch_action(namespace, action_name, params)
        except NoMatches as error:
            if not is_incomplete(namespace):
                raise
            _log.debug("%s missed a widget: %s", action_name, error)
            return True

    def _handle_exception(self, error: Exception) -> None:
        """Leave with a sentence; Textual's own page would show the values of variables, keys among them.

        A screen that is closed misses some of its widgets; what looks for them then ends nothing, such as a
        search that is still running.
        """
        cause: BaseException = error
        node = active_message_pump.get(None)
        if isinstance(error, WorkerFailed):
            # What runs in a worker acts in the name of the application.
            cause = error.error
            node = getattr(active_worker.get(None), "node", node)
        if isinstance(cause, NoMatches) and is_closed(node):
            _log.debug("A closed screen missed a widget: %s", error)
            return
        _log.critical("The application failed", exc_info=error)
        if self.is_headless:  # a test wants the exception itself
            super()._handle_exception(error)
            return
        if self._exit:  # on the way out, what is left of the screen may well be half gone
            return
        text = escape_controls(redact(describe_failure(error)))[:500]
        self.panic(
            Text(
                f"oi-tui failed and has to quit: {text}\n"
                "The conversation is saved; oi-tui --resume continues it.\n"
                f"The details are in {paths.shorten(log.file())}"
            )
        )

    def panic(self, *renderables: Any) -> None:
        """End with a message; every way here is a failure, and Textual itself would exit with 0."""
        super().panic(*renderables)
        self._return_code = 1

    def _end(self, number: int) -> None:
        """Quit in order, and at once after a while: without a terminal, writing to it might never end."""
        self._end_signals.put(number)
        self.exit(return_code=128 + number)

    def _end_in_time(self) -> None:
        """End the program after a signal, if it has not ended by itself; the body of a thread."""
        number = self._end_signals.get()
        if not self.is_left.wait(TIMEOUT):
            self._end_at_once(128 + number)

    def _end_at_once(self, code: int) -> None:
        """End without waiting for anything. A terminal that no longer reads is not restored."""
        if isinstance(self._driver, TerminalDriver):
            writing = threading.Thread(target=self._driver.hand_back_at_once, daemon=True)
            writing.start()
            writing.join(_LAST_WRITE)
        os._exit(code)

    def _stop_activity(self) -> None:
        """Stop what is in progress, as escape does: another program sent an interrupt."""
        if self._chat.is_ready and self._chat.chat_view.busy:
            self._chat.chat_view.session.interrupt()

    def _draw_again(self, _: object) -> None:
        """Draw everything again, as after another program used the terminal."""
        self.send_again()
        self.screen.refresh(layout=True)

    async def on_event(self, event: events.Event) -> None:
        """Look at the size a moment after what a person does, then go on as usual."""
        self._was_resized |= isinstance(event, events.Resize) and self._chat.is_ready
        is_input = isinstance(event, events.InputEvent | events.AppFocus | events.Resize)
        if is_input and self._size_check is None and not self.is_headless:
            self._size_check = schedule(self, _SIZE_CHECK, self._note_size)
        await super().on_event(event)

    def _note_size(self) -> None:
        """Read the terminal's size again, in case a resize signal was lost among many.

        A window that had another size for a moment, too short for a layout, lost a part of what it showed.
        """
        self._size_check = None
        if self._was_resized:
            self._was_resized = False
            self._draw_again(None)
        try:
            size = Size(*os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1))
        except (OSError, ValueError):
            return
        if size.area and size != self.size:
            self.post_message(events.Resize(size, size))


def run(
    profile: "Profile",
    *,
    profile_path: Path | None,
    words: str = "",
    resume: str | None = None,
    navigator: bool = False,
    come_back: str = "",
    open_workspace: "Callable[[Profile, Path | None], Workspace] | None" = None,
) -> int:
    """Run the application until the person leaves. Returns the exit code.

    `open_workspace` makes the workspace where it is not the usual one.
    """
    log.begin()
    workspaces: list[Workspace] = []
    with contextlib.ExitStack() as stack:

        def opened() -> "Workspace":
            from oi_tui.workspace import Workspace

            # Before anything is started that could look; what it loads can wait for the first frame.
            close_to_others()
            workspace = (open_workspace or Workspace)(profile, profile_path)
            workspaces.append(workspace)
            stack.callback(_close, workspace)
            return workspace

        opening: Callable[[], Workspace] = opened
        if profile.target != "local":
            # Before the screen: ssh may have questions, and its words say best why it failed.
            opening = partial(_return_workspace, opened())
        app = OiTui(
            opening,
            theme=profile.theme,
            mouse=is_mouse_wanted(profile.mouse),
            images=profile.images,
            words=words,
            resume=resume,
            navigator=navigator,
            come_back=come_back,
        )
        if open_workspace:
            stack.callback(app.is_left.set)
        for number in (signal.SIGINT, *ENDING):
            # Until the event loop takes over. A function, since what is ignored here would be in every child.
            signal.signal(number, lambda number, _: app.early_signals.append(number))
        with asyncio.Runner(loop_factory=_EventLoop) as runner:
            printed = app.run(mouse=app.mouse, loop=runner.get_loop()) or ""
        _bring_back(app.attention.restore())
        _print(printed)
    is_lost = any(workspace.conversation.is_lost for workspace in workspaces)
    return app.return_code or int(is_lost)


class _EventLoop(asyncio.SelectorEventLoop):
    """A loop that ends quietly also while signals arrive."""

    def close(self) -> None:
        """Close it; from here on, no signal is written to the pipe that wakes it."""
        if not self.is_closed():
            signal.set_wakeup_fd(-1)
        super().close()


def _call_in(loop: asyncio.AbstractEventLoop, callback: Callable[[], object], *_: object) -> None:
    """Call it in the loop, if that still runs."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(callback)


def _return_workspace(workspace: "Workspace") -> "Workspace":
    return workspace


def _close(workspace: "Workspace") -> None:
    """End everything, and print what a person wants to know then."""
    from oi_tui.exit_summary import write_exit_summary

    resume = write_exit_summary(workspace)
    _print(workspace.close() or resume)


def _bring_back(sequence: str) -> None:
    with contextlib.suppress(OSError):
        sys.stdout.write(sequence)
        sys.stdout.flush()


def _print(text: str) -> None:
    """Print what the person wanted to keep in the terminal; a closed terminal is no error."""
    if text:
        with contextlib.suppress(OSError):
            sys.stdout.buffer.write(f"{escape_controls(text)}\n".encode("utf-8", "replace"))
            sys.stdout.flush()
