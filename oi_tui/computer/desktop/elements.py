"""Buttons, fields and other elements of programs, with their names: the accessibility tree (AT-SPI).

The tree is read level by level, with the questions about all elements of a level sent at once.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from oi_tui.computer.desktop.base import UNKNOWN_PLACE, Region, Window
from oi_tui.computer.desktop.dbus import Bus, Call, find_session_address
from oi_tui.computer.errors import ComputerError
from oi_tui.secret_shapes import has_secret

_T = TypeVar("_T")
_BUS_NAME = re.compile(r":?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+")
_PATH = re.compile(r"(?:/[A-Za-z0-9_]+)+")

_PREFIX = "org.a11y.atspi."
_ACCESSIBLE, _COMPONENT, _TEXT = _PREFIX + "Accessible", _PREFIX + "Component", _PREFIX + "Text"
_PROPERTIES = "org.freedesktop.DBus.Properties"
_ROOT = "/org/a11y/atspi/accessible/root"
#: The number of the role of a field for passwords, whatever a program calls it.
_PASSWORD_ROLE = 40
#: That of a web page.
_WEB_ROLE = 95
#: The numbers of states, counted from 0.
_ACTIVE, _CHECKED, _EDITABLE, _FOCUSED, _SELECTED, _SENSITIVE, _SHOWING = 1, 4, 7, 12, 23, 24, 25
#: States that are shown to the model.
_SAID = {_CHECKED: "checked", _SELECTED: "selected", _FOCUSED: "focused"}
#: Elements that only hold others: of interest with a name only.
_HOLDERS = {
    "filler", "panel", "scroll pane", "viewport", "layered pane", "split pane", "section", "grouping",
    "unknown", "redundant object", "separator", "scroll bar", "internal frame", "root pane", "table cell",
    "image", "icon", "paragraph", "static", "form", "list", "tool bar", "menu bar", "status bar",
    "document web", "document frame", "landmark", "block quote", "page", "glass pane",
}  # fmt: skip
#: What programs, web pages and people call the same role.
_OTHER_WORDS = {
    "push button": "button", "checkbox": "check box", "radio": "radio button", "combobox": "combo box",
    "entry": "text", "textbox": "text", "text box": "text", "field": "text", "password": "password text",
    "tab": "page tab", "menuitem": "menu item", "treeitem": "tree item", "listitem": "list item",
}  # fmt: skip
#: Elements whose labels say what they are, and nothing about their neighbours.
_LABELLED = {"list item", "table cell", "tree item", "menu item", "push button", "toggle button", "page tab"}
_TEXT_ROLES = {"text", "entry", "terminal", "spin button", "document text", "combo box"}
#: How long reading the tree may take, and how much of it is read.
_SECONDS, _MOST, _DEPTH, _LONGEST = 2.0, 5_000, 60, 200
#: How long a program may take to say which windows it has. One that hangs must not cost the time of others.
_PROGRAM_SECONDS = 0.5
_BOUND = 2**31 - 1
#: How many pixels a unit of a program may be, and by how much its window may be wider with its frame.
_SCALES = (1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0)
_FRAME = 32
#: The number of the relation from a field to the label beside it.
_LABELLED_BY = 2

_NO_TREE = (
    "The elements of programs cannot be listed here: {0} Elements need D-Bus and the accessibility service "
    "(on Debian: apt install dbus at-spi2-core) in the session of the desktop. Look at the screen instead: "
    "computer.display.view() and computer.display.find_text(text)."
)


_NO_ELEMENTS = (
    "No elements: the active program does not report what it shows. Chromium does when it is started with "
    "the variable ACCESSIBILITY_ENABLED=1 and the option --force-renderer-accessibility."
)


@dataclass(frozen=True)
class Element:
    """An element of a program. `value` is the text in a field; that of a password field is never read."""

    number: int
    role: str
    name: str
    region: Region
    window: str
    value: str = ""
    states: tuple[str, ...] = ()
    password: bool = False
    #: The program on the bus, and the element's path there.
    source: tuple[str, str] | None = field(default=None, repr=False, compare=False)
    #: How many pixels a unit of that program is there.
    scale: float = field(default=1.0, repr=False, compare=False)

    @property
    def center(self) -> tuple[int, int]:
        """The point in its middle."""
        return self.region.center

    def __str__(self) -> str:
        value = " = (hidden)" if self.password else f" = {self.value!r}" if self.value else ""
        states = f" ({', '.join(self.states)})" if self.states else ""
        place = "" if self.region == UNKNOWN_PLACE else f" at {self.center}"
        return f"{self.number} {self.role} {self.name!r}{value}{states}{place}"


class Elements(list):  # type: ignore[type-arg]
    """A list of elements that prints as numbered lines, under the titles of their windows."""

    def __str__(self) -> str:
        lines, window = [], None
        for element in self:
            if element.window != window:
                window = element.window
                lines.append(f"Window {window!r}:")
            lines.append(f"  {element}")
        return "\n".join(lines) or _NO_ELEMENTS

    __repr__ = __str__


@dataclass(frozen=True)
class Passwords:
    """Where password fields are, and the titles of the windows that were read to their end."""

    regions: list[Region]
    titles: list[str]

    def unread(self, windows: Iterable[Window]) -> list[str]:
        """Return the titles of the windows of which it is not known where their password fields are."""
        titles = list(self.titles)
        unread = []
        for window in windows:
            title = normalise_spaces(window.title)
            if title in titles:
                # Of two windows with one title, one may say nothing.
                titles.remove(title)
            else:
                unread.append(title)
        return unread


@dataclass
class _Node:
    """An element while the tree is read."""

    bus: str
    path: str
    top: _Node | None = None
    parent: _Node | None = None
    name: str = ""
    role: str = ""
    role_number: int = 0
    states: frozenset[int] = frozenset()
    extents: tuple[int, int, int, int] = (0, 0, 0, 0)
    #: How many pixels a unit is in which its program says where it is.
    scale: float = 1.0
    value: str = ""
    children: list[_Node] = field(default_factory=list)
    #: Whether not all below this window was read.
    cut: bool = False

    @property
    def password(self) -> bool:
        return self.role_number == _PASSWORD_ROLE or self.role == "password text"

    @property
    def region(self) -> Region:
        return Region(*self.extents)

    @property
    def center_y(self) -> int:
        return self.region.center[1]


class Tree:
    """The accessibility trees of all programs of the desktop."""

    def __init__(self) -> None:
        self._bus: Bus | None = None
        self._address = ""

    def elements(self, windows: Sequence[Window] = (), active_only: bool = True) -> Elements:
        """Read what programs show now: what has a name, and what can be written into.

        `windows` are those of this screen: a session may have programs on other screens too, and programs
        list hidden windows like others. With `active_only`, of the program whose window is active. Raises
        ComputerError where there is no accessibility service.
        """
        tops = _to_be_seen(self._tops(windows), windows)
        if active_only:
            programs = {top.bus for top in tops if _ACTIVE in top.states}
            tops = [top for top in tops if top.bus in programs] if programs else tops
        nodes = self._list_below(tops)
        self._read_values([node for node in nodes if _has_value(node)])
        self._read_labels(nodes)
        return Elements(
            _make_element(number, node) for number, node in enumerate(filter(_is_shown, nodes), 1)
        )

    def is_there(self, element: Element) -> bool:
        """Return whether its program still shows an element where it was.

        Something else may be there by now.
        """
        if element.source is None:
            return True
        node = _Node(*element.source, scale=element.scale)
        self._read([node], time.monotonic() + _SECONDS)
        return _SHOWING in node.states and node.region == element.region

    def passwords(self, windows: Sequence[Window] = ()) -> Passwords:
        """Return where password fields are on the screen. Raises ComputerError where there is no service."""
        tops = self._tops(windows)
        nodes = self._list_below(tops)
        fields = [node for node in nodes if node.password and _has_place(node)]
        misplaced = {id(node.top) for node in fields if not _lies_in_its_window(node, windows)}
        # A window without anything in it is one of a program that does not say what it shows.
        readable_tops = [top for top in tops if top.children and not top.cut and id(top) not in misplaced]
        return Passwords([node.region for node in fields], [top.name for top in readable_tops])

    def _tops(self, on_screen: Sequence[Window] = ()) -> list[_Node]:
        """Return the windows of all programs that show something."""
        end = time.monotonic() + _SECONDS
        registry = _Node(_PREFIX + "Registry", _ROOT)
        programs = self._children([registry], end)
        windows = self._children(programs, time.monotonic() + _PROGRAM_SECONDS)
        self._read(windows, end)
        scales = {top.bus: scale for top in windows if (scale := _find_scale(top, on_screen)) != 1}
        for top in windows:
            top.scale = scales.get(top.bus, 1.0)
            top.extents = _multiply(top.extents, top.scale)
        return [window for window in windows if _SHOWING in window.states]

    def _list_below(self, tops: list[_Node]) -> list[_Node]:
        """Return the elements of windows that are shown, in the order of the tree."""
        end = time.monotonic() + _SECONDS
        for top in tops:
            top.top = top
        level, count = tops, 0
        for _ in range(_DEPTH):
            parents, level = level, self._children(level, end)
            # When time is up, nothing is known of what would come next.
            _note_cut(parents if time.monotonic() >= end else level[_MOST - count :])
            level = level[: _MOST - count]
            if not level:
                break
            count += len(level)
            self._read(level, end)
            _note_cut(level if time.monotonic() >= end else [])
            # What is not shown may be long: the other pages of a notebook, the entries of closed menus.
            level = [node for node in level if _SHOWING in node.states]
        else:
            _note_cut(level)
        return [node for top in tops for node in _walk(top)]

    def _children(self, parents: list[_Node], end: float) -> list[_Node]:
        calls = [Call(parent.bus, parent.path, _ACCESSIBLE, "GetChildren") for parent in parents]
        for parent, reply in zip(parents, self._ask(calls, end)):
            children = _find_first(reply, list) or []
            parent.children = [
                _Node(bus, path, parent.top, parent, scale=parent.scale)
                for bus, path in _read_references(children)
            ]
        return [child for parent in parents for child in parent.children]

    def _read(self, nodes: list[_Node], end: float) -> None:
        """Ask for every property of the elements."""
        calls = [call for node in nodes for call in _questions(node)]
        replies = self._ask(calls, end)
        per_node = len(_questions(_Node("", "")))
        for index, node in enumerate(nodes):
            name, role, number, states, extents = replies[index * per_node : (index + 1) * per_node]
            node.name = normalise_spaces(_find_first(name, str) or "")
            node.role = normalise_spaces(_find_first(role, str) or "")
            node.role_number = _find_first(number, int) or 0
            node.states = _list_bits(_find_first(states, list) or [])
            place = _four(_find_first(extents, tuple) or ())
            if node.role_number == _WEB_ROLE and node.parent:
                node.scale = _find_page_scale(place, node.parent)
            node.extents = _multiply(place, node.scale)

    def _read_values(self, nodes: list[_Node]) -> None:
        """Ask for the texts in fields; those of passwords are never asked for."""
        calls = [Call(node.bus, node.path, _TEXT, "GetText", "ii", (0, _LONGEST)) for node in nodes]
        for node, reply in zip(nodes, self._ask(calls, time.monotonic() + _SECONDS)):
            node.value = _find_first(reply, str) or ""
            if has_secret(node.value):
                node.value = "(looks like a password or a key; not shown)"

    def _read_labels(self, nodes: list[_Node]) -> None:
        """Name fields that have no name of their own by the labels beside them."""
        names = {(node.bus, node.path): node.name for node in nodes}
        unnamed = [node for node in nodes if not node.name and _is_shown(node)]
        calls = [Call(node.bus, node.path, _ACCESSIBLE, "GetRelationSet") for node in unnamed]
        for node, reply in zip(unnamed, self._ask(calls, time.monotonic() + _SECONDS)):
            relations = [item for item in _find_first(reply, list) or [] if isinstance(item, tuple)]
            references = [
                relation[1] for relation in relations if len(relation) == 2 and relation[0] == _LABELLED_BY
            ]
            labels = [label for item in references for label in _read_references(item)]
            name = " ".join(filter(None, (names.get(label, "") for label in labels)))
            node.name = name or (_find_label_beside(node, nodes) if _has_text(node) else "")

    def _ask(self, calls: list[Call], end: float) -> list[Any]:
        if not calls:
            return []
        bus = self._connect()
        try:
            return bus.calls(calls, end - time.monotonic())
        except OSError as error:
            self._bus = None
            bus.close()
            raise ComputerError(_NO_TREE.format(f"the connection broke ({error}).")) from None

    def _connect(self) -> Bus:
        if self._bus is None:
            try:
                self._bus = Bus(find_accessibility_address())
            except OSError as error:
                reason = error.strerror or error
                raise ComputerError(_NO_TREE.format(f"D-Bus cannot be reached ({reason}).")) from None
        return self._bus


def find_accessibility_address() -> str:
    """Return the address of the bus on which programs describe themselves.

    Raises ComputerError or OSError.
    """
    if address := os.environ.get("AT_SPI_BUS_ADDRESS"):
        return address
    try:
        session = Bus(find_session_address())
    except ComputerError as error:
        raise ComputerError(_NO_TREE.format(error)) from None
    try:
        reply = session.call(Call("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress"), _SECONDS)
    finally:
        session.close()
    if not reply or not reply[0]:
        raise ComputerError(_NO_TREE.format("the accessibility service does not run."))
    return str(reply[0])


def find_only(elements: Iterable[Element], name: str | None, role: str | None) -> Element:
    """Return the one element with this name and role. Raises ComputerError if there is none, or several.

    A name that is the same, but for case, is preferred to one that only contains it.
    """
    elements = list(elements)
    # GTK lists the entries of an open combo box twice, at the same place.
    matches = list(
        {(item.role, item.name, item.region): item for item in matching(elements, name, role)}.values()
    )
    exact = [item for item in matches if name and item.name.casefold() == name.casefold()]
    matches = exact or matches
    if len(matches) == 1:
        return matches[0]
    description = " ".join(filter(None, (role or "element", repr(name) if name else "")))
    candidates = (
        matches
        or [element for element in elements if role is None or _name_role(element.role) == _name_role(role)]
        or elements
    )
    listing = "\n".join(f"  {item}" for item in candidates[:30]) or "  none"
    raise ComputerError(
        f"There are {len(matches)} of {description} in the active window. Nothing was clicked. "
        f"Elements:\n{listing}"
    )


def matching(elements: Iterable[Element], name: str | None, role: str | None) -> list[Element]:
    """Return the elements whose name contains `name` and whose role is `role`; None fits all."""
    matches = list(elements)
    if role is not None:
        matches = [item for item in matches if _name_role(item.role) == _name_role(role)]
    if name is not None:
        matches = [item for item in matches if name.casefold() in item.name.casefold()]
    return matches


def _name_role(role: str) -> str:
    """Return one word for a role that programs and people call otherwise."""
    role = role.casefold().replace("_", " ").strip()
    return _OTHER_WORDS.get(role, role)


def normalise_spaces(text: str) -> str:
    """Return the beginning of a name or title in one line, for comparisons."""
    return " ".join(text.split())[:_LONGEST]


def _questions(node: _Node) -> list[Call]:
    bus, path = node.bus, node.path
    return [
        Call(bus, path, _PROPERTIES, "Get", "ss", (_ACCESSIBLE, "Name")),
        Call(bus, path, _ACCESSIBLE, "GetRoleName"),
        Call(bus, path, _ACCESSIBLE, "GetRole"),
        Call(bus, path, _ACCESSIBLE, "GetState"),
        Call(bus, path, _COMPONENT, "GetExtents", "u", (0,)),
    ]


def _find_first(reply: Any, kind: type[_T]) -> _T | None:
    """Return the first value of a reply.

    None where there is none of this kind: programs may answer anything.
    """
    return reply[0] if reply and isinstance(reply[0], kind) else None


def _read_references(found: Any) -> list[tuple[str, str]]:
    """Return the elements that an array names by program and path; a bus hangs up on impossible ones."""
    items = found if isinstance(found, list) else []
    pairs = [item for item in items if isinstance(item, tuple) and len(item) == 2]
    texts = [(bus, path) for bus, path in pairs if isinstance(bus, str) and isinstance(path, str)]
    return [(bus, path) for bus, path in texts if _BUS_NAME.fullmatch(bus) and _PATH.fullmatch(path)]


def _four(found: tuple[Any, ...]) -> tuple[int, int, int, int]:
    """Return the four numbers of a rectangle; an empty one where these are others."""
    if len(found) != 4 or not all(isinstance(item, int) for item in found):
        return 0, 0, 0, 0
    x, y, width, height = found
    return x, y, width, height


def _list_bits(words: list[Any]) -> frozenset[int]:
    """Return the numbers of the bits that are set."""
    numbers = [word if isinstance(word, int) else 0 for word in words]
    return frozenset(
        index * 32 + bit for index, word in enumerate(numbers) for bit in range(32) if word >> bit & 1
    )


def _note_cut(nodes: Iterable[_Node]) -> None:
    """Note that the windows of these were not read to their end."""
    for node in nodes:
        if node.top:
            node.top.cut = True


def _walk(node: _Node) -> Iterable[_Node]:
    """Yield a node and what is below it, which may be deep: without recursion."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _to_be_seen(tops: list[_Node], windows: Sequence[Window]) -> list[_Node]:
    """Return those of programs that have a window with such a title, or one without a title;
    no hidden ones.
    """
    if not windows:
        return tops
    titles = {normalise_spaces(window.title) for window in windows}
    here = {top.bus for top in tops if not top.name or top.name in titles}
    visible_titles = {normalise_spaces(window.title) for window in windows if not window.hidden}
    return [top for top in tops if top.bus in here and top.name not in titles - visible_titles]


def _find_scale(top: _Node, windows: Sequence[Window]) -> float:
    """Return how many pixels a unit of a window's program is: GTK counts two pixels
    as one on fine displays.
    """
    regions = [window.region for window in windows if normalise_spaces(window.title) == top.name]
    x, _, width, _ = top.extents
    distances = [
        (abs(width * scale - region.width) + abs(x * scale - region.x), scale)
        for scale in _SCALES
        for region in regions
        if region != UNKNOWN_PLACE and width > 0
    ]
    # A place that fits with none is not understood, and stays as it is.
    distance, scale = min(distances, default=(0, 1.0))
    return scale if distance <= _FRAME * scale else 1.0


def _find_page_scale(place: tuple[int, int, int, int], parent: _Node) -> float:
    """Return how many pixels a unit of a web page is: Chromium counts pixels in pages only."""

    def measure_distance(scale: float) -> int:
        return sum(abs(one - other) for one, other in zip(_multiply(place, scale), parent.extents))

    return min((parent.scale, 1.0), key=measure_distance)


def _multiply(place: tuple[int, int, int, int], scale: float) -> tuple[int, int, int, int]:
    x, y, width, height = (round(number * scale) for number in place)
    return x, y, width, height


def _lies_in_its_window(node: _Node, windows: Sequence[Window]) -> bool:
    """Return whether an element is left or right of no window of its title; also
    where there is no such window.
    """
    regions = [
        window.region for window in windows if node.top and normalise_spaces(window.title) == node.top.name
    ]
    x = node.region.center[0]
    # Above and below may be what is scrolled away.
    return not regions or any(region.x <= x < region.x + region.width for region in regions)


def _has_place(node: _Node) -> bool:
    x, y, width, height = node.extents
    on_screen = min(x, y) > -_BOUND
    return _SHOWING in node.states and width > 0 and height > 0 and on_screen


def _find_label_beside(field: _Node, nodes: Iterable[_Node]) -> str:
    """Return the text of the label on the left of a field, where a program names no label for it."""
    x, y, _, height = field.extents
    beside = [
        node
        for node in nodes
        if node.role == "label" and node.top is field.top and _has_place(node)
        if not any(ancestor.role in _LABELLED for ancestor in _list_ancestors(node))
        if node.region.x + node.region.width <= x and y <= node.center_y <= y + height
    ]
    return max(beside, key=lambda node: node.region.x, default=field).name


def _list_ancestors(node: _Node) -> Iterable[_Node]:
    while node.parent:
        node = node.parent
        yield node


def _has_text(node: _Node) -> bool:
    return node.password or _EDITABLE in node.states


def _has_value(node: _Node) -> bool:
    return not node.password and (_EDITABLE in node.states or node.role in _TEXT_ROLES)


def _is_shown(node: _Node) -> bool:
    if node.top is node or not _has_place(node):
        return False
    if node.password or _EDITABLE in node.states:
        return True
    return bool(node.name or node.value) or node.role not in _HOLDERS


def _make_element(number: int, node: _Node) -> Element:
    states = tuple(word for state, word in _SAID.items() if state in node.states)
    if _SENSITIVE not in node.states:
        states += ("disabled",)
    window = node.top.name if node.top else ""
    return Element(
        number,
        node.role,
        node.name,
        node.region,
        window,
        node.value,
        states,
        password=node.password,
        source=(node.bus, node.path),
        scale=node.scale,
    )


#: The trees of this process, by the bus that they are read from; a forked process reads its own.
_trees: dict[tuple[int, str, str], Tree] = {}


def open_tree() -> Tree:
    """Return the accessibility tree of the session that the environment names."""
    env = os.environ
    key = os.getpid(), env.get("AT_SPI_BUS_ADDRESS", ""), env.get("DBUS_SESSION_BUS_ADDRESS", "")
    return _trees.setdefault(key, Tree())
