"""Chooses a model: one found on this machine, one of a provider by its API key, or the demo."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from oi_tui.engine.credentials.keys import SecretError, Secrets, find_variable_name
from oi_tui.engine.credentials.redaction import learn
from oi_tui.engine.models import llamafile, local_servers
from oi_tui.engine.settings import presets
from oi_tui.screens.dialog import Dialog, DialogBox
from oi_tui.text import clean_line
from oi_tui.widgets.field import Field
from oi_tui.widgets.lists.choice_list import ChoiceList

#: The ready-made profiles of the providers whose model is offered once there is a key.
_HOSTED = ("openai", "anthropic", "gemini", "openrouter", "mistral", "deepseek", "groq", "xai")
_LIST_KEYS = "enter choose · tab type a name · esc cancel"
_FIRST = (
    "Type what you want. A model writes code for it; you read it, edit it, and decide whether it runs. "
    "Nothing runs unless you approve it."
)
_FIRST_AUTO = "Type what you want. A model writes code for it, and the code runs without asking: AUTO is on."
#: A request that was typed too early would be saved as the model otherwise.
_NO_NAME = "A model name has no spaces. Choose a model first, then type your request."
_KEY_KEYS = "enter save · ctrl+s this session only · esc back"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model, where it is served (None: the provider's own address), and how it was found.

    `api_key` is a key for this session only.
    """

    model: str
    api_base: str | None = None
    origin: str = ""
    api_key: str | None = field(default=None, repr=False)


DEMO = ModelChoice("demo", None, "a script, not an AI; works offline, without a key")


def list_hosted_models(environment: Mapping[str, str] = os.environ) -> list[ModelChoice]:
    """Return a model for each provider whose key is in the environment."""
    return [
        ModelChoice(model, None, f"{variable} is set")
        for variable, model in _list_hosted()
        if environment.get(variable)
    ]


def list_kept_models(secrets: Secrets) -> list[ModelChoice]:
    """Return a model for each provider whose key is saved; asks the keyring."""
    saved = []
    for variable, model in _list_hosted():
        api_key = secrets.find(variable)
        if api_key is not None and api_key.origin != "environment":
            saved.append(ModelChoice(model, None, f"{variable} is saved"))
    return saved


def _list_hosted() -> list[tuple[str, str]]:
    """Return the variables of providers' keys, each with the model to offer for it."""
    models = [presets.find_model(name) for name in _HOSTED]
    return [(find_variable_name(model) or "", model) for model in models]


def list_llamafiles() -> list[ModelChoice]:
    """Return the llamafiles that were downloaded before."""
    return [
        ModelChoice(str(path), None, f"a llamafile on this machine, {path.stat().st_size / 1e9:.1f} GB")
        for path in llamafile.list_files()
    ]


def _make_table(hints: Iterable[str]) -> Table:
    """Put the name of each "NAME: HINT" beside its hint, which stays in its column where it is wrapped."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    for hint in hints:
        name, _, words = hint.partition(": ")
        table.add_row(Text(name), Text(words))
    return table


class ModelsScreen(Dialog[ModelChoice | None]):
    """Lists models over the conversation, the best one first, with a field for any other name.

    A provider's key that is not found is asked for in a masked field. With `local`, only models of this
    machine are offered. The model `wanted` is chosen as soon as it is found, or as soon as there is a key
    for it. With `asks_key` its server refused a request without one: a server on this machine may need a
    key as well. The text of a `welcome` says whether each piece of code `asks` for approval.
    """

    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-low"), (18, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Not now", id="models.close"),
        Binding("ctrl+s", "use_key_once", "Use the key for this session only", id="models.key_once"),
    ]

    @dataclass
    class ModelsFound(Message):
        """These models are served on this machine."""

        models: list[local_servers.LocalModel]

    @dataclass
    class SavedKeysLoaded(Message):
        """There are saved keys for these models."""

        choices: list[ModelChoice]

    @dataclass
    class KeyChecked(Message):
        """Whether there is a key for a model, and where a new one would be saved."""

        choice: ModelChoice
        found: bool
        place: str

    @dataclass
    class KeySaved(Message):
        """The key for a model was saved, or could not be (`problem`)."""

        choice: ModelChoice
        problem: str

    def __init__(
        self,
        current: str,
        secrets: Secrets | None = None,
        *,
        welcome: bool = False,
        asks: bool = True,
        local: bool = False,
        wanted: ModelChoice | None = None,
        api_base: str | None = None,
        asks_key: bool = False,
    ) -> None:
        super().__init__()
        self._current = current
        self._asks_key = asks_key
        self._api_base = api_base
        self._secrets = secrets
        self._welcome = welcome
        self._asks = asks
        self._local = local
        self._wanted = wanted
        self._asking: ModelChoice | None = None
        #: The model in use stands first, so that a hasty enter changes nothing.
        self._in_use = None if welcome or local or current == DEMO.model else _make_current(current, api_base)
        models = [*([] if local else list_hosted_models()), *list_llamafiles()]
        self._choices = [
            *([self._in_use] if self._in_use else []),
            *(choice for choice in models if not self._in_use or not _is_same(choice, self._in_use)),
            DEMO,
        ]

    def compose(self) -> ComposeResult:
        """Mount the text, the list, a hint for an empty list, and the fields for a name and a key."""
        with DialogBox(id="models") as box:
            box.border_title = "Welcome to oi-tui" if self._welcome else "Model"
            box.hints = _LIST_KEYS
            yield Static(self._explain(), id="models-words", markup=False)
            yield ChoiceList(*(Option(_describe(choice)) for choice in self._choices), id="models-list")
            with VerticalScroll(id="models-hints", can_focus=False):
                yield Static(markup=False)
                yield Static(id="models-servers")
            yield Field(
                placeholder="or type a model: openai/my-model, or the path of a llamafile",
                id="models-name",
                select_on_focus=False,
            )
            yield Field(password=True, placeholder="API key", id="models-key")

    def on_mount(self) -> None:
        """Select the best model, and look for models on this machine in a thread."""
        self.query_one("#models-key").display = False
        self.query_one("#models-hints").display = False
        choices = self.query_one(OptionList)
        choices.focus()
        choices.highlighted = 0
        if self._wanted and not self._local:
            self._choose(self._wanted)
        else:
            self.run_worker(self._ask_servers, thread=True, exit_on_error=False)

    def _ask_servers(self) -> None:
        self.post_message(self.ModelsFound(local_servers.find_with(self._api_base)))
        # A newcomer has given us nothing to keep, and is spared the question to unlock a keyring.
        if self._secrets is not None and not self._local and not self._welcome:
            self.post_message(self.SavedKeysLoaded(list_kept_models(self._secrets)))

    @on(SavedKeysLoaded)
    def handle_saved_keys_loaded(self, event: SavedKeysLoaded) -> None:
        """Add the models that have a saved key."""
        for choice in event.choices:
            self.offer(choice)

    @on(ModelsFound)
    def handle_models_found(self, event: ModelsFound) -> None:
        """Add the models that were found; where there are none, explain how to start one."""
        for model in event.models:
            size = f", {model.size / 1e9:.1f} GB" if model.size else ""
            window = f", {model.context_window:,} tokens" if model.context_window else ""
            choice = ModelChoice(model.model, model.api_base, f"{model.server}{size}{window}")
            self.offer(choice)
            if self._wanted and local_servers.is_named(model, self._wanted.model):
                self.dismiss(choice)
                return
        if not event.models:
            hints = self.query_one("#models-hints")
            hints.display = True
            lines = ["No model server found on this machine."]
            if self._welcome:
                lines.append("Later, ctrl+l shows how to get one.")
            else:
                hints.query_one("#models-servers", Static).update(
                    _make_table(local_servers.list_hints(has_field=True))
                )
            hints.query_one(Static).update(Content("\n".join(lines)))
        elif self._local and self._wanted:
            words = f"No server on this machine has {clean_line(self._wanted.model, 60)}."
            self.notify(words, severity="warning", markup=False)

    def offer(self, choice: ModelChoice) -> None:
        """Add a model to the list that is shown. The demo stays last."""
        if any(_is_same(item, choice) for item in self._choices):
            return
        choices = self.query_one(OptionList)
        at = choices.highlighted or 0
        selection = self._choices[at]
        self._choices.insert(len(self._choices) - 1, choice)
        choices.clear_options()
        choices.add_options(Option(_describe(item)) for item in self._choices)
        choices.highlighted = (
            0 if selection == DEMO and len(self._choices) == 2 else self._choices.index(selection)
        )

    def on_key(self, event: events.Key) -> None:
        """Type into the field for a name, even if the list has the focus."""
        if event.is_printable and event.character and self.query_one(OptionList).has_focus:
            event.stop()
            self._type(event.character)

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the field for a name, even if the list has the focus."""
        if self.query_one(OptionList).has_focus:
            event.stop()
            self._type(" ".join(event.text.split()))

    def _type(self, text: str) -> None:
        field = self.query_one("#models-name", Input)
        field.focus()
        field.insert_text_at_cursor(text)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Choose the model."""
        choice = self._choices[event.option_index]
        if choice is self._in_use:
            self.dismiss(None)
        else:
            self._choose(choice)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Choose the model whose name was typed, or use the key that was typed."""
        text = event.value.strip()
        if event.input.id == "models-key":
            self._save_key(text)
        elif " " in text.partition("/")[0] and not llamafile.is_source(text):
            self.notify(_NO_NAME, severity="warning")
        elif text:
            self._choose(ModelChoice(text))

    # -- the key ----------------------------------------------------------------------------------

    def _choose(self, choice: ModelChoice) -> None:
        """Take the choice, once there is a key for it or none is needed."""
        local = local_servers.is_local(choice.model, choice.api_base) or llamafile.is_source(choice.model)
        needs_none = local and not (self._asks_key and choice == self._wanted)
        name = None if needs_none else find_variable_name(choice.model, choice.api_base)
        if self._secrets is None or name is None:
            self.dismiss(choice)
            return
        secrets = self._secrets

        def look() -> None:
            has_key = secrets.find(name) is not None
            self.post_message(self.KeyChecked(choice, has_key, "" if has_key else secrets.place()))

        self.run_worker(look, thread=True, exit_on_error=False)

    @on(KeyChecked)
    def handle_key_checked(self, event: KeyChecked) -> None:
        """Close with the model if there is a key, else ask for it."""
        if event.found:
            self.dismiss(event.choice)
            return
        self._asking = event.choice
        name = find_variable_name(event.choice.model, event.choice.api_base) or ""
        self._show_key(
            Content.assemble(
                (clean_line(event.choice.model, 60), "bold"),
                f" needs an API key, and none was found ({clean_line(name, 80)}). "
                f"Type or paste it here. It is saved in {clean_line(event.place, 120)}.",
            )
        )

    def _show_key(self, words: Content | None) -> None:
        """Show the field for the key instead of the list, or the list again."""
        asks = words is not None
        self.query_one("#models-list").display = not asks
        self.query_one("#models-name").display = not asks
        if asks:
            self.query_one("#models-hints").display = False
        key = self.query_one("#models-key", Input)
        key.display = asks
        key.value = ""
        self.query_one("#models-words", Static).update(words if words is not None else self._explain())
        self.query_one("#models", DialogBox).hints = _KEY_KEYS if asks else _LIST_KEYS
        (key if asks else self.query_one(OptionList)).focus()

    def _save_key(self, typed: str) -> None:
        choice, secrets = self._asking, self._secrets
        if choice is None or secrets is None:
            return
        name = find_variable_name(choice.model, choice.api_base)
        if not typed or name is None:
            self.notify("Type or paste the API key; esc goes back.", timeout=3)
            return

        def save_key() -> None:
            problem = ""
            try:
                secrets.save(name, typed)
            except SecretError as error:
                problem = str(error)
            final_choice = replace(choice, api_key=typed) if problem else choice
            self.post_message(self.KeySaved(final_choice, problem))

        self.run_worker(save_key, thread=True, exit_on_error=False)

    @on(KeySaved)
    def handle_key_saved(self, event: KeySaved) -> None:
        """Close with the model. A key that could not be saved is used for this session."""
        if event.problem:
            words = f"{event.problem} The API key is used for this session only."
            self.app.notify(clean_line(words, 300), severity="warning", markup=False)
        self.dismiss(event.choice)

    def action_use_key_once(self) -> None:
        """Use the key that was typed for this session, and do not save it."""
        api_key = self.query_one("#models-key", Input).value.strip()
        if self._asking and api_key:
            learn(api_key)
            self.dismiss(replace(self._asking, api_key=api_key))

    def action_back(self) -> None:
        """Go back from the key to the list, or from the list to the conversation."""
        if self._asking is None or (self._wanted and not self._local):
            self.dismiss(None)
            return
        self._asking = None
        self._show_key(None)

    def _explain(self) -> Content:
        if self._local:
            return Content("Choose a model on this machine.")
        if not self._welcome:
            return Content.assemble("Current model: ", (self._current, "bold"))
        first = _FIRST if self._asks else _FIRST_AUTO
        return Content(f"{first}\n\nChoose a model. With an API key: type the model's name, such as gpt-4o.")


def _is_same(one: ModelChoice, other: ModelChoice) -> bool:
    """Return whether both are the same model at the same place, however they were found."""
    return (one.model, one.api_base) == (other.model, other.api_base)


def _make_current(model: str, api_base: str | None) -> ModelChoice:
    return ModelChoice(model, api_base, "in use")


def _describe(choice: ModelChoice) -> Content:
    where = clean_line(choice.api_base or "", 60)
    if choice.origin.startswith("the server at port "):
        # The address says the same.
        where = ""
    about = "  ".join(part for part in (choice.origin, where) if part)
    name = choice.model.rpartition("/")[2] if llamafile.is_source(choice.model) else choice.model
    return Content.assemble((clean_line(name, 60), "bold"), "   ", (about, "$text-muted"))
