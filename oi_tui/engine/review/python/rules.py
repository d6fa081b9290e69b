"""Rules for Python code."""

import ast
import re
import shlex
import warnings

from oi_tui.engine.review import notebook_rules, sql_rules
from oi_tui.engine.review.findings import Finding, Kind, find_hosts, find_private
from oi_tui.engine.review.python import call_table as table
from oi_tui.engine.review.python.references import References
from oi_tui.engine.review.python.written_files import COPIES, complete_name, find_named_file, find_replaced
from oi_tui.engine.review.shell import rules as shell_rules

_SUBPROCESSES = ("run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput")
#: The modes of `open` that write.
_WRITING = re.compile(r"[rbt]*[wax+][rbtwax+]*")
#: The tools of the computer object that act on more than files, and functions that do more than their tool.
_COMPUTER: dict[str, Kind] = {
    # The folder `desktop` holds what mouse, keyboard and screen are made of.
    **dict.fromkeys(("mouse", "keyboard", "os.activate", "act", "desktop"), "controls"),
    **dict.fromkeys(("display", "screenshot", "view", "vision", "os.active_window"), "screen"),
    **dict.fromkeys(("clipboard", "os.get_selected_text"), "clipboard"),
    **dict.fromkeys(("mail.send", "sms.send"), "sends"),
    **dict.fromkeys(("mail", "sms", "calendar", "contacts", "personal"), "personal"),
    **dict.fromkeys(("calendar.create_event", "files.edit", "skills.new_skill"), "writes"),
    "calendar.delete_event": "deletes",
    "browser": "network",
    **dict.fromkeys(("terminal", "run", "exec", "skills.run", "skills.import_skills"), "programs"),
    "terminal.sudo_install": "rights",
}
#: What is shown where code keeps the computer object, or hands it on, so that its use cannot be followed.
_WHOLE_COMPUTER = "the whole object computer"
#: Functions that only tell about what they are given.
_TELLING = frozenset({"dir", "help", "id", "print", "repr", "str", "type"})


def scan(code: str) -> list[Finding] | None:
    """Find what the code does, as far as it shows; None when it is not Python, or nested too deep.

    "overwrites" is what it replaces if it is there.
    """
    if notebook_rules.has_notebook_prompt(code):
        code = notebook_rules.strip_prompts(code)
    rest, of_the_cell = notebook_rules.open_cell(code)
    tree, findings = _parse(rest)
    if tree is None:
        bare = notebook_rules.strip_prompts(code)
        return scan(bare) if bare != code else None
    reader = _Visitor()
    try:
        reader.visit(tree)
    except RecursionError:
        return None
    return sorted([*of_the_cell, *findings, *reader.found], key=lambda entry: entry.line)


def _parse(code: str) -> tuple[ast.AST | None, list[Finding]]:
    """Return the tree, without the lines that are no Python, and what these do."""
    tree = _parse_tree(code)
    if tree is not None:
        return tree, []
    code, findings = notebook_rules.replace_magics(code)
    return _parse_tree(code), findings


def _parse_tree(code: str) -> ast.AST | None:
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Visitor:
    """Goes through a tree and notes calls, by the names that imports gave."""

    def __init__(self) -> None:
        self.found: list[Finding] = []
        #: Parts of longer names of the computer object, which are noted as a whole.
        self._reached: set[ast.expr] = set()
        self._references = References()
        #: Names that the code gives a value itself.
        self._stored: set[str] = set()
        self._names = self._references.names

    def visit(self, tree: ast.AST) -> None:
        """Note all that the tree does."""
        # Imports first: a function may use what is imported below it.
        nodes = list(ast.walk(tree))
        self._references.learn(nodes)
        for node in nodes:
            if (
                isinstance(node, ast.ImportFrom)
                and any(name.name == "*" for name in node.names)
                and _find_part(node.module or "") is not None
            ):
                self._note("controls", _WHOLE_COMPUTER, node)
        self._follow_computer(nodes)
        callees = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        #: Parts of a longer name, which is noted as a whole.
        inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            if isinstance(node, ast.Call):
                self._call(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self._find_text(node)
            elif isinstance(node, ast.Assign | ast.AugAssign):
                self._store(node)
            if isinstance(node, ast.Attribute | ast.Name):
                self._note_computer_tool(node)
                if isinstance(node.ctx, ast.Load) and id(node) not in callees and id(node) not in inner:
                    self._note_reference(node)
                self._note_hidden_access(node)

    def _note_hidden_access(self, node: ast.Attribute | ast.Name) -> None:
        """Note a name through which code gets at functions that it does not name."""
        name = node.attr if isinstance(node, ast.Attribute) else node.id
        if name in table.HIDDEN:
            self._note("hidden", name, node)

    def _note_reference(self, node: ast.Attribute | ast.Name) -> None:
        """Note a function that is not called here but kept, or handed on to be called."""
        name = self._find_full_name(node)
        kind = table.CALLS.get(name)
        if isinstance(node, ast.Name) and "." not in name and node.id in self._stored:
            return
        if kind is not None and self._is_meant(name):
            self._note(kind, f"by {name}", node)

    def _is_meant(self, name: str) -> bool:
        """Return whether a short name of a module is that of the module, and not of a variable."""
        root = name.partition(".")[0]
        return root not in table.SHORT_NAMES or root in self._references.imported

    def _store(self, node: ast.Assign | ast.AugAssign) -> None:
        """Note what is put into the environment of later programs, and in place of Python's own functions."""
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Subscript) and self._find_full_name(target.value) == "os.environ":
                name = self._references.text(target.slice)
                if name in table.LOADING_VARIABLES:
                    self._note("system", name, target)
            elif isinstance(target, ast.Attribute) and self._find_full_name(target) in table.HOOKS:
                self._note("runs text", self._find_full_name(target), target)

    def _follow_computer(self, nodes: list[ast.AST]) -> None:
        """Learn other names that code gives to the computer object; note where it keeps it or hands it on."""
        #: Where the object stands in a way that does nothing yet: before its tools, and for words about it.
        followed: set[ast.AST] = set()
        for node in nodes:
            if isinstance(node, ast.Attribute | ast.Expr):
                followed.add(node.value)
            elif isinstance(node, ast.Call) and self._find_full_name(node.func) in _TELLING:
                followed.update(node.args)
            elif isinstance(node, ast.Assign) and all(
                isinstance(target, ast.Name) for target in node.targets
            ):
                name = self._find_full_name(node.value)
                if _find_part(name) is not None:
                    self._names.update(
                        {target.id: name for target in node.targets if isinstance(target, ast.Name)}
                    )
        self._stored = stored = {
            node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        stored |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        for node in nodes:
            if isinstance(node, ast.Subscript) and _looks_up_computer(node):
                self._note("controls", _WHOLE_COMPUTER, node)
            if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            if isinstance(node, ast.Name) and node.id in stored:
                # Another name, which was noted with its value, or a thing of the code's own: a table's row.
                continue
            if node not in followed and _find_part(self._find_full_name(node)) == "":
                self._note("controls", _WHOLE_COMPUTER, node)

    def _note(self, kind: Kind, what: str, node: ast.expr | ast.stmt) -> None:
        self.found.append(Finding(kind, what, node.lineno))

    def _find_text(self, node: ast.Constant) -> None:
        text = str(node.value)
        for host in find_hosts(text):
            self._note("network", host, node)
        if len(text) < 1_000 and "\n" not in text and (which := find_private(text)):
            self._note("secrets", which, node)

    def _call(self, call: ast.Call) -> None:
        name = self._find_full_name(call.func)
        kind = table.CALLS.get(name) or next(
            (kind for start, kind in table.CALLS.items() if _begins(name, start)), None
        )
        if kind and not self._is_meant(name):
            kind = None
        if name in table.OPENERS or (isinstance(call.func, ast.Attribute) and call.func.attr == "open"):
            self._open(call, name)
        elif name == "yaml.load":
            if "Safe" not in ast.unparse(call):
                self._note("runs text", "", call)
        elif kind == "programs":
            self._note_program(call, name)
        elif kind == "writes":
            if name not in table.NO_FILE:
                self._write(call, name, self._read_file_argument(call, table.FILE_AT.get(name, 0)))
        elif kind:
            self._note(
                kind, "" if kind in ("network", "runs text") else self._read_first_argument(call), call
            )
            if name in COPIES:
                self._write(call, name, self._read_file_argument(call, 1))
        elif isinstance(call.func, ast.Attribute):
            self._note_method(call, call.func)

    def _note_computer_tool(self, node: ast.Attribute | ast.Name) -> None:
        """Note a tool of the computer object, however it is reached."""
        path = _find_part(self._find_full_name(node))
        if not path:
            return
        if isinstance(node, ast.Attribute):
            # What is walked through from the outside in is noted once, with its longest name.
            self._reached.add(node.value)
        whole = ".".join(path.split(".")[:2])
        kind = _COMPUTER.get(whole) or _COMPUTER.get(whole.partition(".")[0])
        if kind and node not in self._reached:
            self._note(kind, f"computer.{whole}", node)

    def _note_method(self, call: ast.Call, function: ast.Attribute) -> None:
        kind = table.METHODS.get(function.attr)
        of_texts = isinstance(function.value, ast.Attribute) and function.value.attr == "str"
        if kind is None or of_texts:
            self._note_method_by_arguments(call, function)
            return
        if function.attr in table.UNNAMED or self._is_path(function.value):
            what = self._read_literal(function.value)
        else:
            what = self._read_file_argument(call, 0)
            if function.attr in table.MAYBE and not (call.args or find_named_file(call)):
                return
        if kind == "writes":
            self._write(call, function.attr, what)
        else:
            self._note(kind, what, call)

    def _note_method_by_arguments(self, call: ast.Call, function: ast.Attribute) -> None:
        """Note methods that do something by what they are given."""
        texts = [self._references.text(arg) for arg in call.args]
        first = texts[0] if texts else ""
        if function.attr in table.STATEMENTS:
            for item in sql_rules.scan(first)[0] if sql_rules.is_statement(first) else ():
                self._note(item.kind, item.what, call)
        elif function.attr in table.COMMANDS and isinstance(function.value, ast.Call):
            self._note("programs", shell_rules.find_program(first), call)
            for item in shell_rules.scan(first):
                self._note(item.kind, item.what, call)
        elif function.attr == "save" and re.fullmatch(r"[^\n]*\.\w{1,8}", first):
            self._write(call, function.attr, first)
        elif function.attr == "kill" and isinstance(function.value, ast.Call):
            self._note("processes", "", call)
        elif function.attr in ("rename", "replace") and len(texts) == 1 and self._names_path(function.value):
            self._note("moves", self._read_literal(function.value), call)
            self._write(call, function.attr, first)
        elif function.attr == "to_string" and len(texts) == 1 and first:
            self._write(call, function.attr, first)
        elif function.attr in table.GIVEN_NAMES:
            for text in texts:
                if kind := table.METHODS.get(text) or table.CALLS.get(f"os.{text}"):
                    self._note(kind, f"by {text}", call)

    def _write(self, call: ast.Call, function: str, file: str) -> None:
        """Note a file that a function writes, and what it replaces where that is there."""
        file = complete_name(function, file)
        self._note("writes", file, call)
        for name in find_replaced(function, file, call, self._read_literal):
            self._note("overwrites", name, call)

    def _is_path(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self._find_full_name(node.func).endswith("Path")

    def _names_path(self, node: ast.expr) -> bool:
        return self._is_path(node) or bool(self._read_literal(node))

    def _open(self, call: ast.Call, name: str) -> None:
        method = name not in table.OPENERS
        candidates = [*call.args[0 if method else 1 :], *(k.value for k in call.keywords if k.arg == "mode")]
        mode = next((self._read_literal(item) for item in candidates), "")
        if not _WRITING.fullmatch(mode.partition(":")[0]):
            return
        owner = call.func.value if method and isinstance(call.func, ast.Attribute) else None
        if owner is not None and not self._names_path(owner):
            return
        file = self._read_file_argument(call, 0) if owner is None else self._read_literal(owner)
        self._note("writes", file, call)
        if "w" in mode:
            self._note("overwrites", file, call)

    def _note_program(self, call: ast.Call, name: str) -> None:
        first = call.args[0] if call.args else None
        if isinstance(first, ast.List | ast.Tuple):
            words = [self._read_literal(elt) for elt in first.elts]
            command = shlex.join(words)
        else:
            command = self._read_literal(first) if first is not None else ""
        if name.startswith("subprocess.") and name.rpartition(".")[2] not in _SUBPROCESSES:
            return
        findings = shell_rules.scan(command)
        self._note("programs", shell_rules.find_program(command), call)
        for item in findings:
            self._note(item.kind, item.what, call)

    def _read_first_argument(self, call: ast.Call) -> str:
        return self._read_literal(call.args[0]) if call.args else ""

    def _read_file_argument(self, call: ast.Call, at: int) -> str:
        """Return the file that is given at a place, or by a keyword; "" where that is not known."""
        node = call.args[at] if len(call.args) > at else find_named_file(call)
        return self._read_literal(node) if node is not None else ""

    def _read_literal(self, node: ast.expr) -> str:
        return self._references.text(node)

    def _find_full_name(self, node: ast.expr) -> str:
        return self._references.find_full_name(node)


def _find_part(name: str) -> str | None:
    """Return which part of the computer object a full name means: "" for all of it; None for no part."""
    parts = name.split(".")
    while parts and parts[0] in ("oi_tui", "builtins") and "computer" in parts[1:2]:
        parts = parts[1:]
    if parts[0] != "computer":
        return None
    # The package has the same name as the object in it.
    return ".".join(parts[2:] if parts[1:2] == ["computer"] else parts[1:])


def _looks_up_computer(node: ast.Subscript) -> bool:
    """Return whether this looks the object up by a text: `globals()["computer"]`."""
    return (
        isinstance(node.slice, ast.Constant)
        and node.slice.value == "computer"
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) in ("globals", "locals", "vars")
    )


def _begins(name: str, start: str) -> bool:
    return name.startswith(start) and (start.endswith(".") or start in table.BEGINNINGS)
