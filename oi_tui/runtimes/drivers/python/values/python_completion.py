"""Completions for code that is being typed: names, attributes, columns, keys, arguments, modules and files.

No code of the program runs for it: properties and `__getattr__` of the program's own classes are not called.
"""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import ast
import inspect
import itertools
import json
import keyword
import os
import re
import sys
import types
import warnings

import python_call_results as results
from python_records import list_fields
from python_signatures import (
    FUNCTIONS,
    PYTHON_FUNCTIONS,
    describe_call,
    format_default,
    format_signature,
    list_parameters,
    read_documentation,
)
from python_static import MISSING, find_static, is_of, list_classes, list_names_of_class, own_names
from python_variables import TABLES, _is_known, _name_of, _summarise

#: How many completions are listed, and how many keys or members of one value are looked at.
_MOST, _LOOKED_AT = 100, 5_000
#: How many keys of one value are compared with what is typed.
_COMPARED = 200_000
_LONGEST = 200
_WORD = re.compile(r"[^\W\d]\w*\Z")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
#: The parts of code in which an expression is looked for; a number begins none, for it may go on.
_TOKEN = re.compile(
    r"""(?P<text>[rRbBuUfF]{0,2}(?:\'{3}.*?\'{3}|"{3}.*?"{3}|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"))
    |(?P<name>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<space>\#[^\n]*)""",
    re.X | re.S,
)
_IMPORT = re.compile(r"\s*import\s+(?:[\w.]+(?:\s+as\s+\w+)?\s*,\s*)*(?P<module>[\w.]*)\Z")
_FROM = re.compile(r"\s*from\s+(?P<module>[\w.]*)\Z")
_FROM_IMPORT = re.compile(
    r"\s*from\s+(?P<module>[\w.]+)\s+import\s+\(?(?:\w+(?:\s+as\s+\w+)?\s*,\s*)*(?P<name>\w*)\Z"
)
_OPENING, _CLOSING = "([{", ")]}"
#: What is before the quotation mark of a text with expressions in braces.
_FORMATTED = re.compile(r"(?<!\w)(?:[fF][rR]?|[rR][fF])\Z")
#: Names of magics that begin a line, or with `%%` the cell.
_MAGIC = re.compile(r"\s*(%%?)(\w*)\Z")
#: Methods of tables that take the name of a file, and functions that do.
_WRITING, _READING = re.compile("to_|write_|sink_|save"), re.compile("read_|scan_|open|load")
#: Libraries with functions and classes that name columns of another call.
_WITH_COLUMNS = ("altair", "plotnine", "polars", "pyspark", "seaborn")
#: Lines whose words are files: those for a shell, and those of magics that take a file.
_SHELL_LINE = re.compile(
    r"\s*(?:(?:[\w.,* ]+=\s*)?!|(?:[\w.,* ]+=\s*)?%(?:sx|system)\s"
    r"|%(?:cat|cd|cp|edit|less|ll|load|loadpy|ls|mkdir|more|mv|pfile|pushd|rm|rmdir|run)\s"
    r"|%%(?:file|writefile)\s)"
)
_SHELL_CELL = re.compile(r"\s*%%(?:!|bash|sh|sx|system|zsh)\b")
#: A word of a shell in which signs are behind backslashes; the first one of a command is a program.
_SHELL_WORD = re.compile(r"(?<=[\s=<>])(?:[^\s\\'\"=<>|&;()]|\\.)*\Z")
_SHELL_SIGN = re.compile(r"([\s'\"$&;()\\*?<>|`#!\[\]{}])")
#: What stands for a data frame: its rows by label, and its groups.
_ABOUT_A_FRAME = ("_LocIndexer", "_AtIndexer", "DataFrameGroupBy")


class _UnknownError(Exception):
    """The value cannot be read without running the program's code."""


def answer(names, words, list_magics):
    """Return what completes the code before the caret, which is hexadecimal JSON, in the order of use.

    In the result, `typed` is the number of characters before the caret that a completion replaces.
    `list_magics` gives the names of magics for lines, and of those for cells.
    """
    before = json.loads(bytes.fromhex(words).decode())["before"]
    prefix, completions, note = "", [], ""
    try:
        with warnings.catch_warnings():
            # Deprecation warnings belong to the run, not to the typing.
            warnings.simplefilter("ignore")
            prefix, completions, note = _Completer(names, before, list_magics).find()
    except Exception:
        # A library's value that is broken has no completions; whoever types continues.
        pass
    offers, seen = [], set()
    for text, value in completions:
        if len(offers) < _MOST and text not in seen and text.isprintable() and len(text) <= _LONGEST:
            seen.add(text)
            offers.append([text, _describe_value(value)])
    return {"typed": len(prefix), "offers": offers, "note": note}


#: What the search for a value raises where the code does not say enough.
_UNKNOWN = (_UnknownError, AttributeError, LookupError, TypeError, ValueError)


class _CaretContext:
    """Where the caret is: in a comment, in a text, and within which brackets."""

    def __init__(self, before):
        self.quote, self.text_from, self.is_comment = "", 0, False
        #: Where brackets are open, and the commas directly within each.
        self.brackets, self.commas = [], {}
        at = 0
        while at < len(before):
            at = self._advance(before, at)

    def _advance(self, before, at):
        character = before[at]
        if self.is_comment:
            self.is_comment = character != "\n"
        elif self.quote:
            if character == "\\":
                return at + 2
            if before.startswith(self.quote, at):
                at += len(self.quote)
                self.quote = ""
                return at
            if character == "\n" and len(self.quote) == 1:
                self.quote = ""
        elif character == "#":
            self.is_comment = True
        elif character in "'\"":
            self.quote = character * 3 if before.startswith(character * 3, at) else character
            self.text_from = at + len(self.quote)
            return self.text_from
        elif character in _OPENING:
            self.brackets.append(at)
            self.commas[at] = []
        elif character == "," and self.brackets:
            self.commas[self.brackets[-1]].append(at)
        elif character in _CLOSING and self.brackets:
            self.brackets.pop()
        return at + 1


class _Completer:
    def __init__(self, names, before, list_magics):
        self._names = names
        self._before = before
        self._list_magics = list_magics
        self._place = _CaretContext(before)
        self._line = before[before.rfind("\n") + 1 :]

    def find(self):
        """Return the beginning that is typed, the completions with their values, and a remark."""
        if self._place.is_comment:
            return "", [], ""
        if self._place.quote:
            return self._complete_in_text()
        magics = self._find_magics()
        if magics is not None:
            return (*magics, "")
        path = self._find_path()
        if path is None and self._is_in_shell_cell():
            return "", [], ""
        if path is not None:
            completions = _files(re.sub(r"\\(.)", r"\1", path))
            return path.rpartition("/")[2], [(_escape(name), facts) for name, facts in completions], ""
        modules = self._list_modules()
        if modules is not None:
            return (*modules, "")
        word = _WORD.search(self._before)
        prefix = word.group() if word else ""
        head = self._before[: len(self._before) - len(prefix)].rstrip(" \t")
        if head.endswith(".") and not head.endswith(".."):
            value = self._find_value(head[:-1])
            columns = self._list_columns(prefix) if results.is_column_maker(value) else []
            return prefix, _select_matches(prefix, [*columns, *list_members(value, prefix)]), ""
        if not prefix and self._line.rstrip(" ")[-1:] not in ("(", ","):
            return "", [], ""
        arguments, note = self._list_arguments()
        completions = _select_matches(prefix, arguments)
        if prefix:
            completions += _select_matches(prefix, self._list_names(prefix))
        return prefix, completions, note

    def _list_columns(self, typed):
        """List the columns of the table whose method is called that can be written as attributes."""
        keys = self._keys(typed) or ()
        return [(name, value) for name, value in keys if type(name) is str and name.isidentifier()]

    def _list_names(self, typed):
        """Return the program's names, those of Python, and those of the code that was not run yet."""
        yield from ((name, value) for name, value in list(self._names.items()) if type(name) is str)
        yield from ((name, value) for name, value in vars(builtins).items())
        yield from ((name, _KEYWORD) for name in keyword.kwlist)
        code = self._before[: len(self._before) - len(typed)]
        yield from ((name, _WRITTEN) for name in _IDENTIFIER.findall(code) if len(name) > 2)

    # -- values

    def _find_value(self, text):
        """Return the value of the expression at the end of the text. Raises _UnknownError."""
        node = find_expression(text)
        if node is None:
            raise _UnknownError
        return self._evaluate(node)

    def _evaluate(self, node):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            for names in (self._names, vars(builtins)):
                if node.id in names:
                    return names[node.id]
        elif isinstance(node, ast.Attribute):
            return get_attribute(self._evaluate(node.value), node.attr)
        elif isinstance(node, ast.Subscript):
            # Python 3.8 has the key in a node of its own.
            key = node.slice.value if type(node.slice).__name__ == "Index" else node.slice
            return self._find_item(self._evaluate(node.value), key)
        elif isinstance(node, ast.Call):
            return self._find_result(node)
        elif type(node) in _DISPLAYS:
            return _DISPLAYS[type(node)]()
        raise _UnknownError

    def _find_item(self, value, key):
        """Return what brackets give: the value under a key that is written out, or a part of a table."""
        try:
            key = ast.literal_eval(key)
        except ValueError:
            return _require_known(results.find_part(value, key))
        if type(value) in (dict, list, tuple, str):
            return value[key]
        if type(value) is results.Instance or type(key) is list:
            return _require_known(results.find_part(value, key))
        if _is_known(value):
            return value[key]
        raise _UnknownError

    def _find_result(self, node):
        """Return what a call returns, as far as its class is known without the call."""
        owner = self._evaluate(node.func.value) if isinstance(node.func, ast.Attribute) else None
        function = self._evaluate(node.func) if owner is None else get_attribute(owner, node.func.attr)
        if is_of(function, type):
            return results.Instance(function)
        return _require_known(results.find_result(function, owner))

    # -- in a text

    def _complete_in_text(self):
        prefix = self._before[self._place.text_from :]
        inner = self._find_expression(prefix)
        if inner is not None:
            return _Completer(self._names, inner, self._list_magics).find()
        if "\n" in prefix:
            return "", [], ""
        if self._is_query():
            return (*self._complete_query(prefix), "")
        keys = self._keys(prefix)
        if keys is not None:
            return prefix, _select_matches(prefix, [pair for pair in keys if type(pair[0]) is str]), ""
        return prefix.rpartition("/")[2], list(_files(prefix)), ""

    def _find_expression(self, typed):
        """Return the unfinished expression in the last brace of an f-string; None outside of one."""
        start = self._place.text_from - len(self._place.quote)
        brace = typed.replace("{{", "  ").rfind("{")
        if brace < 0 or "}" in typed[brace:] or not _FORMATTED.search(self._before[:start]):
            return None
        return typed[brace + 1 :]

    def _is_query(self):
        """Return whether the text is a condition on columns, as in `sales.query("`."""
        bracket = self._place.brackets[-1] if self._place.brackets else len(self._before)
        node = (
            find_expression(self._before[:bracket].rstrip(" \t"))
            if self._before[bracket:][:1] == "("
            else None
        )
        return isinstance(node, ast.Attribute) and node.attr in ("eval", "query")

    def _complete_query(self, typed):
        """Return the beginning of a name in a condition, and the columns, some of which need backticks."""
        is_quoted = typed.count("`") % 2
        word = _WORD.search(typed)
        typed = typed.rpartition("`")[2] if is_quoted else word.group() if word else ""
        keys = [pair for pair in self._keys(typed) or () if type(pair[0]) is str]
        return typed, _select_matches(typed, [pair for pair in keys if is_quoted or pair[0].isidentifier()])

    def _keys(self, typed):
        """Return the keys or columns of the value in whose brackets the text is, or whose method is called.

        None where a text is no key: a file may be meant.
        """
        for bracket in reversed(self._place.brackets):
            head = self._before[:bracket].rstrip(" \t")
            node = find_expression(head)
            if node is None:
                continue
            if self._before[bracket] == "(":
                keys = self._list_keys_for_call(node, bracket, typed)
                if keys or not self._names_columns(node):
                    return keys
                continue
            try:
                return _list_keys(self._evaluate(node), typed)
            except _UNKNOWN:
                continue
        return None

    def _list_keys_for_call(self, node, bracket, typed):
        """List what a text can name in a call: keys or columns of the called object, or of an argument."""
        if isinstance(node, ast.Attribute) and not _WRITING.match(node.attr):
            try:
                keys = _list_keys(self._evaluate(node.value), typed, called=True)
            except _UNKNOWN:
                keys = []
            if keys:
                return keys
        texts = [self._before[bracket + 1 : comma] for comma in self._place.commas[bracket]]
        arguments = [find_expression(text) for text in texts]
        while isinstance(node, (ast.Attribute, ast.Call)):
            # As in `Chart(sales).encode(x="`.
            if isinstance(node, ast.Call):
                arguments += [*node.args, *(keyword.value for keyword in node.keywords)]
                node = node.func
            else:
                node = node.value
        for argument in arguments:
            try:
                value = None if argument is None else self._evaluate(argument)
            except _UNKNOWN:
                continue
            if _is_frame(value):
                return _list_keys(value, typed)
        return None

    def _names_columns(self, node):
        """Return whether the function says which columns another call takes, as in `sales.select(col("`."""
        try:
            function = self._evaluate(node)
        except _UNKNOWN:
            return False
        kind = function if is_of(function, (type, types.FunctionType)) else type(function)
        module = find_static(kind, "__module__")
        library = module.partition(".")[0] if type(module) is str else ""
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        return library in _WITH_COLUMNS and not _READING.match(name)

    # -- calls

    def _list_arguments(self):
        """List the arguments of the call that is being written, and give its signature in a line."""
        if not self._place.brackets or self._before[self._place.brackets[-1]] != "(":
            return [], ""
        try:
            function = self._find_value(self._before[: self._place.brackets[-1]].rstrip(" \t"))
            parameters, line = describe_call(function)
        except (_UnknownError, TypeError, ValueError):
            return [], ""
        call_text = self._before[self._place.brackets[-1] :]
        arguments = [
            (parameter.name + "=", _Default(parameter.default))
            for parameter in parameters
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
            and not re.search(r"\b{}\s*=".format(re.escape(parameter.name)), call_text)
        ]
        return arguments, line

    # -- magics and modules

    def _find_magics(self):
        match = _MAGIC.match(self._line)
        if not match:
            return None
        lines, cells = self._list_magics()
        begins = self._before.strip() == self._line.strip()
        names = lines if match.group(1) == "%" else cells if begins else ()
        return match.group(2), _select_matches(match.group(2), [(name, _MAGIC_WORD) for name in names])

    def _is_in_shell_cell(self):
        """Return whether the line is one for a shell, as all are of a `%%bash` cell, also in a heredoc."""
        return "\n" in self._before and _SHELL_CELL.match(self._before) is not None

    def _find_path(self):
        """Return the beginning of a file's name on a line for a shell, or of a magic that takes a file.

        None on other lines, and where a value of the program is written, as in `!cat {name}`.
        """
        word = _SHELL_WORD.search(self._line)
        is_command = _SHELL_LINE.match(self._line) or self._is_in_shell_cell()
        if not is_command or not word or word.group().startswith(("$", "{", "-")):
            return None
        return word.group()

    def _list_modules(self):
        line = self._line
        match = _FROM_IMPORT.match(line)
        if match:
            module, prefix = match.group("module"), match.group("name")
            here = sys.modules.get(module)
            inner = [(name, _MODULE) for name in _list_submodules(module)]
            return prefix, _select_matches(
                prefix, [*(list_members(here) if here is not None else ()), *inner]
            )
        match = _IMPORT.match(line) or _FROM.match(line)
        if not match:
            return None
        package, _, prefix = match.group("module").rpartition(".")
        names = _list_submodules(package) if package else {*sys.builtin_module_names, *_list_submodules("")}
        return prefix, _select_matches(prefix, [(name, _MODULE) for name in sorted(names)])


class _Default:
    """The default value of an argument."""

    def __init__(self, value):
        self.value = value


class _Description:
    """The description of a completion without a value."""

    def __init__(self, facts):
        self.facts = facts


_KEYWORD, _WRITTEN, _MODULE = _Description("keyword"), _Description(""), _Description("module")
_MAGIC_WORD = _Description("magic")
#: What texts, lists and the like that are written out are, for their methods.
_DISPLAYS = {
    ast.JoinedStr: str,
    ast.List: list,
    ast.ListComp: list,
    ast.Dict: dict,
    ast.DictComp: dict,
    ast.Set: set,
    ast.SetComp: set,
    ast.Tuple: tuple,
}


def _require_known(value):
    """Return the value, if there is one. Raises _UnknownError."""
    if value is None:
        raise _UnknownError
    return value


def find_expression(text):
    """Find the expression at the end of a text: names, attributes, items and calls; None without one."""
    starts, start, at, is_joined = [], None, 0, False
    while at < len(text):
        if token := _TOKEN.match(text, at):
            word = token.group()
            if token.lastgroup == "name":
                if keyword.iskeyword(word) and word not in ("None", "True", "False"):
                    start = None
                elif not is_joined:
                    start = at
                is_joined = False
            elif token.lastgroup == "text":
                start, is_joined = at, False
            elif token.lastgroup != "space":
                start, is_joined = None, False
            at = token.end()
            continue
        character = text[at]
        if character == ".":
            is_joined = start is not None
        elif character in _OPENING:
            starts.append(at if start is None or character == "{" else start)
            start = None
        elif character in _CLOSING:
            start, is_joined = starts.pop() if starts else None, False
        elif not character.isspace() or (character == "\n" and not starts):
            start, is_joined = None, False
        at += 1
    if start is None or is_joined:
        return None
    try:
        return ast.parse("({}\n)".format(text[start:]), mode="eval").body
    except (SyntaxError, ValueError):
        return None


_FILE, _FOLDER = _Description("file"), _Description("folder")


def list_members(value, typed=""):
    """Return the attributes of a value with what they hold, columns first; no code of the program runs.

    Of very many columns, only those that begin with what is typed are there.
    """
    members, first = {}, {}
    if type(value) is results.Instance:
        members = dict.fromkeys(list_fields(value.kind), _WRITTEN)
        for kind in list_classes(value.kind):
            members = {**list_names_of_class(kind), **members}
    elif is_of(value, type):
        for kind in list_classes(value):
            members = {**list_names_of_class(kind), **members}
    elif issubclass(type(value), types.ModuleType):
        members = dict(types.ModuleType.__dict__["__dict__"].__get__(value))
    else:
        members = own_names(value)
        for kind in list_classes(type(value)):
            members = {**list_names_of_class(kind), **members}
        if _is_frame(value) or _find_variables(value):
            first = dict(_list_keys(value, typed))
            members = {**first, **members}
    names = [name for name in members if type(name) is str and name.isidentifier()]
    return [
        (name, members[name])
        for name in sorted(names, key=lambda name: (name.startswith("_"), name not in first, name.lower()))
    ]


def get_attribute(value, name):
    """Get the value of an attribute. Raises _UnknownError where code of the program would have to run."""
    if type(value) is results.Instance:
        return _require_known(results.find_attribute(value, name))
    if _is_known(value) and not is_of(value, type):
        return getattr(value, name)
    attribute = find_static(value, name)
    if attribute is MISSING or is_of(attribute, property):
        raise _UnknownError
    if is_of(attribute, (classmethod, staticmethod)):
        return attribute.__func__
    if is_of(attribute, (types.GetSetDescriptorType, types.MemberDescriptorType)):
        return attribute.__get__(value, type(value))
    if is_of(attribute, PYTHON_FUNCTIONS) and not is_of(value, (type, types.ModuleType)):
        return types.MethodType(attribute, value)
    return attribute


def _is_frame(value):
    return _is_known(value) and _name_of(type(value)) in (*TABLES, "Table", "RecordBatch")


def _find_variables(value):
    """Return the variables of a dataset of xarray, or the coordinates of its arrays; {} for other values."""
    attribute = {"Dataset": "_variables", "DataArray": "_coords"}.get(_name_of(type(value)))
    if attribute is None or not str(find_static(type(value), "__module__")).startswith("xarray."):
        return {}
    variables = get_attribute(value, attribute)
    return variables if type(variables) is dict else {}


def _list_keys(value, typed="", called=False):
    """Return the keys of a dictionary, the columns of a table, the fields of an array.

    Of very many, only those that begin with what is typed are there.
    """
    if type(value) is results.Instance:
        value = value.table
    if _is_known(value) and _name_of(type(value)) in _ABOUT_A_FRAME:
        value = value.obj
    if _is_frame(value):
        names = getattr(value, "column_names", None) if hasattr(value, "column_names") else value.columns
        types_of = getattr(value, "dtypes", None)
        types_of = list(types_of) if types_of is not None else [""] * len(names)
        pairs = ((_get_first_part(name), kind) for name, kind in zip(list(names), types_of))
        return [
            (name, _Description("column {}".format(kind).strip())) for name, kind in _shorten(pairs, typed)
        ]
    if is_of(value, dict):
        return _shorten(dict.items(value), typed)
    if called:
        return []
    if variables := _find_variables(value):
        return [(name, _Description("variable of the dataset")) for name in variables]
    if value is os.environ:
        return [(name, _Description("variable of the environment")) for name in sorted(value)]
    if _is_known(value) and _name_of(type(value)) == "ndarray" and value.dtype.names:
        return [(name, _Description("field {}".format(value.dtype[name]))) for name in value.dtype.names]
    if _is_known(value) and _name_of(type(value)) == "Series":
        return [(_get_first_part(name), _Description("label")) for name in list(value.index[:_LOOKED_AT])]
    return []


def _shorten(pairs, typed):
    """Return some of the pairs, of very many those whose names begin with what is typed, in any case."""
    compared = list(itertools.islice(pairs, _COMPARED))
    if len(compared) > _LOOKED_AT:
        typed = typed.lower()
        compared = [pair for pair in compared if type(pair[0]) is str and pair[0].lower().startswith(typed)]
    return compared[:_LOOKED_AT]


def _get_first_part(name):
    """Return the part of a name of several parts that is written in brackets."""
    return name[0] if type(name) is tuple and name else name


def _select_matches(typed, pairs):
    """Return those that begin with what is typed; private ones only where an underscore is typed."""
    pairs = list(pairs)
    is_private = typed.startswith("_")
    exact = [
        pair for pair in pairs if pair[0].startswith(typed) and (is_private or not pair[0].startswith("_"))
    ]
    lower = typed.lower()
    alike = [
        pair
        for pair in pairs
        if typed and pair[0].lower().startswith(lower) and not pair[0].startswith((typed, "_"))
    ]
    return [pair for pair in exact + alike if pair[0] != typed]


def _escape(name):
    """Return a file's name as it is written in a shell."""
    return _SHELL_SIGN.sub(r"\\\1", name)


def is_folder(entry):
    """Return whether an entry is a folder, and no link that leads in a circle or where we may not look."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _files(typed):
    folder, _, name = typed.rpartition("/")
    place = os.path.expanduser(folder + "/") if folder or typed.startswith("/") else "."
    try:
        with os.scandir(place) as entries:
            entries_seen = [(entry.name, is_folder(entry)) for entry, _ in zip(entries, range(_LOOKED_AT))]
    except OSError:
        return
    for entry, is_place in sorted(entries_seen):
        if entry.startswith(name) and (name.startswith(".") or not entry.startswith(".")):
            yield entry + "/" * is_place, _FOLDER if is_place else _FILE


def _list_submodules(package):
    """Return the modules in a package that is imported, or those at the top."""
    import pkgutil

    if not package:
        return {module.name for module in pkgutil.iter_modules()}
    here = sys.modules.get(package)
    path = types.ModuleType.__dict__["__dict__"].__get__(here).get("__path__") if here is not None else None
    if path is None and here is None and "." not in package:
        folders = [os.path.join(folder, package) for folder in sys.path if isinstance(folder, str)]
        path = [folder for folder in folders if os.path.isdir(folder)]
    return {module.name for module in pkgutil.iter_modules(list(path))} if path else set()


def _describe_value(value):
    """Return a few words about what a completion stands for."""
    if is_of(value, _Description):
        return value.facts
    if is_of(value, _Default):
        return "argument" if value.value is inspect.Parameter.empty else format_default(value.value)
    kind = _name_of(type(value))
    try:
        if is_of(value, (classmethod, staticmethod)):
            value = value.__func__
        if is_of(value, FUNCTIONS):
            line = format_signature("", list_parameters(value), read_documentation(value))
            return ("function " + line)[:_LONGEST]
        if is_of(value, property):
            return "property"
        if is_of(value, types.ModuleType):
            return "module"
        return _summarise(value, kind)[:_LONGEST]
    except Exception:
        return kind
