"""Tracks when keys and mouse buttons were pressed last."""

import time
from collections.abc import Collection, Mapping
from typing import Any

from textual import events
from textual.app import App
from textual.widget import Widget

#: Seconds without a key after which a terminal counts as unattended, if it never reports its focus.
_LEFT_ALONE = 60.0
#: Keys that leave when they are pressed twice.
_LEAVING = ("ctrl+c", "ctrl+d")


class IdleClock(App[str]):
    """An application that notes when a key was last pressed or something pasted.

    What it results in is printed once the terminal is as it was.

    All input passes here before any widget sees it, so nothing can be typed past the clock.
    """

    #: When a key was last pressed or something pasted, on the monotonic clock, in seconds.
    last_key = 0.0
    #: The same without the keys that leave when they are pressed twice.
    last_other_key = 0.0
    #: The same for a mouse button, pressed or released.
    last_click = 0.0
    #: Whether the terminal ever reported that its window got or lost the focus.
    tells_focus = False
    #: The keys that the person chose, by the names of their bindings.
    remapped: Mapping[str, str] = {}

    async def on_event(self, event: events.Event) -> None:
        """Note the time, then go on as usual."""
        if isinstance(event, events.Key | events.Paste):
            self.last_key = time.monotonic()
            if not (isinstance(event, events.Key) and event.key in _LEAVING):
                self.last_other_key = self.last_key
        if isinstance(event, events.MouseDown | events.MouseUp):
            self.last_click = time.monotonic()
        if isinstance(event, events.Paste):
            # Most terminals send the end of a pasted line as the enter key does.
            event.text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if isinstance(event, events.AppFocus | events.AppBlur):
            self.tells_focus = True
        if isinstance(event, events.InputEvent) and not self.screen_stack:
            # A key that a screen passed on while the application ended; nothing takes it.
            return
        await super().on_event(event)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys that quit on a screen that gives every key to a program."""
        if action in ("quit", "help_here") and self.screen.has_class("-program"):
            return False
        return super().check_action(action, parameters)


def get_changed_keys(app: App[Any]) -> Mapping[str, str]:
    """Return the keys that the person chose, by the names of their bindings."""
    return app.remapped if isinstance(app, IdleClock) else {}


def find_last_key(app: App[Any]) -> float:
    """Return when a key was last pressed, on the monotonic clock, in seconds."""
    return app.last_key if isinstance(app, IdleClock) else 0.0


def find_last_other_key(app: App[Any]) -> float:
    """Return when a key was last pressed that does not leave, on the monotonic clock, in seconds."""
    return app.last_other_key if isinstance(app, IdleClock) else 0.0


def find_last_activity(app: App[Any]) -> float:
    """Return when a key or a mouse button was last pressed, on the monotonic clock, in seconds."""
    return max(app.last_key, app.last_click) if isinstance(app, IdleClock) else 0.0


def looks_away(app: App[Any]) -> bool:
    """Return whether the person is probably not looking at the screen.

    A terminal that never reports its focus (as tmux without focus-events) counts as left alone when no
    key was pressed for a minute.
    """
    if not isinstance(app, IdleClock) or app.tells_focus:
        return not app.app_focus
    return time.monotonic() - app.last_key > _LEFT_ALONE


async def obey(widget: Widget, event: events.Key, *, others: Collection[str] = ()) -> None:
    """Do at once what a key is bound to in the widget that has the focus, or what it is bound to beyond it if
    that is one of the actions `others`.

    Textual asks for bindings only when a key has bubbled to the application and come back; what was typed
    right after it would be taken first.
    """
    if event.is_printable:
        return
    for node, bindings in widget.screen._modal_binding_chain:
        for binding in bindings.key_to_bindings.get(event.key, ()):
            if node is not widget and binding.action not in others:
                return
            # An action may decline, as copying does without a selection; the key is then for another one.
            if await widget.app.run_action(binding.action, node):
                event.stop()
                event.prevent_default()
                return
