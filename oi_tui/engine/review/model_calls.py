"""Finds calls of `llm()` and `llm_map()` in Python code, and how many requests they send at most."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

#: The functions of Python cells that ask the model.
FUNCTIONS = ("llm", "llm_map")
_WORD = re.compile(r"(?<![\w.])(llm|llm_map)(?!\w)")
#: What runs its parts more than once, or later, in another cell.
_REPEATS = (ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.AsyncFor)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: A longer literal range is no number of requests that anybody wants.
_MOST = 10_000_000


@dataclass(frozen=True, slots=True)
class ModelCalls:
    """The functions that code names, and how many requests they send at most; None where it does not say."""

    functions: tuple[str, ...]
    most: int | None = None

    def covers(self, other: "ModelCalls | None") -> bool:
        """Return whether a question about this also covers code with the other calls."""
        return other is None or self.most is None or (other.most is not None and other.most <= self.most)


def find_calls(code: str) -> ModelCalls | None:
    """Return the calls in Python code; None where it names none of the functions, or defines them itself."""
    if not _WORD.search(code):
        return None
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Lines of a notebook, such as %time, are no Python.
        return ModelCalls(tuple(sorted(set(_WORD.findall(code)))))
    uses, own = set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in FUNCTIONS:
            (uses if isinstance(node.ctx, ast.Load) else own).add(node.id)
        elif isinstance(node, ast.alias):
            own.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
    functions = tuple(sorted(uses - own))
    if not functions:
        return None
    return ModelCalls(functions, _RequestCounter(functions, tree).most)


class _RequestCounter:
    """Counts the requests of calls whose number the code itself says."""

    def __init__(self, functions: tuple[str, ...], tree: ast.Module) -> None:
        self._functions = functions
        self._lists = dict(_find_literal_lists(tree))
        #: The names that are called directly; any other use may call the function any number of times.
        self._called: set[int] = set()
        count = self._count_calls(tree, 1)
        others = any(
            isinstance(node, ast.Name) and node.id in functions and id(node) not in self._called
            for node in ast.walk(tree)
        )
        self.most = None if others else count

    def _count_calls(self, node: ast.AST, times: int | None) -> int | None:
        total: int | None = 0
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self._functions:
            self._called.add(id(node.func))
            total = _multiply(times, self._count_requests(node))
        inner = times
        if isinstance(node, _REPEATS):
            inner = None
        elif isinstance(node, ast.For):
            inner = _multiply(times, self._count_items(node.iter))
        elif isinstance(node, _COMPREHENSIONS):
            for generator in node.generators:
                inner = _multiply(inner, self._count_items(generator.iter))
        for child in ast.iter_child_nodes(node):
            # What a loop goes over is made once, but it is no harm to count it as often as its body.
            total = _add_counts(total, self._count_calls(child, inner))
        return total

    def _count_requests(self, call: ast.Call) -> int | None:
        if any(isinstance(item, ast.Starred) for item in call.args):
            return None
        if isinstance(call.func, ast.Name) and call.func.id == "llm":
            return 1
        rows = [item.value for item in call.keywords if item.arg == "rows"]
        rows += call.args[1:2]
        return self._count_items(rows[0]) if len(rows) == 1 else None

    def _count_items(self, node: ast.expr) -> int | None:
        """Return how many items it has, where the code says so."""
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return None if any(isinstance(item, ast.Starred) for item in items) else len(items)
            case ast.Dict(keys=keys):
                return None if None in keys else len(keys)
            case ast.Name(id=name):
                return self._lists.get(name)
            case ast.Call(func=ast.Name(id="enumerate" | "list" | "sorted"), args=[inner, *_]):
                return self._count_items(inner)
            case ast.Call(func=ast.Name(id="range"), args=arguments):
                return _count_range(arguments)
        return None


def _find_literal_lists(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the names that the code gives a list once, and uses only in ways that keep its length."""
    stored: dict[str, int] = {}
    loaded: dict[str, int] = {}
    safe_uses: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            count = loaded if isinstance(node.ctx, ast.Load) else stored
            count[node.id] = count.get(node.id, 0) + 1
        elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Name):
            safe_uses[node.iter.id] = safe_uses.get(node.iter.id, 0) + 1
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("llm_map", "len", "print", "zip", "enumerate")
        ):
            for item in node.args:
                if isinstance(item, ast.Name):
                    safe_uses[item.id] = safe_uses.get(item.id, 0) + 1
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=items) | ast.Tuple(elts=items)):
                whole = not any(isinstance(item, ast.Starred) for item in items)
                # Any other use, such as rows.append(...), may change how long it is.
                if whole and stored.get(name) == 1 and loaded.get(name, 0) == safe_uses.get(name, 0):
                    yield name, len(items)


def _count_range(arguments: list[ast.expr]) -> int | None:
    numbers = [item.value for item in arguments if isinstance(item, ast.Constant)]
    whole = [number for number in numbers if type(number) is int]
    if len(whole) != len(arguments) or not 1 <= len(whole) <= 3 or (len(whole) == 3 and whole[2] == 0):
        return None
    length = len(range(*whole))
    return length if length <= _MOST else None


def _multiply(one: int | None, other: int | None) -> int | None:
    return 0 if 0 in (one, other) else None if one is None or other is None else one * other


def _add_counts(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
