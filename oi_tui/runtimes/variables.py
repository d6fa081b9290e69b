"""The variables that languages report."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

#: Names that a driver can be asked about, of whatever language; nothing in them ends a request's word.
_NAME = re.compile(r"[\w$@%.]{1,200}[?!=]?")
#: Names of variables whose values are not shown, because others may see the screen.
_PRIVATE = re.compile(r"passw|secret|token|api_?key|credential", re.IGNORECASE)
#: The longest text that a shell reports, in characters.
_LONGEST = 60
#: Types of variables that open as a table, by their language.
_TABLES = {
    "python": frozenset(("DataFrame", "Series", "Table", "RecordBatch")),
    "r": frozenset(
        ("data.frame", "tbl_df", "grouped_df", "rowwise_df", "spec_tbl_df", "data.table", "matrix")
    ),
    "javascript": frozenset(("Array",)),
    "typescript": frozenset(("Array",)),
    "deno": frozenset(("Array",)),
    "bun": frozenset(("Array",)),
    "octave": frozenset(("matrix", "struct array")),
}
#: Types of functions, classes and modules, as languages call them.
_CODE = frozenset(
    (
        "function",
        "builtin_function_or_method",
        "type",
        "closure",
        "class",
        "module",
        "sub",
        "method",
        "Class",
        "alias",
    )
)
#: The shortest hidden text that is recognised within a longer value, in characters.
_TELLING = 4


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: its name, the name of its type, a few words, as `DataFrame 1200x8`, and its own bytes."""

    name: str
    type: str
    summary: str
    #: In bytes, without what it refers to; None where the language does not report it.
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Detail:
    """One variable, looked at: its type and shape in words, and the beginning of what it holds."""

    description: str
    preview: str


@dataclass(frozen=True, slots=True)
class Memory:
    """The variables of one language, oldest first as far as known.

    `known`: it answered. `unstarted`: it has no process yet. `starting`: its process starts. `busy`: it runs
    code and did not answer. `silent`: it does not report variables.
    """

    language: str
    state: Literal["known", "unstarted", "starting", "busy", "silent"]
    variables: tuple[Variable, ...] = ()
    #: How many there are; more than `variables` where there were too many to list.
    total: int = 0
    #: Whether they are those of a program that has ended: of the last cell, in a language that keeps none.
    is_over: bool = False


class VariableSource(Protocol):
    """Knows the variables of languages."""

    def read_memories(self) -> tuple[Memory, ...]:
        """Return the variables of each language; may take a moment."""

    def inspect(self, language: str, name: str) -> Detail | None:
        """Return the reported value of one variable."""


#: How many names stand for all that a language remembers.
_NAMED = 3


def parse_names(found: object) -> tuple[str, ...]:
    """Return the names of variables that a driver reports; invalid names are left out."""
    candidates = found if isinstance(found, list) else []
    return tuple(name for name in candidates[: 2 * _NAMED] if isinstance(name, str) and is_name(name))


def join_names(names: Sequence[str]) -> str:
    """Return a few names that stand for all of them."""
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def describe_loss(names: Sequence[str]) -> str:
    """Describe the loss of these variables, as the end of a sentence."""
    return f"its variables are lost: {join_names(names)}" if names else "its variables are lost"


def is_name(name: str) -> bool:
    """Return whether a driver can be asked about a variable of this name."""
    return _NAME.fullmatch(name) is not None


def read(found: object) -> Iterator[Variable]:
    """Yield the variables in a driver's answer; invalid entries are left out."""
    for entry in found if isinstance(found, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            name, size = entry["name"], entry.get("size")
            kind, summary = str(entry.get("type", "")), str(entry.get("summary", ""))
            if is_private(name, summary):
                summary = f"{kind}, not shown"
            yield Variable(name, kind, summary, size if isinstance(size, int) else None)


def is_private(name: str, shown: str) -> bool:
    """Return whether a text is shown that belongs to a name such as `db_password`."""
    return shown[:1] in ("'", '"') and _PRIVATE.search(name) is not None


def merge_newer(old: tuple[Memory, ...], new: tuple[Memory, ...]) -> tuple[Memory, ...]:
    """Return the current variables; for a busy language, those it reported before."""
    before = {memory.language: memory for memory in old}
    return tuple(before.get(memory.language, memory) if memory.state == "busy" else memory for memory in new)


def is_table(language: str, variable_type: str) -> bool:
    """Return whether variables of this type open as a table."""
    return variable_type in _TABLES.get(language, ())


def is_code(variable: Variable) -> bool:
    """Return whether it is a function, a class or a module, and no data."""
    described = variable.summary.startswith(("function ", "class ", "module "))
    # The summary of a shell's text is the text itself.
    return variable.type in _CODE or (described and variable.type != "string")


def sort_by_interest(language: str, variables: Sequence[Variable]) -> tuple[list[Variable], list[Variable]]:
    """Split variables into data and code, each in order of interest: tables first, then the newest."""
    data: list[Variable] = []
    code: list[Variable] = []
    for variable in reversed(variables):
        (code if is_code(variable) else data).append(variable)
    return sorted(data, key=lambda variable: not is_table(language, variable.type)), code


def hide_value(variable: Variable, hidden: Collection[str]) -> Variable:
    """Return the variable, without its value where that is something that was typed hidden."""
    if holds(variable.summary, hidden):
        return replace(variable, summary=f"{variable.type}, not shown")
    return variable


def holds(shown: str, hidden: Collection[str]) -> bool:
    """Return whether a shown value is, or contains, one of the texts, also as Python spells them."""
    bare = shown.strip().strip("'\"")
    for text in hidden:
        spellings = {text, repr(text)[1:-1]}
        if bare in spellings:
            return True
        # A shorter one occurs in many values by chance; a longer one may be cut off.
        if len(text) >= _TELLING and any(spelling[: _LONGEST // 3] in shown for spelling in spellings):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Field:
    """A shell's variable as written by its driver."""

    name: str
    kind: str
    value: str
    count: int
    exported: bool

    @property
    def length(self) -> str:
        return f"{self.kind} of {self.count}"


def _parse_fields(written: bytes) -> Iterator[_Field]:
    texts = [text.decode("utf-8", "replace") for text in written.split(b"\0")[:-1]]
    for name, kind, value, count, exported in zip(*(texts[at::5] for at in range(5))):  # noqa: B905
        yield _Field(name, kind, value, int(count[:18]) if count.isdecimal() else 0, exported == "1")


def read_shell(written: bytes) -> Iterator[Variable]:
    """Yield the variables that a shell wrote: name, kind, beginning, count and mark, each ended by NUL."""
    for field in _parse_fields(written):
        if field.kind in ("array", "map"):
            yield Variable(field.name, field.kind, field.length)
        elif field.kind == "function":
            yield Variable(field.name, field.kind, f"function {field.name}")
        elif _PRIVATE.search(field.name):
            yield Variable(field.name, field.kind, f"{field.kind}, not shown", field.count)
        elif field.count <= _LONGEST and field.value.isprintable():
            yield Variable(field.name, field.kind, field.value or "empty", field.count)
        else:
            yield Variable(field.name, field.kind, field.length, field.count)


def read_shell_detail(written: bytes) -> Detail | None:
    """Return the single variable that a shell reported."""
    for field in _parse_fields(written):
        words = f"function {field.name}" if field.kind == "function" else field.length
        if field.kind in ("string", "integer", "float"):
            words = f"{field.kind} of {field.count} characters"
        if field.exported:
            words += ", exported"
        return Detail(words, field.value)
    return None
