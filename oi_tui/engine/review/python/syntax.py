"""Questions about the syntax of Python code, without the meaning of its names."""

import ast
import re
import string
import warnings

from oi_tui.engine.review.python import allowlist as known

_LONGEST_QUERY = 2_000
#: What a text for `query` and `eval` of pandas is made of, where it does nothing but compare and compute.
_COMPARING = (
    *(ast.Module, ast.Expr, ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Name),
    *(ast.Constant, ast.List, ast.Tuple, ast.operator, ast.boolop, ast.unaryop, ast.cmpop, ast.expr_context),
)


def list_parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Return the parameters of a function, of every kind."""
    parameters = (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    )
    return [item for item in parameters if item is not None]


def list_names(target: ast.expr) -> set[str]:
    """Return the names that an assignment to this target binds."""
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, ast.Starred):
        return list_names(target.value)
    if isinstance(target, ast.Tuple | ast.List):
        return {name for part in target.elts for name in list_names(part)}
    return set()


def list_locals(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the names that are certainly a function's own: its parameters,
    and what its statements assign to.
    """
    local_names = {parameter.arg for parameter in list_parameters(function.args)}
    shared: set[str] = set()
    waiting: list[ast.stmt] = list(function.body)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Assign(targets):
                local_names.update(name for target in targets for name in list_names(target))
            case ast.AugAssign(target) | ast.For(target) | ast.AnnAssign(target):
                local_names.update(list_names(target))
            case ast.Global(names) | ast.Nonlocal(names):
                shared.update(names)
        for part in ("body", "orelse", "finalbody"):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                waiting += getattr(node, part, [])
    return local_names - shared


#: What formulas of statistics call: marks of columns, and functions of numpy.
_FORMULA_FUNCTIONS = {"C", "I", "np.exp", "np.log", "np.log10", "np.log1p", "np.log2", "np.sqrt"}


def write_dotted(node: ast.expr) -> str:
    """Return `a.b.c` as it is written; "" for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < 6:
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def list_argument_names(node: ast.expr) -> set[str] | None:
    """Return the keys of `{"size": 9}` or `dict(size=9)`; None for anything else."""
    match node:
        case ast.Dict(keys) if all(
            isinstance(key, ast.Constant) and isinstance(key.value, str) for key in keys
        ):
            return {str(key.value) for key in keys if isinstance(key, ast.Constant)}
        case ast.Call(ast.Name("dict"), [], named) if all(item.arg is not None for item in named):
            return {str(item.arg) for item in named}
        case _:
            return None


def is_reduction(node: ast.expr) -> bool:
    """Return whether it names computations of pandas that are known, such as `mean`."""
    match node:
        case ast.Constant(str(name)):
            return name in known.REDUCTIONS
        case ast.List(parts):
            return all(map(is_reduction, parts))
        case ast.Dict(keys, values):
            return None not in keys and all(map(is_reduction, values))
        case _:
            return False


def is_simple_format(node: ast.expr) -> bool:
    """Return whether it is a text whose fields name no attribute or item of what is put into them."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return False
    try:
        fields = list(string.Formatter().parse(node.value))
    except ValueError:
        return False
    return all(
        not re.search(r"[.\[{]", f"{name or ''}") and "{" not in (spec or "") for _, name, spec, _ in fields
    )


def is_comparison(node: ast.expr) -> bool:
    """Return whether it is a text in which pandas finds only columns, values and operators.

    An attribute, a call or a variable (`@x`) in such a text may be anything.
    """
    if (
        not (isinstance(node, ast.Constant) and isinstance(node.value, str))
        or len(node.value) > _LONGEST_QUERY
    ):
        return False
    text = re.sub(r"`[^`\n]*`", "c", node.value)
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(isinstance(item, _COMPARING) for item in ast.walk(tree)) and all(
        not item.id.startswith("__") for item in ast.walk(tree) if isinstance(item, ast.Name)
    )


def is_steady_variable(node: ast.expr) -> bool:
    """Return whether it is the written name of a variable that changes what no other name means."""
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and known.STEADY_VARIABLES.fullmatch(node.value) is not None
    )


def may_set_variables(call: ast.Call, method: str) -> bool:
    """Return whether a method may set variables of the environment that change what other names mean.

    Their names have capital letters only.
    """
    if method not in ("setdefault", "update"):
        return False
    keys: list[ast.expr | None] = [ast.Constant(keyword.arg) for keyword in call.keywords]
    for argument in call.args[:1]:
        keys += argument.keys if isinstance(argument, ast.Dict) else [argument]
    return not all(
        isinstance(key, ast.Constant)
        and (str(key.value) != str(key.value).upper() or is_steady_variable(key))
        for key in keys
    )


def is_simple_formula(node: ast.expr | None) -> bool:
    """Return whether it is the text of a formula of statistics with only columns and known functions.

    What else stands in such a text is evaluated as Python code.
    """
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return False
    calls = set(re.findall(r"([\w.]+)\s*\(", node.value))
    return re.fullmatch(r"[\w\s~+\-*:/.()]*", node.value) is not None and calls <= _FORMULA_FUNCTIONS


def find_beginning(node: ast.expr) -> str:
    """Return what is written at the beginning of a text that the code puts together; "" where nothing is."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr([first, *_]):
            return find_beginning(first)
        case ast.BinOp(left, ast.Add() | ast.Mod()):
            return find_beginning(left).partition("%")[0]
        case ast.Call(ast.Attribute(text, "format")):
            return find_beginning(text).partition("{")[0]
        case _:
            return ""
