"""Checks calls in Python code: the function and its arguments."""

import ast
import re
from collections.abc import Iterable

from oi_tui.engine.review.findings import Finding
from oi_tui.engine.review.python import allowlist as known
from oi_tui.engine.review.python import library_settings
from oi_tui.engine.review.python.classes import SPECIAL_METHODS, TAKERS, has_data, has_method, write_instance
from oi_tui.engine.review.python.names import (
    CLASS,
    COMPUTER,
    FUNCTION,
    INSTANCE,
    LOOSE,
    MEMBER,
    OTHER,
    PATHS,
    PLAIN,
    UNKNOWN,
    NameChecker,
    is_odd,
    is_steady,
)
from oi_tui.engine.review.python.syntax import (
    find_beginning,
    is_comparison,
    is_reduction,
    is_simple_format,
    is_simple_formula,
    list_argument_names,
    may_set_variables,
    write_dotted,
)
from oi_tui.engine.review.readable_files import explain_unreadable, may_be_read

#: A function of the computer object whose value is plain.
_LIST_OF_ELEMENTS = "computer.display.elements"


class CallChecker(NameChecker):
    """Reads calls, of functions that compute, of readers of files, and of what is not known."""

    def _evaluate_call(self, call: ast.Call) -> str:
        function = call.func
        match function:
            case ast.Name(name):
                return self._evaluate_name_call(call, name)
            case ast.Attribute():
                return self._evaluate_attribute_call(call, function)
            case ast.Lambda():
                self._evaluate(function)
                self._check_arguments(call)
                return PLAIN
            case _:
                self._evaluate(function)
                self._check_noted_arguments(call)
                return self._note("a call of a computed function")

    def _evaluate_name_call(self, call: ast.Call, name: str) -> str:
        kind = self._find_meaning(name)
        if kind == FUNCTION or self._find_own(call.func).startswith(CLASS):
            self._check_arguments(call, any_name=True)
            return PLAIN
        if kind is not None and kind.startswith((MEMBER, OTHER)):
            return self._evaluate_member_call(call, kind, name)
        if kind is not None:
            self._check_noted_arguments(call)
            return self._note(f"{name}(…)", ", which is a variable")
        if name == "open":
            return self._open(call)
        if name == "type" and len(call.args) == 1 and not call.keywords:
            self._evaluate(call.args[0])
            return UNKNOWN
        if name not in known.BUILTINS:
            self._check_noted_arguments(call)
            return self._note(f"{name}(…)", steady=name in known.STEADY_BUILTINS)
        reverses = all(keyword.arg == "reverse" for keyword in call.keywords)
        if name in known.ORDERING and reverses and len(call.args) == 1 and self._is_paths(call.args[0]):
            for keyword in call.keywords:
                self._require_plain(keyword.value)
            return self._evaluate(call.args[0])
        if name in TAKERS:
            rest = [item for item in call.args if not self._find_own(item).startswith(CLASS)]
            call = ast.copy_location(ast.Call(call.func, rest, call.keywords), call)
        self._check_arguments(call, any_value=name in known.SINKS, any_name=name == "dict")
        return PLAIN

    def _find_own(self, node: ast.expr) -> str:
        """Return the possible value of a class of the code itself, or of an object of one; ""
        for anything else.
        """
        match node:
            case ast.Name(name):
                return self._find_own_name(name)
            case ast.Call(ast.Name() as function):
                kind = self._find_own(function)
                return write_instance(kind) if kind.startswith(CLASS) else ""
            case _:
                return ""

    def _is_method(self, function: ast.Attribute) -> bool:
        """Return whether it is a method of a class of the code itself, or that of the class before it."""
        match function.value:
            case ast.Call(ast.Name("super"), [], []) if self._find_meaning("super") is None:
                own = self._receiver[1]
                return bool(own) and (function.attr in SPECIAL_METHODS or has_method(own, function.attr))
            case value:
                own = self._find_own(value)
                if not has_method(own, function.attr):
                    return False
                if own.startswith(INSTANCE):
                    self._evaluate(value)
                return True

    def _evaluate_attribute_call(self, call: ast.Call, function: ast.Attribute) -> str:
        if self._is_method(function):
            self._check_arguments(call, any_name=True)
            return PLAIN
        if function.attr in known.PATH_QUESTIONS | known.PATH_LISTERS and self._is_paths(function.value):
            return self._ask_path(call, function)
        kind = self._evaluate_attribute(function)
        dotted_name = write_dotted(function) or f".{function.attr}"
        if has_data(self._find_own(function.value), function.attr):
            self._check_noted_arguments(call)
            return self._note(f"{dotted_name}(…)", ", which is a variable")
        if dotted_name == _LIST_OF_ELEMENTS and self._find_meaning(COMPUTER) is None:
            self._note(f"{dotted_name}(…)", steady=self._check_noted_arguments(call))
            # Words and places of what is on the screen.
            return PLAIN
        if kind.startswith((MEMBER, OTHER)):
            return self._evaluate_member_call(call, kind, dotted_name)
        if kind == PLAIN:
            self._check_positions(call, (function.attr,), dotted_name)
            if function.attr in known.FACETS and all(map(self._is_drawing_or_constant, call.args)):
                call = ast.copy_location(ast.Call(call.func, [], call.keywords), call)
            self._check_arguments(call, any_name=function.attr == "assign")
            return PLAIN
        if kind == LOOSE and function.attr in known.RESTRICTED:
            return self._restrict(call, function, dotted_name)
        plain = self._check_noted_arguments(call) or (kind == UNKNOWN and function.attr in known.WRITERS)
        steady = plain and not is_odd(function.attr) and not may_set_variables(call, function.attr)
        return self._note(f"{dotted_name}(…)", steady=steady)

    def _evaluate_member_call(self, call: ast.Call, kind: str, shown: str) -> str:
        full = kind.removeprefix(MEMBER).removeprefix(OTHER)
        if (looks := library_settings.sets_looks(full, call)) is not None:
            plain = self._check_noted_arguments(call)
            return PLAIN if looks and plain else self._note(f"{shown}(…)")
        if kind.startswith(MEMBER):
            if full in known.READERS:
                return self._read_file(call)
            if full in known.LISTERS:
                return self._list_names(call)
            if full in known.DRAWN_TEXTS:
                return self._draw_text(call, shown)
            if full in known.MEMBERS:
                self._check_positions(call, (full, full.partition(".")[0], full.rpartition(".")[2]), shown)
                self._check_arguments(call, any_value=full in known.SINKS)
                return PLAIN
        if full in known.MAKERS:
            self._check_arguments(call)
            return PATHS if self._makes_inner_path(full, call) else UNKNOWN
        if full.startswith("statsmodels.formula."):
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            if not is_simple_formula(call.args[0] if call.args else keywords.get("formula")):
                self._check_noted_arguments(call)
                return self._note(f"{shown}(…)")
        keeps = full.partition(".")[0] in known.KEEPERS and not full.startswith("pandas.read_")
        plain = self._check_noted_arguments(call) or not keeps
        return self._note(f"{shown}(…)", steady=plain and is_steady(full))

    def _is_drawing_or_constant(self, node: ast.expr) -> bool:
        """Return whether it is a known function that draws, or the name of a column."""
        match node:
            case ast.Constant():
                return True
            case ast.Name(name):
                kind = self._find_meaning(name) or ""
            case ast.Attribute():
                kind = self._evaluate_attribute(node)
            case _:
                return False
        full = kind.removeprefix(MEMBER)
        return full in known.MEMBERS and full.startswith(("matplotlib.pyplot.", "seaborn."))

    def _check_positions(self, call: ast.Call, names: Iterable[str], shown: str) -> None:
        """Note a call with more arguments without names than the first known one of `names` may have."""
        few = next((known.FEW_POSITIONS[name] for name in names if name in known.FEW_POSITIONS), None)
        if few is not None and (
            len(call.args) > few or any(isinstance(item, ast.Starred) for item in call.args)
        ):
            self._note(f"{shown}(…)", f", with {few + 1} arguments without names")

    def _check_noted_arguments(self, call: ast.Call) -> bool:
        """Read what is given to a call that is noted itself. Returns whether it is made of known parts.

        Other things might be kept in a collection, and come out of it again as if they were known.
        """
        kinds = [self._evaluate(arg) for arg in (*call.args, *(keyword.value for keyword in call.keywords))]
        return all(kind == PLAIN for kind in kinds)

    def _check_arguments(self, call: ast.Call, *, any_value: bool = False, any_name: bool = False) -> None:
        """Read what is given to a call, and note what the call is not known to be harmless with."""
        for arg in (*call.args, *(keyword.value for keyword in call.keywords)):
            if any_value:
                self._evaluate(arg)
            else:
                self._require_plain(arg)
        for keyword in call.keywords:
            if keyword.arg is None:
                self._note("**…")
            elif any_value and keyword.arg == "raw":
                # What is displayed then is the code of a page.
                self._note("raw=…")
            elif not any_name and not self._is_known_keyword(keyword):
                self._note(f"{keyword.arg}=…")

    def _is_known_keyword(self, keyword: ast.keyword) -> bool:
        if keyword.arg in known.NESTED:
            names = list_argument_names(keyword.value)
            return names is not None and names <= known.KEYWORDS
        if (values := known.VALUES.get(keyword.arg or "")) is not None:
            return isinstance(keyword.value, ast.Constant) and keyword.value.value in values
        return keyword.arg in known.KEYWORDS

    def _restrict(self, call: ast.Call, function: ast.Attribute, shown: str) -> str:
        """Restrict calls of methods that do harm with some arguments."""
        match function.attr:
            case "format":
                fine = is_simple_format(function.value)
                self._check_arguments(call, any_name=fine)
            case "filter":
                fine = not call.args or (len(call.args) == 1 and self._is_filter(call.args[0]))
                self._check_arguments(call)
            case "query" | "eval":
                fine = len(call.args) == 1 and is_comparison(call.args[0])
                self._check_arguments(call)
            case "to_string" | "info":
                fine = not call.args
                self._check_arguments(call)
            case "update":
                # The text of a plot may be what is updated.
                fine = all(map(self._has_no_setting, call.args))
                self._check_arguments(call)
            case "pivot_table":
                fine = not call.args and all(
                    is_reduction(keyword.value) for keyword in call.keywords if keyword.arg == "aggfunc"
                )
                self._check_expressions(call, but="aggfunc")
            case _:
                fine = self._is_aggregation(call)
        return PLAIN if fine else self._note(f"{shown}(…)")

    def _is_filter(self, node: ast.expr) -> bool:
        """Return whether it is a function or a list, and not a text: groups take that for a method's name."""
        return isinstance(node, ast.Lambda | ast.List) or (
            isinstance(node, ast.Name) and self._computes(node)
        )

    def _has_no_setting(self, node: ast.expr) -> bool:
        """Return whether `update` takes no setting from it that starts a program, as `usetex`
        of matplotlib does.
        """
        match node:
            case ast.Dict(keys):
                return all(
                    isinstance(key, ast.Constant) and key.value not in known.HARMFUL_SETTINGS for key in keys
                )
            # Texts of plots take nothing but tables.
            case ast.List() | ast.Set() | ast.Tuple() | ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return True
            case ast.Call(ast.Name(name)):
                return name in known.LIST_MAKERS and self._find_meaning(name) is None
            case _:
                return isinstance(node, ast.Constant | ast.JoinedStr)

    def _check_expressions(self, call: ast.Call, but: str) -> None:
        for keyword in call.keywords:
            if keyword.arg not in known.KEYWORDS and keyword.arg != but:
                self._note(f"{keyword.arg}=…")
            self._require_plain(keyword.value)

    def _is_aggregation(self, call: ast.Call) -> bool:
        """Return whether a method is given what to compute as known names or functions,
        and nothing for these.
        """
        for arg in (*call.args, *(keyword.value for keyword in call.keywords)):
            self._require_plain(arg)
        keywords = {keyword.arg or "**": keyword.value for keyword in call.keywords}
        axis = keywords.pop("axis", None)
        keywords.pop("raw", None)
        keywords.pop("result_type", None)
        if axis is not None and not isinstance(axis, ast.Constant):
            return False
        if call.args:
            return len(call.args) == 1 and not keywords and self._computes(call.args[0])
        return (
            bool(keywords)
            and "**" not in keywords
            and "func" not in keywords
            and all(
                isinstance(item, ast.Tuple) and len(item.elts) == 2 and self._computes(item.elts[1])
                for item in keywords.values()
            )
        )

    def _computes(self, node: ast.expr) -> bool:
        """Return whether it names known computations, or is a function that was read."""
        match node:
            case ast.Lambda():
                return True
            case ast.Name(name):
                kind = self._find_meaning(name)
                return kind == FUNCTION or (kind is None and name in known.BUILTINS)
            case ast.Attribute():
                kind = self._evaluate_attribute(node)
                return kind.startswith(MEMBER) and kind.removeprefix(MEMBER) in known.MEMBERS
            case ast.List(parts) | ast.Tuple(parts):
                return all(map(self._computes, parts))
            case ast.Dict(keys, values):
                return None not in keys and all(map(self._computes, values))
            case _:
                return is_reduction(node)

    # -- files

    def _open(self, call: ast.Call) -> str:
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        mode = call.args[1] if len(call.args) > 1 else keywords.get("mode")
        reads = mode is None or (
            isinstance(mode, ast.Constant) and mode.value in ("r", "rt", "rb", "br", "tr")
        )
        odd = set(keywords) - {"file", "mode", "encoding", "errors", "newline"} or len(call.args) > 2
        for arg in (*call.args[1:], *keywords.values()):
            self._require_plain(arg)
        if not reads or odd:
            for arg in call.args[:1]:
                self._evaluate(arg)
            return self._note("open(…)", steady=True)
        self._check_path(call.args[0] if call.args else keywords.get("file"))
        return PLAIN

    def _read_file(self, call: ast.Call) -> str:
        first = call.args[0] if call.args else None
        rest = ast.Call(call.func, call.args[1:], call.keywords)
        if len(call.args) > 1:
            self._note("a second argument without a name")
        self._check_arguments(ast.copy_location(rest, call))
        if isinstance(first, ast.Call) and self._is_text_file(first):
            self._evaluate(first)
        else:
            self._check_path(first, remote=True)
        return PLAIN

    def _draw_text(self, call: ast.Call, shown: str) -> str:
        """Read a text that is drawn, or the name of a file or an address that has it."""
        text = call.args[0] if call.args else next((item.value for item in call.keywords), None)
        self._check_arguments(call)
        beginning = find_beginning(text) if text is not None and len(call.args) <= 1 else ""
        if beginning and not may_be_read(beginning, self._folder):
            return PLAIN
        if beginning and isinstance(text, ast.Constant):
            self._check_path(text, remote=True)
            return PLAIN
        return self._note(f"{shown}(…)", ", which may read a file or an address")

    def _is_text_file(self, call: ast.Call) -> bool:
        if isinstance(call.func, ast.Name):
            return self._find_meaning(call.func.id) == MEMBER + "io.StringIO"
        return (
            isinstance(call.func, ast.Attribute)
            and self._evaluate_attribute(call.func) == MEMBER + "io.StringIO"
        )

    def _check_path(self, node: ast.expr | None, *, remote: bool = False) -> None:
        """Note the file that is read unless it is a plain one of the working directory."""
        name = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if node is not None:
            self._evaluate(node)
        if explain_unreadable(name, self._folder) or (remote and "::" in name):
            self.findings.append(Finding("reads", name, self._line))

    def _is_paths(self, node: ast.expr) -> bool:
        """Return whether it is a path of the working directory or a list of such, seen without reading it."""
        match node:
            case ast.Name(name):
                return self._find_meaning(name) == PATHS
            case ast.Subscript(value):
                return self._is_paths(value)
            case ast.Call(ast.Name(name), [value]) if name in known.ORDERING:
                return self._find_meaning(name) is None and self._is_paths(value)
            case ast.Call(ast.Attribute(value, name)) if name in known.PATH_LISTERS:
                return self._is_paths(value)
            case ast.Call(function):
                root, _, rest = write_dotted(function).partition(".")
                kind = self._find_meaning(root) if root else None
                full = f"{kind.removeprefix(OTHER)}.{rest}".strip(".") if kind else ""
                return full in known.MAKERS and self._makes_inner_path(full, node)
            case _:
                return False

    def _makes_inner_path(self, full: str, call: ast.Call) -> bool:
        """Return whether it makes a path of the working directory, whose name the code writes."""
        if full == "pathlib.Path.cwd":
            return not call.args and not call.keywords
        return (
            full == "pathlib.Path"
            and not call.keywords
            and (not call.args or (len(call.args) == 1 and self._is_inner_name(call.args[0])))
        )

    def _is_inner_name(self, node: ast.expr) -> bool:
        """Return whether it is the literal name of something in the working directory,
        or a pattern for such.
        """
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            return False
        return not explain_unreadable(re.sub(r"[*?]", "x", node.value), self._folder, listing=True)

    def _ask_path(self, call: ast.Call, function: ast.Attribute) -> str:
        """Check a call that asks for a path of the working directory, or lists it; no content is read."""
        paths = self._evaluate(function.value)
        if explain_unreadable(".", self._folder, listing=True):
            fine = False
        elif function.attr in ("glob", "rglob"):
            fine = len(call.args) == 1 and not call.keywords and self._is_inner_name(call.args[0])
        else:
            fine = not call.args and not call.keywords
        if not fine:
            self._check_noted_arguments(call)
            return self._note(f"{write_dotted(function) or function.attr}(…)", steady=True)
        return paths if function.attr in known.PATH_LISTERS else PLAIN

    def _list_names(self, call: ast.Call) -> str:
        first = call.args[0] if len(call.args) == 1 else None
        if call.keywords or len(call.args) > 1:
            self._check_arguments(call)
            return self._note("a list of files", steady=True)
        name = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
        if first is not None:
            self._evaluate(first)
            pattern = re.sub(r"[*?]", "x", name)
            if explain_unreadable(pattern, self._folder, listing=True):
                self.findings.append(Finding("reads", name, self._line))
        return PLAIN
