"""Checks whether Python code is understood: known constructs that only compute, print, and read plain files.

The rule that everything rests on: as long as all code is understood, every value is made of known parts, so
that even calling one by accident does no harm. Whatever may be something else is "loose" (an attribute that
is not known, good for comparing and computing) or "unknown" (good for looking at).
"""

import ast
import builtins
import re
import string
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from oi_tui.engine.review import python_allowlist as known
from oi_tui.engine.review.findings import Finding
from oi_tui.engine.review.local_modules import in_the_way
from oi_tui.engine.review.readable_files import why_not_readable

#: Longer code is not read.
LONGEST = 100_000
#: How often names are looked at again until what they stand for no longer changes.
_MOST_ROUNDS = 6
#: The name of the computer object, which is there without an import, and its function whose value is plain.
_COMPUTER = "computer"
_LIST_OF_ELEMENTS = "computer.display.elements"
#: Lines that the language's driver may take for commands where its Python cannot read the cell.
_COMMAND_LINE = re.compile(
    r"^\s*(?:[!%?]|(?:pip3?|conda|mamba|cd|ls|who|whos)\s+[^=(])|=\s*[!%](?!=)|\?[ \t\f\v\r]*(?:#.*)?$",
    re.MULTILINE,
)

_PLAIN, _LOOSE, _UNKNOWN, _FUNCTION = "plain", "loose", "unknown", "function"
#: How the name of a module or of a member of one begins: of a known module, and of any other.
_MODULE, _MEMBER, _OTHER = "module ", "member ", "other "


class Earlier(Protocol):
    """Knowledge about the code that ran before."""

    @property
    def names(self) -> Mapping[str, str]:
        """The possible value of each name."""

    def is_unclear(self, language: str) -> bool:
        """Whether ordinary names may mean something else by now."""


@dataclass(slots=True)
class Seen:
    """The findings in a piece of code, the values of its names, and whether other names keep their
    meaning.
    """

    findings: list[Finding] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    keeps_meanings: bool = True
    #: What the functions in it took other names to stand for; they may be called much later.
    relied_on: dict[str, str] = field(default_factory=dict)


def either(first: str | None, second: str) -> str:
    """Merge two possible values of a name."""
    if first is None or first == second:
        return second
    return _LOOSE if {first, second} <= {_PLAIN, _LOOSE} else _UNKNOWN


def is_another(relied_on: str, now: str) -> bool:
    """Whether a name stands for something else than a function took it for, and not for a harmless value."""
    return now != relied_on and now not in (_PLAIN, _FUNCTION)


def look(code: str, cwd: Path, earlier: Earlier | None = None) -> Iterator[Finding]:
    """Find what is not understood in the code, or reads something that the user should see."""
    seen = read(code, cwd, earlier)
    yield from sorted(dict.fromkeys(seen.findings), key=lambda finding: finding.line)
    if earlier is not None and earlier.is_unclear("python"):
        yield Finding("not understood", "what earlier code left behind", 0)
    if (module := in_the_way(cwd, known.BESIDES | known.STEADY)) is not None:
        yield Finding("not understood", f"{module} in this folder may be loaded", 0)


def read(code: str, cwd: Path, earlier: Earlier | None = None) -> Seen:
    """Read the code; never raises."""
    tree = _tree(code)
    if tree is None:
        return Seen([Finding("not understood", "code that is not plain Python", 0)], {}, keeps_meanings=False)
    before = dict(earlier.names) if earlier is not None else {}
    try:
        # Functions may be called above the place where they are defined.
        names = {node.name: _FUNCTION for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        for _ in range(_MOST_ROUNDS):
            reader = _Checker(cwd, before, names)
            reader.statements(tree.body)
            if reader.bound == names:
                return Seen(reader.findings, reader.bound, reader.keeps_meanings, reader.relied_on)
            names = reader.bound
    except RecursionError:
        pass
    return Seen([Finding("not understood", "code that is nested this deeply", 0)], {}, keeps_meanings=False)


def _tree(code: str) -> ast.Module | None:
    if len(code) > LONGEST or "\0" in code or code.lstrip().startswith("%%") or _COMMAND_LINE.search(code):
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Checker:
    """Goes through a tree once, with what names stood for the last time."""

    def __init__(self, cwd: Path, before: Mapping[str, str], last: Mapping[str, str]) -> None:
        self._cwd = cwd
        self._before = before
        self._last = last
        self.bound: dict[str, str] = {}
        self.findings: list[Finding] = []
        self.keeps_meanings = True
        self.relied_on: dict[str, str] = {}
        self._in_function = False
        self._line = 1
        #: How many things were noted that are not understood; a function is judged by those within it.
        self._notes = 0

    def _note(self, what: str, *, steady: bool = False) -> str:
        """Note what is not understood; `steady` where it cannot change what other names mean."""
        self.findings.append(Finding("not understood", what[:40], self._line))
        self.keeps_meanings = self.keeps_meanings and steady
        self._notes += 1
        return _UNKNOWN

    # -- names

    def _bind(self, name: str, kind: str) -> None:
        if _is_special(name):
            # It may be bound in an inner scope only, and still be Python's own elsewhere.
            kind = self._note(f"{name} as a name")
        self.bound[name] = either(self.bound.get(name), kind)

    def _meaning(self, name: str) -> str | None:
        """The value of a name; None where only Python itself defines it."""
        now, before = self._last.get(name), self._before.get(name)
        if now is None and name not in self.bound:
            return before
        kind = either(self.bound.get(name), now) if now is not None else self.bound[name]
        return either(before, kind)

    def _name(self, name: str) -> str:
        """Evaluate a name."""
        kind = self._meaning(name)
        if name in _LAST_VALUES:
            return _UNKNOWN
        if kind is not None:
            return _PLAIN if kind == _FUNCTION else self._value(kind, name)
        if name in known.CONSTANTS:
            return _PLAIN
        if _is_special(name):
            return self._note(name)
        if name == _COMPUTER:
            # What is done with it is noted; a function that does so is not harmless later either.
            self._notes += 1
            return _UNKNOWN
        # Nothing that ran here gave it a meaning: it is not there.
        return _PLAIN

    def _value(self, kind: str, shown: str) -> str:
        """Evaluate a module or a member as a value: members that are harmless in any use."""
        if kind.startswith(_MEMBER):
            full = kind.removeprefix(_MEMBER)
            return _PLAIN if full in known.MEMBERS else self._note(shown, steady=_steady(full))
        if kind.startswith(_OTHER):
            return self._note(shown, steady=_steady(kind.removeprefix(_OTHER)))
        return self._note(shown, steady=True) if kind.startswith(_MODULE) else kind

    # -- statements

    def statements(self, nodes: Iterable[ast.stmt]) -> None:
        """Read statements one after the other."""
        for node in nodes:
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        self._line = node.lineno
        match node:
            case ast.Expr(value):
                self._expression(value)
            case ast.Assign(targets, value):
                kind = self._expression(value)
                for target in targets:
                    self._assign(target, kind)
            case ast.AugAssign(target, _, value):
                both = _worst((self._expression(value), self._target(target)))
                self._assign(target, _UNKNOWN if both == _UNKNOWN else _PLAIN)
            case ast.AnnAssign(target, annotation, value):
                self._expression(annotation)
                if value is not None:
                    self._assign(target, self._expression(value))
            case ast.For(target, iterable, body, orelse):
                self._assign(target, self._item_of(iterable))
                self.statements([*body, *orelse])
            case ast.While(test, body, orelse) | ast.If(test, body, orelse):
                self._expression(test)
                self.statements([*body, *orelse])
            case ast.With(items, body):
                for item in items:
                    kind = self._expression(item.context_expr)
                    if item.optional_vars is not None:
                        self._assign(item.optional_vars, kind)
                self.statements(body)
            case ast.Try(body, handlers, orelse, final):
                self.statements(body)
                for handler in handlers:
                    self._handler(handler)
                self.statements([*orelse, *final])
            case ast.Import(names):
                for alias in names:
                    self._import(alias)
            case ast.ImportFrom(module, names, level):
                for alias in names:
                    self._import_from(module or "", alias, level)
            case ast.FunctionDef():
                self._function(node)
            case ast.Return(value):
                self._give_back(value)
            case ast.Raise(error, cause):
                for entry in filter(None, (error, cause)):
                    self._expression(entry)
            case ast.Assert(test, message):
                for entry in filter(None, (test, message)):
                    self._expression(entry)
            case ast.Delete(targets):
                for target in targets:
                    self._delete(target)
            case ast.Match(subject, cases):
                self._match(self._expression(subject), cases)
            case ast.Pass() | ast.Break() | ast.Continue() | ast.Global() | ast.Nonlocal():
                pass
            case _:
                self._odd_statement(node)

    def _odd_statement(self, node: ast.stmt) -> None:
        """Note a statement that is not known, and read what is in it for the names."""
        name = getattr(node, "name", "")
        self._note({"ClassDef": f"class {name}"}.get(type(node).__name__, type(node).__name__.lower()))
        for item in ast.walk(node):
            if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
                self.bound[item.id] = _UNKNOWN
            elif isinstance(item, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                self.bound[item.name] = _UNKNOWN

    def _handler(self, handler: ast.ExceptHandler) -> None:
        if handler.type is not None:
            self._expression(handler.type)
        if handler.name:
            self._bind(handler.name, _PLAIN)
        self.statements(handler.body)

    def _function(self, node: ast.FunctionDef) -> None:
        before = self._notes
        outermost = self._enter(node, _locals_of(node))
        for decorator in node.decorator_list:
            self._note("@" + (_dotted(decorator) or "…"))
        if getattr(node, "type_params", []):
            self._note(f"def {node.name}[…]")
        self._parameters(node.args)
        if node.returns is not None:
            self._expression(node.returns)
        self.statements(node.body)
        self._bind(node.name, _FUNCTION if self._notes == before else _UNKNOWN)
        self._in_function = not outermost

    def _enter(self, node: ast.AST, own: set[str]) -> bool:
        """Note which names of others a function goes by. Returns whether it is the outermost one."""
        if self._in_function:
            return False
        self._in_function = True
        for item in ast.walk(node):
            if isinstance(item, ast.Name) and item.id not in own:
                kind = self._meaning(item.id)
                self.relied_on[item.id] = "" if kind is None else kind
        return True

    def _parameters(self, arguments: ast.arguments) -> None:
        """Bind parameters; what they are when called is seen at the call."""
        for default in filter(None, (*arguments.defaults, *arguments.kw_defaults)):
            self._plain(default)
        for argument in _all_parameters(arguments):
            if argument.annotation is not None:
                self._expression(argument.annotation)
            self._bind(argument.arg, _PLAIN)

    def _give_back(self, value: ast.expr | None) -> None:
        if value is not None:
            self._plain(value)

    def _import(self, alias: ast.alias) -> None:
        root = alias.name.partition(".")[0]
        bound = alias.asname or root
        if alias.name in known.MODULES:
            self._bind(bound, _MODULE + (alias.name if alias.asname else root))
        else:
            if not _steady(alias.name):
                self._note(f"import {alias.name}")
            self._bind(bound, _OTHER + (alias.name if alias.asname else root))

    def _import_from(self, module: str, alias: ast.alias, level: int) -> None:
        full = f"{module}.{alias.name}"
        if level or alias.name == "*":
            self._note(f"from {'.' * level}{module} import {alias.name}")
            self._bind(alias.asname or alias.name, _UNKNOWN)
        elif full in known.MODULES:
            self._bind(alias.asname or alias.name, _MODULE + full)
        elif full in known.MEMBERS or full in known.READERS or full in known.LISTERS:
            self._bind(alias.asname or alias.name, _MEMBER + full)
        else:
            if not _steady(full):
                self._note(f"from {module} import {alias.name}")
            self._bind(alias.asname or alias.name, _OTHER + full)

    # -- targets

    def _target(self, target: ast.expr) -> str:
        """Evaluate a target before an operator changes it."""
        if isinstance(target, ast.Name):
            kind = self._meaning(target.id)
            return kind if kind in (_PLAIN, _LOOSE) else _PLAIN if kind is None else _UNKNOWN
        return _PLAIN

    def _assign(self, target: ast.expr, kind: str) -> None:
        match target:
            case ast.Name(name):
                self._bind(name, kind)
            case ast.Starred(value):
                self._assign(value, kind)
            case ast.Tuple(parts) | ast.List(parts):
                for part in parts:
                    self._assign(part, _PLAIN if kind == _PLAIN else _UNKNOWN)
            case ast.Subscript(value, index):
                self._plain(index)
                self._store(value)
                if kind != _PLAIN:
                    self._note("…[…] = something not checked")
            case ast.Attribute(value, name):
                plain = {self._expression(value), kind} == {_PLAIN}
                if not plain or name not in known.SETTABLE:
                    self._note(f".{name} = …", steady=plain and not _is_odd(name))
            case _:
                self._note("…  = …")

    def _store(self, value: ast.expr) -> None:
        """Into what is stored by an index: a value that is made of known parts."""
        dotted = _dotted(value)
        if dotted == "os.environ" and self._meaning("os") == _MODULE + "os":
            self._note("os.environ[…] = …", steady=True)
        elif self._expression(value) != _PLAIN:
            self._note(f"{dotted or '…'}[…] = …")

    def _delete(self, target: ast.expr) -> None:
        match target:
            case ast.Name():
                pass
            case ast.Tuple(parts) | ast.List(parts):
                for part in parts:
                    self._delete(part)
            case ast.Subscript(value, index):
                self._plain(index)
                self._store(value)
            case _:
                self._note("del …")

    def _match(self, kind: str, cases: list[ast.match_case]) -> None:
        for case in cases:
            for node in ast.walk(case.pattern):
                if isinstance(node, ast.MatchClass):
                    self._note("a class pattern")
                elif isinstance(node, ast.MatchValue):
                    self._expression(node.value)
                name = getattr(node, "name", None) or getattr(node, "rest", None)
                if isinstance(node, ast.MatchAs | ast.MatchStar | ast.MatchMapping) and name:
                    self._bind(name, kind)
            if case.guard is not None:
                self._expression(case.guard)
            self.statements(case.body)

    # -- expressions

    def _plain(self, node: ast.expr) -> None:
        """Read an expression that must be made of known parts, because it is handed on."""
        before = self._notes
        if self._expression(node) == _PLAIN:
            return
        self.keeps_meanings = False
        if self._notes == before:
            line, self._line = self._line, getattr(node, "lineno", self._line)
            self._note(_dotted(node) or "a value that is not checked")
            self._line = line

    def _expression(self, node: ast.expr) -> str:
        """Evaluate an expression."""
        line, self._line = self._line, getattr(node, "lineno", self._line)
        kind = self._kind(node)
        self._line = line
        return kind

    def _kind(self, node: ast.expr) -> str:
        match node:
            case ast.Constant():
                return _PLAIN
            case ast.Name(name):
                return self._name(name)
            case ast.Attribute():
                return self._value(self._attribute(node), _dotted(node) or f".{node.attr}")
            case ast.Call():
                return self._call(node)
            case ast.BinOp(left, _, right):
                return self._compute((left, right))
            case ast.UnaryOp(ast.Not(), operand):
                self._expression(operand)
                return _PLAIN
            case ast.UnaryOp(_, operand):
                return self._compute((operand,))
            case ast.Compare(left, _, others):
                return self._compute((left, *others))
            case ast.BoolOp(_, values):
                return _worst([self._expression(item) for item in values])
            case ast.IfExp(test, body, orelse):
                self._expression(test)
                return _worst((self._expression(body), self._expression(orelse)))
            case ast.Tuple(parts) | ast.List(parts) | ast.Set(parts):
                return self._hold(parts)
            case ast.Dict(keys, values):
                return self._hold([item for item in (*keys, *values) if item is not None])
            case ast.Starred(value):
                return self._item_of(value)
            case ast.Subscript(value, index):
                return self._part(value, index)
            case ast.Slice(lower, upper, step):
                return self._hold([item for item in (lower, upper, step) if item is not None])
            case ast.JoinedStr(values):
                for item in values:
                    self._expression(item)
                return _PLAIN
            case ast.FormattedValue(value, _, spec):
                self._expression(value)
                if spec is not None:
                    self._expression(spec)
                return _PLAIN
            case ast.NamedExpr(target, value):
                kind = self._expression(value)
                self._assign(target, kind)
                return kind
            case ast.Lambda(arguments, body):
                outermost = self._enter(node, {parameter.arg for parameter in _all_parameters(arguments)})
                self._parameters(arguments)
                self._plain(body)
                self._in_function = not outermost
                return _PLAIN
            case ast.ListComp(element, generators) | ast.SetComp(element, generators):
                self._generators(generators)
                return self._hold([element])
            case ast.GeneratorExp(element, generators):
                outermost = self._enter(
                    node, {item for part in generators for item in _names_in(part.target)}
                )
                self._generators(generators)
                kind = self._hold([element])
                self._in_function = not outermost
                return kind
            case ast.DictComp(key, value, generators):
                self._generators(generators)
                return self._hold([key, value])
            case ast.Yield(value):
                self._give_back(value)
                return _PLAIN
            case ast.YieldFrom(value):
                self._plain(value)
                return _PLAIN
            case _:
                self._note(type(node).__name__.lower())
                return _UNKNOWN

    def _compute(self, nodes: Iterable[ast.expr]) -> str:
        """Evaluate an operator: known for known or loose values."""
        kinds = [self._expression(node) for node in nodes]
        return _UNKNOWN if _UNKNOWN in kinds else _PLAIN

    def _hold(self, nodes: Iterable[ast.expr]) -> str:
        """Evaluate a collection: known if all its values are."""
        kinds = [self._expression(node) for node in nodes]
        return _PLAIN if all(kind == _PLAIN for kind in kinds) else _UNKNOWN

    def _item_of(self, node: ast.expr) -> str:
        return _UNKNOWN if self._expression(node) == _UNKNOWN else _PLAIN

    def _part(self, value: ast.expr, index: ast.expr) -> str:
        """Evaluate `value[index]`. Types may have anything between their brackets."""
        kind = self._expression(value)
        self._plain(index)
        return _UNKNOWN if kind == _UNKNOWN else _PLAIN

    def _generators(self, generators: Iterable[ast.comprehension]) -> None:
        for generator in generators:
            if generator.is_async:
                self._note("async for")
            self._assign(generator.target, self._item_of(generator.iter))
            for test in generator.ifs:
                self._expression(test)

    def _attribute(self, node: ast.Attribute) -> str:
        """Evaluate `value.name`, which may be a module or a member of one."""
        name = node.attr
        owner = self._owner(node.value)
        for mark in (_MODULE, _OTHER):
            if owner.startswith(mark):
                full = f"{owner.removeprefix(mark)}.{name}"
                if mark == _MODULE and full in known.MODULES:
                    return _MODULE + full
                return (_MEMBER if mark == _MODULE else _OTHER) + full
        if name.startswith("_") and name != "__name__":
            return self._note(f".{name}")
        if owner == _UNKNOWN:
            return _UNKNOWN
        if name in known.ATTRIBUTES:
            return _PLAIN
        return _LOOSE if owner == _PLAIN or name in known.RESTRICTED else _UNKNOWN

    def _owner(self, node: ast.expr) -> str:
        """Evaluate the value in front of a dot, where modules may stand."""
        if isinstance(node, ast.Name):
            kind = self._meaning(node.id)
            if kind is not None and kind.startswith((_MODULE, _OTHER)):
                return kind
        elif isinstance(node, ast.Attribute):
            kind = self._attribute(node)
            return (
                kind
                if kind.startswith((_MODULE, _OTHER))
                else self._value(kind, _dotted(node) or f".{node.attr}")
            )
        return self._expression(node)

    # -- calls

    def _call(self, call: ast.Call) -> str:
        function = call.func
        match function:
            case ast.Name(name):
                return self._call_name(call, name)
            case ast.Attribute():
                return self._call_attribute(call, function)
            case ast.Lambda():
                self._expression(function)
                self._arguments(call)
                return _PLAIN
            case _:
                self._expression(function)
                self._noted_arguments(call)
                return self._note("a call of a computed function")

    def _call_name(self, call: ast.Call, name: str) -> str:
        kind = self._meaning(name)
        if kind == _FUNCTION:
            self._arguments(call, any_name=True)
            return _PLAIN
        if kind is not None and kind.startswith((_MEMBER, _OTHER)):
            return self._call_member(call, kind, name)
        if kind is not None:
            self._noted_arguments(call)
            return self._note(f"{name}(…), which is a variable")
        if name == "open":
            return self._open(call)
        if name == "type" and len(call.args) == 1 and not call.keywords:
            self._expression(call.args[0])
            return _UNKNOWN
        if name not in known.BUILTINS:
            self._noted_arguments(call)
            return self._note(f"{name}(…)", steady=name in known.STEADY_BUILTINS)
        self._arguments(call, any_value=name in known.SINKS, any_name=name == "dict")
        return _PLAIN

    def _call_attribute(self, call: ast.Call, function: ast.Attribute) -> str:
        kind = self._attribute(function)
        shown = _dotted(function) or f".{function.attr}"
        if shown == _LIST_OF_ELEMENTS and self._meaning(_COMPUTER) is None:
            self._note(f"{shown}(…)", steady=self._noted_arguments(call))
            # Words and places of what is on the screen.
            return _PLAIN
        if kind.startswith((_MEMBER, _OTHER)):
            return self._call_member(call, kind, shown)
        if kind == _PLAIN:
            self._arguments(call, any_name=function.attr == "assign")
            return _PLAIN
        if kind == _LOOSE and function.attr in known.RESTRICTED:
            return self._restrict(call, function, shown)
        plain = self._noted_arguments(call) or (kind == _UNKNOWN and function.attr in known.WRITERS)
        return self._note(f"{shown}(…)", steady=plain and not _is_odd(function.attr))

    def _call_member(self, call: ast.Call, kind: str, shown: str) -> str:
        full = kind.removeprefix(_MEMBER).removeprefix(_OTHER)
        if kind.startswith(_MEMBER):
            if full in known.READERS:
                return self._read_file(call)
            if full in known.LISTERS:
                return self._list_names(call)
            if full in known.MEMBERS:
                self._arguments(call)
                return _PLAIN
        if full in known.MAKERS:
            self._arguments(call)
            return _UNKNOWN
        plain = self._noted_arguments(call) or full.partition(".")[0] not in known.KEEPERS
        return self._note(f"{shown}(…)", steady=plain and _steady(full))

    def _noted_arguments(self, call: ast.Call) -> bool:
        """Read what is given to a call that is noted itself. Returns whether it is made of known parts.

        Other things might be kept in a collection, and come out of it again as if they were known.
        """
        given = [self._expression(arg) for arg in (*call.args, *(keyword.value for keyword in call.keywords))]
        return all(kind == _PLAIN for kind in given)

    def _arguments(self, call: ast.Call, *, any_value: bool = False, any_name: bool = False) -> None:
        """Read what is given to a call, and note what the call is not known to be harmless with."""
        for arg in (*call.args, *(keyword.value for keyword in call.keywords)):
            if any_value:
                self._expression(arg)
            else:
                self._plain(arg)
        for keyword in call.keywords:
            if keyword.arg is None:
                self._note("**…")
            elif not any_name and keyword.arg not in known.KEYWORDS:
                self._note(f"{keyword.arg}=…")

    def _restrict(self, call: ast.Call, function: ast.Attribute, shown: str) -> str:
        """Calls of methods that do harm with some arguments."""
        match function.attr:
            case "format":
                fine = _is_simple_format(function.value)
                self._arguments(call, any_name=fine)
            case "filter":
                fine = not call.args or (len(call.args) == 1 and self._is_filter(call.args[0]))
                self._arguments(call)
            case "to_string" | "info":
                fine = not call.args
                self._arguments(call)
            case "pivot_table":
                fine = not call.args and all(
                    _is_reduction(keyword.value) for keyword in call.keywords if keyword.arg == "aggfunc"
                )
                self._expressions_of(call, but="aggfunc")
            case _:
                fine = self._is_aggregation(call)
        return _PLAIN if fine else self._note(f"{shown}(…)")

    def _is_filter(self, node: ast.expr) -> bool:
        """Whether it is a function or a list, and not a text: groups take that for a method's name."""
        return isinstance(node, ast.Lambda | ast.List) or (
            isinstance(node, ast.Name) and self._computes(node)
        )

    def _expressions_of(self, call: ast.Call, but: str) -> None:
        for keyword in call.keywords:
            if keyword.arg not in known.KEYWORDS and keyword.arg != but:
                self._note(f"{keyword.arg}=…")
            self._plain(keyword.value)

    def _is_aggregation(self, call: ast.Call) -> bool:
        """Whether a method is given what to compute as known names or functions, and nothing for these."""
        for arg in (*call.args, *(keyword.value for keyword in call.keywords)):
            self._plain(arg)
        named = {keyword.arg or "**": keyword.value for keyword in call.keywords}
        axis = named.pop("axis", None)
        named.pop("raw", None)
        named.pop("result_type", None)
        if axis is not None and not isinstance(axis, ast.Constant):
            return False
        if call.args:
            return len(call.args) == 1 and not named and self._computes(call.args[0])
        return (
            bool(named)
            and "**" not in named
            and "func" not in named
            and all(
                isinstance(item, ast.Tuple) and len(item.elts) == 2 and self._computes(item.elts[1])
                for item in named.values()
            )
        )

    def _computes(self, node: ast.expr) -> bool:
        """Whether it names known computations, or is a function that was read."""
        match node:
            case ast.Lambda():
                return True
            case ast.Name(name):
                kind = self._meaning(name)
                return kind == _FUNCTION or (kind is None and name in known.BUILTINS)
            case ast.Attribute():
                kind = self._attribute(node)
                return kind.startswith(_MEMBER) and kind.removeprefix(_MEMBER) in known.MEMBERS
            case ast.List(parts) | ast.Tuple(parts):
                return all(map(self._computes, parts))
            case ast.Dict(keys, values):
                return None not in keys and all(map(self._computes, values))
            case _:
                return _is_reduction(node)

    # -- files

    def _open(self, call: ast.Call) -> str:
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        mode = call.args[1] if len(call.args) > 1 else named.get("mode")
        reads = mode is None or (
            isinstance(mode, ast.Constant) and mode.value in ("r", "rt", "rb", "br", "tr")
        )
        odd = set(named) - {"file", "mode", "encoding", "errors", "newline"} or len(call.args) > 2
        for arg in (*call.args[1:], *named.values()):
            self._plain(arg)
        if not reads or odd:
            for arg in call.args[:1]:
                self._expression(arg)
            return self._note("open(…)", steady=True)
        self._path(call.args[0] if call.args else named.get("file"))
        return _PLAIN

    def _read_file(self, call: ast.Call) -> str:
        first = call.args[0] if call.args else None
        rest = ast.Call(call.func, call.args[1:], call.keywords)
        if len(call.args) > 1:
            self._note("a second argument without a name")
        self._arguments(ast.copy_location(rest, call))
        if isinstance(first, ast.Call) and self._is_text_file(first):
            self._expression(first)
        else:
            self._path(first, remote=True)
        return _PLAIN

    def _is_text_file(self, call: ast.Call) -> bool:
        if isinstance(call.func, ast.Name):
            return self._meaning(call.func.id) == _MEMBER + "io.StringIO"
        return isinstance(call.func, ast.Attribute) and self._attribute(call.func) == _MEMBER + "io.StringIO"

    def _path(self, node: ast.expr | None, *, remote: bool = False) -> None:
        """Note the file that is read unless it is a plain one of the working directory."""
        name = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if node is not None:
            self._expression(node)
        if why_not_readable(name, self._cwd) or (remote and "::" in name):
            self.findings.append(Finding("reads", name, self._line))

    def _list_names(self, call: ast.Call) -> str:
        first = call.args[0] if len(call.args) == 1 else None
        if call.keywords or len(call.args) > 1:
            self._arguments(call)
            return self._note("a list of files", steady=True)
        name = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
        if first is not None:
            self._expression(first)
            pattern = re.sub(r"[*?]", "x", name)
            if why_not_readable(pattern, self._cwd, listing=True):
                self.findings.append(Finding("reads", name, self._line))
        return _PLAIN


#: Where Python keeps the values that were shown last, whatever these are.
_LAST_VALUES = ("_", "__", "___")


def _is_special(name: str) -> bool:
    """Whether Python itself may give the name a meaning that is not known to be harmless."""
    if name in known.BUILTINS or name in _LAST_VALUES:
        return False
    return hasattr(builtins, name) or (name.startswith("__") and name.endswith("__"))


def _all_parameters(arguments: ast.arguments) -> list[ast.arg]:
    named = (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    )
    return [item for item in named if item is not None]


def _names_in(target: ast.expr) -> set[str]:
    """The names that an assignment to this target binds."""
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, ast.Starred):
        return _names_in(target.value)
    if isinstance(target, ast.Tuple | ast.List):
        return {name for part in target.elts for name in _names_in(part)}
    return set()


def _locals_of(function: ast.FunctionDef) -> set[str]:
    """The names that are certainly a function's own: its parameters, and what its statements assign to."""
    found = {parameter.arg for parameter in _all_parameters(function.args)}
    shared: set[str] = set()
    waiting: list[ast.stmt] = list(function.body)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Assign(targets):
                found.update(name for target in targets for name in _names_in(target))
            case ast.AugAssign(target) | ast.For(target) | ast.AnnAssign(target):
                found.update(_names_in(target))
            case ast.Global(names) | ast.Nonlocal(names):
                shared.update(names)
        for part in ("body", "orelse", "finalbody"):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                waiting += getattr(node, part, [])
    return found - shared


def _worst(kinds: Iterable[str]) -> str:
    found = set(kinds)
    return _UNKNOWN if _UNKNOWN in found else _LOOSE if _LOOSE in found else _PLAIN


def _dotted(node: ast.expr) -> str:
    """`a.b.c` as it is written; "" for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < 6:
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _steady(full: str) -> bool:
    """Whether a member of a module that is not known in full cannot change what names mean."""
    parts = full.split(".")
    return parts[0] in known.STEADY and len(parts) <= 4 and not any(map(_is_odd, parts))


def _is_odd(name: str) -> bool:
    return name in known.UNSTEADY or name.startswith(known.UNSTEADY_BEGINNINGS) or "pickle" in name


def _is_reduction(node: ast.expr) -> bool:
    match node:
        case ast.Constant(str(name)):
            return name in known.REDUCTIONS
        case ast.List(parts):
            return all(map(_is_reduction, parts))
        case ast.Dict(keys, values):
            return None not in keys and all(map(_is_reduction, values))
        case _:
            return False


def _is_simple_format(node: ast.expr) -> bool:
    """Whether it is a text whose fields name no attribute or item of what is put into them."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return False
    try:
        fields = list(string.Formatter().parse(node.value))
    except ValueError:
        return False
    return all(
        not re.search(r"[.\[{]", f"{name or ''}") and "{" not in (spec or "") for _, name, spec, _ in fields
    )
