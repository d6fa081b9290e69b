"""The languages of a workspace: the computer, what Python cells get besides it, and the settings of both."""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from oi_tui import computer_api
from oi_tui.custom_languages import CustomLanguages
from oi_tui.engine import protocols
from oi_tui.engine.credentials.keys import find_token
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.window_actions import ActedWindow, GrantedWindow
from oi_tui.engine.settings.profile import Profile, ProfileError, name_source
from oi_tui.mcp_client.cells import CellTools
from oi_tui.messages import Report, VariablesLost
from oi_tui.runtimes.availability import Availability
from oi_tui.runtimes.completions import CompletionSet
from oi_tui.runtimes.computer import Computer
from oi_tui.runtimes.language import Choices, Language
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.runtimes.remote.target import DetachOptions, TargetError
from oi_tui.runtimes.sandbox.confinement import SandboxRules
from oi_tui.runtimes.tables import TableSource
from oi_tui.runtimes.targets import TargetOptions
from oi_tui.runtimes.variables import VariableSource
from oi_tui.services.cell_model import CellModel
from oi_tui.services.mcp import McpService
from oi_tui.services.sandbox_limits import read_limits
from oi_tui.system.environment import list_withheld
from oi_tui.text import clean_line

if TYPE_CHECKING:
    from oi_tui.engine.session import Session
    from oi_tui.runtimes.remote.askpass import Ask
    from oi_tui.runtimes.remote.files import TargetFiles
    from oi_tui.runtimes.remote.left_targets import LeftTarget
    from oi_tui.runtimes.remote.link import LeftRun

_NO_SCREEN = (
    "OS mode finds no screen: neither DISPLAY nor WAYLAND_DISPLAY is set. Start oi-tui in a graphical "
    "session, or on a virtual screen: xvfb-run oi-tui."
)
_NO_SCREEN_OF_MAC = "OS mode cannot use screen, mouse and keyboard of macOS yet."


class LanguageInspector(VariableSource, Protocol):
    """Reads what languages remember. It starts no language."""

    def open_table(self, language: str, name: str) -> TableSource:
        """Return a table that a language remembers. Raises TableError where it cannot be asked."""

    def can_complete(self, language: str) -> bool:
        """Return whether the language offers completions now; does not wait."""

    def complete(self, language: str, before: str) -> CompletionSet | None:
        """Return what completes the code before the caret; may take a moment. None if unknown."""


class ConnectedTargets(Protocol):
    """Connects the targets on which code can run."""

    @property
    def home(self) -> str:
        """The target of cells that name none, as a person types it."""

    @property
    def names(self) -> Sequence[str]:
        """The targets that cells can name, that of cells that name none first."""

    def files_on(self, name: str = "") -> "TargetFiles | None":
        """Return the files of a target, that of cells that name none for ""; None for this machine's."""

    def connect(
        self, spelling: str, stopped: threading.Event | None = None, *, ask: "Ask | None" = None
    ) -> None:
        """Let cells name that target; blocks while the connection is made. Raises TargetError."""

    def use(self, spelling: str, stopped: threading.Event | None = None, *, ask: "Ask | None" = None) -> None:
        """Run code there from now on; blocks while the connection is made. Raises TargetError, and stays."""

    def is_running_on(self, name: str) -> bool:
        """Return whether code runs on that target just now."""

    def detach(self, name: str = "") -> str:
        """Leave what runs on a target running there, and disconnect; blocks. Returns why not, or ""."""

    def attach(
        self, left: "LeftTarget", stopped: threading.Event | None = None, *, ask: "Ask | None" = None
    ) -> "Sequence[LeftRun]":
        """Come back to what was left on a target; blocks. Returns what runs there. Raises TargetError."""

    def detach_at_end(self) -> None:
        """Leave running on targets what the settings say; everything else is about to end."""


class Languages(protocols.CodeRunner, Protocol):
    """Runs code, and reports what the user wants to know."""

    def describe(self, language: str) -> str:
        """Return the program that runs the language, in a few words."""

    def find_program(self, language: str) -> str | None:
        """Return the path of the language's program; None where it is missing."""

    def check_availability(self) -> Sequence[Availability]:
        """Return the availability of every language; asks their programs, which takes a moment."""

    @property
    def is_at_work(self) -> bool:
        """Whether a language has a process that remembers something."""

    @property
    def inspector(self) -> LanguageInspector:
        """Variables, tables and completions of the languages at work."""

    def resize(self, columns: int, rows: int) -> None:
        """Tell programs how much room their output has."""

    def watch_losses(self, call: Callable[[], object]) -> None:
        """Call `call`, from any thread, whenever something ended between runs."""

    @property
    def sandbox(self) -> bool:
        """Whether programs are held in the working directory."""

    @property
    def limits(self) -> str | None:
        """The sandbox limits in words; None where the sandbox is off."""

    @property
    def hosts(self) -> Sequence[str]:
        """The hosts that programs in the sandbox reach."""

    def allow_host(self, host: str) -> str | None:
        """Let programs in the sandbox reach a host. Returns why that cannot be done, else None."""

    def forget_hosts(self) -> None:
        """Allow only the hosts of the settings again."""

    def explain_sandbox_failure(self) -> str | None:
        """Return why the sandbox, if it is on, does not work; may take a moment."""

    def explain_no_sandbox(self) -> str | None:
        """Return why the sandbox would not work if it were turned on; may take a moment."""

    @property
    def targets(self) -> ConnectedTargets:
        """Where code can run, and what is connected."""

    def follow(self, run: "LeftRun") -> Iterator[Report]:
        """Report the rest of a run that was left running; it is not run again."""

    def use_startup(self, startup: Sequence[tuple[str, str]]) -> None:
        """Run this code, each piece with its language, when languages start."""

    def use_sandbox(self, on: bool, private: Sequence[Path]) -> None:
        """Switch the sandbox for programs on or off."""


def explain_unknown(profile: Profile, computer: "Languages | Computer", custom: CustomLanguages) -> list[str]:
    """Say which languages of the settings are not known, each with where the setting was made."""
    here = ", ".join(computer.languages)
    allowed, own = name_source(profile, "languages"), name_source(profile, "custom_languages")
    unknown = (name for name in profile.languages if computer.resolve(name) is None)
    return [
        *(f"{allowed}: unknown language {name!r}; languages: {here}" for name in unknown),
        *(f"{own}: {problem}" for problem in custom.problems),
    ]


class LanguageService:
    """Owns the languages: starts and ends them, and knows what ran in them.

    They belong to the conversation: beginning or opening another one lets them forget. `computer` runs
    the code. `earlier` is what ran since they began, for the review of what runs next.
    """

    def __init__(
        self,
        profile: Profile,
        mcp: McpService,
        *,
        folder: Path,
        private: Callable[[], tuple[Path, ...]],
        session: Callable[[], "Session"],
        ask_model: computer_api.Ask,
        takes_images: Callable[[], bool],
        conversation: Callable[[], str] = str,
        cell_model: CellModel | None = None,
        computer: Languages | None = None,
        borrowed: bool = False,
        earlier: EarlierCode | None = None,
    ) -> None:
        """`folder` is where paths of custom languages begin, and `private` are files that programs in the
        sandbox do not see. `computer` is used in place of languages of our own; a `borrowed` one is not
        closed.
        `conversation` gives the id of the one at work. `session`, `ask_model` and `takes_images`, whether
        that model does so, are for what runs; `cell_model` answers `llm()` of Python cells where the
        languages are ours.
        """
        self._profile = profile
        self._mcp = mcp
        self._private = private
        self._session = session
        self._ask_model = ask_model
        self._takes_images = takes_images
        self._conversation = conversation
        self._cell_model = cell_model
        self._borrowed = borrowed
        self._cell_tools: CellTools | None = None
        self._computer_api: computer_api.ComputerApi | None = None
        #: The person took mouse and keyboard from running code.
        self.takeover = computer_api.Takeover()
        #: The person may let code see the screen where password fields are not known.
        self.unmasked_screen = computer_api.UnmaskedScreen()
        #: The names of the variables in our environment that programs do not get.
        self.held_back = () if profile.share_keys else list_withheld(profile.pass_environment)
        self.custom = CustomLanguages(
            profile.custom_languages,
            Choices(profile.python, profile.shell),
            folder,
            may_ask=not profile.sandbox,
        )
        #: Set where the languages are ours, so that tools of MCP servers can be among them.
        self._own_computer: Computer | None = None
        if computer is None:
            computer = self._own_computer = self._open_computer()
        self.computer: Languages = computer
        self.earlier = EarlierCode() if earlier is None else earlier
        self._note_startup()

    def apply(self, profile: Profile) -> None:
        """Use the settings of the sandbox and of the startup code. Raises ProfileError for another target."""
        self.check(profile)
        self._profile = profile
        self.computer.use_sandbox(profile.sandbox, self._private())
        self.computer.use_startup(profile.startup)
        self._note_startup()

    def check(self, profile: Profile) -> None:
        """Raise ProfileError for another target, which has to be reached first (`Targets.use`)."""
        if profile.target != self.computer.targets.home:
            raise ProfileError("can be changed at the start or with %target only", key="target")

    def reset(self) -> None:
        """End all languages; their variables are lost."""
        self.computer.reset()
        self.earlier.forget()
        self._note_startup()

    def reset_for_conversation(self) -> None:
        """End all languages, and forget what a person allowed."""
        self.computer.forget_hosts()
        self.unmasked_screen.forget()
        if self._computer_api:
            self._computer_api.acted_window = None
        self.reset()

    def note_problem(self, text: str) -> None:
        """Report a problem beside the runs, where the languages are ours."""
        if self._own_computer:
            self._own_computer.note_loss(VariablesLost("", text.rstrip(".")))

    def explain_unknown(self) -> list[str]:
        """Say which of the languages that the settings allow, and which custom ones, are not there."""
        return explain_unknown(self._profile, self.computer, self.custom)

    @property
    def has_pointer(self) -> bool:
        """Whether running code uses mouse and keyboard at this moment."""
        return self._computer_api is not None and self._computer_api.in_control

    @property
    def acted_window(self) -> ActedWindow | None:
        """The window in which code acted last; None where it did not yet."""
        return self._computer_api.acted_window if self._computer_api else None

    def explain_no_os_mode(self) -> str | None:
        """Say in a sentence why code cannot use screen, mouse and keyboard; None where it can."""
        if self._own_computer is None:
            return "the languages of this conversation belong to another program."
        if self.computer.sandbox:
            return "programs in the sandbox cannot use the screen. %sandbox off turns the sandbox off."
        if self.computer.where:
            return f"code runs {clean_line(self.computer.where, 100)}. %target local changes that."
        return None

    def explain_no_screen(self) -> list[str]:
        """Say that OS mode finds no screen to work with, where that is so."""
        if not self._profile.os:
            return []
        if sys.platform == "darwin":
            return [_NO_SCREEN_OF_MAC]
        return [] if any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))) else [_NO_SCREEN]

    def declare_again(self) -> None:
        """Restart Python with the computer object of the settings. Nothing may run."""
        if self._own_computer is None:
            return
        before = (self._computer_api, self._cell_tools)
        self._computer_api = self._cell_tools = None
        self._own_computer.declare(self._collect_languages())
        for service in before:
            if service:
                service.close()

    @property
    def cells_reach_model(self) -> bool:
        """Whether Python cells can ask the model, as far as the profile lets them."""
        return self._own_computer is not None and self._cell_model is not None

    def write_notes(self) -> tuple[str, ...]:
        """Return what the model is told of what its code can use here, besides the notes of the languages."""
        if self._own_computer is None or self._cell_model is None:
            return ()
        if "python" not in self._own_computer.languages:
            return ()
        note = self._cell_model.describe(elsewhere=bool(self._own_computer.where))
        return (note,) if note else ()

    def stop_computer_api(self) -> None:
        """Take screen, mouse and keyboard from running code; its cells are about to end."""
        if self._computer_api:
            self._computer_api.close()

    def close(self) -> None:
        """End all languages that are ours."""
        if self._cell_tools:
            self._cell_tools.close()
        if self._cell_model:
            self._cell_model.close()
        if not self._borrowed:
            self.computer.close()

    def _open_computer(self) -> Computer:
        profile = self._profile
        return _open_computer(
            declared=self._collect_languages(),
            python=profile.python,
            shell=profile.shell,
            hidden=self.held_back,
            active_line=profile.highlight_active_line,
            sandbox=profile.sandbox,
            sandbox_rules=SandboxRules(
                private=self._private(),
                writable=profile.sandbox_writable,
                hosts=profile.sandbox_hosts,
                limits=read_limits(profile),
            ),
            passed=profile.pass_environment,
            startup=profile.startup,
            target=profile.target,
            target_options=TargetOptions(
                share_keys=profile.share_keys,
                find_token=find_token,
                detach=DetachOptions(
                    cut=profile.keep_running != "off",
                    at_end=profile.keep_running == "always",
                    seconds=profile.keep_running_days * 86400,
                    conversation=self._conversation,
                ),
            ),
            unlisted=self._mcp.languages,
        )

    def _collect_languages(self) -> tuple[Language, ...]:
        """Return the languages that may run; Python has the computer object where the profile wants that."""
        languages: tuple[Language, ...] = (*LANGUAGES, *self.custom.languages)
        if self._cell_model:
            languages = self._cell_model.add_to(languages, self._is_running, lambda: self._profile.sandbox)
        self._cell_tools = CellTools(
            self._mcp.tools,
            lambda tool, arguments, stopped, on_report: self._mcp.servers.call(
                tool, arguments, stopped, on_report
            ),
            lambda tool, call, result: self._mcp.servers.answer(tool, call, result),
            self._ask_person,
            lambda: self._session().execution.callable_tools,
            self._is_running,
            lambda: bool(self._profile.mcp_servers) and not self._profile.sandbox,
        )
        languages = self._cell_tools.add_to(languages)
        if not computer_api.is_wanted(self._profile):
            return languages
        self._computer_api = computer_api.ComputerApi(
            self._ask_model,
            self._stop_turn,
            takes_images=self._takes_images,
            os_mode=self._profile.os,
            takeover=self.takeover,
            allows_unmasked=self._allows_unmasked,
            granted_windows=self._list_granted_windows,
        )
        return self._computer_api.add_to(languages)

    def _is_running(self, pid: int) -> bool:
        """Return whether a process is the language that runs the cell."""
        return self._own_computer is not None and self._own_computer.is_running(pid)

    def _ask_person(self, pid: int, text: str, prompt: str, stopped: threading.Event) -> str | None:
        """Ask the person while a process runs a cell."""
        return self._own_computer.ask_person(pid, text, prompt, stopped) if self._own_computer else None

    def _list_granted_windows(self) -> tuple[GrantedWindow, ...] | None:
        return self._session().execution.granted_windows

    def _allows_unmasked(self, why: str) -> bool:
        """Return whether code may see the screen where it is not known where password fields are."""
        return self._profile.unmasked_screen or self.unmasked_screen.is_allowed(why)

    def _stop_turn(self) -> None:
        """End the turn, because the person took mouse and keyboard back."""
        self._session().interrupt()

    def _note_startup(self) -> None:
        """Tell the review what the profile's own code changes in the languages."""
        codes = [
            (self.computer.resolve(language) or language, code) for language, code in self._profile.startup
        ]
        self.earlier.use_startup(codes, self.computer.cwd)


def _open_computer(**options: Any) -> Computer:
    """Return the languages where the settings want them.

    Raises ProfileError where that place cannot be reached.
    """
    from oi_tui.runtimes.remote.askpass import ask_on_terminal

    try:
        # The screen is not there yet where this is made.
        return Computer(**options, ask=ask_on_terminal if sys.stdin.isatty() else None)
    except TargetError as error:
        raise ProfileError(str(error), key="target") from None
