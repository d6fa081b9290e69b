"""Reads what a class of the code itself is made of: its methods, its data, and on what these can be used."""

import ast
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from oi_tui.engine.review.python.names import CLASS, INSTANCE
from oi_tui.engine.review.python.syntax import list_parameters

#: Methods that Python calls by itself, where their results decide nothing but values. `__reduce__`,
#: `__getattr__`, `__new__` and others decide what is called, or what a name means.
_SPECIAL = """
    abs add bool call contains delitem enter eq exit float floordiv ge getitem gt hash iadd imul init int isub
    iter le len lt matmul mod mul ne neg next pos post_init pow radd repr reversed rmul rsub rtruediv setitem
    str sub truediv
"""
SPECIAL_METHODS = frozenset(f"__{name}__" for name in _SPECIAL.split())
#: Those of them that get no other value than what was checked where it is handed on.
_GET_CHECKED = """
    abs bool call delitem enter exit float getitem hash init int iter len neg next pos post_init repr reversed
    setitem str
"""
#: Those that an operator calls, with whatever stands on its other side.
_OPERATORS = SPECIAL_METHODS - {f"__{name}__" for name in _GET_CHECKED.split()}
#: Decorators of methods that Python has without an import.
METHOD_DECORATORS = frozenset(("classmethod", "property", "staticmethod"))
#: Functions that keep and give back no class that they are given.
TAKERS = frozenset(("enumerate", "isinstance", "issubclass", "len", "list", "map", "print", "sorted", "zip"))
#: Marks a member that is one of the class itself, and one that is a method and never anything else.
_OF_CLASS, _METHOD = "+", "()"


def is_own_name(name: str) -> bool:
    """Return whether only the code itself uses a member of this name, while libraries look
    for `_repr_html_`.
    """
    return not (name.startswith("_") and name.endswith("_"))


def is_method_name(name: str) -> bool:
    """Return whether a method of this name is called by the code, or by Python without deciding anything."""
    return is_own_name(name) or name in SPECIAL_METHODS


def write_class(members: frozenset[str]) -> str:
    """Return the possible value of a name that stands for a class with these members."""
    return CLASS + " ".join(sorted(members))


def write_instance(kind: str) -> str:
    """Return the possible value of a name that stands for an object of a class, given that of the class."""
    return INSTANCE + kind.removeprefix(CLASS)


def list_members(kind: str) -> frozenset[str]:
    """Return the members of a class, given the possible value of its name, as `write_class` takes them."""
    return frozenset(kind.removeprefix(CLASS).split())


def has_data(kind: str, name: str) -> bool:
    """Return whether a class or an object, given its possible value, has data of this name
    that the code set.
    """
    return _has(kind, name)


def has_method(kind: str, name: str) -> bool:
    """Return whether a class or an object, given its possible value, has a method of this name
    that was read.
    """
    return _has(kind, name + _METHOD)


def defines_method(kind: str, name: str) -> bool:
    """Return whether it has such a method at all, which may have to be called on an object."""
    return name + _METHOD in kind.replace(_OF_CLASS, "").split()


def _has(kind: str, member: str) -> bool:
    members = kind.removeprefix(CLASS).removeprefix(INSTANCE).split()
    return _OF_CLASS + member in members or (kind.startswith(INSTANCE) and member in members)


def find_conflict(members: frozenset[str]) -> str:
    """Return the name of a member that is a method in one class and something else in another;
    "" for none.
    """
    plain = {member.removeprefix(_OF_CLASS) for member in members}
    return next((name for name in sorted(plain) if name + _METHOD in plain), "")


def find_members(node: ast.ClassDef) -> frozenset[str]:
    """Return what the body of a class defines, and what its methods set on their object."""
    methods: dict[str, str] = {}
    data: dict[str, str] = {}
    for statement in node.body:
        match statement:
            case ast.FunctionDef(name):
                uses = {item.id for item in statement.decorator_list if isinstance(item, ast.Name)}
                of_class = _OF_CLASS if uses & {"classmethod", "staticmethod"} else ""
                is_property = "property" in uses or any(
                    isinstance(item, ast.Attribute) for item in statement.decorator_list
                )
                (data if is_property else methods)[name] = of_class
                if receiver := find_receiver(statement):
                    data.update(dict.fromkeys(_list_set(statement, receiver), ""))
            case ast.Assign(targets):
                data.update((item.id, _OF_CLASS) for item in targets if isinstance(item, ast.Name))
            case ast.AnnAssign(ast.Name(name), value=value):
                data[name] = "" if value is None else _OF_CLASS
    own = {mark + name + _METHOD for name, mark in methods.items() if is_own_name(name)}
    return frozenset(own | {mark + name for name, mark in data.items() if is_own_name(name)})


def find_misread_name(node: ast.ClassDef) -> str:
    """Return a name that means something else in the body of a class, where the class has it, than elsewhere.

    Returns "" where the body uses no such name.
    """
    methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    data = {
        item.id
        for statement in node.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for item in ast.walk(statement)
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
    }
    for statement in node.body:
        for part in _list_expressions(statement):
            names = {item.id for item in ast.walk(part) if isinstance(item, ast.Name)}
            calls = [item.func for item in ast.walk(part) if isinstance(item, ast.Call)]
            called_names = {item.id for item in calls if isinstance(item, ast.Name)}
            if misread_names := (names & methods) | (called_names & data):
                return min(misread_names)
        if isinstance(statement, ast.FunctionDef):
            for decorator in statement.decorator_list:
                names = {item.id for item in ast.walk(decorator) if isinstance(item, ast.Name)}
                if isinstance(decorator, ast.Attribute):
                    # `@x.setter` is a part of the property x.
                    names -= {statement.name}
                if misread_names := names & (methods | data):
                    return min(misread_names)
    return ""


def _list_expressions(node: ast.stmt) -> list[ast.expr]:
    """Return what Python evaluates in the body of a class, but for decorators."""
    match node:
        case ast.FunctionDef(args=arguments, returns=returns):
            noted = [item.annotation for item in list_parameters(arguments)]
            return [item for item in (*arguments.defaults, *arguments.kw_defaults, *noted, returns) if item]
        case ast.Assign(value=value):
            return [value]
        case ast.AnnAssign(annotation=annotation, value=value):
            return [annotation, value] if value else [annotation]
        case _:
            return []


def is_open_operator(node: ast.stmt) -> bool:
    """Return whether a statement of a class defines an operator that does more than to compare the other
    value or its members.
    """
    return _is_operator(node) and (_collects_values(node) or _uses_others(node, _list_compared(node)))


def is_free_operator(node: ast.stmt) -> bool:
    """Return whether a statement of a class defines an operator that does more than to compute
    with the other value and its members.

    What only computes neither calls nor returns the other value, and takes nothing out of it.
    """
    if not _is_operator(node):
        return False
    if _collects_values(node) or _takes_apart(node) or _keeps_others(node):
        return True
    computed: set[ast.AST] = set(_list_compared(node))
    called: set[ast.AST] = set()
    for part in ast.walk(node):
        match part:
            # `|` merges collections, which hand out what is in them.
            case ast.BinOp(op=ast.BitOr()) | ast.AugAssign(op=ast.BitOr()):
                continue
            case ast.BinOp(left, _, right):
                computed.update(map(_get_root, (left, right)))
            case ast.UnaryOp(_, value) | ast.AugAssign(value=value) | ast.FormattedValue(value):
                computed.add(_get_root(value))
            case ast.Call(function):
                called.update(ast.walk(function))
    return _uses_others(node, computed - called)


def _get_root(node: ast.expr) -> ast.expr:
    """Return the value itself, or the name at the beginning of `name.member`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _collects_values(node: ast.FunctionDef) -> bool:
    """Return whether a parameter of a method is a collection of what was handed to it."""
    return bool(node.args.vararg or node.args.kwarg)


def _takes_apart(node: ast.FunctionDef) -> bool:
    """Return whether a method takes something out of what it was given, or has made itself."""
    names = set(_list_bound(node)) - {find_receiver(node)}
    for part in ast.walk(node):
        match part:
            case ast.Subscript(value) | ast.Starred(value) | ast.Match(value):
                taken = value
            case ast.For(iter=value) | ast.comprehension(iter=value):
                taken = value
            case _:
                continue
        uses = (item for item in ast.walk(taken) if isinstance(item, ast.Name))
        if not _is_range(taken) and any(item.id in names for item in uses):
            return True
    return False


def _keeps_others(node: ast.FunctionDef) -> bool:
    """Return whether a method keeps, in its object or elsewhere, what it computes with its parameters."""
    others = {item.arg for item in list_parameters(node.args)} - {find_receiver(node)}
    for part in ast.walk(node):
        match part:
            case ast.Assign(targets, value) if not all(isinstance(item, ast.Name) for item in targets):
                kept: ast.expr | None = value
            case ast.AugAssign(ast.Attribute() | ast.Subscript(), _, value):
                kept = value
            case ast.AnnAssign(ast.Attribute() | ast.Subscript(), _, value):
                kept = value
            case _:
                continue
        names = {item.id for item in ast.walk(kept) if isinstance(item, ast.Name)} if kept else set()
        if names & others:
            return True
    return False


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def _is_operator(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and node.name in _OPERATORS


def _list_compared(node: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield what is compared in a method, and what is asked for its type."""
    for part in ast.walk(node):
        match part:
            case ast.Compare(left, _, rest):
                for item in (left, *rest):
                    yield from _list_roots(item)
            case ast.Call(ast.Name("isinstance"), [ast.Name() as name, _], []):
                yield name


def _uses_others(node: ast.FunctionDef, but: Iterable[ast.AST]) -> bool:
    """Return whether a method uses its parameters in more places than these; not that for its object."""
    receiver = find_receiver(node)
    others = {item.arg for item in list_parameters(node.args)} - {receiver}
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in others]
    return not receiver or not set(but).issuperset(names)


def _list_roots(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the names at the beginning of `name.member`, also of several ones in parentheses."""
    if isinstance(node, ast.Tuple | ast.List):
        for item in node.elts:
            yield from _list_roots(item)
        return
    while isinstance(node, ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name):
        yield node


def find_receiver(method: ast.FunctionDef) -> str:
    """Return the name by which a method goes by its object or class; "" where that may be something else."""
    if any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in method.decorator_list):
        return ""
    first = next(iter((*method.args.posonlyargs, *method.args.args)), None)
    return (
        first.arg if first is not None and sum(name == first.arg for name in _list_bound(method)) == 1 else ""
    )


def _list_set(method: ast.FunctionDef, receiver: str) -> Iterator[str]:
    """Yield the names that a method sets on its object."""
    for node in ast.walk(method):
        match node:
            case ast.Attribute(ast.Name(name), attribute, ast.Store()) if name == receiver:
                yield attribute


def _list_bound(method: ast.FunctionDef) -> Iterator[str]:
    """Yield each name that is bound somewhere in a method, as often as it is."""
    for node in ast.walk(method):
        match node:
            case ast.Name(name, ast.Store() | ast.Del()):
                yield name
            case ast.arg(name) | ast.MatchAs(name=str(name)) | ast.MatchStar(str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.Global(names) | ast.Nonlocal(names):
                yield from names
            case ast.alias(name, other):
                yield other or name.partition(".")[0]
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name
