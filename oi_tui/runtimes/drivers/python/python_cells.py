"""Compiles a cell: whole, or into statements that run one after the other."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import __future__

import _ast
import _warnings
import sys

#: Parse only, and let `await` stand at the top level; the numbers of `ast`, which is slow to import.
ONLY_TREE = 0x400
AWAIT = 0x2000
COROUTINE = 0x0080  # inspect.CO_COROUTINE
_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag

#: Magics that may be the only word of a cell without their `%`, which only show something. Some list files.
_COMMANDS = frozenset("pwd ls ll lf who whos who_ls hist history lsmagic magic quickref dhist dirs".split())
_LISTINGS = ("ls ", "ll ", "lf ")

_IGNORE = ("ignore", None, SyntaxWarning, None, 0)

#: What holds the value of a cell's last expression for a moment: no program can spell such a name.
VALUE = " value"

#: The text of each cell by its file name, for whoever asks `linecache`, be it imported by then or later.
_sources = {}
#: The cells that were run, by file name and text.
ran = []
#: The code that was given each file name.
_named = {}


def is_command(source, names):
    """Return whether a cell is nothing but such a magic: `pwd`, `ls -l`.

    A variable of the name comes first.
    """
    if len(source) > 80:
        return False
    words = source.split()
    if not words or words[0] not in _COMMANDS or words[0] in names or words[0] in vars(builtins):
        return False
    options = words[1:]
    return not options or (
        source.lstrip().startswith(_LISTINGS)
        and "\n" not in source.strip()
        and all(word[0] == "-" and word[1:].isalnum() for word in options)
    )


def name_of(number, source):
    """Name the file of a cell, and count how often other code had this number before, from 1.

    Code that was taken back leaves its functions behind: other code of the same number gets another name,
    so that tracebacks and `inspect` show the lines of neither for those of the other.
    """
    run = 1
    while _named.setdefault(make_file_name(number, run), source) != source:
        run += 1
    return make_file_name(number, run), run


def make_file_name(number, run):
    """Return the name of a file as tracebacks show it."""
    return "<cell {}>".format(number) if run == 1 else "<cell {}, run {}>".format(number, run)


def remember(name, source):
    """Let tracebacks and `inspect` find the lines of a cell."""
    linecache = sys.modules.get("linecache")
    if hasattr(linecache, "cache"):
        linecache.cache[name] = _make_cache_entry(name, source)
    else:
        _sources[name] = source


def fill(linecache):
    """Hand over what was remembered until `linecache` was imported."""
    while _sources:
        name, source = _sources.popitem()
        linecache.cache[name] = _make_cache_entry(name, source)


def _make_cache_entry(name, source):
    return len(source), None, _split_lines(source), name


def parse(source, name, futures):
    """Return the syntax tree of a cell. Raises SyntaxError."""
    return compile(source, name, "exec", ONLY_TREE | AWAIT | futures, True)


def compile_cell(tree, source, name, futures, shown="last_expr"):
    """Return the steps of a cell, ready to run, and the futures that the cell turns on from here.

    A cell that awaits nothing is one step, so that profilers and traces see nothing of ours between its
    statements. `shown` says whose values are shown, in the words of IPython's `ast_node_interactivity`.
    """
    # Compiled whole first, so that a mistake anywhere means that nothing runs.
    before, futures = futures, _check(tree, name, futures)
    # Each statement is compiled a second time, and what Python warns of was shown the first time. This leaves
    # the filters as they are for everybody else: told of a change, Python forgets what it has warned of.
    filters = (sys.modules.get("warnings") or _warnings).filters
    filters.insert(0, _IGNORE)
    shown = "none" if _ends_with_semicolon(source, tree) else shown
    try:
        steps = _compile_whole(tree, name, before | AWAIT, shown)
        steps = steps or list(_compile_steps(tree, name, before | AWAIT, shown))
    finally:
        filters.remove(_IGNORE)
    return steps, futures


def _check(tree, name, futures):
    """Compile a cell, to find its mistakes; the futures that are on after it.

    As in IPython, `from __future__ import` may stand below other statements of a cell.
    """
    rest = []
    for statement in tree.body:
        if isinstance(statement, _ast.ImportFrom) and statement.module == "__future__":
            code = compile(_ast.Module([statement], []), name, "exec", futures | AWAIT, True)
            futures |= code.co_flags & _FUTURES
        else:
            rest.append(statement)
    compile(_ast.Module(rest, []), name, "exec", futures | AWAIT, True)
    return futures


def _ends_with_semicolon(source, tree):
    """Return whether the cell's last statement ends with a semicolon, which says: do not show its value."""
    if not tree.body:
        return True
    last = tree.body[-1]
    lines = source.splitlines()
    line = (
        lines[last.end_lineno - 1].encode("utf-8", "surrogatepass") if last.end_lineno <= len(lines) else b""
    )
    rest = line[last.end_col_offset :].split(b"#")[0]
    return rest.strip().startswith(b";")


def _split_lines(source):
    """Return the lines as Python counts them, each with its end, which tracebacks reckon with."""
    import io

    lines = io.StringIO(source, None).readlines()
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return lines


def _compile_whole(tree, name, flags, shown):
    """Return the cell as a single step; None where its statements have to run one by one."""
    body = tree.body
    if (
        not body
        or shown not in ("none", "last_expr")
        or any(isinstance(part, _ast.ImportFrom) and part.module == "__future__" for part in body)
    ):
        return None
    last = body[-1]
    is_shown = shown != "none" and isinstance(last, _ast.Expr)
    if is_shown:
        place = {name: getattr(last, name) for name in last._attributes}
        body = [*body[:-1], _ast.Assign([_ast.Name(VALUE, _ast.Store(), **place)], last.value, **place)]
    code = compile(_ast.Module(body, []), name, "exec", flags, True)
    return None if code.co_flags & COROUTINE else [(_get_first_line(body[0]), code, is_shown)]


def _compile_steps(tree, name, flags, shown):
    """Return the cell's statements, each compiled: its line, its code, and whether its value is shown."""
    for statement in tree.body:
        is_last = statement is tree.body[-1]
        is_shown = shown == "all" or (is_last and shown != "none")
        if is_shown and isinstance(statement, _ast.Expr):
            expression = _ast.Expression(statement.value)
            yield statement.lineno, compile(expression, name, "eval", flags, True), True
            continue
        if is_shown and shown in ("all", "last"):
            # As at Python's own prompt, values within loops and conditions are shown as well.
            code = compile(_ast.Interactive([statement]), name, "single", flags, True)
        else:
            code = compile(_ast.Module([statement], []), name, "exec", flags, True)
        if isinstance(statement, _ast.ImportFrom):
            # It is on from here, as in IPython.
            flags |= code.co_flags & _FUTURES
        yield _get_first_line(statement), code, False
        target = _make_assigned_name(statement) if is_shown and shown == "last_expr_or_assign" else None
        if target is not None:
            yield statement.lineno, compile(target, name, "eval", flags, True), True


def _make_assigned_name(statement):
    """Return what the variable that a statement assigns to is read with; None for other statements."""
    if isinstance(statement, _ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    else:
        target = getattr(statement, "target", None)
    if not isinstance(target, _ast.Name) or isinstance(statement, (_ast.For, _ast.AsyncFor)):
        return None
    place = {"lineno": statement.lineno, "col_offset": target.col_offset}
    place.update(end_lineno=statement.end_lineno, end_col_offset=target.end_col_offset)
    return _ast.Expression(_ast.Name(target.id, _ast.Load(), **place))


def _get_first_line(statement):
    decorators = getattr(statement, "decorator_list", None)
    return decorators[0].lineno if decorators else statement.lineno
