"""Make small changes ("mutants") to the text of a module, one at a time.

Each change keeps every line where it was, so that a traceback and a coverage record still fit the file.
"""

import ast
import copy
from dataclasses import dataclass

#: How each comparison is changed. An off-by-one is a likelier mistake than the opposite.
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
#: Functions and methods that are easily confused with each other.
SWAPPED_NAMES = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "startswith": "endswith",
    "endswith": "startswith",
}
#: A call to one of these objects only writes a line to a log.
LOGGERS = frozenset({"log", "logger", "logging"})
#: What a function returns instead, by the name of its declared type; None for any other type.
OTHER_RESULTS = {"bool": "not (%s)", "int": "(%s) + 1", "str": "''"}
LONGEST_CHANGE = 110


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed place of a module."""

    #: The first and the last line of the changed place, counted from 1.
    first: int
    last: int
    #: The first of these lines as it was, without its indentation.
    line: str
    #: What was changed, for a person: "a < b  =>  a <= b".
    change: str
    #: The place in bytes, and what stands there instead.
    start: int
    end: int
    replacement: bytes

    def apply(self, source: bytes) -> bytes:
        """Return the module's text with this change."""
        return source[: self.start] + self.replacement + source[self.end :]


def make_mutants(source: bytes) -> list[Mutant]:
    """Return every mutant of a module, in the order of its text."""
    maker = _Maker(source)
    maker.visit(ast.parse(source))
    mutants = {(m.start, m.end, m.replacement): m for m in maker.mutants}
    return sorted(mutants.values(), key=lambda mutant: (mutant.start, mutant.end, mutant.change))


class _Maker(ast.NodeVisitor):
    """Walks through a module and collects its mutants."""

    def __init__(self, source: bytes) -> None:
        self.mutants: list[Mutant] = []
        self._source = source
        self._lines = source.split(b"\n")
        self._offsets = [0]
        for line in self._lines:
            self._offsets.append(self._offsets[-1] + len(line) + 1)
        self._result_types: list[str] = []

    # What is left alone

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave formatted text alone: before Python 3.12 its parts have no positions."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._remove_assignment(node, [node.target])
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """Leave annotations of parameters alone."""

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._result_types.append(ast.unparse(node.returns) if node.returns else "")
        self.visit(node.args)
        for statement in node.body:
            self.visit(statement)
        self._result_types.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self._negate(node.test)
            self.generic_visit(node)

    # What is changed

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self._negate(condition)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for index, operator in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[index] = COMPARISONS[type(operator)]()
            self._replace(node, changed)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._replace(node, changed)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._replace(node, node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace(node, ast.Constant(not node.value))
        elif isinstance(node.value, int | float):
            self._replace(node, ast.Constant(node.value + 1))
            self._replace(node, ast.Constant(node.value - 1))

    def visit_Slice(self, node: ast.Slice) -> None:
        if node.lower is not None:
            self._replace(node, ast.Slice(None, node.upper, node.step), in_brackets=True)
        if node.upper is not None:
            self._replace(node, ast.Slice(node.lower, None, node.step), in_brackets=True)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        changed = copy.deepcopy(node)
        match changed.func:
            case ast.Name(id=name) if name in SWAPPED_NAMES:
                changed.func.id = SWAPPED_NAMES[name]
                self._replace(node, changed)
            case ast.Attribute(attr=name) if name in SWAPPED_NAMES:
                changed.func.attr = SWAPPED_NAMES[name]
                self._replace(node, changed)
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not _is_nothing(node.value):
            self._change_result(node.value)
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self._add(node, "continue", "break  =>  continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add(node, "break", "continue  =>  break")

    def visit_Raise(self, node: ast.Raise) -> None:
        self._remove(node)
        self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Leave assertions alone: they tell the type checker something."""

    def visit_Delete(self, node: ast.Delete) -> None:
        self._remove(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._remove(node)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._remove_assignment(node, node.targets)
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(value, ast.Call):
            if _is_logging(value):
                return
            self._remove(node)
        self.generic_visit(node)

    # How it is changed

    def _negate(self, test: ast.expr) -> None:
        """Negate a condition that holds nothing else to change at its top."""
        if not isinstance(test, ast.Compare | ast.BoolOp | ast.Constant) and not _is_not(test):
            self._replace(test, ast.UnaryOp(ast.Not(), copy.deepcopy(test)))

    def _change_result(self, value: ast.expr) -> None:
        declared = self._result_types[-1] if self._result_types else ""
        was = ast.unparse(value)
        other = OTHER_RESULTS.get(declared, "None")
        if (declared == "bool" and isinstance(value, ast.Constant | ast.Compare)) or _is_not(value):
            return  # changed where it stands
        if declared == "str" and was in ("''", '""'):
            other = "'mutant'"
        text = other % was if "%s" in other else other
        self._add(value, f"({text})", f"return {was}  =>  return {text}")

    def _remove_assignment(self, node: ast.stmt, targets: list[ast.expr]) -> None:
        """Remove an assignment to an attribute or an item; without a local name nothing would run at all."""
        if all(isinstance(target, ast.Attribute | ast.Subscript) for target in targets):
            self._remove(node)

    def _remove(self, node: ast.stmt) -> None:
        self._add(node, "pass", f"removed: {ast.unparse(node)}")

    def _replace(self, node: ast.expr, changed: ast.expr, in_brackets: bool = False) -> None:
        text = ast.unparse(changed)
        self._add(node, text if in_brackets else f"({text})", f"{ast.unparse(node)}  =>  {text}")

    def _add(self, node: ast.expr | ast.stmt, text: str, change: str) -> None:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        missing = "\n" * (node.end_lineno - node.lineno)
        if text.endswith((")", "]")):  # line ends between brackets mean nothing
            text = text[:-1] + missing + text[-1]
        elif missing:
            text += missing
        one_line = " ".join(change.split())
        if len(one_line) > LONGEST_CHANGE:
            one_line = f"{one_line[: LONGEST_CHANGE // 2]} ... {one_line[-LONGEST_CHANGE // 2 :]}"
        self.mutants.append(
            Mutant(
                node.lineno,
                node.end_lineno,
                self._lines[node.lineno - 1].decode().strip(),
                one_line,
                self._offsets[node.lineno - 1] + node.col_offset,
                self._offsets[node.end_lineno - 1] + node.end_col_offset,
                text.encode(),
            )
        )


def _is_not(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _is_nothing(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_logging(call: ast.Call) -> bool:
    """Whether the call writes a line to a log: `log.debug(...)`, `self._logger.info(...)`."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    name = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    return name.strip("_") in LOGGERS
