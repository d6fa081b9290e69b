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


def _check_folder(text: str) -> str | None:
    return None if text.startswith(("/", "~")) else "a folder that begins with / or ~"


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ApplicationSettings:
    """Settings of the application: display, storage and logging."""

    # ---- Application
    conversation_history: bool = setting(
        True,
        "Save conversations on this machine automatically.",
        off_help="Do not save conversations.",
        later="for the next conversation",
        key="conversation_history",
        title="Save conversations",
        section="Application",
    )
    model_titles: bool = setting(
        False,
        "Let the model name a new conversation after its first answer. This takes one short request, "
        "counted like any other. Otherwise the first words of your message are the title.",
        key="model_titles",
        title="Titles by the model",
        section="Application",
    )
    file_snapshots: bool = setting(
        True,
        "Record which files in the working directory change while code runs, with copies, so that they can "
        "be restored.",
        later="for the next conversation",
        key="file_snapshots",
        title="Keep copies of changed files",
        section="Application",
    )
    keep_variables: float = setting(
        0.0,
        "Megabytes of Python and R variables to keep with a conversation when you leave it; 0 keeps "
        "none. This takes less than a second; variables without room or time are left out. Nothing is kept "
        "in the sandbox or on targets. f9 restores them. %snapshot keeps them at any time.",
        key="keep_variables",
        title="Keep variables (megabytes)",
        section="Application",
        minimum=0,
    )
    conversation_history_path: str | None = setting(
        None,
        "The folder where conversations are saved.",
        key="conversation_history_path",
        title="Folder of conversations",
        section="Application",
        unset="the platform's data folder",
        later="at the next start",
        must=_check_folder,
    )
    theme: str = setting(
        "oi-dark",
        "The colour theme.",
        key="theme",
        section="Application",
        variable="OI_TUI_THEME",
        choices=THEMES,
    )
    images: str = setting(
        "auto",
        "How images are shown: Kitty protocol, sixel, half blocks, or text only. auto "
        "uses the best one that the terminal supports.",
        key="images",
        title="Images in the terminal",
        section="Application",
        choices=("auto", "kitty", "sixel", "blocks", "off"),
    )
    notifications: str = setting(
        "desktop",
        "How you are notified when the window is not focused and something needs you, fails, or a long turn "
        "ends: by desktop and bell, by bell only, or not at all.",
        key="notifications",
        section="Application",
        choices=("desktop", "bell", "off"),
    )
    terminal_title: bool = setting(
        True,
        "Show the current activity in the terminal's title.",
        key="terminal_title",
        title="Terminal title",
        section="Application",
    )
    motion: bool = setting(
        True,
        "Show animation, such as the spinner during a request. The environment variable "
        "TEXTUAL_ANIMATIONS=none turns it off as well.",
        key="motion",
        title="Motion",
        section="Application",
    )
    sidebar: bool = setting(
        True,
        "Show plan, steps, variables, changed files and cost beside the conversation, from 140 columns on. "
        "ctrl+b shows and hides them.",
        key="sidebar",
        section="Application",
    )
    mouse: bool = setting(
        True,
        "Use the mouse for scrolling, selecting and clicking. When off, the terminal selects text itself; "
        "most terminals also do so while shift is held.",
        key="mouse",
        section="Application",
    )
    other_agents: bool = setting(
        True,
        "Let agents on this computer ask to run code in an open window (oi-tui --mcp). Each piece needs your "
        "approval. When off, they cannot find your windows.",
        key="other_agents",
        section="Application",
    )
    keys: str = setting(
        "",
        "Your own key bindings, one per line, such as command.new: ctrl+t. %keys lists the names.",
        key="keys",
        title="Key bindings",
        section="Application",
        long=True,
        later="at the next start",
        must=key_bindings.find_problem,
    )
    editing: str = setting(
        "standard",
        "The keys in the prompt and in the code editor: standard, or vi. With vi, escape leaves insert mode, "
        "and stops a run in normal mode only. :w finishes editing, :q! cancels it.",
        key="editing",
        title="Keys for typing",
        section="Application",
        choices=("standard", "vi"),
    )
    multi_line: bool = setting(
        True,
        'Three quotation marks (""") or a line of ``` begin a message of several lines and end it. '
        "ctrl+j always starts a new line.",
        key="multi_line",
        title='Multi-line messages (""")',
        section="Application",
        flags=("-ml",),
        off_help="Send three quotation marks as they are; only ctrl+j starts a new line.",
    )
    speak_messages: bool = setting(
        False,
        "Read the model's text aloud with the system's voice: say, spd-say or espeak-ng.",
        key="speak_messages",
        title="Read messages aloud",
        section="Application",
        flags=("-sp",),
        cannot=speech.explain_silence,
    )
    verbose: bool = setting(
        False,
        "Log each step: requests, replies, runs and times.",
        key="verbose",
        title="Detailed log",
        section="Application",
        flags=("-v",),
    )
    debug: bool = setting(
        False,
        "Like verbose, and also log the full text sent to and from the model, without API keys.",
        key="debug",
        title="Full log",
        section="Application",
        flags=("-debug", "--debug-mode"),
    )
    # ---- Of Open Interpreter, without work here
    disable_telemetry: bool = setting(
        False,
        "There is no telemetry: oi-tui sends nothing except requests to your model.",
        key="disable_telemetry",
        title="No telemetry",
        section="Application",
        flags=("-dt",),
        needless="oi-tui has no telemetry; it sends nothing except requests to your model",
    )
    contribute_conversation: bool = setting(
        False,
        "Conversations are sent only to your model.",
        key="contribute_conversation",
        title="Contribute conversations",
        section="Application",
        needless="conversations are sent only to your model",
    )
