"""The editor of one setting: name, value, help, and error."""

from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import AwaitMount, Widget
from textual.widgets import Input, Static, TextArea

from oi_tui.engine.settings.profile import Origin
from oi_tui.engine.settings.setting import ProfileError, Setting, Value
from oi_tui.text import clean_line, escape_controls
from oi_tui.widgets.editor.text_area import StableTextArea
from oi_tui.widgets.field import Field
from oi_tui.widgets.static_text import show_text


class SettingChoice(Widget, can_focus=True):
    """One of a few values; left, right and space change it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "turn(-1)", "Previous value", show=False, id="choice.previous"),
        Binding("right,space", "turn(1)", "Next value", show=False, id="choice.next"),
    ]
    index = reactive(0)

    class Changed(Message):
        """Another value was chosen."""

    def __init__(self, words: tuple[str, ...], index: int) -> None:
        super().__init__()
        self._words = words
        self.set_reactive(SettingChoice.index, index)

    def render(self) -> Content:
        """Render all values side by side where they fit, else the chosen one between arrows."""
        beside = "   ".join(f"( ) {word}" for word in self._words)
        if len(beside) > self.size.width:
            return Content.assemble(
                ("◂ ", "$text-accent"), (self._words[self.index], "bold"), (" ▸", "$text-accent")
            )
        parts = [
            Content.assemble(("(•) ", "$text-accent"), (word, "bold"))
            if number == self.index
            else Content.styled(f"( ) {word}", "$text-muted")
            for number, word in enumerate(self._words)
        ]
        return Content("   ").join(parts)

    def action_turn(self, by: int) -> None:
        """Take the next value, or the one before; after the last comes the first."""
        self.index = (self.index + by) % len(self._words)
        self.post_message(self.Changed())

    def on_click(self, event: events.Click) -> None:
        """Take the value that was clicked on."""
        start = 0
        for number, word in enumerate(self._words):
            width = len(word) + 4
            if start <= event.x < start + width and number != self.index:
                self.action_turn(number - self.index)
                return
            start += width + 3


class SettingField(Vertical):
    """A setting as a row of the editor.

    `value` is the last one that was right; `error` says what is wrong with what stands in the field.
    """

    class Edited(Message):
        """The field's value changed, valid or not."""

        def __init__(self, field: "SettingField") -> None:
            super().__init__()
            self.field = field

    def __init__(self, setting: Setting, value: Value, origin: Origin) -> None:
        super().__init__()
        self.setting = setting
        self.value = value
        self.error: str | None = None
        self._origin = origin
        #: What is shown at first; None is shown for values that are never shown.
        self._shown = "" if setting.masked else escape_controls(setting.show(value))
        self._original = value
        self._typed = self._shown
        self._options: tuple[Value, ...] = ()
        if setting.kind is bool:
            self._options = (None, True, False) if setting.optional else (True, False)
        elif setting.choices:
            self._options = setting.choices

        self._note = ""
        self._made: SettingChoice | TextArea | Input | None = None
        self._mounting: AwaitMount | None = None

    @property
    def box(self) -> "SettingChoice | TextArea | Input":
        """What is typed into."""
        self.build()
        assert self._made is not None
        return self._made

    def build(self) -> None:
        """Mount title, key and mark, the value, the error, and the help, unless that is done.

        Only rows that are shown are built: there are many settings, and each has nine widgets.
        """
        if self._made is not None:
            return
        self._made = self._make_box()
        self._state = Static(classes="field-mark", markup=False)
        self._problem = Static(classes="field-error", markup=False)
        self._summary = Static(classes="field-short", markup=False)
        self._explanation = Static(classes="field-help", markup=False)
        self._mounting = self.mount(
            Horizontal(
                Static(self.setting.human_title, classes="field-name", markup=False),
                Static(self.setting.key, classes="field-key", markup=False),
                self._state,
                classes="field-head",
            ),
            self._made,
            self._problem,
            self._summary,
            self._explanation,
        )
        self._show_help()
        self._show_state()

    async def wait_until_built(self) -> None:
        """Wait until the parts that `build` mounts can be drawn, with the title."""
        if self._mounting is not None:
            await self._mounting
            self._mounting = None

    def _shorten_help(self) -> str:
        """Return the first sentence of the help, and why the setting has no effect;
        the rest is seen on focus.
        """
        reason = self.setting.cannot()
        first = f"{self.setting.help.partition('. ')[0].removesuffix('.')}."
        return f"It has no effect: {reason}. {first}" if reason else first

    def _describe_help(self) -> str:
        """Return the help of the setting, with notes on when it takes effect."""
        reason = self.setting.cannot()
        without = f" It has no effect: {reason}." if reason else ""
        later = f" It takes effect {self.setting.later}." if self.setting.later else ""
        return f"{self.setting.help}{without}{later}"

    def explain(self, more: str) -> None:
        """Say something of the setting as it stands, below its help; first where only one line is shown."""
        self._note = more
        self._show_help()

    def _show_help(self) -> None:
        if self._made is not None:
            show_text(self._summary, Content(f"{self._note} {self._shorten_help()}".lstrip()))
            show_text(self._explanation, Content(f"{self._describe_help()} {self._note}".rstrip()))

    def _make_box(self) -> "SettingChoice | TextArea | Input":
        if self._options:
            words = tuple(self._describe_value(option) for option in self._options)
            return SettingChoice(words, self._options.index(self.value) if self.value in self._options else 0)
        if self.setting.long:
            return StableTextArea(self._typed, soft_wrap=True, tab_behavior="focus", show_line_numbers=False)
        placeholder = self.setting.unset if self.setting.optional else ""
        if self.setting.masked and self.value is not None:
            state = "saved" if self._origin == "profile" else "set"
            placeholder = f"{self.setting.show(self.value)}  {state}; type to replace it"
        return Field(
            self._typed, placeholder=placeholder, password=self.setting.masked, select_on_focus=False
        )

    def on_descendant_focus(self) -> None:
        """Show all of the help."""
        self.add_class("-here")

    def on_descendant_blur(self) -> None:
        """Show one line of the help."""
        self.remove_class("-here")

    def reset(self) -> None:
        """Reset the value to the default."""
        self.set_original(self.setting.default)

    def set_original(self, value: Value) -> None:
        """Set the value, and make it the one that a reset goes back to."""
        self.value = value
        self._original = self.value
        self._shown = self._typed = "" if self.setting.masked else self.setting.show(self.value)
        match self._made:
            case SettingChoice() as choice:
                choice.index = self._options.index(self.value)
            case TextArea() as area:
                area.text = self._typed
            case Input() as line:
                line.value = self._typed
                line.placeholder = self.setting.unset if self.setting.optional else ""
        self._change(self.value)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Check the value after each key."""
        event.stop()
        self._type(event.value)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Check the value after each key."""
        event.stop()
        self._type(event.text_area.text)

    @on(SettingChoice.Changed)
    def handle_changed(self, event: SettingChoice.Changed) -> None:
        """Take the chosen value."""
        event.stop()
        assert isinstance(self.box, SettingChoice)
        self._change(self._options[self.box.index])

    def _type(self, text: str) -> None:
        if text != self._typed:
            self._typed = text
            self._check(text)
            self.post_message(self.Edited(self))

    def _check(self, text: str) -> None:
        if self._options:
            return
        if text == self._shown:
            # As it was, also where the characters shown are not those kept.
            value, problem = self._original, None
        else:
            value, problem = self.value, None
            try:
                value = self.setting.parse(text)
            except ProfileError as error:
                problem = str(error)
        self.value, self.error = value, problem
        self._show_state()

    def _change(self, value: Value) -> None:
        self.value, self.error = value, None
        self._show_state()
        self.post_message(self.Edited(self))

    def _show_state(self) -> None:
        """Show whether the value is the default, and what is wrong with it."""
        if self._made is None:
            return
        show_text(self._problem, Content(clean_line(self.error or "")))
        self.set_class(self.error is not None, "-wrong")
        source = {"flag": "set by a flag", "environment": "set by the environment"}.get(self._origin, "")
        default = self._describe_default()
        changed = self.value != self.setting.default
        words = Content.styled("● changed", "$text-accent") if changed else Content("default")
        if self.error is not None:
            words = Content.styled("invalid", "$text-error")
        elif source and changed:
            words = Content.assemble(words, (f" · {source}", "$text-muted"))
        elif changed and len(default) <= 40:
            words = Content.assemble(words, (f" · default: {default}", "$text-muted"))
        show_text(self._state, words)
        self._state.set_class(words.plain == "default", "-default")

    def _describe_value(self, option: Value) -> str:
        if option is None:
            return self.setting.unset
        if isinstance(option, bool):
            return "yes" if option else "no"
        return str(option)

    def _describe_default(self) -> str:
        default = self.setting.default
        if self._options or default is None:
            return self._describe_value(default)
        return clean_line(self.setting.show(default), 60) or "nothing"
