"""Declares a setting once; key, flag, validation, help and editor row follow from it."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

Value = str | int | float | bool | tuple[str, ...] | None

#: No setting is a larger number.
_ENORMOUS = 10**15
_YES = ("true", "yes", "on")
_NO = ("false", "no", "off")


class ProfileError(ValueError):
    """A setting or a profile that cannot be used, in one line that names it.

    `key` is the setting's YAML key, `path` and `line` say where it stands, as far as that is known.
    """

    def __init__(
        self, problem: str, *, key: str | None = None, path: object = None, line: int | None = None
    ) -> None:
        self.problem = problem
        self.key = key
        self.path = path
        self.line = line
        super().__init__(problem)

    def __str__(self) -> str:
        where = "" if self.path is None else str(self.path)
        if self.line is not None:
            where += f"{', ' if where else ''}line {self.line}"
        return ": ".join(part for part in (where, self.key, self.problem) if part)

    def at(self, path: object, line: int | None = None) -> "ProfileError":
        """Return the same error with the place where it was found."""
        return ProfileError(self.problem, key=self.key, path=path, line=self.line if line is None else line)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as it was declared. `kind` is bool, int, float, str, or tuple for a list of texts.

    None is allowed where `optional`.
    """

    name: str
    key: str
    kind: type
    optional: bool
    default: Value
    help: str
    section: str
    #: Its name for people; from its own name where that is empty.
    title: str = ""
    #: Short flags, and long ones that differ from the name; underscores stand for dashes too.
    flags: tuple[str, ...] = ()
    #: Flags that switch a yes-or-no setting off, besides `--no-NAME`.
    off_flags: tuple[str, ...] = ()
    #: What switching it off does, in a sentence; from its help where that is empty.
    off_help: str = ""
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    #: Never shown in clear.
    masked: bool = False
    #: The text may well have several lines.
    long: bool = False
    #: The items of the list are words: where a person types them, commas separate them too.
    commas: bool = False
    #: Other keys under which it may stand in a file.
    also: tuple[str, ...] = ()
    #: The environment variable that sets it.
    variable: str | None = None
    #: What the text must be, in words, unless it satisfies the function; None when all is well.
    must: Callable[[str], str | None] | None = field(default=None, compare=False)
    #: A text that is refused, as it may be shown.
    shown: Callable[[str], str] = field(default=str, compare=False)
    #: What None means, in words: "the provider's own".
    unset: str = "not set"
    #: Why it has no effect on this machine, in a sentence; None where it has one.
    cannot: Callable[[], str | None] = field(default=lambda: None, compare=False)
    #: Why there is nothing for it to do: a setting of Open Interpreter that is accepted with a notice.
    needless: str = ""
    #: It limits what may happen, be sent, shown or spent: one that is not understood stops the start.
    limits: bool = False
    #: A text that false in a file stands for: no text at all.
    may_be_false: bool = False
    #: The choice that true stands for, if any; false stands for off.
    true_means: str = ""
    #: It takes effect at the next start, or with the next conversation; empty where it does at once.
    later: str = ""

    @property
    def human_title(self) -> str:
        """The name that a person reads: "Context window"."""
        return self.title or self.name.replace("_", " ").capitalize()

    @property
    def long_flag(self) -> str:
        """The flag's name: `--api-base`."""
        return "--" + self.name.replace("_", "-")

    def check(self, value: object) -> Value:
        """Return the value as the profile keeps it. Raises ProfileError when it is not one."""
        if value is None:
            if self.optional:
                return None
            raise self.make_error(f"expected {self.expected}, but it is empty")
        if self.kind is bool:
            if isinstance(value, bool):
                return value
        elif self.kind is str:
            if value is False and self.may_be_false:
                return ""
            if isinstance(value, bool) and self.choices:
                # YAML takes a bare off for false.
                choice = self.true_means if value else "off"
                if choice in self.choices:
                    return choice
            if type(value) is date:
                # YAML takes a bare version such as 2024-02-01 for a date, which has no other spelling.
                value = value.isoformat()
            if isinstance(value, str):
                return self._check_text(value)
        elif self.kind is tuple:
            if isinstance(value, (list, tuple)):
                return self._check_list(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            return self._check_number(value)
        quotes = ""
        if self.kind is str and not self.choices and not isinstance(value, (list, tuple, dict)):
            quotes = "; write it in quotes"
        raise self.make_error(f"expected {self.expected}, not {self._describe_value(value)}{quotes}")

    def check_given(self, value: object) -> Value:
        """Check a given value. A limit that allows nothing is refused."""
        checked = self.check(value)
        if self.limits and checked == ():
            raise self.make_error("is empty, so no code could run; list at least one, or remove it")
        return checked

    def parse(self, text: str) -> Value:
        """Return the value that a person typed, at the command line or in the editor. Raises ProfileError."""
        stripped = text.strip()
        if self.optional and not stripped:
            return None
        if self.kind is bool:
            if stripped.lower() in _YES + _NO:
                return stripped.lower() in _YES
            raise self.make_error(f"expected {self.expected}, not {self._describe_value(stripped)}")
        if self.kind is str:
            return self.check(text if self.long else stripped)
        if self.kind is tuple:
            parts = re.split(r"[\n;,]" if self.commas else r"[\n;]", text)
            return self.check([part.strip() for part in parts if part.strip()])
        try:
            number = float(stripped) if self.kind is float else int(stripped.replace("_", ""))
        except ValueError:
            raise self.make_error(f"expected {self.expected}, not {self._describe_value(stripped)}") from None
        return self.check(number)

    def show(self, value: Value) -> str:
        """Return the value as a person would type it; None is empty, a masked value is not shown."""
        if value is None:
            return ""
        if self.masked:
            return "\u2022" * 8
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, tuple):
            return "\n".join(value)
        return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)

    @property
    def help_off(self) -> str:
        """The help of the flag that turns it off."""
        return self.off_help or f"Do not {self.help[0].lower()}{self.help[1:]}"

    @property
    def expected(self) -> str:
        """A description of valid values."""
        if self.kind is tuple:
            return "a list of strings" + (f" out of {', '.join(self.choices)}" if self.choices else "")
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.kind is bool:
            return "true or false"
        if self.kind is str:
            return "text"
        number = "a whole number" if self.kind is int else "a number"
        if self.minimum is not None and self.maximum is not None:
            return f"{number} from {self.minimum:g} to {self.maximum:g}"
        if self.minimum is not None:
            return f"{number} of at least {self.minimum:g}"
        return number

    def make_error(self, problem: str) -> ProfileError:
        """Return an error that names this setting."""
        return ProfileError(problem, key=self.key)

    def _check_text(self, value: str) -> str:
        if self.choices and value not in self.choices:
            raise self.make_error(
                f"expected {self.expected}, not {self._describe_value(value)}"
                f"{suggest_nearest(value, self.choices)}"
            )
        if "\0" in value:
            raise self.make_error("expected text, not a NUL character")
        if not self.optional and not value.strip() and not self.long:
            raise self.make_error("expected text, but it is empty")
        requirement = self.must(value) if self.must and value else None
        if requirement:
            raise self.make_error(f"expected {requirement}, not {self._describe_value(self.shown(value))}")
        if not self.long and any(end in value for end in "\r\n"):
            raise self.make_error(f"expected text in one line, not {self._describe_value(self.shown(value))}")
        return value

    def _check_list(self, value: Iterable[object]) -> tuple[str, ...]:
        items = []
        for item in value:
            if not isinstance(item, str) or not item.strip() or "\0" in item or "\n" in item:
                raise self.make_error(
                    f"expected {self.expected}, each in one line, not {self._describe_value(item)}"
                )
            if requirement := self.must(item) if self.must else None:
                raise self.make_error(f"expected {requirement}, not {self._describe_value(item)}")
            if self.choices and item not in self.choices:
                hint = suggest_nearest(item, self.choices)
                raise self.make_error(f"expected {self.expected}, not {self._describe_value(item)}{hint}")
            items.append(item)
        return tuple(items)

    def _check_number(self, value: float) -> float | int:
        limits = (
            -_ENORMOUS if self.minimum is None else self.minimum,
            _ENORMOUS if self.maximum is None else self.maximum,
        )
        # The comparison is false for "not a number" too.
        within = limits[0] <= value <= limits[1]
        if not within or (self.kind is int and value != int(value)):
            raise self.make_error(f"expected {self.expected}, not {self._describe_value(value)}")
        return int(value) if self.kind is int else float(value)

    def _describe_value(self, value: object) -> str:
        if self.masked:
            return "this"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (list, tuple)):
            return "a list"
        if isinstance(value, dict):
            return "a group of settings"
        text = repr(value) if isinstance(value, str) else str(value).removesuffix(".0")
        return text if len(text) <= 60 else text[:59] + "\u2026"


def setting(default: Value, help: str, **more: Any) -> Any:
    """Declare a setting: its default, its help in a sentence or two, and the rest of `Setting`'s fields."""
    return field(default=default, metadata={"setting": {"help": help, **more}})


def suggest_nearest(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?" with the known word that is probably meant, or nothing."""
    import difflib

    matches = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {matches[0]}?" if matches else ""
