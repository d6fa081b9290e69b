"""The modules of the Python driver, which find each other by name across its folders."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from oi_tui.runtimes.language import DRIVERS

_FOLDER = DRIVERS / "python"
#: Programs: the first starts the driver, the second is the main module of a spawned process.
_PROGRAMS = {"python_start", "python_spawned"}


def test_every_module_is_found_in_its_folder_and_has_a_name_of_its_own() -> None:
    files = [path for path in sorted(_FOLDER.rglob("python_*.py")) if path.stem not in _PROGRAMS]
    names = [path.stem for path in files]
    assert len(set(names)) == len(names)
    code = (
        "import sys\n"
        f"sys.path.insert(0, {str(_FOLDER)!r})\n"
        "from python_driver import import_quietly\n"
        "sys.path.pop(0)\n"
        f"for name in {names}: print(import_quietly(name).__file__)\n"
    )
    output = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert output.stderr == ""
    assert output.stdout.splitlines() == [str(path) for path in files]


def test_no_folder_of_the_driver_has_more_modules_than_one_look_takes_in() -> None:
    folders = {path.parent for path in _FOLDER.rglob("*.py")}
    assert max(len(list(folder.glob("*.py"))) for folder in folders) <= 25


def test_a_name_that_is_asked_of_a_module_by_its_name_is_there() -> None:
    """`import_quietly("python_tables").inline` is seen by no type checker, and fails in a cell only."""
    wrong, count = [], 0
    names = {path.stem: list_names(path) for path in _FOLDER.rglob("python_*.py")}
    for path in sorted(_FOLDER.rglob("python_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for module, name, line in list_asked_names(tree):
            if module in names:
                count += 1
                if name not in names[module]:
                    wrong.append(f"{path.name}:{line} asks {module} for {name}")
    assert wrong == []
    assert count > 100


def list_names(path: Path) -> set[str]:
    """Return the names that a module binds, anywhere outside of its functions and classes."""
    names = {"__file__", "__name__"}
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        if isinstance(node, ast.Global):
            names.update(node.names)
        nodes.extend(ast.iter_child_nodes(node))
    return names


def list_asked_names(tree: ast.AST) -> Iterator[tuple[str, str, int]]:
    """Yield what code asks of modules: the module, the name and the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (module := find_module(node.value)):
            yield module, node.attr, node.lineno
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name, node.lineno) for alias in node.names)
        if isinstance(node, ast.FunctionDef):
            held = {
                target.id: module
                for item in ast.walk(node)
                if isinstance(item, ast.Assign) and (module := find_module(item.value))
                for target in item.targets
                if isinstance(target, ast.Name)
            }
            for item in ast.walk(node):
                if not isinstance(item, ast.Attribute) or not isinstance(item.value, ast.Name):
                    continue
                if item.value.id in held:
                    yield held[item.value.id], item.attr, item.lineno


def find_module(node: ast.AST) -> str:
    """Return the module that `import_quietly("python_tables")` gives; "" for other expressions."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        return ""
    called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
    first = node.args[0] if node.args else None
    if called.strip("_") not in ("import_quietly", "import") or not isinstance(first, ast.Constant):
        return ""
    return str(first.value)
