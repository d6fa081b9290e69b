"""Protects files of the working directory through which code could act outside the sandbox later.

A git hook, a shell's start file or an editor's settings are run by programs outside, without anybody asking.
Those that are there are read-only in the sandbox. Files that people make every day (Makefile, conftest.py)
may be written, and what does not exist yet cannot be guarded: a run that makes or changes one is reported.
"""

import contextlib
import fnmatch
import os
import re
import stat
import typing
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from oi_tui.runtimes.sandbox import git_settings

#: Read by shells, editors and tools by themselves, as soon as the folder is opened or entered.
READ_ONLY = frozenset(
    {
        *(".envrc", ".mise.toml", "mise.toml", ".tool-versions", "sitecustomize.py", "usercustomize.py"),
        *(".vscode", ".idea", ".devcontainer", ".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".dir-locals.el"),
        *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc"),
        *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".xinitrc", ".xprofile", ".xsessionrc"),
        *(".gitconfig", ".husky", ".pre-commit-config.yaml", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc"),
        *(".netrc", ".pdbrc", ".gdbinit", ".lldbinit", ".Rprofile", ".Renviron", ".irbrc", ".pryrc", ".ssh"),
        *(".gnupg", ".mcp.json", ".claude", ".cursor", ".codex", ".gemini", ".windsurf", ".aider.conf.yml"),
        *(".cargo", ".bazelrc", ".octaverc", ".zed", ".helix", "lefthook.yml", ".lefthook.yml"),
        *("ipython_config.py", "jupyter_server_config.py"),
        *(
            ".opencode",
            "opencode.json",
            "opencode.jsonc",
            ".crush.json",
            "crush.json",
            ".vibe",
            ".qwen",
            ".kiro",
        ),
        *(".roo", ".continue", ".factory", ".amp", ".goosehints", ".clinerules", ".junie"),
        # Settings of Mercurial, matplotlib and yarn that name code, which is run.
        *("hgrc", "matplotlibrc", ".pnp.cjs", ".pnp.loader.mjs"),
        *(".cursorrules", ".windsurfrules", ".mvn", ".pnpmfile.cjs", ".pnpmfile.mjs", "bunfig.toml"),
    }
)
#: Run by a person's next usual command; people and programs write them every day.
REPORTED = frozenset(
    {
        *("Makefile", "makefile", "GNUmakefile", "Justfile", "justfile", "Rakefile", "CMakeLists.txt"),
        *("package.json", "pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", "conftest.py"),
        *("pytest.ini", "Dockerfile", "docker-compose.yml", "docker-compose.yaml", "compose.yaml"),
        *("Taskfile.yml", "Taskfile.yaml", ".justfile", "Gemfile", "Cargo.toml", "build.rs", "pom.xml"),
        *("build.gradle", "build.gradle.kts", "gradlew", "Procfile", "flake.nix", "shell.nix", "pixi.toml"),
        *("docker-compose.override.yml", "compose.override.yaml", "pyvenv.cfg"),
        *(
            "settings.gradle",
            "settings.gradle.kts",
            "gradle-wrapper.properties",
            "gradlew.bat",
            "mvnw",
            "mvnw.cmd",
        ),
        *("pylintrc", ".pylintrc", "mypy.ini", ".mypy.ini", ".flake8", ".coveragerc", "tasks.py", "dodo.py"),
        *("fabfile.py", "SConstruct", "wscript", "default.nix", "environment.yml", ".env", "composer.json"),
        *("Gruntfile.js", "gulpfile.js", "deno.json", "deno.jsonc", "build.xml", "gradle.properties"),
        *(".sbtopts", "MODULE.bazel", "BUILD.bazel", ".rspec", ".rubocop.yml"),
        *("Guardfile", "Capfile", "Brewfile", "Tiltfile", "Earthfile", "docker-bake.hcl", "build.sbt"),
        *("mix.exs", "Package.swift", "meson.build", "build.zig", "configure"),
        # R reads this one at its start, and calls the function .First in it; other agents obey the rest.
        *(".RData", "AGENTS.md", "CLAUDE.md", "GEMINI.md"),
        *("Vagrantfile", ".gitlab-ci.yml", "Jenkinsfile", ".gitattributes", ".gitmodules", "binding.gyp"),
    }
)
#: Settings of tools for JavaScript that are code: `vite.config.ts`, `.eslintrc.cjs`.
_SCRIPT_SETTINGS = re.compile(r".+\.config\.[cm]?[jt]s|\..+rc\.[cm]?[jt]s")
#: Characters that file systems of macOS ignore in names.
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


def _fold(name: str) -> str:
    """Fold the case of a name for comparisons: a file system may ignore case."""
    return _IGNORED.sub("", name).casefold()


_READ_ONLY = frozenset(map(_fold, READ_ONLY))
_REPORTED = frozenset(map(_fold, REPORTED))
#: What git runs, or what makes it run something, within a repository's own folder.
_GIT_SETTINGS = ("config", "config.worktree")
_GIT = ("hooks", "commondir", *_GIT_SETTINGS)
#: A great many files, of which none is run by its name alone.
_PACKAGES = frozenset({"node_modules", "__pycache__"})
#: In a repository's own folder: files of which git runs none.
_GIT_DATA = frozenset({"objects", "refs", "logs"})
#: How many entries are looked at, and how many files are guarded one by one.
MOST_ENTRIES = 20_000
_MOST_GUARDED = 300
#: Each folder and file that is guarded takes a descriptor while a program starts; there are 1,024 as a rule.
_MOST_PINNED = 300
_MOST_LINKS = 100
#: So many parts of names in settings of git are looked up, which takes about a second. Reading settings of
#: so many bytes takes as long as looking one up.
_MOST_WORK = 30_000
_BYTES_A_STEP = 500
_Fingerprint = typing.Tuple[int, int, int]  # noqa: UP006 -- evaluated by Python 3.8


@dataclass(frozen=True, slots=True)
class ProtectedFiles:
    """The read-only files in the sandbox, and the folders that must keep their names for it."""

    read_only: tuple[Path, ...]
    pinned: tuple[Path, ...]
    #: Of `read_only`: what is also a file outside of the working directory, by a hard link.
    linked: tuple[Path, ...]
    #: What could not be guarded, in sentences.
    remarks: tuple[str, ...]


def find(cwd: Path, writable: Sequence[str] = ()) -> ProtectedFiles:
    """Look for what must be read-only. `writable` are names or paths that the person allowed."""
    _make_hooks(cwd)
    entries, complete = _list_entries(cwd)
    named, all_named = _run_by_git(cwd, entries)
    run_by_git = [path for path in named if os.path.lexists(path)]
    files = [
        entry
        for entry in dict.fromkeys([*(entry for entry, _ in entries if _is_read_only(entry)), *run_by_git])
        if not _is_let_through(entry, cwd, writable)
    ]
    # What lies in a folder that is read-only is so too.
    guarded = set(files)
    files = [item for item in files if guarded.isdisjoint(item.parents)]
    linked = [item for item in _find_linked(cwd, entries) if not _is_let_through(item, cwd, writable)]
    remarks = [] if complete else [_INCOMPLETE.format(MOST_ENTRIES)]
    if not all_named:
        remarks.append(_MANY_WORDS)
    first, pinned = _select_guarded(cwd, files)
    if len(files) > len(first):
        remarks.append(f"Only {len(first)} of {len(files)} files that tools run automatically are read-only.")
    files = first
    return ProtectedFiles((*files, *linked), tuple(pinned), tuple(linked), tuple(remarks))


def _select_guarded(cwd: Path, named: Sequence[Path]) -> tuple[list[Path], set[Path]]:
    """Return the files that are guarded, and the folders above them.

    Renamed, a folder would take its read-only files along, and leave the name to another folder.
    """
    pinned: set[Path] = set()
    for count, item in enumerate(named):
        above = {folder for folder in item.parents if folder != cwd and folder.is_relative_to(cwd)}
        if count >= _MOST_GUARDED or len(pinned | above) > _MOST_PINNED:
            return list(named[:count]), pinned
        pinned |= above
    return list(named), pinned


_INCOMPLETE = "The working directory has more than {} files; only the first ones were checked for protection."
_MANY_WORDS = (
    "Settings of git name more than could be checked; not every program that git may run is read-only."
)


def _make_hooks(cwd: Path) -> None:
    """Make a repository's missing folder of hooks: one made by code inside would not be protected.

    Code inside may have made `.git` a link, by which the folder would be made outside.
    """
    folder = Path(os.path.realpath(cwd / ".git"))
    if not folder.is_relative_to(cwd):
        return
    with contextlib.suppress(OSError):
        git = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.mkdir("hooks", dir_fd=git)
        finally:
            os.close(git)


class ProtectedFileWatch:
    """Notices which of the files that matter a run makes or changes."""

    def __init__(self, cwd: Path, writable: Sequence[str] = ()) -> None:
        self._cwd = cwd
        self._writable = writable
        entries, _ = _list_entries(cwd, packages=False)
        self._run_by_git = frozenset(_run_by_git(cwd, entries)[0])
        self._before = self._make_fingerprint(entries)

    def find_changes(self) -> str | None:
        """Say in a sentence what was made or changed since the last call or the start; None for nothing."""
        before, after = self._before, self._make_fingerprint(_list_entries(self._cwd, packages=False)[0])
        self._before = after
        paths = sorted(path for path, print_ in after.items() if before.get(path) != print_)
        removed = before.keys() - after.keys()
        words = [f"{'changed' if item in before else 'created'} {item}" for item in paths]
        words += [f"removed {item}" for item in sorted(removed) if _is_read_only(self._cwd / item)]
        if not words:
            return None
        more = f" and {len(words) - 8} more" if len(words) > 8 else ""
        return f"{', '.join(words[:8])}{more}: programs outside the sandbox may run it. Review it first."

    def _make_fingerprint(self, entries: Sequence[tuple[Path, os.stat_result]]) -> dict[str, _Fingerprint]:
        return {
            str(path.relative_to(self._cwd)): print_
            for path, print_ in self._make_fingerprints(entries)
            if not _is_let_through(path, self._cwd, self._writable)
        }

    def _make_fingerprints(
        self, entries: Sequence[tuple[Path, os.stat_result]]
    ) -> Iterator[tuple[Path, _Fingerprint]]:
        for path, status in entries:
            if self._matters(path):
                is_folder = stat.S_ISDIR(status.st_mode)
                # A folder changes with each file in it, which counts for itself where it matters.
                yield path, (status.st_ino, 0 if is_folder else status.st_ctime_ns, status.st_mode)

    def _matters(self, path: Path) -> bool:
        name = _fold(path.name)
        if name == "commondir" or name.startswith("config"):
            leads_away = name == "commondir" and not _leads_to_its_repository(path)
            return _is_git(path.parent) and (leads_away or git_settings.runs_something(path))
        if _fold(path.parent.name) == "hooks":
            return not name.endswith(".sample") and _is_git(path.parent.parent)
        if name == ".git":
            return not _is_folder(path)
        if not self._run_by_git.isdisjoint((path, path.parent)):
            return True
        is_named = name in _READ_ONLY or name in _REPORTED or _SCRIPT_SETTINGS.fullmatch(name) is not None
        return is_named or name.endswith(".pth") or _is_of_environment(path)


def _run_by_git(cwd: Path, entries: Sequence[tuple[Path, os.stat_result]]) -> tuple[list[Path], bool]:
    """Return what settings name as programs of git, such as a folder of hooks, and whether that is all.

    Not all of it is there. Code inside may have made any number of settings, with any number of names.
    """
    everywhere = [
        (
            path.parent,
            git_settings.find_words(git_settings.read_file(path) or b""),
            not Path(os.path.realpath(path)).is_relative_to(cwd),
        )
        for path in git_settings.list_global_files()
    ]
    files: dict[Path, None] = {}
    roots: set[Path] = set()
    budget, complete = _MOST_WORK, True
    own, links = Path(os.path.realpath(cwd / ".git")), git_settings.list_links(cwd)
    paths = [path for path, _ in entries if _fold(path.name) in _GIT_SETTINGS and _is_git(path.parent)]
    # The project's own settings always count: code inside may have made all others, to use up the budget.
    for path in sorted(paths, key=lambda path: path.parent != own):
        is_own = path.parent == own
        if budget < 0 and not is_own:
            return list(files), False
        root = path.parent.parent if _fold(path.parent.name) == ".git" else path.parent
        settings = git_settings.read_file(path) or b""
        words = git_settings.find_words(settings)
        searches = [(base, words, False) for base in dict.fromkeys((root, path.parent))]
        if root not in roots:
            # The person's own settings count in each repository; their own folder is the same for all.
            searches += [(root, names, is_trusted) for _, names, is_trusted in everywhere]
            searches += [] if roots else everywhere
        budget -= len(settings) // _BYTES_A_STEP
        steps = sum(1 + word.count(b"/") for _, names, _ in searches for word in names)
        if steps > min(budget, _MOST_WORK // 10) and not is_own:
            complete = False
            continue
        roots.add(root)
        budget -= steps
        for base, names, is_trusted in searches:
            matches = git_settings.find_files(names, base, cwd, links, is_trusted=is_trusted)
            files.update(dict.fromkeys(matches))
    return list(files), complete


def _list_entries(cwd: Path, *, packages: bool = True) -> tuple[list[tuple[Path, os.stat_result]], bool]:
    """List the folder, nearest entries first, and whether the list is complete."""
    listing: list[tuple[Path, os.stat_result]] = []
    folders = [cwd]
    for folder in folders:
        try:
            entries = sorted(os.scandir(folder), key=lambda one: one.name)
        except OSError:
            continue
        for entry in entries:
            if len(listing) >= MOST_ENTRIES:
                return listing, False
            try:
                listing.append((Path(entry.path), entry.stat(follow_symlinks=False)))
                if entry.is_dir(follow_symlinks=False) and _may_hold(folder, entry.name, packages):
                    folders.append(Path(entry.path))
            except OSError:
                continue
    return listing, True


def _may_hold(folder: Path, name: str, packages: bool) -> bool:
    """Return whether a folder of this name in `folder` may hold files that matter."""
    if name in _GIT_DATA:
        return not _is_git(folder)
    # What Python runs by itself lies at the top of the folder of its packages.
    return packages or not (name in _PACKAGES or folder.name == "site-packages")


def _is_read_only(path: Path) -> bool:
    name = _fold(path.name)
    if name in _GIT:
        return _is_git(path.parent)
    return name in _READ_ONLY or (name == ".git" and not _is_folder(path))


def _is_of_environment(path: Path) -> bool:
    """Return whether it is a program of a virtual environment of Python, or what activates that."""
    folder = path.parent
    return folder.name in ("bin", "Scripts") and _is_file(folder.parent / "pyvenv.cfg")


def _is_git(folder: Path) -> bool:
    """Return whether git takes the folder for a repository's own, as .git, that of a submodule or of a
    linked work tree, or a bare one.

    HEAD may be a link that leads nowhere, and all else may be in the folder that `commondir` names.
    """
    return _fold(folder.name) == ".git" or (
        os.path.lexists(folder / "HEAD")
        and (os.path.lexists(folder / "objects") or os.path.lexists(folder / "commondir"))
    )


def _leads_to_its_repository(path: Path) -> bool:
    """Return whether a `commondir` names the repository that its folder is in, as git writes it for a linked
    work tree.
    """
    folder = path.parent.parent
    # The settings of that repository are watched.
    is_linked = folder.name == "worktrees" and _is_git(folder.parent)
    # git takes all but the end of the line for a name.
    return is_linked and (git_settings.read_file(path) or b"").rstrip(b"\r\n") == b"../.."


def _is_folder(path: Path) -> bool:
    """Return whether it is a folder; not so where that cannot be told.

    Code inside may have made a link to too long a name, for which `Path.is_dir` raises before Python 3.14.
    """
    return os.path.isdir(path)  # noqa: PTH112


def _is_file(path: Path) -> bool:
    """Return whether it is a plain file; not so where that cannot be told, as for `_is_folder`."""
    return os.path.isfile(path)  # noqa: PTH113


def _is_let_through(path: Path, cwd: Path, writable: Sequence[str]) -> bool:
    name = str(path.relative_to(cwd))
    return any(
        fnmatch.fnmatch(name, item) or fnmatch.fnmatch(path.name, item) or name.startswith(f"{item}/")
        for item in (one.rstrip("/") for one in writable)
    )


def _find_linked(cwd: Path, entries: Sequence[tuple[Path, os.stat_result]]) -> list[Path]:
    """Files that are also files elsewhere; where there are many, the folders at the top that hold them."""
    names: dict[tuple[int, int], list[Path]] = defaultdict(list)
    links: dict[tuple[int, int], int] = {}
    for path, status in entries:
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            names[status.st_dev, status.st_ino].append(path)
            links[status.st_dev, status.st_ino] = status.st_nlink
    out = [path for key, paths in names.items() if len(paths) < links[key] for path in paths]
    if len(out) <= _MOST_LINKS:
        return out
    return list(dict.fromkeys(cwd / path.relative_to(cwd).parts[0] for path in out))
