"""Rules for Python code."""

import ast
import re
import shlex
import warnings
from collections.abc import Iterator

from oi_tui.engine.review import notebook_rules, shell_rules
from oi_tui.engine.review.findings import Finding, Kind, hosts, private

#: Calls by their full name, or by its beginning where it ends with a dot.
_CALLS: dict[str, Kind] = {
    **dict.fromkeys(
        ("os.remove", "os.unlink", "os.rmdir", "os.removedirs", "shutil.rmtree", "send2trash.send2trash"),
        "deletes",
    ),
    **dict.fromkeys(("os.rename", "os.renames", "os.replace", "shutil.move"), "moves"),
    **dict.fromkeys(("os.system", "os.popen", "pty.spawn", "os.startfile", "webbrowser.open"), "programs"),
    **dict.fromkeys(("subprocess.", "os.exec", "os.spawn", "os.posix_spawn", "pexpect."), "programs"),
    **dict.fromkeys(("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"), "programs"),
    **dict.fromkeys(("os.kill", "os.killpg", "signal.pthread_kill"), "processes"),
    **dict.fromkeys(("os.chmod", "os.chown", "os.lchown", "shutil.chown"), "system"),
    **dict.fromkeys(("os.setuid", "os.setgid", "os.seteuid"), "rights"),
    **dict.fromkeys(("eval", "exec", "compile", "__import__", "runpy."), "runs text"),
    **dict.fromkeys(
        ("pickle.load", "pickle.loads", "marshal.loads", "dill.load", "joblib.load"), "runs text"
    ),
    **dict.fromkeys(("importlib.import_module", "ctypes."), "runs text"),
    **dict.fromkeys(
        ("requests.", "httpx.", "aiohttp.", "urllib.request.", "urllib3.", "socket.", "http.client."),
        "network",
    ),
    **dict.fromkeys(("ftplib.", "smtplib.", "imaplib.", "poplib.", "telnetlib.", "paramiko."), "network"),
    **dict.fromkeys(("websockets.", "websocket.", "boto3.", "yfinance.", "huggingface_hub."), "network"),
    **dict.fromkeys(
        ("os.mkdir", "os.makedirs", "shutil.copy", "shutil.copyfile", "shutil.copytree"), "writes"
    ),
    **dict.fromkeys(
        ("shutil.copy2", "os.truncate", "os.symlink", "os.link", "shutil.unpack_archive"), "writes"
    ),
    **dict.fromkeys(("numpy.save", "numpy.savetxt", "numpy.savez", "json.dump", "pickle.dump"), "writes"),
    **dict.fromkeys(("urllib.request.urlretrieve",), "network"),
}
#: Where the file stands among the arguments of a call that writes one; the first otherwise.
_FILE_AT = {"shutil.copy": 1, "shutil.copyfile": 1, "shutil.copytree": 1, "shutil.copy2": 1}
#: Calls that write to something opened elsewhere.
_NO_FILE = {"json.dump", "pickle.dump"}
#: Methods of whatever object, by name. "replace" and "rename" belong to texts and tables too often.
_METHODS: dict[str, Kind] = {
    **dict.fromkeys(("unlink", "rmdir", "rmtree"), "deletes"),
    **dict.fromkeys(("write_text", "write_bytes", "touch", "mkdir", "savefig", "symlink_to"), "writes"),
    **dict.fromkeys(("to_csv", "to_excel", "to_parquet", "to_pickle", "to_feather", "to_hdf"), "writes"),
    **dict.fromkeys(
        ("to_json", "to_html", "write_html", "write_image", "write_csv", "write_parquet"), "writes"
    ),
    **dict.fromkeys(("chmod", "lchmod"), "system"),
    **dict.fromkeys(("terminate", "send_signal"), "processes"),
}
#: Methods that give a text back where no file is named.
_MAYBE = {"to_csv", "to_json", "to_html", "write_csv"}
#: Where names of calls begin that are many.
_BEGINNINGS = ("os.exec", "os.spawn", "os.posix_spawn")
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


def look(code: str) -> list[Finding] | None:
    """Find what the code does, as far as it shows; None when it is not Python."""
    code, of_the_cell = notebook_rules.open_cell(code)
    tree, found = _parse(code)
    if tree is None:
        return None
    reader = _Visitor()
    reader.visit(tree)
    return sorted([*of_the_cell, *found, *reader.found], key=lambda entry: entry.line)


def _parse(code: str) -> tuple[ast.AST | None, list[Finding]]:
    """The tree, without the lines that are no Python, and what these do."""
    tree = _tree(code)
    if tree is not None:
        return tree, []
    code, found = notebook_rules.take_out(code)
    return _tree(code), found


def _tree(code: str) -> ast.AST | None:
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
        self._names: dict[str, str] = {
            "np": "numpy",
            "plt": "matplotlib.pyplot",
            "pd": "pandas",
            "sp": "subprocess",
        }

    def visit(self, tree: ast.AST) -> None:
        """Note all that the tree does."""
        # Imports first: a function may use what is imported below it.
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.Import):
                for name in node.names:
                    self._names[name.asname or name.name.partition(".")[0]] = (
                        name.name if name.asname else name.name.partition(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom) and node.module:
                for name in node.names:
                    self._names[name.asname or name.name] = f"{node.module}.{name.name}"
                    if name.name == "*" and _of_computer(node.module) is not None:
                        self._note("controls", _WHOLE_COMPUTER, node)
        self._follow_computer(nodes)
        for node in nodes:
            if isinstance(node, ast.Call):
                self._call(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self._text(node)
            if isinstance(node, ast.Attribute | ast.Name):
                self._computer(node)

    def _follow_computer(self, nodes: list[ast.AST]) -> None:
        """Learn other names that code gives to the computer object; note where it keeps it or hands it on."""
        #: Where the object stands in a way that does nothing yet: before its tools, and for words about it.
        followed: set[ast.AST] = set()
        for node in nodes:
            if isinstance(node, ast.Attribute | ast.Expr):
                followed.add(node.value)
            elif isinstance(node, ast.Call) and self._full_name(node.func) in _TELLING:
                followed.update(node.args)
            elif isinstance(node, ast.Assign) and all(
                isinstance(target, ast.Name) for target in node.targets
            ):
                name = self._full_name(node.value)
                if _of_computer(name) is not None:
                    self._names.update(
                        {target.id: name for target in node.targets if isinstance(target, ast.Name)}
                    )
        stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        stored |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        for node in nodes:
            if isinstance(node, ast.Subscript) and _looks_up_computer(node):
                self._note("controls", _WHOLE_COMPUTER, node)
            if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            if isinstance(node, ast.Name) and node.id in stored:
                # Another name, which was noted with its value, or a thing of the code's own: a table's row.
                continue
            if node not in followed and _of_computer(self._full_name(node)) == "":
                self._note("controls", _WHOLE_COMPUTER, node)

    def _note(self, kind: Kind, what: str, node: ast.expr | ast.stmt) -> None:
        self.found.append(Finding(kind, what, node.lineno))

    def _text(self, node: ast.Constant) -> None:
        text = str(node.value)
        for host in hosts(text):
            self._note("network", host, node)
        if len(text) < 1_000 and "\n" not in text and (which := private(text)):
            self._note("secrets", which, node)

    def _call(self, call: ast.Call) -> None:
        name = self._full_name(call.func)
        kind = _CALLS.get(name) or next(
            (kind for start, kind in _CALLS.items() if _begins(name, start)), None
        )
        if name == "open" or (isinstance(call.func, ast.Attribute) and call.func.attr == "open"):
            self._open(call, name)
        elif kind == "programs":
            self._program(call, name)
        elif kind == "writes":
            at = _FILE_AT.get(name, 0)
            if name not in _NO_FILE:
                self._note("writes", _literal(call.args[at]) if len(call.args) > at else "", call)
        elif kind:
            self._note(kind, "" if kind in ("network", "runs text") else self._first(call), call)
        elif isinstance(call.func, ast.Attribute):
            self._method(call, call.func)

    def _computer(self, node: ast.Attribute | ast.Name) -> None:
        """Note a tool of the computer object, however it is reached."""
        path = _of_computer(self._full_name(node))
        if not path:
            return
        if isinstance(node, ast.Attribute):
            # What is walked through from the outside in is noted once, with its longest name.
            self._reached.add(node.value)
        whole = ".".join(path.split(".")[:2])
        kind = _COMPUTER.get(whole) or _COMPUTER.get(whole.partition(".")[0])
        if kind and node not in self._reached:
            self._note(kind, f"computer.{whole}", node)

    def _method(self, call: ast.Call, function: ast.Attribute) -> None:
        kind = _METHODS.get(function.attr)
        if kind is None:
            return
        if isinstance(function.value, ast.Call) and self._full_name(function.value.func).endswith("Path"):
            what = self._first(function.value)
        elif function.attr in ("write_text", "write_bytes", "touch", "mkdir", "unlink", "rmdir", "terminate"):
            what = ""
        else:
            what = self._first(call)
            named = (
                what or call.args or any(keyword.arg and "path" in keyword.arg for keyword in call.keywords)
            )
            if function.attr in _MAYBE and not named:
                return
        self._note(kind, what, call)

    def _open(self, call: ast.Call, name: str) -> None:
        method = name not in ("open", "io.open", "codecs.open", "builtins.open")
        given = [*call.args[0 if method else 1 :], *(k.value for k in call.keywords if k.arg == "mode")]
        mode = next((_literal(item) for item in given), "")
        if not _WRITING.fullmatch(mode):
            return
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if method and isinstance(owner, ast.Call) and self._full_name(owner.func).endswith("Path"):
            self._note("writes", self._first(owner), call)
        elif not method:
            self._note("writes", self._first(call), call)

    def _program(self, call: ast.Call, name: str) -> None:
        first = call.args[0] if call.args else None
        if isinstance(first, ast.List | ast.Tuple):
            words = [_literal(elt) for elt in first.elts]
            command = shlex.join(words)
        else:
            command = _literal(first) if first is not None else ""
        if name.startswith("subprocess.") and name.rpartition(".")[2] not in _SUBPROCESSES:
            return
        seen = shell_rules.look(command)
        self._note("programs", shell_rules.program(command), call)
        for item in seen:
            self._note(item.kind, item.what, call)

    def _first(self, call: ast.Call) -> str:
        return _literal(call.args[0]) if call.args else ""

    def _full_name(self, node: ast.expr) -> str:
        parts = list(_parts(node))
        if not parts:
            return ""
        head, *rest = reversed(parts)
        return ".".join([self._names.get(head, head), *rest])


def _of_computer(name: str) -> str | None:
    """What of the computer object a full name means: "" for all of it; None for something else."""
    parts = name.split(".")
    while parts and parts[0] in ("oi_tui", "builtins") and "computer" in parts[1:2]:
        parts = parts[1:]
    if parts[0] != "computer":
        return None
    # The package has the same name as the object in it.
    return ".".join(parts[2:] if parts[1:2] == ["computer"] else parts[1:])


def _looks_up_computer(node: ast.Subscript) -> bool:
    """Whether this looks the object up by a text: `globals()["computer"]`."""
    return (
        isinstance(node.slice, ast.Constant)
        and node.slice.value == "computer"
        and isinstance(node.value, ast.Call)
        and list(_parts(node.value.func))[-1:] in (["globals"], ["locals"], ["vars"])
    )


def _parts(node: ast.expr) -> Iterator[str]:
    """The names of `a.b.c`, from the last to the first; nothing for other expressions."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        yield from (*parts, node.id)


def _begins(name: str, start: str) -> bool:
    return name.startswith(start) and (start.endswith(".") or start in _BEGINNINGS)


def _literal(node: ast.expr) -> str:
    """A text that stands in the code as it is, also within `Path(…)`; else ""."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute) and node.args:
        named = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        if named in ("Path", "expanduser"):
            return _literal(node.args[0])
    return ""
