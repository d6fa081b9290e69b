"""Names of languages as a script compares them: `language.name != "Shell"` means the same as `"shell"`."""

from dataclasses import replace
from typing import Any

from oi_tui.runtimes.language import Language


class LanguageName(str):
    """A name that is spelled as in Open Interpreter, and equal to itself in any case.

    A script that leaves a language out must not keep it because of a capital letter. The hash is that of the
    spelling, so that sets and dictionaries find the name as Open Interpreter's scripts write it.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.casefold() == other.casefold()

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def presented(language: Language) -> Language:
    """Return the language for a script: with its name as Open Interpreter spells it."""
    spelled = language.title if language.title.casefold() == language.name else language.name
    return replace(language, name=LanguageName(spelled))


def original(language: Any, known: tuple[Language, ...]) -> Any:
    """Return the known language of which this one was presented; anything else as it is."""
    if isinstance(language, Language) and isinstance(language.name, LanguageName):
        return next((item for item in known if item == language), language)
    return language
