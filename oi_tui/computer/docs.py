"""`computer.docs`: searches the documentation of modules and files."""

from __future__ import annotations

import importlib
import inspect
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from oi_tui.computer.errors import ComputerError
from oi_tui.computer.files import find_existing
from oi_tui.computer.tool import TOOLS, Tool, load_class

_MOST = 5
_LONGEST = 1500


class Docs(Tool):
    """Search documentation: of this computer object, of a Python module, or in text files."""

    def search(
        self, query: str, module: str | ModuleType | None = None, paths: Iterable[str] | None = None
    ) -> str:
        """Return the passages that fit `query` best.

        `module` is a module or its name, such as "pandas"; `paths` are text files or folders of them.
        Without both, the documentation of `computer` is searched.
        """
        if paths is not None:
            passages = list(_document_files(paths))
        elif module is not None:
            passages = list(_document_module(_find_module(module)))
        else:
            passages = list(document_tools())
        best_passages = find_best(query, passages)
        return "\n\n".join(passage[:_LONGEST] for passage in best_passages) or f"Nothing found for {query!r}."


def find_best(query: str, passages: list[str]) -> list[str]:
    """Return the passages that have the words of the query, with the rarest words counting most."""
    split = [Counter(_split_words(passage)) for passage in passages]
    everywhere = Counter(word for words in split for word in words)
    terms = [word for word in _split_words(query) if word in everywhere]
    if not terms:
        return []

    def weight(words: Counter[str]) -> float:
        length = 1 + sum(words.values()) / 100
        rare = (math.log(1 + len(split) / everywhere[word]) * min(words[word], 3) for word in terms)
        return float(sum(rare) / length**0.5)

    ranked = sorted(
        ((weight(words), index) for index, words in enumerate(split)), key=lambda item: (-item[0], item[1])
    )
    return [passages[index] for score, index in ranked[:_MOST] if score > 0]


def document_tools() -> Iterator[str]:
    """Yield signature and documentation of every method of the computer object."""
    for name in TOOLS:
        yield from (
            f"{signature}\n{text}" for signature, text in list_methods(f"computer.{name}", load_class(name))
        )


def list_methods(prefix: str, class_: Any) -> Iterator[tuple[str, str]]:
    """Yield the signature and the documentation of each public method, in the order of the source."""
    for name, value in vars(class_).items():
        if name.startswith("_"):
            continue
        if isinstance(value, property):
            yield f"{prefix}.{name}", inspect.getdoc(value) or ""
        elif inspect.isfunction(value):
            parameters = [
                parameter.replace(annotation=inspect.Parameter.empty)
                for parameter in inspect.signature(value).parameters.values()
            ]
            signature = inspect.Signature(parameters[1:])
            yield f"{prefix}.{name}{signature}", inspect.getdoc(value) or ""


def _find_module(module: str | ModuleType) -> ModuleType:
    if isinstance(module, ModuleType):
        return module
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ComputerError(f"The module {module} cannot be imported: {error}.") from None


def _document_module(module: ModuleType) -> Iterator[str]:
    yield f"{module.__name__}\n{inspect.getdoc(module) or ''}"
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or not callable(value):
            continue
        try:
            yield f"{module.__name__}.{name}{_format_signature(value)}\n{inspect.getdoc(value) or ''}"
        except Exception:  # noqa: BLE001 -- a foreign object may raise anything when it is looked at
            continue


def _format_signature(value: Any) -> str:
    try:
        return str(inspect.signature(value))
    except (ValueError, TypeError):
        return ""


def _document_files(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        root = find_existing(path)
        for file in sorted(root.rglob("*")) if root.is_dir() else [root]:
            yield from _document_file(file)


def _document_file(file: Path) -> Iterator[str]:
    try:
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return
    for passage in re.split(r"\n\s*\n", text):
        if passage.strip():
            yield f"{file}:\n{passage.strip()}"


def _split_words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())
