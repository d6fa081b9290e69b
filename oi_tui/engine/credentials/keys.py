"""Stores and finds the API keys of providers."""

import functools
import logging
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from oi_tui import paths
from oi_tui.engine.credentials import private_file
from oi_tui.engine.credentials.redaction import learn
from oi_tui.engine.models.model_names import find_family, resolve

_log = logging.getLogger(__name__)
# Without a log, nothing is printed.
_log.addHandler(logging.NullHandler())
_T = TypeVar("_T")

Origin = Literal["environment", "keyring", "file"]

#: Shown where a person reads about keys.
ORDER = (
    "An API key is looked for in the command line or profile, then the environment, then a file that only "
    "you can read, then the system's keyring."
)
_SERVICE = "oi-tui"
#: A keyring may have to ask a person to unlock it; one that says nothing for so long, in seconds, is left
#: alone until the next start.
TIMEOUT = 20.0
_LONGEST = 10_000
#: Providers that need no key, or take theirs from elsewhere (a machine's own credentials).
_KEYLESS = frozenset(
    {"demo", "ollama", "ollama_chat", "lm_studio", "llamafile", "hosted_vllm", "bedrock", "vertex_ai"}
)
#: Where the variable's name does not follow from the provider's, in LiteLLM 1.105.
_ODD_VARIABLES = {
    "together_ai": "TOGETHERAI_API_KEY",
    "perplexity": "PERPLEXITYAI_API_KEY",
}
#: Further variables that LiteLLM reads.
_ALSO = {
    "GEMINI_API_KEY": ("GOOGLE_API_KEY",),
    "HUGGINGFACE_API_KEY": ("HF_TOKEN",),
    "FIREWORKS_AI_API_KEY": ("FIREWORKS_API_KEY",),
    "COHERE_API_KEY": ("CO_API_KEY",),
}


class SecretError(Exception):
    """A key cannot be kept or looked up; the message says why."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A key that was found, and where."""

    name: str
    value: str = field(repr=False)
    origin: Origin


def find_variable_name(model: str, api_base: str | None = None) -> str | None:
    """Return the name under which the key for a model is kept: its usual environment variable.

    With a base of one's own the server is part of the name, so that a key for one server is never sent to
    another: `OPENAI_API_KEY@localhost:8000`. None for models that need no key.
    """
    provider = find_provider(model) or ("openai" if api_base else None)
    if provider is None or provider in _KEYLESS:
        return None
    variable = _ODD_VARIABLES.get(provider, f"{provider.upper().replace('-', '_')}_API_KEY")
    server = urlsplit(api_base).netloc.rpartition("@")[2].lower() if api_base else ""
    return f"{variable}@{server}" if server else variable


def find_provider(model: str) -> str | None:
    """Return the provider of a model by LiteLLM's name for it; None where the name does not say."""
    prefix, slash, _ = resolve(model).partition("/")
    if slash:
        return prefix.lower()
    if model in _KEYLESS:
        return model
    return find_family(model)


def _find_keyring() -> Any:
    """Return the keyring of this system, or one that a person named
    in keyring's own configuration; else None.
    """
    import keyring.core
    from keyring.backends import fail, null

    # Without the limit a backend that keeps plain text somewhere would do.
    keyring.core.init_backend(limit=keyring.core.recommended)
    ring = keyring.core.get_keyring()
    return None if isinstance(ring, fail.Keyring | null.Keyring) else ring


class Secrets:
    """The keys of a person's providers.

    A key lies in the system's keyring where there is one, else in a file that only its owner can read. What
    the environment says wins. The file comes before the keyring: it has a key only where the keyring did not
    take it, and the keyring may still have an older one. Reading a keyring can be slow (it may ask to be
    unlocked), so this is for worker threads.
    """

    def __init__(
        self,
        path: Path | None = None,
        environment: Mapping[str, str] = os.environ,
        keyring: Callable[[], Any] = _find_keyring,
    ) -> None:
        """`keyring` finds the keyring, or None; it is called once, when it is first needed."""
        self.path = path or paths.config() / "keys.json"
        self._environment = environment
        self._ring = functools.cache(keyring)
        self._silent = False

    def find(self, name: str) -> Secret | None:
        """Return the key of that name, from the first place that has it; what cannot be read is logged."""
        places: tuple[tuple[Origin, Callable[[str], str | None]], ...] = (
            ("environment", self._find_in_environment),
            ("file", self._find_in_file),
            ("keyring", self._find_in_keyring),
        )
        for origin, look in places:
            if value := look(name):
                learn(value)
                return Secret(name, value, origin)
        return None

    def key_for(self, model: str, api_base: str | None = None) -> str | None:
        """Return the kept key to send with a request, or None if there is none or none is needed.

        What the environment holds is left to LiteLLM, which reads it itself.
        """
        name = find_variable_name(model, api_base)
        api_key = self.find(name) if name else None
        return api_key.value if api_key and api_key.origin != "environment" else None

    def save(self, name: str, value: str, longest: int = _LONGEST) -> Origin:
        """Save a key permanently. Returns where it is stored. Raises SecretError if that fails."""
        value = value.strip()
        if not value or not value.isprintable() or len(value) > longest:
            raise SecretError("An API key is one line of text without control characters.")
        learn(value)

        def store(ring: Any) -> bool:
            ring.set_password(_SERVICE, name, value)
            return bool(ring.get_password(_SERVICE, name) == value)

        try:
            if self._ask(store):
                self._delete_from_file(name)
                return "keyring"
        except SecretError as error:
            _log.warning("The keyring did not accept the key: %s", error)
        except OSError as error:
            # The older key in the file would go on being sent.
            raise SecretError(
                f"The older API key in {paths.shorten(self.path)} could not be deleted: "
                f"{paths.explain_write_error(error)}."
            ) from None
        try:
            with private_file.edit(self.path) as record:
                record[name] = value
        except OSError as error:
            raise SecretError(
                f"The API key could not be saved: {paths.explain_write_error(error)}."
            ) from None
        return "file"

    def forget(self, name: str) -> bool:
        """Forget the key, wherever it lies; the environment is not ours. Returns whether there was one.

        Raises SecretError when it is still there afterwards.
        """

        def delete(ring: Any) -> bool:
            there = ring.get_password(_SERVICE, name) is not None
            if there:
                ring.delete_password(_SERVICE, name)
            return there

        if self._silent:
            raise SecretError("the keyring did not answer before; try again after a restart")
        was_kept = bool(self._ask(delete))
        try:
            return self._delete_from_file(name) or was_kept
        except OSError as error:
            raise SecretError(
                f"The API key could not be deleted: {paths.explain_write_error(error)}."
            ) from None

    def place(self) -> str:
        """Describe where a new key would be stored."""
        try:
            ring = self._ask(lambda ring: str(getattr(ring, "name", type(ring).__name__)))
        except SecretError:
            ring = None
        return (
            f"the system's keyring ({ring})"
            if ring
            else f"{paths.shorten(self.path)}, which only you can read"
        )

    def _find_in_environment(self, name: str) -> str | None:
        # A key for a server of one's own has an "@" in its name, which no variable has.
        values = (self._environment.get(item, "").strip() for item in (name, *_ALSO.get(name, ())))
        return next(filter(None, values), None)

    def _find_in_file(self, name: str) -> str | None:
        try:
            value = private_file.read(self.path).get(name)
        except OSError as error:
            _log.warning("The file of keys is not used: %s", error)
            return None
        return value if isinstance(value, str) else None

    def _delete_from_file(self, name: str) -> bool:
        if not self.path.exists():
            return False
        with private_file.edit(self.path) as record:
            return record.pop(name, None) is not None

    def _find_in_keyring(self, name: str) -> str | None:
        try:
            value = self._ask(lambda ring: ring.get_password(_SERVICE, name))
        except SecretError as error:
            _log.warning("The keyring is not used: %s", error)
            return None
        return value if isinstance(value, str) else None

    def _ask(self, question: Callable[[Any], _T]) -> _T | None:
        """Return the keyring's answer; None without a keyring. Raises SecretError."""
        answers: list[_T] = []
        failures: list[str] = []

        def ask() -> None:
            try:
                ring = self._ring()
                if ring is not None:
                    answers.append(question(ring))
            except Exception as error:  # noqa: BLE001 -- the end of the thread; backends raise what they like
                failures.append(f"{type(error).__name__}: {error}")

        if self._silent:
            return None
        asking = threading.Thread(target=ask, name="keyring", daemon=True)
        asking.start()
        asking.join(TIMEOUT)
        if asking.is_alive():
            self._silent = True
            raise SecretError(f"the keyring did not answer within {TIMEOUT:g} s")
        if failures:
            raise SecretError(failures[0])
        return answers[0] if answers else None


def find_token(name: str) -> str | None:
    """Return the token of a server that is kept under that name, as a key is, or None."""
    token = Secrets().find(name)
    return token.value if token else None
