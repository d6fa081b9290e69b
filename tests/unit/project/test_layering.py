"""Imports point down, and what is heavy is imported only where it is wanted."""

import ast
import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "oi_tui"

#: From the ground up. A part may import those below it; parts on one level do not know each other.
LEVELS: tuple[frozenset[str], ...] = (
    frozenset({"secret_shapes"}),
    frozenset({"system", "computer", "version"}),
    frozenset({"messages", "text", "paths", "demo", "json_lines"}),
    frozenset({"file_changes"}),
    frozenset({"runtimes", "engine"}),
    frozenset({"custom_languages", "computer_api", "mcp_client", "window"}),
    frozenset({"services"}),
    frozenset({"workspace", "commands", "themes", "input", "log", "profiles", "turn_worker"}),
    frozenset({"terminal"}),
    frozenset({"doctor", "actions"}),
    frozenset({"acp", "exit_summary", "plain", "server"}),
    frozenset({"attach", "mcp_server"}),
    frozenset({"widgets"}),
    frozenset({"screens"}),
    frozenset({"app"}),
    frozenset({"api", "cli"}),
    frozenset({"start"}),
    frozenset({"__main__", "interpreter_module", "interpreter_stubs"}),
    frozenset({"interpreter_hook"}),
)
RANK = {part: rank for rank, parts in enumerate(LEVELS) for part in parts}
#: Where a package from elsewhere may be imported at all; elsewhere than here it may not.
HEAVY = {
    "acp": {"acp/"},
    "mcp": {"mcp_client/child/", "mcp_server/"},
    "litellm": {"engine/llm/transport/provider.py"},
    "starlette": {"server/"},
    "uvicorn": {"server/"},
    "textual": {
        "app.py",
        "themes.py",
        "screens/",
        "terminal/",
        "widgets/",
    },
}


@functools.cache
def modules() -> list[Path]:
    # What runs inside a language's own process is a program, not a part.
    return [path for path in sorted(PACKAGE.rglob("*.py")) if "drivers" not in path.parts]


@functools.cache
def imports(path: Path) -> tuple[tuple[str, int], ...]:
    """Every module that the file imports, anywhere in it, with the line."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    package = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] + "." if node.level else ""
            module = (above + (node.module or "")).rstrip(".")
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)


@functools.cache
def part(module: str) -> str | None:
    """The part of ours that a dotted name belongs to; None for what is not ours, or the package itself."""
    names = module.split(".")
    if names[0] != "oi_tui" or len(names) == 1:
        return None
    return names[1] if (PACKAGE / names[1]).is_dir() or (PACKAGE / f"{names[1]}.py").is_file() else None


def test_every_part_has_its_level() -> None:
    parts = {part(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)) for path in modules()}
    # The package itself belongs to no level: it only knows its version, and the API when it is asked for.
    assert parts - set(RANK) - {"__init__", None} == set(), "say in LEVELS where it stands"


def test_imports_point_down() -> None:
    wrong = []
    for path in modules():
        relative = path.relative_to(PACKAGE)
        if str(relative) == "__init__.py":
            continue
        own = relative.with_suffix("").parts[0]
        for module, line in imports(path):
            other = part(module)
            if other is not None and other != own and RANK[other] >= RANK[own]:
                wrong.append(f"{relative}:{line} imports {module}, which is not below {own}")
            name = module.split(".")[0]
            if name in HEAVY and not str(relative).startswith(tuple(HEAVY[name])):
                wrong.append(f"{relative}:{line} imports {name}")
    assert wrong == []


@pytest.mark.slow
def test_only_the_model_process_starts_the_demo_model() -> None:
    known = {
        str(path.relative_to(PACKAGE))
        for path in modules()
        for module, _ in imports(path)
        if part(module) == "demo" and "demo" not in path.parts
    }
    assert known <= {"engine/llm/transport/provider.py"}


def loaded_modules(code: str) -> set[str]:
    """The modules that are loaded in a fresh process after the code."""
    program = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def loaded(code: str) -> set[str]:
    """The top-level packages that are loaded in a fresh process after the code."""
    return {name.split(".")[0] for name in loaded_modules(code)}


def test_the_first_frame_waits_neither_for_the_conversation_nor_for_languages_nor_for_models() -> None:
    later = (
        "oi_tui.engine.events",
        "oi_tui.engine.llm.errors",
        "oi_tui.engine.reply",
        "oi_tui.engine.session",
        "oi_tui.runtimes",
        "oi_tui.screens.chat.body",
        "oi_tui.widgets.conversation",
        "oi_tui.workspace",
        "markdown_it",
        "pygments",
    )
    modules = loaded_modules("import oi_tui.cli.main, oi_tui.app")
    assert [name for name in sorted(modules) if f"{name}.".startswith(tuple(f"{n}." for n in later))] == []


def test_engine_and_runtimes_load_neither_textual_nor_litellm() -> None:
    names = [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for path in modules()
        if path.relative_to(PACKAGE).parts[0]
        in ("engine", "runtimes", "demo", "services", "workspace.py", "commands")
    ]
    code = "import importlib\n" + "\n".join(f"importlib.import_module({name!r})" for name in names)
    assert loaded(code) & {"textual", "rich", "litellm", "openai"} == set()


@pytest.mark.parametrize("flag", ["--version", "--help", "-V", "-h"])
def test_version_and_help_load_neither_textual_nor_litellm(flag: str) -> None:
    code = f"""
from oi_tui.cli.main import main
try:
    status = main([{flag!r}])
except SystemExit as left:
    status = left.code
assert not status
"""
    assert loaded(code) & {"textual", "rich", "litellm", "openai", "asyncio", "pexpect"} == set()


@pytest.mark.slow
def test_the_application_does_not_load_litellm() -> None:
    assert loaded("import oi_tui.app, oi_tui.api.interpreter") & {"litellm", "openai"} == set()


def test_no_file_of_the_project_names_a_package_registry() -> None:
    hosts = ["py" + "pi.org", "python" + "hosted.org", "npm" + "js.org", "--index" + "-url"]
    root = PACKAGE.parent
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=False)
    files = [root / name for name in listed.stdout.decode().split("\0") if name] or [
        *root.glob("*.toml"),
        root / "Makefile",
        *PACKAGE.rglob("*.py"),
    ]
    for file in files:
        text = file.read_bytes() if file.is_file() else b""
        assert not [host for host in hosts if host.encode() in text], file


@pytest.mark.slow
def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports for types alone and imports within functions count, too."""
    names = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in modules()}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    below = {
        name: {
            found
            for module, _ in imports(path)
            if (found := module if module in names else module.rpartition(".")[0]) in names and found != name
        }
        for name, path in names.items()
    }
    # What imports nothing of what is left is taken out, until only circles are left.
    while free := [name for name, others in below.items() if not others & below.keys()]:
        for name in free:
            del below[name]
    assert set(below) == set(), "these import each other, or what does"
