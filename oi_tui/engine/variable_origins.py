"""Finds the cells that made variables, so that they alone can run again."""

import ast
import re
import warnings
from collections.abc import Collection, Iterator, Sequence

from oi_tui.engine import rerun
from oi_tui.messages import Message

#: A name that a line of R, or of Python that does not parse, gives a value to.
_GIVEN = re.compile(r"^[^\S\n]*([\w.]+)\s*(?:<-|=(?!=))", re.MULTILINE)
#: The most characters of a cell that are read.
_LONGEST = 200_000


def find_cells_to_rerun(messages: Sequence[Message], language: str, lost: Collection[str]) -> tuple[int, ...]:
    """Return the numbers of the cells to run again for the `lost` variables of a language, in order.

    For each of them that is the last cell which gave it a value, with those for other lost variables that it
    uses. All other variables are there.
    """
    finished = {message.id for message in rerun.list_completed(messages)}
    cells = [message for message in messages if message.is_cell]
    numbered = [
        (number, message.content)
        for number, message in enumerate(cells, 1)
        if message.id in finished and message.format == language
    ]
    numbers: set[int] = set()
    stack = [(name, len(cells) + 1) for name in lost]
    while stack:
        name, before = stack.pop()
        for number, code in reversed(numbered):
            if number >= before:
                continue
            assignments, uses = _find_names(code, language)
            if name in assignments:
                if number not in numbers:
                    numbers.add(number)
                    stack += [(other, number) for other in uses & set(lost)]
                break
    return tuple(sorted(numbers))


def _find_names(code: str, language: str) -> tuple[set[str], set[str]]:
    """Return the names that code gives a value to, and those that it uses."""
    code = code[:_LONGEST]
    try:
        if language == "python":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(code)
            return set(_find_bound_names(tree)), {
                node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and _is_read(node)
            }
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # A cell with a `%magic` or a `!command` is no Python.
        pass
    return set(_GIVEN.findall(code)), set(re.findall(r"[\w.]+", code))


def _find_bound_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names that code binds in the namespace of the program."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
                continue
            case ast.Import() | ast.ImportFrom():
                yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
            case ast.Name(ctx=ast.Store()):
                yield node.id
            case ast.ExceptHandler(name=str(name)):
                yield name
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                continue
        yield from _find_bound_names(node)


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)
