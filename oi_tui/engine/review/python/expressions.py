"""Checks expressions in Python code, and the targets that values are assigned to."""

import ast
from collections.abc import Iterable, Sequence

from oi_tui.engine.review.python import allowlist as known
from oi_tui.engine.review.python.calls import CallChecker
from oi_tui.engine.review.python.classes import defines_method, has_data, has_method, is_own_name
from oi_tui.engine.review.python.library_settings import PANDAS_DISPLAY, PLOT_SETTINGS, is_plot_look
from oi_tui.engine.review.python.names import (
    CLASS,
    LOOSE,
    MEMBER,
    MODULE,
    OTHER,
    PATHS,
    PLAIN,
    UNKNOWN,
    find_least_known,
    is_harmless,
    is_odd,
)
from oi_tui.engine.review.python.syntax import (
    is_steady_variable,
    list_names,
    list_parameters,
    write_dotted,
)


class ExpressionChecker(CallChecker):
    """Evaluates expressions, and binds the targets of assignments."""

    def _require_plain(self, node: ast.expr) -> None:
        """Read an expression that must be made of known parts, because it is handed on."""
        before = len(self.findings)
        if self._evaluate(node) == PLAIN:
            return
        self.keeps_meanings = False
        if len(self.findings) == before:
            line, self._line = self._line, getattr(node, "lineno", self._line)
            self._note(write_dotted(node) or "a value that is not checked")
            self._line = line

    def _evaluate(self, node: ast.expr) -> str:
        """Evaluate an expression."""
        line, self._line = self._line, getattr(node, "lineno", self._line)
        kind = self._evaluate_node(node)
        self._line = line
        return kind

    def _evaluate_node(self, node: ast.expr) -> str:
        match node:
            case ast.Constant():
                return PLAIN
            case ast.Name(name):
                return self._evaluate_name(name)
            case ast.Attribute():
                return self._evaluate_member(node)
            case ast.Call():
                return self._evaluate_call(node)
            case ast.BinOp(left, _, right):
                return self._compute((left, right), by_methods=True)
            case ast.UnaryOp(ast.Not(), operand):
                self._evaluate(operand)
                return PLAIN
            case ast.UnaryOp(_, operand):
                return self._compute((operand,))
            case ast.Compare(left, operators, others):
                compares = not all(isinstance(item, ast.Is | ast.IsNot) for item in operators)
                return self._compute((left, *others), by_methods=compares, compares=True)
            case ast.BoolOp(_, values):
                return find_least_known([self._evaluate(item) for item in values])
            case ast.IfExp(test, body, orelse):
                self._evaluate(test)
                return find_least_known((self._evaluate(body), self._evaluate(orelse)))
            case ast.Tuple(parts) | ast.List(parts):
                return self._evaluate_all(parts)
            case ast.Set(parts):
                return self._evaluate_all(parts, compares=True)
            case ast.Dict(keys, values):
                pairs = list(zip(keys, values, strict=True))
                # The keys of `**other` get among those of the new one.
                compared = [value if key is None else key for key, value in pairs]
                held = self._evaluate_all([value for key, value in pairs if key is not None])
                return find_least_known((self._evaluate_all(compared, compares=True), held))
            case ast.Starred(value):
                return self._evaluate_item(value)
            case ast.Subscript(value, index):
                return self._evaluate_part(value, index)
            case ast.Slice(lower, upper, step):
                return self._evaluate_all([item for item in (lower, upper, step) if item is not None])
            case ast.JoinedStr(values):
                return self._evaluate_format(values)
            case ast.FormattedValue(value, _, spec):
                return self._evaluate_format((value, spec) if spec is not None else (value,))
            case ast.NamedExpr(target, value):
                kind = self._evaluate(value)
                self._assign(target, kind)
                return kind
            case ast.Lambda():
                return self._evaluate_lambda(node)
            case ast.ListComp(element, generators) | ast.SetComp(element, generators):
                self._check_generators(generators)
                return self._evaluate_all([element], compares=isinstance(node, ast.SetComp))
            case ast.GeneratorExp():
                return self._evaluate_generator(node)
            case ast.DictComp(key, value, generators):
                self._check_generators(generators)
                return find_least_known(
                    (self._evaluate_all([key], compares=True), self._evaluate_all([value]))
                )
            case ast.Await(value):
                # What is awaited is a function of the code itself, or one of the known ones of asyncio.
                self._require_plain(value)
                return PLAIN
            case ast.Yield(value):
                self._check_returned(value)
                return PLAIN
            case ast.YieldFrom(value):
                self._require_plain(value)
                return PLAIN
            case _:
                self._note(type(node).__name__.lower())
                return UNKNOWN

    def _evaluate_member(self, node: ast.Attribute) -> str:
        """Evaluate `value.name` as a value; a method that takes arguments by their places is loose."""
        dotted_name = write_dotted(node) or f".{node.attr}"
        kind = self._evaluate_value(self._evaluate_attribute(node), dotted_name)
        by_place = node.attr in known.BY_PLACE or node.attr in known.FEW_POSITIONS
        return LOOSE if kind == PLAIN and by_place and dotted_name != "str.title" else kind

    def _evaluate_format(self, parts: Iterable[ast.expr]) -> str:
        """Evaluate the parts of an f-string, which is a text whatever they are."""
        for part in parts:
            self._evaluate(part)
        return PLAIN

    def _evaluate_lambda(self, node: ast.Lambda) -> str:
        outermost = self._enter(node, {parameter.arg for parameter in list_parameters(node.args)})
        self._check_parameters(node.args)
        self._require_plain(node.body)
        self._in_function = not outermost
        return PLAIN

    def _evaluate_generator(self, node: ast.GeneratorExp) -> str:
        own = {name for part in node.generators for name in list_names(part.target)}
        outermost = self._enter(node, own)
        self._check_generators(node.generators)
        kind = self._evaluate_all([node.elt])
        self._in_function = not outermost
        return kind

    def _compute(self, nodes: Sequence[ast.expr], *, by_methods: bool = False, compares: bool = False) -> str:
        """Evaluate an operator: known for known or loose values.

        `by_methods`: classes may define it. Where it `compares`, the result has none of the values.
        """
        pairs = [self._evaluate_operand(node) for node in nodes]
        if by_methods and sum(not isinstance(node, ast.Constant) for node in nodes) > 1:
            # Only another list goes through the parts of a list: an object gets the whole.
            are_lists = all(isinstance(node, ast.Tuple | ast.List) for node in nodes)
            self._check_operands(parts if are_lists else whole for whole, parts in pairs)
        kinds = [parts if compares else whole for whole, parts in pairs]
        return UNKNOWN if UNKNOWN in kinds or PATHS in kinds else PLAIN

    def _evaluate_operand(self, node: ast.expr) -> tuple[str, str]:
        """Evaluate a value, and the parts of a list that is written out: an operator may go through these."""
        if not isinstance(node, ast.Tuple | ast.List):
            kind = self._evaluate(node)
            return kind, kind
        kinds = [self._evaluate(item) for item in node.elts]
        return PLAIN if all(kind == PLAIN for kind in kinds) else UNKNOWN, find_least_known(kinds)

    def _evaluate_all(self, nodes: Iterable[ast.expr], *, compares: bool = False) -> str:
        """Evaluate a collection: known if all its values are. Where it `compares`, it does so among them."""
        nodes = list(nodes)
        pairs = [self._evaluate_operand(node) for node in nodes]
        if compares:
            are_lists = all(isinstance(node, ast.Tuple | ast.List) for node in nodes)
            self._check_operands(parts if are_lists else whole for whole, parts in pairs)
        return PLAIN if all(whole == PLAIN for whole, _ in pairs) else UNKNOWN

    def _evaluate_item(self, node: ast.expr) -> str:
        """Evaluate what a collection has, such as a class of constants."""
        if self._find_own(node).startswith(CLASS):
            return PLAIN
        kind = self._evaluate(node)
        return kind if kind in (UNKNOWN, PATHS) else PLAIN

    def _evaluate_part(self, value: ast.expr, index: ast.expr) -> str:
        """Evaluate `value[index]`. Types may have anything between their brackets."""
        if self._is_plot_look(value, index):
            return PLAIN
        kind = self._evaluate(value)
        self._require_plain(index)
        return kind if kind in (UNKNOWN, PATHS) else PLAIN

    def _check_generators(self, generators: Iterable[ast.comprehension]) -> None:
        for generator in generators:
            if generator.is_async:
                self._note("async for")
            self._assign(generator.target, self._evaluate_item(generator.iter))
            for test in generator.ifs:
                self._evaluate(test)

    def _evaluate_attribute(self, node: ast.Attribute) -> str:
        """Evaluate `value.name`, which may be a module or a member of one."""
        name = node.attr
        own = self._find_own(node.value)
        if own.startswith(CLASS):
            # Its other methods could be called with anything in place of their object.
            known_member = has_data(own, name) or has_method(own, name)
            return PLAIN if known_member else self._note(write_dotted(node) or f".{name}")
        if has_data(own, name) or has_method(own, name):
            self._evaluate(node.value)
            return PLAIN
        owner = self._evaluate_owner(node.value)
        for mark in (MODULE, OTHER):
            if owner.startswith(mark):
                full = f"{owner.removeprefix(mark)}.{name}"
                if mark == MODULE and full in known.MODULES:
                    return MODULE + full
                return (MEMBER if mark == MODULE else OTHER) + full
        if name.startswith("_") and name != "__name__":
            return self._note(f".{name}")
        if name in known.FOREIGN:
            return UNKNOWN
        if owner == PATHS:
            return PLAIN if name in known.PATH_NAMES else UNKNOWN
        if owner == UNKNOWN:
            return UNKNOWN
        if name in known.ATTRIBUTES or (owner == PLAIN and name[0].isupper()):
            # A column of a table: the methods of what is known begin with a small letter.
            return PLAIN
        return LOOSE if owner == PLAIN or name in known.RESTRICTED else UNKNOWN

    def _evaluate_owner(self, node: ast.expr) -> str:
        """Evaluate the value in front of a dot, where modules may stand."""
        if isinstance(node, ast.Name):
            kind = self._find_meaning(node.id)
            if kind is not None and kind.startswith((MODULE, OTHER)):
                return kind
        elif isinstance(node, ast.Attribute):
            kind = self._evaluate_attribute(node)
            return (
                kind
                if kind.startswith((MODULE, OTHER))
                else self._evaluate_value(kind, write_dotted(node) or f".{node.attr}")
            )
        return self._evaluate(node)

    # -- targets

    def _evaluate_target(self, target: ast.expr) -> str:
        """Evaluate a target before an operator changes it."""
        if isinstance(target, ast.Name):
            kind = self._find_meaning(target.id) or PLAIN
            if kind == LOOSE:
                return LOOSE
            return PLAIN if is_harmless(kind) and not kind.startswith(CLASS) else UNKNOWN
        return PLAIN

    def _assign(self, target: ast.expr, kind: str) -> None:
        match target:
            case ast.Name(name):
                self._bind(name, kind)
            case ast.Starred(value):
                self._assign(value, kind)
            case ast.Tuple(parts) | ast.List(parts):
                for part in parts:
                    self._assign(part, PLAIN if kind == PLAIN else UNKNOWN)
            case ast.Subscript(value, index) if kind == PLAIN and self._is_plot_look(value, index):
                pass
            case ast.Subscript(value, index):
                self._require_plain(index)
                self._store(value, index)
                if kind != PLAIN:
                    self._note("…[…] = something not checked")
            case ast.Attribute(value) if kind == PLAIN and self._find_module(value) == PANDAS_DISPLAY:
                pass
            case ast.Attribute(value, name) if kind == PLAIN and self._may_set(value, name):
                if not self._find_own(value).startswith(CLASS):
                    self._evaluate(value)
            case ast.Attribute(value, name):
                plain = {self._evaluate(value), kind} == {PLAIN}
                if not plain or name not in known.SETTABLE:
                    self._note(f".{name} = …", steady=plain and not is_odd(name))
            case _:
                self._note("…  = …")

    def _may_set(self, value: ast.expr, name: str) -> bool:
        """Return whether it is data of a class of the code itself, or of an object of one."""
        own = self._find_own(value)
        return bool(own) and is_own_name(name) and not defines_method(own, name)

    def _is_plot_look(self, value: ast.expr, index: ast.expr) -> bool:
        """Return whether `value[index]` is a setting of matplotlib for what plots look like."""
        return is_plot_look(index) and self._find_module(value) in PLOT_SETTINGS

    def _find_module(self, node: ast.expr) -> str:
        """Return the full name of the known module or table of options that an expression is;
        "" for others.
        """
        if isinstance(node, ast.Name):
            kind = self._find_meaning(node.id) or ""
        elif write_dotted(node) and isinstance(node, ast.Attribute):
            kind = self._evaluate_attribute(node)
        else:
            return ""
        return kind.removeprefix(MODULE) if kind.startswith(MODULE) else ""

    def _store(self, value: ast.expr, index: ast.expr) -> None:
        """Into what is stored by an index: a value that is made of known parts."""
        dotted_name = write_dotted(value)
        if dotted_name == "os.environ" and self._find_meaning("os") == MODULE + "os":
            self._note("os.environ[…] = …", steady=is_steady_variable(index))
        elif self._evaluate(value) != PLAIN:
            self._note(f"{dotted_name or '…'}[…] = …")

    def _delete(self, target: ast.expr) -> None:
        match target:
            case ast.Name():
                pass
            case ast.Tuple(parts) | ast.List(parts):
                for part in parts:
                    self._delete(part)
            case ast.Subscript(value, index):
                self._require_plain(index)
                self._store(value, index)
            case _:
                self._note("del …")

    # -- functions

    def _enter(self, node: ast.AST, own: set[str]) -> bool:
        """Note which names of others a function goes by. Returns whether it is the outermost one."""
        if self._in_function:
            return False
        self._in_function = True
        for item in ast.walk(node):
            if isinstance(item, ast.Name) and item.id not in own:
                kind = self._find_meaning(item.id)
                self.relied_on[item.id] = "" if kind is None else kind
        return True

    def _check_parameters(self, arguments: ast.arguments) -> None:
        """Bind parameters; what they are when called is seen at the call."""
        for default in filter(None, (*arguments.defaults, *arguments.kw_defaults)):
            self._require_plain(default)
        for argument in list_parameters(arguments):
            if argument.annotation is not None:
                self._check_annotation(argument.annotation)
            self._bind(argument.arg, PLAIN)

    def _check_annotation(self, node: ast.expr) -> None:
        """Read the type of a value, which may be a class of the code itself."""
        calls = any(isinstance(item, ast.Call | ast.Lambda | ast.NamedExpr) for item in ast.walk(node))
        self._in_annotation = not calls
        self._evaluate(node)
        self._in_annotation = False

    def _check_returned(self, value: ast.expr | None) -> None:
        if value is not None:
            self._require_plain(value)
