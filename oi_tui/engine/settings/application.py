"""The settings of the application itself."""

from dataclasses import dataclass

from oi_tui.engine import speech
from oi_tui.engine.settings import key_bindings
from oi_tui.engine.settings.setting import setting

#: Our own two first, then Textual's.
THEMES = (
    "oi-dark",
    "oi-light",
    "textual-dark",
    "textual-light",
    "nord",
    "gruvbox",
    "dracula",
    "tokyo-night",
    "monokai",
    "flexoki",
    "catppuccin-mocha",
    "catppuccin-macchiato",
    "catppuccin-frappe",
    "catppuccin-latte",
    "solarized-dark",
    "solarized-light",
    "rose-pine",
    "rose-pine-moon",
    "rose-pine-dawn",
    "atom-one-dark",
    "atom-one-light",
    "ansi-dark",
    "ansi-light",
)


def _folder(text: str) -> str | None:
    return None if text.startswith(("/", "~")) else "a folder that begins with / or ~"


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ApplicationSettings:
    """What is shown, kept and told."""

    # ---- Application
    conversation_history: bool = setting(
        True,
        "Save conversations on this machine, as they happen.",
        off_help="Save no conversations.",
        later="with the next conversation",
        key="conversation_history",
        section="Application",
    )
    model_titles: bool = setting(
        False,
        "Let the model name a new conversation once it has answered and is idle: a short request of its own, "
        "counted like any other. Until then, and otherwise, the first words of your request are the title.",
        key="model_titles",
        section="Application",
    )
    file_snapshots: bool = setting(
        True,
        "Note which files in the working directory change while code runs, and keep what they were, so that "
        "they can be put back.",
        later="with the next conversation",
        key="file_snapshots",
        section="Application",
    )
    conversation_history_path: str | None = setting(
        None,
        "The folder in which conversations are saved.",
        key="conversation_history_path",
        section="Application",
        unset="the platform's data folder",
        later="with the next start",
        must=_folder,
    )
    theme: str = setting(
        "oi-dark",
        "The colours of the screen.",
        key="theme",
        section="Application",
        variable="OI_TUI_THEME",
        choices=THEMES,
    )
    images: str = setting(
        "auto",
        "How pictures are shown: by Kitty's protocol, as sixels, as half blocks, or in words only. auto "
        "takes the best that the terminal says it can.",
        key="images",
        section="Application",
        choices=("auto", "kitty", "sixel", "blocks", "off"),
    )
    notifications: str = setting(
        "desktop",
        "How you are called while you look elsewhere, when something waits for you, fails, or a long turn "
        "ends: on the desktop and by the bell, by the bell alone, or not at all.",
        key="notifications",
        section="Application",
        choices=("desktop", "bell", "off"),
    )
    terminal_title: bool = setting(
        True,
        "Say in the terminal's title what goes on.",
        key="terminal_title",
        section="Application",
    )
    mouse: bool = setting(
        True,
        "Use the mouse for scrolling, selecting and clicking. Without it the terminal selects text itself; "
        "most do so in any case while shift is held.",
        key="mouse",
        section="Application",
    )
    keys: str = setting(
        "",
        "Keys of your own, one a line: command.new: ctrl+t. %keys lists the names of all that has a key.",
        key="keys",
        section="Application",
        long=True,
        later="with the next start",
        must=key_bindings.problem,
    )
    multi_line: bool = setting(
        True,
        'Three quotation marks (""") begin a message of several lines, and three more end it. '
        "ctrl+j begins a new line in any case.",
        key="multi_line",
        section="Application",
        flags=("-ml",),
        off_help="Take three quotation marks as they are; only ctrl+j begins a new line.",
    )
    speak_messages: bool = setting(
        False,
        "Read the model's words aloud, with the voice of the system: say, spd-say or espeak-ng.",
        key="speak_messages",
        section="Application",
        flags=("-sp",),
        cannot=speech.why_silent,
    )
    verbose: bool = setting(
        False,
        "Note each step in the log: requests, replies, runs, and how long they took.",
        key="verbose",
        section="Application",
        flags=("-v",),
    )
    debug: bool = setting(
        False,
        "As verbose, and note what goes to the model and what comes back, word for word but for keys.",
        key="debug",
        section="Application",
        flags=("-debug", "--debug-mode"),
    )
    # ---- Of Open Interpreter, without work here
    disable_telemetry: bool = setting(
        False,
        "There is no telemetry here: nothing is sent but the requests to your model.",
        key="disable_telemetry",
        section="Application",
        flags=("-dt",),
        needless="there is no telemetry here; nothing is sent but the requests to your model",
    )
    contribute_conversation: bool = setting(
        False,
        "Conversations are never sent to anybody but your model.",
        key="contribute_conversation",
        section="Application",
        needless="conversations are never sent to anybody but your model",
    )
