"""Names of languages as a script compares them: `language.name != "Shell"` leaves out what "bash" does."""

from dataclasses import replace
from typing import Any

import yaml

from oi_tui.runtimes.language import Language


class LanguageName(str):
    """A name that is spelled as in Open Interpreter, and equal in any case to itself and its `aliases`.

    A script that leaves a language out must not keep it because of a capital letter, or because it says
    "bash". The hash is that of the spelling, so that sets and dictionaries find the name as Open
    Interpreter's scripts write it.
    """

    __slots__ = ("aliases",)
    aliases: tuple[str, ...]

    def __new__(cls, name: str, aliases: tuple[str, ...] = ()) -> "LanguageName":
        """Make the name of a language that has these aliases, in lower case."""
        instance = super().__new__(cls, name)
        instance.aliases = aliases
        return instance

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other.casefold() in (self.casefold(), *self.aliases)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


# Scripts write lists of names to their settings; YAML takes no kind of text that it does not know.
yaml.SafeDumper.add_representer(LanguageName, yaml.SafeDumper.represent_str)


def respell(language: Language) -> Language:
    """Return the language for a script: with its name as Open Interpreter spells it."""
    spelled = language.title if language.title.casefold() == language.name else language.name
    return replace(language, name=LanguageName(spelled, language.aliases))


def find_original(language: Any, known: tuple[Language, ...]) -> Any:
    """Return the known language of which this one was presented, or is the class; others as they are."""
    if isinstance(language, type) and (name := vars(language).get("built_in")):
        return next((item for item in known if item.name == name), language)
    if isinstance(language, Language) and isinstance(language.name, LanguageName):
        return next((item for item in known if item == language), language)
    return language
