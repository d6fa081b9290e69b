"""Checks whether Python code is understood: known constructs that only compute, print, and read plain files.

The rule that everything rests on: as long as all code is understood, every value is made of known parts, so
that even calling one by accident does no harm. Whatever may be something else is "loose" (an attribute that
is not known, good for comparing and computing) or "unknown" (good for looking at).
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from oi_tui.engine.review import notebook_rules
from oi_tui.engine.review.findings import Finding
from oi_tui.engine.review.folder import Folder
from oi_tui.engine.review.local_modules import find_shadowing
from oi_tui.engine.review.python import allowlist as known
from oi_tui.engine.review.python import classes
from oi_tui.engine.review.python.expressions import ExpressionChecker
from oi_tui.engine.review.python.names import (
    CLASS,
    FREE_OPERATORS,
    FUNCTION,
    MEMBER,
    MODULE,
    OPERATORS,
    OTHER,
    PLAIN,
    UNKNOWN,
    find_least_known,
    is_steady,
)
from oi_tui.engine.review.python.syntax import list_locals, write_dotted

#: Longer code is not read.
LONGEST = 100_000
#: How often names are looked at again until what they stand for no longer changes.
_MOST_ROUNDS = 6
#: Lines that the language's driver may take for commands where its Python cannot read the cell.
_COMMAND_LINE = re.compile(
    r"^[^\S\n]*(?:[!%?]|(?:pip3?|conda|mamba|cd|ls|ll|lf|cat|pycat|less|more|who|whos|matplotlib|pylab|load_ext|autoreload"
    r"|time|timeit|prun|run|env)\s+[^=(])"
    r"|=\s*[!%](?!=)|\?[ \t\f\v\r]*(?:#.*)?$",
    re.MULTILINE,
)


class EarlierNames(Protocol):
    """Knowledge about the code that ran before."""

    @property
    def names(self) -> Mapping[str, str]:
        """The possible value of each name."""

    def is_unclear(self, language: str) -> bool:
        """Return whether ordinary names may mean something else by now."""


@dataclass(slots=True)
class PythonReview:
    """The findings in a piece of code, the values of its names, and whether other names keep their
    meaning.
    """

    findings: list[Finding] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    keeps_meanings: bool = True
    #: What the functions in it took other names to stand for; they may be called much later.
    relied_on: dict[str, str] = field(default_factory=dict)


def check(code: str, folder: Folder, earlier: EarlierNames | None = None) -> Iterator[Finding]:
    """Find what is not understood in the code, or reads something that the user should see."""
    result = read(code, folder, earlier)
    yield from sorted(dict.fromkeys(result.findings), key=lambda finding: finding.line)
    if earlier is not None and earlier.is_unclear("python"):
        yield Finding("not understood", "effects of earlier code", 0)
    if (module := find_shadowing(folder, known.BESIDES | known.STEADY)) is not None:
        yield Finding("not understood", f"{module} in this folder may be loaded", 0)


def read(code: str, folder: Folder, earlier: EarlierNames | None = None) -> PythonReview:
    """Read the code; never raises."""
    tree = _parse_tree(code)
    if tree is None:
        return PythonReview(
            [Finding("not understood", "code that is not plain Python", 0)], {}, keeps_meanings=False
        )
    before = dict(earlier.names) if earlier is not None else {}
    try:
        # Functions may be called above the place where they are defined.
        names = {
            node.name: FUNCTION
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        } | {
            node.name: classes.write_class(classes.find_members(node))
            for node in tree.body
            if isinstance(node, ast.ClassDef)
        }
        for _ in range(_MOST_ROUNDS):
            reader = _Checker(folder, before, names)
            reader.check_statements(tree.body)
            if reader.bound == names:
                return PythonReview(reader.findings, reader.bound, reader.keeps_meanings, reader.relied_on)
            names = reader.bound
    except RecursionError:
        pass
    return PythonReview([Finding("not understood", "code nested this deeply", 0)], {}, keeps_meanings=False)


def _parse_tree(code: str) -> ast.Module | None:
    if len(code) > LONGEST or "\0" in code:
        return None
    cell = notebook_rules.read_notebook_cell(code)
    return None if cell is None or _COMMAND_LINE.search(cell[0]) else cell[1]


#: What may be imported by its name.
_IMPORTED = (
    known.MEMBERS,
    known.READERS,
    known.LISTERS,
    known.DRAWN_TEXTS,
    known.BASES,
    known.DECORATORS,
)


class _Checker(ExpressionChecker):
    """Goes through the statements of a tree once."""

    def check_statements(self, nodes: Iterable[ast.stmt]) -> None:
        """Read statements one after the other."""
        for node in nodes:
            self._check_statement(node)

    def _check_statement(self, node: ast.stmt) -> None:
        self._line = node.lineno
        match node:
            case ast.Expr(value):
                self._evaluate(value)
            case ast.Assign([ast.Name(name)], ast.Lambda() as value):
                before = self._notes
                self._evaluate(value)
                self._bind(name, FUNCTION if self._notes == before else UNKNOWN)
            case ast.Assign([ast.Name(name)], ast.Call() as value) if self._find_own(value):
                kind = self._evaluate(value)
                self._bind(name, self._find_own(value) if kind == PLAIN else kind)
            case ast.Assign(targets, value):
                kind = self._evaluate(value)
                for target in targets:
                    self._assign(target, kind)
            case ast.AugAssign(target, _, value):
                kinds = (self._evaluate(value), self._evaluate_target(target))
                if not isinstance(value, ast.Constant):
                    self._check_operands(kinds)
                both = find_least_known(kinds)
                self._assign(target, UNKNOWN if both == UNKNOWN else PLAIN)
            case ast.AnnAssign(target, annotation, value):
                self._check_annotation(annotation)
                if value is not None:
                    self._assign(target, self._evaluate(value))
            case ast.For(target, iterable, body, orelse):
                self._assign(target, self._evaluate_item(iterable))
                self.check_statements([*body, *orelse])
            case ast.While(test, body, orelse) | ast.If(test, body, orelse):
                self._evaluate(test)
                self.check_statements([*body, *orelse])
            case ast.With(items, body):
                for item in items:
                    kind = self._evaluate(item.context_expr)
                    if item.optional_vars is not None:
                        self._assign(item.optional_vars, kind)
                self.check_statements(body)
            case ast.Try(body, handlers, orelse, final):
                self.check_statements(body)
                for handler in handlers:
                    self._check_handler(handler)
                self.check_statements([*orelse, *final])
            case ast.Import(names):
                for alias in names:
                    self._check_import(alias)
            case ast.ImportFrom(module, names, level):
                for alias in names:
                    self._check_import_from(module or "", alias, level)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._check_function(node)
            case ast.ClassDef() if not self._in_function:
                self._check_class(node)
            case ast.Return(value):
                self._check_returned(value)
            case ast.Raise(error, cause):
                for entry in filter(None, (error, cause)):
                    self._check_raised(entry)
            case ast.Assert(test, message):
                self._evaluate(test)
                if message is not None:
                    # The error keeps it.
                    self._require_plain(message)
            case ast.Delete(targets):
                for target in targets:
                    self._delete(target)
            case ast.Match(subject, cases):
                self._check_match(self._evaluate(subject), cases)
            case ast.Pass() | ast.Break() | ast.Continue() | ast.Global() | ast.Nonlocal():
                pass
            case _:
                self._check_odd_statement(node)

    def _check_odd_statement(self, node: ast.stmt) -> None:
        """Note a statement that is not known, and read what is in it for the names."""
        name = getattr(node, "name", "")
        self._note(f"class {name}" if isinstance(node, ast.ClassDef) else type(node).__name__.lower())
        for item in ast.walk(node):
            if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
                self.bound[item.id] = UNKNOWN
            elif isinstance(item, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                self.bound[item.name] = UNKNOWN

    def _check_handler(self, handler: ast.ExceptHandler) -> None:
        if handler.type is not None:
            for kind in handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]:
                self._check_error(kind)
        if handler.name:
            self._bind(handler.name, PLAIN)
        self.check_statements(handler.body)

    def _check_error(self, node: ast.expr) -> None:
        """Read what is caught."""
        if not self._find_own(node).startswith(CLASS):
            self._evaluate(node)

    def _check_raised(self, node: ast.expr) -> None:
        """Read what is raised. A class is called then, and the error's text is asked for."""
        before = len(self.findings)
        if self._find_own(node).startswith(CLASS) or self._evaluate(node) == PLAIN:
            return
        if len(self.findings) == before:
            self._note(f"raise {write_dotted(node) or '…'}")

    def _check_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        before = self._notes
        outermost = self._enter(node, list_locals(node))
        for decorator in node.decorator_list:
            self._check_decorator(decorator)
        self._check_body(node)
        self._bind(node.name, FUNCTION if self._notes == before else UNKNOWN)
        self._in_function = not outermost

    def _check_body(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if getattr(node, "type_params", []):
            self._note(f"def {node.name}[…]")
        self._check_parameters(node.args)
        if node.returns is not None:
            self._check_annotation(node.returns)
        self.check_statements(node.body)

    def _check_decorator(self, node: ast.expr) -> None:
        function = node.func if isinstance(node, ast.Call) else node
        arguments = (
            [*node.args, *(item.value for item in node.keywords)] if isinstance(node, ast.Call) else []
        )
        if self._find_full_name(function) not in known.DECORATORS or not all(
            isinstance(item, ast.Constant) for item in arguments
        ):
            self._note("@" + (write_dotted(node) or "…"))

    def _find_full_name(self, node: ast.expr) -> str:
        """Return the full name of a member of a known module; "" for anything else."""
        match node:
            case ast.Name(name):
                kind = self._find_meaning(name) or ""
            case ast.Attribute():
                kind = self._evaluate_attribute(node)
            case _:
                kind = ""
        return kind.removeprefix(MEMBER) if kind.startswith(MEMBER) else ""

    def _check_class(self, node: ast.ClassDef) -> None:
        """Read a class: it is known if all of its methods and data are, and the classes it is made from."""
        before = self._notes
        members = classes.find_members(node)
        for base in node.bases:
            members |= self._check_base(base)
        if node.keywords or getattr(node, "type_params", []):
            self._note(f"class {node.name}(…=…)")
        if name := classes.find_conflict(members) or classes.find_misread_name(node):
            self._note(f"{node.name}.{name}")
        for decorator in node.decorator_list:
            self._check_decorator(decorator)
        kind = classes.write_class(members)
        for statement in node.body:
            self._line = statement.lineno
            self._check_class_statement(statement, kind)
            if classes.is_open_operator(statement):
                self.bound[OPERATORS] = UNKNOWN
            if classes.is_free_operator(statement):
                self.bound[FREE_OPERATORS] = UNKNOWN
        self._bind(node.name, kind if self._notes == before else UNKNOWN)

    def _check_base(self, node: ast.expr) -> frozenset[str]:
        """Return the members of a class that another one is made from."""
        if (own := self._find_own(node)).startswith(CLASS):
            return classes.list_members(own)
        is_builtin = isinstance(node, ast.Name) and self._find_meaning(node.id) is None
        if not (is_builtin and write_dotted(node) in known.BUILTIN_BASES) and (
            self._find_full_name(node) not in known.BASES
        ):
            self._note(f"class …({write_dotted(node) or '…'})")
        return frozenset()

    def _check_class_statement(self, node: ast.stmt, kind: str) -> None:
        match node:
            case ast.Expr(ast.Constant()) | ast.Pass():
                pass
            case ast.FunctionDef():
                self._check_method(node, kind)
            case ast.Assign(targets, value):
                self._require_plain(value)
                if not all(isinstance(item, ast.Name) and classes.is_own_name(item.id) for item in targets):
                    self._note("… = … in a class")
            case ast.AnnAssign(ast.Name(name), annotation, value) if classes.is_own_name(name):
                self._check_annotation(annotation)
                if value is not None:
                    self._require_plain(value)
            case _:
                self._check_odd_statement(node)

    def _check_method(self, node: ast.FunctionDef, kind: str) -> None:
        outermost = self._enter(node, list_locals(node))
        is_of_class = False
        for decorator in node.decorator_list:
            match decorator:
                case ast.Name(name) if name in classes.METHOD_DECORATORS and self._find_meaning(name) is None:
                    is_of_class = is_of_class or name == "classmethod"
                case ast.Attribute(ast.Name(name), "setter" | "deleter") if name == node.name:
                    pass
                case _:
                    self._check_decorator(decorator)
        if not classes.is_method_name(node.name):
            self._note(f"def {node.name}")
        if receiver := classes.find_receiver(node):
            self._receiver = receiver, kind if is_of_class else classes.write_instance(kind)
        self._check_body(node)
        self._receiver = "", ""
        self._in_function = not outermost

    def _check_import(self, alias: ast.alias) -> None:
        root = alias.name.partition(".")[0]
        name = alias.asname or root
        if alias.name in known.MODULES:
            self._bind(name, MODULE + (alias.name if alias.asname else root))
        else:
            if not is_steady(alias.name):
                self._note(f"import {alias.name}")
            self._bind(name, OTHER + (alias.name if alias.asname else root))

    def _check_import_from(self, module: str, alias: ast.alias, level: int) -> None:
        full = f"{module}.{alias.name}"
        if level or alias.name == "*":
            self._note(f"from {'.' * level}{module} import {alias.name}")
            self._bind(alias.asname or alias.name, UNKNOWN)
        elif full in known.MODULES:
            self._bind(alias.asname or alias.name, MODULE + full)
        elif any(full in names for names in _IMPORTED):
            self._bind(alias.asname or alias.name, MEMBER + full)
        else:
            if not is_steady(full):
                self._note(f"from {module} import {alias.name}")
            self._bind(alias.asname or alias.name, OTHER + full)

    def _check_match(self, kind: str, cases: list[ast.match_case]) -> None:
        for case in cases:
            for node in ast.walk(case.pattern):
                if isinstance(node, ast.MatchClass):
                    self._note("a class pattern")
                elif isinstance(node, ast.MatchValue):
                    self._evaluate(node.value)
                    self._check_operands([kind])
                elif isinstance(node, ast.MatchMapping) and node.keys:
                    self._check_operands([kind])
                name = getattr(node, "name", None) or getattr(node, "rest", None)
                if isinstance(node, ast.MatchAs | ast.MatchStar | ast.MatchMapping) and name:
                    self._bind(name, kind)
            if case.guard is not None:
                self._evaluate(case.guard)
            self.check_statements(case.body)
