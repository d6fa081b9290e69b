"""Try oi-tui in the terminal programs of this machine: `make terminals`.

Each check presses real keys or moves the mouse, and looks at what arrived. The table goes into
docs/guide/terminals.md, and an image of each terminal beside it. A terminal that is not installed keeps the
row that it has. The screen is Xvfb with openbox, which needs xdotool and xclip; for foot it is a sway without
a screen, which needs wtype and wl-clipboard.
"""

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from tests.real_terminals.driver import COLUMNS, ROWS, NotSeenError, RealTerminal
from tests.real_terminals.relay import WIDE
from tests.real_terminals.seats import Seat, open_wayland, open_x11
from tests.terminal import ROOT

PAGE = ROOT / "docs" / "guide" / "terminals.md"
BEGIN, END = "<!-- seen: written by `make terminals` -->", "<!-- end of seen -->"
_SIZE = f"{COLUMNS}x{ROWS}"
_XTERM = f"xterm -geometry {_SIZE} -fa DejaVuSansMono -fs 10 -e "
_KITTY = f"kitty --config=NONE -o initial_window_width={COLUMNS}c -o initial_window_height={ROWS}c"
_ALACRITTY = f"alacritty -o window.dimensions.columns={COLUMNS} -o window.dimensions.lines={ROWS}"
_KONSOLE = f"konsole --hide-menubar --hide-tabbar -p TerminalColumns={COLUMNS} -p TerminalRows={ROWS}"


@dataclass(frozen=True)
class Kind:
    """A terminal program, and how it is started."""

    name: str
    #: Its words; `{words}` stands for those of the program in it, `{line}` for the same in one word.
    command: str
    #: What tells its version.
    version: str
    #: The keys that paste, and what they paste.
    paste: str = "ctrl+shift+v"
    selection: str = "clipboard"
    #: What ends it where closing its window does not.
    end: str = ""
    #: Where it runs.
    seat: Callable[[], AbstractContextManager[Seat]] = open_x11


_IN_XTERM = "shift+Insert", "primary"
KINDS = (
    Kind("xterm", f"{_XTERM}{{words}}", "xterm -version", *_IN_XTERM),
    Kind(
        "kitty",
        f"{_KITTY} -o remember_window_size=no -o update_check_interval=0 {{words}}",
        "kitty --version",
    ),
    Kind("Alacritty", f"{_ALACRITTY} -e {{words}}", "alacritty --version"),
    Kind(
        "GNOME Terminal",
        f"dbus-run-session -- gnome-terminal --wait --hide-menubar --geometry={_SIZE} -- {{words}}",
        "gnome-terminal --version",
    ),
    Kind("Konsole", f"dbus-run-session -- {_KONSOLE} -e {{words}}", "konsole --version"),
    Kind(
        "urxvt",
        f"urxvt -geometry {_SIZE} -pe default,-confirm-paste -fn xft:DejaVuSansMono:size=10 -e {{words}}",
        "urxvt -help",
        *_IN_XTERM,
    ),
    Kind("mlterm", f"mlterm --geometry={_SIZE} -e {{words}}", "mlterm --version", *_IN_XTERM),
    Kind("foot", "foot -o pad=0x0center {words}", "foot --version", seat=open_wayland),
    Kind(
        "tmux in xterm",
        f"{_XTERM}tmux -L oi-tui-trial -f {{folder}}/tmux.conf new-session {{line}}",
        "tmux -V",
        *_IN_XTERM,
        "tmux -L oi-tui-trial kill-server",
    ),
    Kind(
        "GNU screen in xterm",
        f"{_XTERM}screen -S oi-tui-trial {{words}}",
        "screen --version",
        *_IN_XTERM,
        "screen -S oi-tui-trial -X quit",
    ),
)


def check_keys(terminal: RealTerminal, _: Kind) -> str:
    """Press keys that terminals treat in different ways."""
    failed = []
    for key, shown in (
        ("F1", "type to search keys"),
        ("ctrl+p", "Search for commands"),
        ("F2", "search settings"),
    ):
        terminal.press(key)
        if not terminal.has(shown, 8):
            failed.append(key.lower())
        terminal.press("Escape")
        terminal.wait_gone(shown)
    terminal.type("one two")
    terminal.press("ctrl+Left", "x")
    if not terminal.has("one xtwo", 5):
        failed.append("ctrl+left")
    clear(terminal)
    size = terminal.size
    for key, name in (("alt+Return", "alt+enter"), ("shift+Return", "shift+enter")):
        terminal.type("ab")
        terminal.press(key)
        terminal.settle()
        if terminal.size != size:
            # The window was made as large as the screen; the same key makes it small again.
            terminal.press(key)
            terminal.until(lambda: terminal.size == size, "the size before")
        terminal.type("cd")
        if not terminal.has_match(r"> ab *\n +cd", 5):
            failed.append(name)
        clear(terminal)
    return "yes" if not failed else f"not {', '.join(failed)}"


def clear(terminal: RealTerminal) -> None:
    """Empty the prompt, and stop whatever was started by mistake."""
    terminal.press("Escape", "Escape")
    if not terminal.has("> Type a request", 3):
        terminal.press("ctrl+u", "BackSpace", "ctrl+u", "BackSpace", "ctrl+u")
        terminal.wait_for("> Type a request")


def check_paste(terminal: RealTerminal, kind: Kind) -> str:
    """Paste two lines: they must arrive as one paste."""
    # GNU screen waits with an escape; the paste must not come together with the one pressed last.
    terminal.settle()
    terminal.put_into_clipboard("first pasted\nsecond pasted", kind.selection)
    terminal.press(kind.paste)
    arrived = terminal.has_match(r"> first pasted *\n +second pasted", 8)
    clear(terminal)
    return "yes" if arrived and b"\x1b[200~" in terminal.from_terminal else "no"


def check_mouse(terminal: RealTerminal, _: Kind) -> str:
    """Choose an offered request with a click, and turn the wheel."""
    terminal.point_at("largest files here")
    terminal.click()
    clicked = terminal.has("> largest files here", 8)
    terminal.click(4)
    wheel = terminal.has_input(rb"\x1b\[<64;", 5)
    clear(terminal)
    return {(True, True): "yes", (True, False): "no wheel", (False, True): "only the wheel"}.get(
        (clicked, wheel), "no"
    )


def check_copy(terminal: RealTerminal, _: Kind) -> str:
    """Run code and copy it; the program can reach no clipboard but by its terminal."""
    terminal.put_into_clipboard("before")
    ask(terminal, "largest files here", 1)
    terminal.press("ctrl+y")
    is_honest = terminal.has("unconfirmed", 5)
    if terminal.becomes(lambda: "import" in terminal.clipboard, 5):
        return "yes"
    return "no" if is_honest else "no, unsaid"


def ask(terminal: RealTerminal, request: str, cells: int) -> None:
    """Type a request and approve its code."""
    terminal.type(request)
    terminal.wait_for(f"> {request}")
    terminal.press("Return")
    for _ in range(cells):
        terminal.wait_for("Run this")
        terminal.wait_gone("stop typing to answer")
        terminal.press("y")
        terminal.wait_gone("Run this")
    terminal.wait_for("\n ready")


def check_images(terminal: RealTerminal, _: Kind) -> str:
    """Draw a plot, and look at how it was sent."""
    before = len(terminal.to_terminal)
    ask(terminal, "plot something", 2)
    full = {"full (kitty)": rb"\x1b_G[^\x1b]*a=[Tp]", "full (sixel)": rb"\x1bP[0-9;]*q"}

    def drawn() -> str:
        sent = terminal.to_terminal[before:]
        blocks = sum("▀" in line or "▄" in line for line in terminal.screen.splitlines())
        by_protocol = [name for name, pattern in full.items() if re.search(pattern, sent)]
        return by_protocol[0] if by_protocol else "half blocks" if blocks > 5 else ""

    return drawn() if terminal.becomes(drawn, 10) else "none"


def check_focus(terminal: RealTerminal, _: Kind) -> str:
    """Give the keyboard to another window, and take it back."""
    seen = len(terminal.from_terminal)
    with terminal.another_window():
        out = terminal.has_input(rb"\x1b\[O", 5, seen)
    terminal.focus()
    return "yes" if out and terminal.has_input(rb"\x1b\[I", 5, seen) else "no"


def check_widths(terminal: RealTerminal, _: Kind) -> str:
    """Compare how far each character moves the cursor."""
    widths = terminal.widths
    wrong = [text for text, cells in WIDE.items() if widths.get(text) != cells]
    return "yes" if not wrong else f"not {' '.join(wrong)}"


CHECKS: dict[str, Callable[[RealTerminal, Kind], str]] = {
    "Wide characters": check_widths,
    "Focus": check_focus,
    "Mouse": check_mouse,
    "Paste": check_paste,
    "Keys": check_keys,
    "Copy (OSC 52)": check_copy,
    "Images": check_images,
}


def try_terminal(kind: Kind, seat: Seat) -> tuple[list[str], bytes]:
    """Return the cells of the terminal's row, and an image of it."""
    with RealTerminal(seat, kind.command, kind.end) as terminal:
        terminal.wait_for("Type a request")
        terminal.wait_for("Try")
        terminal.focus()
        cells = []
        for name, check in CHECKS.items():
            try:
                cells.append(check(terminal, kind))
            except NotSeenError as error:
                print(f"{kind.name}, {name}: {error}\n{terminal.screen}", file=sys.stderr)  # noqa: T201
                cells.append("no")
        return cells, terminal.shot().png()


def version(kind: Kind) -> str:
    """Return the number that the program gives itself."""
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    told = subprocess.run(kind.version.split(), env=env, capture_output=True, text=True, check=False)
    found = re.search(r"\d+[\d.]*\w?", told.stdout + told.stderr)
    return found[0] if found else ""


def write_row(page: Path, name: str, number: str, cells: Sequence[str]) -> None:
    """Put a row into the table of the page, in the place of the row that the terminal had."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    old, _, after = rest.partition(END)
    rows = {
        kind.name: line for kind in KINDS for line in old.splitlines() if line.startswith(f"| [{kind.name} ")
    }
    rows[name] = f"| [{name} {number}]({_image(name)}) | {' | '.join(cells)} |"
    lines = [f"| Terminal | {' | '.join(CHECKS)} |", f"|---|{'---|' * len(CHECKS)}"]
    lines += [rows[kind.name] for kind in KINDS if kind.name in rows]
    table = "\n".join(lines)
    page.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


def _image(name: str) -> str:
    return f"../terminals/{'-'.join(name.lower().split())}.png"


def main() -> None:
    """Write the table and the images."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("names", nargs="*", help="only these terminals")
    names = arguments.parse_args().names
    for kind in KINDS:
        if (names and kind.name not in names) or not shutil.which(kind.version.split()[0]):
            continue
        with kind.seat() as seat:
            cells, image = try_terminal(kind, seat)
        number = version(kind)
        write_row(PAGE, kind.name, number, cells)
        file = (PAGE.parent / _image(kind.name)).resolve()
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.open(io.BytesIO(image)).convert("RGB").quantize(128).save(file, optimize=True)
        print(kind.name, number, cells)  # noqa: T201


if __name__ == "__main__":
    main()
