"""Resolves what Python code refers to: full names of functions, however it gets at them, and texts."""

import ast
import os
from collections.abc import Iterator, Sequence

from oi_tui.engine.review.python import call_table as table

#: Calls that give the namespace of what they are given, or of the code itself.
_NAMESPACES = frozenset(("vars", "globals", "locals"))
#: Calls that make a path of texts.
_PATHS = frozenset(("Path", "PurePath", "expanduser"))
#: Longer texts are not put together.
_LONGEST = 1_000


class References:
    """What the names of a piece of code refer to, by its imports and assignments."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {
            "np": "numpy",
            "plt": "matplotlib.pyplot",
            "pd": "pandas",
            "sp": "subprocess",
        }
        #: Modules that the code imports itself.
        self.imported: set[str] = set()
        #: Texts that are assigned to a name once.
        self.texts: dict[str, str] = {}

    def learn(self, nodes: list[ast.AST]) -> None:
        """Take in all imports, then the assignments of functions and texts."""
        for node in nodes:
            if isinstance(node, ast.Import):
                for name in node.names:
                    root = name.name.partition(".")[0]
                    self.names[name.asname or root] = name.name if name.asname else root
                    self.imported.add(root)
            elif isinstance(node, ast.ImportFrom) and node.module:
                self.imported.add(node.module.partition(".")[0])
                for name in node.names:
                    self.names[name.asname or name.name] = f"{node.module}.{name.name}"
                    if name.name == "*":
                        self._learn_all(node.module)
        assigned = [node for node in nodes if isinstance(node, ast.Assign) and len(node.targets) == 1]
        for node in assigned:
            for target, value in _pair_targets(node.targets[0], node.value):
                self._assign(target, value)

    def _learn_all(self, module: str) -> None:
        """Learn what a module gives with `*`, as far as it matters."""
        for full in table.CALLS:
            owner, _, name = full.rpartition(".")
            if owner == module and name:
                self.names[name] = full

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if not isinstance(target, ast.Name):
            return
        if text := self.text(value):
            # A name that has several texts has none that is known.
            self.texts[target.id] = text if self.texts.get(target.id, text) == text else ""
            return
        self.texts[target.id] = ""
        if isinstance(value, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
            full = self.find_full_name(value)
            if full in table.CALLS or full in table.INNER_MODULES:
                self.names[target.id] = full

    def text(self, node: ast.expr | None) -> str:
        """Return a text or path that is written in the code, or put together from such; "" for others."""
        match node:
            case ast.Constant(str(value)):
                return value
            case ast.Name(name):
                return self.texts.get(name, "")
            case ast.BinOp(op=ast.Add()):
                return self._join(_list_operands(node, ast.Add), "")
            case ast.JoinedStr(values):
                texts = [self._join_formatted(item) for item in values]
                return "".join(texts)[:_LONGEST] if all(texts) else ""
            case ast.BinOp(op=ast.Div()):
                return self._join_path(_list_operands(node, ast.Div))
            case ast.Call(ast.Attribute(owner, "join"), [ast.List(items) | ast.Tuple(items)], []):
                glue = owner.value if isinstance(owner, ast.Constant) and isinstance(owner.value, str) else ""
                return self._join(items, glue)
            case ast.Subscript(value, ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1)))):
                return self.text(value)[::-1]
            case ast.Call(ast.Attribute(owner, "expanduser" | "resolve" | "absolute"), [], []):
                return self.text(owner)
            case ast.Call(ast.Attribute(ast.Name("Path") | ast.Attribute(_, "Path"), "home"), [], []):
                return "~"
            case ast.Call(ast.Name("str") | ast.Attribute(_, "fspath"), [argument], []):
                return self.text(argument)
            case ast.Call(ast.Name(name) | ast.Attribute(_, name), [_, *_]) if name in _PATHS:
                return self._join_path(node.args)
            case ast.Call(ast.Attribute(ast.Attribute(_, "path"), "join"), [_, *_]):
                return self._join_path(node.args)
            case _:
                return ""

    def _join_formatted(self, node: ast.expr) -> str:
        """Return a part of an f-string as a text; "" where that is not known."""
        if isinstance(node, ast.FormattedValue):
            return self.text(node.value) if node.conversion == -1 and node.format_spec is None else ""
        return self.text(node)

    def _join(self, parts: Sequence[ast.expr], glue: str) -> str:
        """Return what texts are together; "" where one of them is not known."""
        texts = [self.text(part) for part in parts]
        return glue.join(texts)[:_LONGEST] if all(texts) else ""

    def _join_path(self, parts: Sequence[ast.expr]) -> str:
        """Return a path that is put together of texts; "" where one of them is not known."""
        texts = [self.text(part) for part in parts]
        return os.path.join(*texts)[:_LONGEST] if all(texts) else ""  # noqa: PTH118 -- "./a" stays as it is

    def find_full_name(self, node: ast.expr) -> str:
        """Return the name of what an expression refers to, from its module on; "" where that is not known."""
        parts = list(self._iterate_names(node))
        if not parts:
            return ""
        parts = ".".join([self.names.get(parts[0], parts[0]), *parts[1:]]).split(".")
        inner = [at for at, part in enumerate(parts) if at and part.lstrip("_") in table.INNER_MODULES]
        if inner and (parts[0] in self.imported or parts[0] in table.INNER_MODULES):
            parts = [parts[inner[-1]].lstrip("_"), *parts[inner[-1] + 1 :]]
        parts[0] = table.SAME_MODULES.get(parts[0], parts[0])
        if parts[:1] == ["builtins"] and len(parts) > 1:
            parts = parts[1:]
        return ".".join(parts)

    def _iterate_names(self, node: ast.expr) -> Iterator[str]:
        """Yield the names of `a.b.c` from the first to the last, also where they are looked up by texts."""
        match node:
            case ast.Name(name):
                yield name
            case ast.Attribute(value, "__dict__"):
                yield from self._iterate_names(value)
            case ast.Attribute(value, name):
                owner = list(self._iterate_names(value))
                yield from (*owner, name) if owner else ()
            case ast.Subscript(value, index):
                yield from self._look_up(value, self.text(index))
            case ast.Call(ast.Name("getattr"), [value, name, *_]):
                owner, text = list(self._iterate_names(value)), self.text(name)
                yield from (*owner, text) if owner and text else ()
            case ast.Call(function, [argument, *_]) if self._is_import(function):
                yield from self.text(argument).split(".") if self.text(argument) else ()
            case _:
                return

    def _is_import(self, function: ast.expr) -> bool:
        return isinstance(function, ast.Name | ast.Attribute) and (
            (isinstance(function, ast.Name) and function.id in ("__import__", "import_module"))
            or (isinstance(function, ast.Attribute) and function.attr in ("__import__", "import_module"))
        )

    def _look_up(self, value: ast.expr, key: str) -> Iterator[str]:
        """Yield what a namespace has under a text: `sys.modules["os"]`, `vars(os)["x"]`,
        `os.__dict__["x"]`.
        """
        if not key:
            return
        if isinstance(value, ast.Attribute) and value.attr == "__dict__":
            owner = list(self._iterate_names(value.value))
            yield from (*owner, key) if owner else ()
        elif (
            isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _NAMESPACES
        ):
            owner = list(self._iterate_names(value.args[0])) if value.args else []
            yield from (*owner, key)
        elif (
            isinstance(value, ast.Attribute)
            and value.attr == "modules"
            and self.find_full_name(value) == "sys.modules"
        ):
            yield from key.split(".")


def _list_operands(node: ast.expr, kind: type[ast.operator]) -> list[ast.expr]:
    """Return the parts of `a + b + c` in their order."""
    parts = list[ast.expr]()
    while isinstance(node, ast.BinOp) and isinstance(node.op, kind):
        parts.append(node.right)
        node = node.left
    return [node, *reversed(parts)]


def _pair_targets(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Return each target with its value, also of `a, b = c, d`."""
    if (
        isinstance(target, ast.Tuple | ast.List)
        and isinstance(value, ast.Tuple | ast.List)
        and len(target.elts) == len(value.elts)
    ):
        yield from zip(target.elts, value.elts, strict=True)
    else:
        yield target, value
