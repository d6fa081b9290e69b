"""The documents for contributors are true: paths and targets exist, and the worked examples work."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from oi_tui import __version__

ROOT = Path(__file__).parents[3]
PAPERS = [
    *(
        ROOT / name
        for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "AGENTS.md")
    ),
    ROOT / "tests" / "README.md",
    ROOT / "tests" / "benchmarks" / "README.md",
    ROOT / ".github" / "pull_request_template.md",
]
IDS = [path.relative_to(ROOT).as_posix() for path in PAPERS]
TEXTS = {path: path.read_text(encoding="utf-8") for path in PAPERS}
FOLDERS = ("oi_tui", "tests", "styles", "docs", ".ci", ".github")


def without_diffs(text: str) -> str:
    """Return the text without the worked examples: they name files that do not exist yet."""
    return re.sub(r"^```diff\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("paper", PAPERS, ids=IDS)
def test_every_path_that_is_named_exists(paper: Path) -> None:
    text = without_diffs(TEXTS[paper])
    folders = "|".join(map(re.escape, FOLDERS))
    named = re.findall(rf"(?<![\w/.])((?:{folders})/[\w./-]*[\w/])", text)
    assert [path for path in named if not (ROOT / path).exists()] == []
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    assert [link for link in links if "://" not in link and not (paper.parent / link).exists()] == []


@pytest.mark.parametrize("paper", PAPERS, ids=IDS)
def test_every_file_that_is_named_without_its_folder_exists(paper: Path) -> None:
    files = {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
    named = re.findall(r"`(\w+\.py)`", without_diffs(TEXTS[paper]))
    assert sorted(set(named) - files) == []


def test_every_class_that_the_architecture_names_has_the_member_that_is_named() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "oi_tui").rglob("*.py"))
    named = re.findall(r"`([A-Z]\w+)(?:\.([a-z]\w+))?(?:\([^`]*\))?`", TEXTS[ROOT / "ARCHITECTURE.md"])
    assert len(named) > 20
    wrong = []
    for name, member in named:
        if name == "LiteLLM" or name.isupper():
            continue
        body = re.search(rf"^class {name}\b.*?(?=^class |\Z)", code, re.MULTILINE | re.DOTALL)
        if body is None or (member and not re.search(rf"\b{member}\b", body[0])):
            wrong.append(f"{name}.{member}")
    assert wrong == []


def test_the_architecture_names_every_folder_with_modules() -> None:
    text = TEXTS[ROOT / "ARCHITECTURE.md"]
    folders = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "oi_tui").glob("*/**/*.py")}
    assert sorted(folder for folder in folders if f"`{folder}/`" not in text) == []


@pytest.mark.parametrize("paper", PAPERS, ids=IDS)
def test_every_module_that_is_named_exists(paper: Path) -> None:
    modules = re.findall(r"python -m (tests[\w.]*)", TEXTS[paper])
    assert [
        name
        for name in modules
        if not (ROOT / name.replace(".", "/")).with_suffix(".py").is_file()
        and not (ROOT / name.replace(".", "/") / "__main__.py").is_file()
    ] == []


@pytest.mark.parametrize("paper", PAPERS, ids=IDS)
def test_every_make_target_that_is_named_exists(paper: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    code = re.findall(r"^```sh\n(.*?)^```$", TEXTS[paper], re.MULTILINE | re.DOTALL)
    code += re.findall(r"`(make [^`]*)`", TEXTS[paper])
    named = {
        word
        for words in re.findall(r"^make ([^#\n]*)", "\n".join(code), re.MULTILINE)
        for word in shlex.split(words)
        if "=" not in word
    }
    assert named - targets == set()


TEST_COMMANDS = sorted(
    {
        line.removeprefix(".venv/bin/pytest ")
        for paper in PAPERS
        for line in TEXTS[paper].splitlines()
        if line.startswith(".venv/bin/pytest ")
    }
)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", TEST_COMMANDS)
def test_a_command_that_runs_one_test_does(arguments: str) -> None:
    words = shlex.split(arguments, comments=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_changelog_has_a_section_for_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.index("## [Unreleased]") < text.index(f"## [{__version__}]")


def test_forms_and_workflow_are_yaml() -> None:
    files = [*(ROOT / ".github").rglob("*.yml"), ROOT / ".pre-commit-config.yaml", ROOT / "mkdocs.yml"]
    assert len(files) >= 6
    for file in files:
        assert isinstance(yaml.safe_load(file.read_text(encoding="utf-8")), dict), file


def test_the_workflow_runs_the_same_script() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    steps = yaml.safe_load(text)["jobs"]["check"]["steps"]
    assert steps[-1] == {"run": ".ci/run"}


@pytest.mark.parametrize(
    "hook", yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
)
def test_a_hook_runs_what_is_there(hook: dict[str, object]) -> None:
    named = [word for word in str(hook["entry"]).split() if word.startswith("tests/")]
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.fixture(scope="module")
def changed_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Apply all worked examples of CONTRIBUTING.md to a copy of the code."""
    copy = tmp_path_factory.mktemp("examples") / "oi-tui"
    skipped = shutil.ignore_patterns("__snapshots__", ".*cache")
    for name in ("oi_tui", "tests", "styles"):
        shutil.copytree(ROOT / name, copy / name, ignore=skipped)
    shutil.copy(ROOT / "pyproject.toml", copy)
    examples = re.findall(r"^```diff\n(.*?)^```$", TEXTS[ROOT / "CONTRIBUTING.md"], re.MULTILINE | re.DOTALL)
    assert len(examples) == 5
    for example in examples:
        done = subprocess.run(
            ["git", "apply", "-C1"],
            cwd=copy,
            # Within a repository, git would look for the files from its root.
            env={**os.environ, "GIT_CEILING_DIRECTORIES": str(copy.parent)},
            input=example,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr + example
    return copy


def new_files(copy: Path) -> list[str]:
    """Return what the examples added."""
    return sorted(
        path.relative_to(copy).as_posix()
        for path in copy.rglob("*.py")
        if not (ROOT / path.relative_to(copy)).exists()
    )


@pytest.mark.slow
@pytest.mark.needs("git", "awk")
def test_the_worked_examples_work(changed_copy: Path) -> None:
    tests = [name for name in new_files(changed_copy) if name.startswith("tests/")]
    assert len(tests) == 5
    tests.append("tests/unit/program/test_commands.py::test_every_command_of_ours_stands_in_one_group")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *tests],
        cwd=changed_copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    # One of the examples has two cases.
    assert "." * (len(tests) + 1) in done.stdout


@pytest.mark.slow
@pytest.mark.needs("git", "ruff")
def test_the_worked_examples_are_in_our_style(changed_copy: Path) -> None:
    changed = [
        *new_files(changed_copy),
        "oi_tui/commands/builtin.py",
        "oi_tui/runtimes/languages/__init__.py",
        "oi_tui/screens/diff.py",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", *changed],
        cwd=changed_copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
