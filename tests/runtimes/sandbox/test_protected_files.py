"""Files through which code in the sandbox could act outside of it later are read-only, or reported."""

import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.sandbox import (
    bubblewrap,
    git_settings,
    protected_files,
    readable_paths,
    sandbox,
    seatbelt,
)
from oi_tui.runtimes.sandbox.base import SandboxedCommand, SandboxRequest
from oi_tui.runtimes.sandbox.confinement import SandboxRules
from tests.runtimes.playing import play, until

walls = pytest.mark.skipif((why := sandbox.explain_unavailable()) is not None, reason=str(why))
Make = Callable[..., Computer]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one below it, and files that tools run by themselves."""
    folder = tmp_path / "project"
    for item in (folder, folder / "sub"):
        item.mkdir()
        subprocess.run(["git", "init", "-q", item], check=True)
    (folder / ".envrc").write_text("export X=1\n")
    (folder / ".vscode").mkdir()
    (folder / "Makefile").write_text("all:\n")
    (folder / "pkg").mkdir()
    (folder / "pkg" / "sitecustomize.py").write_text("")
    (folder / "tree").mkdir()
    (folder / "tree" / ".git").write_text("gitdir: ../.git/worktrees/tree\n")
    (folder / "notes").write_text("mine")
    for name in ("shared/pre-commit", "tools/clean.sh", "tools/other.sh"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("mine")
    (folder / "hooks").symlink_to("shared")
    for name, value in (
        ("core.hooksPath", "hooks"),
        ("filter.x.clean", "./tools/clean.sh %f"),
        ("alias.new", "!sh later/run.sh"),
    ):
        subprocess.run(["git", "-C", folder, "config", name, value], check=True)
    return folder


#: Each writes a file that some tool would run, or moves what leads to it out of the way.
ATTEMPTS = {
    "hook": "echo x >.git/hooks/pre-commit",
    "hook below": "echo x >sub/.git/hooks/pre-commit",
    "config": "echo x >>.git/config",
    "config below": "git -C sub config core.fsmonitor 'touch /tmp/x'",
    "gitdir": "mv .git .git2",
    "gitdir below": "mv sub/.git sub/.git2",
    "hooks elsewhere": "echo x >hooks/pre-commit",
    "new hook elsewhere": "echo x >shared/pre-push",
    "hooks elsewhere renamed": "mv shared shared2",
    "program of git": "echo x >tools/clean.sh",
    "program of git replaced": "mv tools tools2 && mkdir tools && echo x >tools/clean.sh",
    "worktree": "echo gitdir: /tmp >tree/.git",
    "direnv": "echo x >>.envrc",
    "direnv replaced": "rm -f .envrc && echo x >.envrc",
    "direnv renamed over": "echo x >new && mv -f new .envrc",
    "editor": "echo x >.vscode/tasks.json",
    "start of python": "echo x >pkg/sitecustomize.py",
    "folder renamed": "mv pkg pkg2 && mkdir pkg && echo x >pkg/sitecustomize.py",
    "folder above renamed": "mv sub sub2",
    "link elsewhere": "echo x >linked",
}


@walls
def test_what_tools_run_by_themselves_is_read_only(make: Make, project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    os.link(outside, project / "linked")
    walled = make(cwd=project, sandbox=True)
    code = "\n".join(f"( {code} ) >/dev/null 2>&1 && echo 'DONE {name}'" for name, code in ATTEMPTS.items())
    commit = "git add notes && git -c user.name=a -c user.email=a@b commit -qm x && echo saved"
    played = play(walled, "shell", f"{code}\necho over; {commit}")
    assert "DONE" not in played.text
    assert "over" in played.text
    assert "saved" in played.text
    assert outside.read_text() == "mine"
    assert (project / ".envrc").read_text() == "export X=1\n"
    assert sorted(path.name for path in (project / "sub").iterdir()) == [".git"]


@walls
def test_what_comes_into_being_or_is_run_every_day_is_reported(make: Make, project: Path) -> None:
    walled = make(cwd=project, sandbox=True)
    played = play(walled, "shell", "echo x >conftest.py; echo x >>Makefile; echo x >notes")
    assert "changed Makefile, created conftest.py: programs outside the sandbox may run it" in played.text
    assert "notes" not in played.text
    assert "oi-tui:" not in play(walled, "shell", "echo nothing; echo y >other").text
    played = play(walled, "shell", "git init -q new; echo x >new/.git/hooks/pre-push; echo over")
    assert "created new/.git/hooks/pre-push:" in played.text
    assert "config" not in played.text
    played = play(walled, "shell", "mv new sub2; mkdir -p new/.git/hooks; echo x >new/.git/hooks/pre-push")
    assert "new/.git/hooks/pre-push" in played.text
    played = play(
        walled, "shell", "git init -q own; git -C own config core.fsmonitor 'touch /x'; echo x >.bashrc"
    )
    assert "created .bashrc, created own/.git/config:" in played.text
    played = play(walled, "shell", "mkdir later; echo x >later/run.sh; rm hooks; mkdir hooks")
    assert "changed hooks, created later/run.sh:" in played.text


def test_what_leads_git_from_a_linked_work_tree_to_its_settings_is_read_only(tmp_path: Path) -> None:
    main = tmp_path / "main"
    commit = ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
    for words in (
        ("init", "-q", main),
        ("-C", main, *commit),
        ("-C", main, "worktree", "add", "-q", "../main/x"),
    ):
        subprocess.run(["git", *words], check=True, capture_output=True)
    link = main / ".git" / "worktrees" / "x"
    (link / "config.worktree").write_text("")
    assert {link / "commondir", link / "config.worktree"} <= set(protected_files.find(main).read_only)
    watch = protected_files.ProtectedFileWatch(main)
    (main / ".git" / "commondir").write_text("../evil")
    assert "created .git/commondir: programs outside" in (watch.find_changes() or "")


def test_a_work_tree_that_git_links_is_reported_once_it_leads_elsewhere(tmp_path: Path) -> None:
    commit = ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
    for words in (("init", "-q", tmp_path), ("-C", tmp_path, *commit)):
        subprocess.run(["git", *words], check=True, capture_output=True)
    watch = protected_files.ProtectedFileWatch(tmp_path)
    subprocess.run(["git", "-C", tmp_path, "worktree", "add", "-q", "x"], check=True, capture_output=True)
    assert "commondir" not in (watch.find_changes() or "")
    (tmp_path / ".git" / "worktrees" / "x" / "commondir").write_text("../../../evil\n")
    assert "created .git/worktrees/x/commondir: programs outside" in (watch.find_changes() or "")


@pytest.mark.parametrize(("head", "common"), [("", "../.."), ("HEAD", " ../..")])
def test_a_folder_made_to_look_like_a_linked_work_tree_is_reported(
    head: str, common: str, tmp_path: Path
) -> None:
    watch, tree = protected_files.ProtectedFileWatch(tmp_path), tmp_path / "lib" / "worktrees" / "x"
    tree.mkdir(parents=True)
    for name in ("objects", "refs"):
        (tmp_path / "lib" / name).mkdir()
    for path in filter(None, (tree / "HEAD", head and tmp_path / "lib" / head)):
        path.write_text("ref: refs/heads/a\n")
    (tree / "commondir").write_text(f"{common}\n")
    assert "created lib/worktrees/x/commondir" in (watch.find_changes() or "")


@pytest.mark.parametrize("head", ["link", "file"])
@pytest.mark.parametrize("objects", ["folder", "link", "file", "elsewhere"])
def test_each_folder_that_git_takes_for_a_repository_is_reported(
    head: str, objects: str, tmp_path: Path
) -> None:
    watch, evil = protected_files.ProtectedFileWatch(tmp_path), tmp_path / "evil"
    common = evil / "common" if objects == "elsewhere" else evil
    (common / "refs").mkdir(parents=True)
    (common / "config").write_text("[core]\n\tbare = true\n\tfsmonitor = touch /x\n")
    if objects == "link":
        (common / "objects").symlink_to(tmp_path)
    elif objects == "file":
        (common / "objects").touch(0o755)
    else:
        (common / "objects").mkdir()
    if objects == "elsewhere":
        (evil / "commondir").write_text("common")
        (common / "HEAD").write_text("ref: refs/heads/x")
    if head == "link":
        (evil / "HEAD").symlink_to("refs/heads/x")
    else:
        (evil / "HEAD").write_text("ref: refs/heads/x")
    settings = subprocess.run(
        ["git", "-C", evil, "config", "core.fsmonitor"], capture_output=True, text=True, check=False
    )
    assert settings.stdout == "touch /x\n"
    assert f"created {common.relative_to(tmp_path)}/config" in (watch.find_changes() or "")


@walls
def test_files_that_builds_linters_and_other_agents_read_are_reported(make: Make, project: Path) -> None:
    walled = make(cwd=project, sandbox=True)
    played = play(
        walled, "shell", "mkdir .mvn; for name in .RData AGENTS.md eslint.config.js; do echo x >$name; done"
    )
    assert "created .RData, created .mvn, created AGENTS.md, created eslint.config.js:" in played.text


@walls
def test_what_a_process_does_after_its_run_is_reported_in_the_next(make: Make, project: Path) -> None:
    walled = make(cwd=project, sandbox=True)
    play(walled, "shell", "( while [ ! -e go ]; do sleep 0.05; done; echo x >>Makefile; echo x >done ) &")
    (project / "go").touch()
    until((project / "done").exists)
    assert (
        "since the last run, something changed Makefile: programs outside"
        in play(walled, "shell", "true").text
    )
    assert "oi-tui:" not in play(walled, "shell", "true").text


@walls
def test_what_is_too_much_to_protect_is_reported_once(
    make: Make, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protected_files, "MOST_ENTRIES", 3)
    walled = make(cwd=project, sandbox=True)
    assert "oi-tui: The working directory has more than 3 files" in play(walled, "shell", "true").text
    assert "oi-tui:" not in play(walled, "shell", "true").text


@pytest.mark.parametrize("folder", ["logs", "objects", "refs", "a/logs"])
def test_folders_are_skipped_only_where_they_are_those_of_git(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / ".envrc").write_text("x")
    assert tmp_path / folder / ".envrc" in protected_files.find(tmp_path).read_only


def test_what_python_runs_by_itself_is_watched_in_an_environment(tmp_path: Path) -> None:
    packages = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    (packages / "deep").mkdir(parents=True)
    watch = protected_files.ProtectedFileWatch(tmp_path)
    (packages / "deep" / "setup.py").write_text("x")
    assert watch.find_changes() is None
    (packages / "evil.pth").write_text("import os")
    assert "created .venv/lib/python3.11/site-packages/evil.pth" in (watch.find_changes() or "")


@pytest.mark.parametrize("name", ["matplotlibrc", ".hg/hgrc", ".pnp.cjs"])
def test_settings_that_name_code_are_read_only(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("backend: module://x")
    assert protected_files.find(tmp_path).read_only == (tmp_path / name,)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        *((name, True) for name in ("vite.config.ts", ".prettierrc.cjs", ".pylintrc", ".env", "tasks.py")),
        *((name, True) for name in ("matplotlibrc", "hgrc", "composer.json", "BUILD.bazel")),
        *((name, False) for name in ("config.js", "a.config.json", "src.js", ".prettierrc", "a.py")),
    ],
)
def test_settings_that_are_code_are_watched(tmp_path: Path, name: str, counts: bool) -> None:
    watch = protected_files.ProtectedFileWatch(tmp_path)
    (tmp_path / name).write_text("x")
    (tmp_path / "build").mkdir()
    found = watch.find_changes()
    assert (found or "").startswith(f"created {name}: programs outside") == counts
    assert counts or found is None


def test_programs_of_an_environment_are_watched(tmp_path: Path) -> None:
    for folder in (tmp_path / ".venv", tmp_path / "tool"):
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "activate").write_text("")
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("")
    watch = protected_files.ProtectedFileWatch(tmp_path)
    for folder in (".venv", "tool"):
        (tmp_path / folder / "bin" / "activate").write_text("touch /tmp/x\n")
    (tmp_path / ".venv" / "bin" / "python").write_text("")
    changed = watch.find_changes()
    assert changed
    assert changed.startswith("changed .venv/bin/activate, created .venv/bin/python: programs outside")


@walls
def test_a_person_lets_single_ones_through(make: Make, project: Path) -> None:
    walled = make(cwd=project, sandbox=True, sandbox_rules=SandboxRules(writable=(".git/hooks", ".envrc")))
    assert "oi-tui:" not in play(walled, "shell", "echo x >.git/hooks/pre-commit; echo y >.envrc").text
    assert (project / ".git/hooks/pre-commit").exists()
    assert (project / ".envrc").read_text() == "y\n"
    play(walled, "shell", "echo x >>.git/config; echo over")
    assert not (project / ".git/config").read_text().endswith("x\n")


def test_hard_links_within_the_folder_are_no_way_out(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    os.link(tmp_path / "a", tmp_path / "b")
    assert protected_files.find(tmp_path).linked == ()


def test_many_hard_links_make_their_folder_read_only(tmp_path: Path) -> None:
    cwd, store = tmp_path / "cwd", tmp_path / "store"
    (cwd / "packages" / "deep").mkdir(parents=True)
    store.mkdir()
    for number in range(101):
        (store / str(number)).write_text("x")
        os.link(store / str(number), cwd / "packages" / "deep" / str(number))
    assert protected_files.find(cwd).linked == (cwd / "packages",)


def test_a_folder_that_is_too_large_is_reported_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protected_files, "MOST_ENTRIES", 3)
    for number in range(5):
        (tmp_path / str(number)).write_text("x")
    (remark,) = protected_files.find(tmp_path).remarks
    assert "more than 3 files" in remark


def test_a_bare_repository_is_one(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "bare"], check=True)
    assert {item.name for item in protected_files.find(tmp_path).read_only} == {"hooks", "config"}


@pytest.mark.parametrize("name", [".ENVRC", ".Vscode", ".g\u200cit", "SiteCustomize.py", ".GITCONFIG"])
def test_names_that_a_disk_may_take_for_others_are_protected(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("x")
    assert tmp_path / name in protected_files.find(tmp_path).read_only


@pytest.mark.parametrize("name", ["MAKEFILE", "Package.JSON", ".EnvRC", "x.PTH", ".GIT/hooks/pre-commit"])
def test_names_that_a_disk_may_take_for_others_are_reported(name: str, tmp_path: Path) -> None:
    (tmp_path / ".GIT" / "hooks").mkdir(parents=True)
    watch = protected_files.ProtectedFileWatch(tmp_path)
    (tmp_path / name).write_text("x")
    assert f"created {name}" in str(watch.find_changes())


@pytest.mark.parametrize("name", [".git/config", "bare/config", ".git/hooks/pre-commit", "Makefile"])
def test_a_pipe_in_the_place_of_a_file_holds_nobody_up(tmp_path: Path, name: str) -> None:
    (tmp_path / "bare" / "objects").mkdir(parents=True)
    (tmp_path / "bare" / "HEAD").touch()
    watch = protected_files.ProtectedFileWatch(tmp_path)
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    said: list[str | None] = []
    looking = threading.Thread(target=lambda: said.append(watch.find_changes()), daemon=True)
    looking.start()
    looking.join(20)
    # It waited for somebody to write into the pipe.
    assert said == [f"created {name}: programs outside the sandbox may run it. Review it first."]


def test_settings_of_git_that_are_a_link_are_not_read(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    watch = protected_files.ProtectedFileWatch(tmp_path)
    (tmp_path / ".git" / "config").symlink_to("/dev/zero")
    assert "created .git/config" in (watch.find_changes() or "")


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ('hooksPath = ".githooks"', {".githooks"}),
        ("sshCommand = ssh -i key", {"ssh", "key"}),
        ("clean = sh -c './a %f; exec b/c'", {"sh", "a", "exec", "b/c"}),
        ('st = "!tools/st"', {"tools/st"}),
        ("path = ../.gitconfig", {".gitconfig"}),
        ("hooksPath = .", set()),
        ("st = !cd .. && . ./x", {"cd", "x"}),
        ("hooksPath = /elsewhere", set()),
        ("editor = {cwd}/ed --wait", {"ed"}),
        ("hooksPath = {link}/.githooks", {".githooks"}),
        ("hooksPath = {home}/.githooks", {".githooks"}),
        ("url = ./lib", set()),
        ("st = status", set()),
    ],
)
def test_what_settings_of_git_name_is_found(
    line: str,
    named: set[str],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    link, home = elsewhere / "link", elsewhere / "home"
    link.symlink_to(tmp_path)
    home.symlink_to(tmp_path.parent)
    monkeypatch.setenv("PWD", str(link))
    monkeypatch.setenv("HOME", str(home))
    # Those of this machine may name programs too.
    monkeypatch.setattr(git_settings, "list_global_files", tuple)
    settings = tmp_path / ".git" / "config"
    settings.parent.mkdir()
    settings.write_text(f"[core]\n\t{line.format(cwd=tmp_path, link=link, home=home / tmp_path.name)}\n")
    found, _ = protected_files._run_by_git(tmp_path, protected_files._list_entries(tmp_path)[0])
    names = {str(path.relative_to(tmp_path)) for path in found}
    # Some names count from the folder of the settings.
    assert {name for name in names if not name.startswith(".git/")} == named


def _write_settings(project: Path, repositories: int, words: str) -> None:
    for number in range(repositories):
        folder = project / f"r{number:02}" / ".git"
        folder.mkdir(parents=True)
        (folder / "config").write_text(f"[include]\n\tpath = {words}\n")


def test_settings_of_git_that_name_too_much_are_reported_and_cost_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookups: list[object] = []
    realpath = os.path.realpath

    def look_up(path: Path, *, strict: bool = False) -> str:
        lookups.append(path)
        return realpath(path, strict=strict)

    monkeypatch.setattr(os.path, "realpath", look_up)
    monkeypatch.setattr(protected_files, "_MOST_WORK", 1000)
    _write_settings(tmp_path, 20, "a " * 1000 + "/net/host/x")
    assert protected_files.find(tmp_path).remarks == ()
    assert len(lookups) < 100
    assert not any("/net" in str(path) for path in lookups)
    _write_settings(tmp_path / "more", 20, " ".join(f"w{number}" for number in range(50)))
    lookups.clear()
    assert "Settings of git name more" in " ".join(protected_files.find(tmp_path).remarks)
    assert len(lookups) < 1100


def test_costly_settings_of_git_hide_neither_those_of_the_project_nor_cheap_ones(tmp_path: Path) -> None:
    for name in (".a", ".git", "sub/.git"):
        (tmp_path / name / "objects").mkdir(parents=True)
        (tmp_path / name / "HEAD").touch()
        (tmp_path / name / "config").write_text("[core]\n\thooksPath = .githooks\n")
    (tmp_path / ".a" / "config").write_text("".join(f"path = {n}{'/a' * 1000}\n" for n in range(49)))
    hooks = {tmp_path / ".githooks", tmp_path / "sub" / ".githooks"}
    for folder in hooks:
        folder.mkdir()
    protected = protected_files.find(tmp_path)
    assert hooks <= set(protected.read_only)
    assert "Settings of git name more" in " ".join(protected.remarks)


def test_settings_of_the_person_name_files_of_every_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[core]\n\thooksPath = .githooks\n")
    monkeypatch.setenv("HOME", str(home))
    project = tmp_path / "project"
    for name in (".git", "sub/.git"):
        (project / name).mkdir(parents=True)
        (project / name / "config").touch()
    (project / ".githooks").mkdir()
    (project / "sub" / ".githooks").mkdir()
    read_only = protected_files.find(project).read_only
    assert {project / ".githooks", project / "sub" / ".githooks"} <= set(read_only)


def _mounts_descriptors() -> bool:
    bwrap = bubblewrap.find()
    return bwrap is not None and bubblewrap._binds_descriptors(bwrap)


@walls
@pytest.mark.skipif(not _mounts_descriptors(), reason="this bubblewrap has no --bind-fd")
@pytest.mark.parametrize("early", [False, True])
def test_a_link_in_the_place_of_a_folder_that_is_about_to_be_mounted_shows_nothing(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, early: bool
) -> None:
    # What runs in the sandbox of one language can do so while that of another one starts.
    project, home = tmp_path / "project", Path.home()
    (project / "sub").mkdir(parents=True)
    (project / "sub" / ".envrc").write_text("")
    (home / "secret").write_text("s3cret")
    walled = make(cwd=project, sandbox=True)
    enclose = bubblewrap.enclose

    def swap() -> None:
        if not (project / "sub").is_symlink():
            (project / "sub").rename(project / "moved")
            (project / "sub").symlink_to(os.path.relpath(home, project))

    def enclose_and_swap(wanted: SandboxRequest) -> SandboxedCommand:
        if wanted.cwd != project:
            return enclose(wanted)
        if early:
            swap()
        command = enclose(wanted)
        swap()
        return command

    monkeypatch.setattr(bubblewrap, "enclose", enclose_and_swap)
    played = play(walled, "shell", "cat ~/secret sub/secret; echo x >~/secret")
    assert "s3cret" not in played.text
    assert (project / "sub").is_symlink()
    assert played.state in ("lost", "failed")
    assert (home / "secret").read_text() == "s3cret"


@walls
@pytest.mark.skipif(not _mounts_descriptors(), reason="this bubblewrap has no --bind-fd")
@pytest.mark.parametrize("name", [".oi-tui.yaml", ".venv"])
def test_a_link_in_the_place_of_what_is_read_only_in_the_project_shows_nothing(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    project, secret = tmp_path / "project", Path.home() / "private" / "secret"
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "pyvenv.cfg").touch()
    (project / ".venv" / "bin" / "python").symlink_to("/usr/bin/python3")
    (project / ".oi-tui.yaml").write_text("")
    secret.parent.mkdir()
    secret.write_text("s3cret")
    walled = make(cwd=project, sandbox=True, python=str(project / ".venv" / "bin" / "python"))
    list_readable = bubblewrap._list_readable

    def list_and_swap(wanted: SandboxRequest) -> object:
        readable = list_readable(wanted)
        if wanted.cwd == project and not (project / name).is_symlink():
            (project / name).rename(project / "moved")
            target = secret.parent if name == ".venv" else secret
            (project / name).symlink_to(os.path.relpath(target, project))
        return readable

    monkeypatch.setattr(bubblewrap, "_list_readable", list_and_swap)
    played = play(walled, "shell", f"cat ~/private/secret {name}/secret {name}")
    assert (project / name).is_symlink()
    assert "s3cret" not in played.text


def test_a_programs_path_that_leads_through_the_project_shows_no_file_outside(tmp_path: Path) -> None:
    home, project, secret = tmp_path / "home", tmp_path / "project", tmp_path / "secret"
    (home / "bin").mkdir(parents=True)
    project.mkdir()
    secret.touch()
    (project / "tool").symlink_to(secret)
    (home / "bin" / "tool").symlink_to(project / "tool")
    assert readable_paths.list_of_program(str(home / "bin" / "tool"), home, project)[0] == []


def test_no_folder_of_hooks_is_made_outside(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    (project / "git").mkdir(parents=True)
    (project / ".git").symlink_to(outside)
    protected_files.find(project)
    assert list(outside.iterdir()) == []
    (project / ".git").unlink()
    (project / ".git").symlink_to("git")
    protected_files.find(project)
    assert (project / "git" / "hooks").is_dir()


def test_so_many_folders_are_kept_as_there_are_descriptors_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protected_files, "_MOST_PINNED", 3)
    for name in "abcde":
        (tmp_path / name).mkdir()
        (tmp_path / name / ".envrc").write_text("")
    found = protected_files.find(tmp_path)
    assert [path.parent.name for path in found.read_only] == ["a", "b", "c"]
    assert sorted(path.name for path in found.pinned) == ["a", "b", "c"]
    assert found.remarks == ("Only 3 of 5 files that tools run automatically are read-only.",)


def test_links_that_lead_nowhere_are_reported_and_guarded(tmp_path: Path) -> None:
    watch = protected_files.ProtectedFileWatch(tmp_path)
    for name in ("repository", "environment/bin"):
        (tmp_path / name).mkdir(parents=True)
    for name in (".git", "repository/HEAD", "environment/pyvenv.cfg"):
        (tmp_path / name).symlink_to("a" * 300)
    (tmp_path / ".envrc").symlink_to(".envrc")
    for name in ("repository/config", "environment/bin/tool"):
        (tmp_path / name).write_text("")
    assert str(watch.find_changes()).startswith("created .envrc, created .git, ")
    guarded = [tmp_path / ".envrc", tmp_path / ".git"]
    assert sorted(protected_files.find(tmp_path).read_only) == guarded
    seatbelt._Profile().say("deny file-write*", guarded)


@walls
def test_links_that_lead_nowhere_break_neither_their_run_nor_the_next(make: Make, tmp_path: Path) -> None:
    walled = make(cwd=tmp_path, sandbox=True)
    code = "import os; os.symlink('a' * 300, '.git'); os.symlink('.envrc', '.envrc')"
    assert "this run created .envrc, created .git" in play(walled, "python", code).text
    assert play(walled, "shell", "echo alive").text == "alive\n"
