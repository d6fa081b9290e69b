"""The command line: reads flags, environment and profile, and starts the application."""

import argparse
import contextlib
import gc
import itertools
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from oi_tui import paths, profiles
from oi_tui.actions import confirm_trust
from oi_tui.cli import compat, server_options
from oi_tui.cli.help_page import page
from oi_tui.engine.credentials.redaction import learn_address
from oi_tui.engine.settings import migration, presets, yaml_file
from oi_tui.engine.settings.profile import Profile, conversations, settings
from oi_tui.engine.settings.setting import ProfileError, Setting, Value, nearest
from oi_tui.engine.settings.templates import starter
from oi_tui.system.environment import close_to_others
from oi_tui.system.opener import open_folder
from oi_tui.text import one_line
from oi_tui.version import __version__

#: The exit code for a command line, profile or terminal that cannot be used.
USAGE = 2


_SEEN = (
    "Other users of this machine can see the key on the command line, as ps shows it. Use the provider's "
    "environment variable instead, or type the key in the settings (f2)"
)
#: What `-s` was in Open Interpreter.
_STDIN = "To read one request from standard input, as -s did in Open Interpreter, use --stdin"


class _Parser(argparse.ArgumentParser):
    """Like its base, but an error is one line, and the help a page of our own."""

    #: The arguments that are parsed, to name a flag in an error as it was typed.
    typed: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        problem = message.removeprefix("argument ")
        if problem.endswith(": expected one argument"):
            problem = self._missing_value(problem.partition(":")[0].split("/"))
        raise _UsageError(problem)

    def _missing_value(self, names: Sequence[str]) -> str:
        """Say which flag has no value, as it was typed, and what the value sets."""
        action = self._option_string_actions[names[0]]
        long = next(name for name in names if name.startswith("--"))
        typed = next((flag for flag in _without_value(self.typed) if flag in names), long)
        key = next((setting.key for setting in settings() if setting.name == action.dest), action.dest)
        problem = f"{typed} needs a value for {key}; write a value that begins with - as {long}=VALUE"
        return f"{problem}. {_STDIN}" if typed == "-s" else problem

    def format_help(self) -> str:
        return page(self)


class _UsageError(Exception):
    """The command line cannot be understood."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code: 0, or 2 when the command line or the profile is wrong."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        return _start(arguments)
    except (_UsageError, ProfileError) as error:
        print(f"oi-tui: {one_line(str(error), 1000)}", file=sys.stderr)  # noqa: T201
    except OSError as error:
        reason = error.strerror or str(error)
        where = f"{error.filename}: " if error.filename else ""
        print(f"oi-tui: {one_line(where + reason, 1000)}", file=sys.stderr)  # noqa: T201
    return USAGE


def parser() -> _Parser:
    """The command line, one flag or more for each setting."""
    made = _Parser(
        prog="oi-tui",
        usage="oi-tui [options] [request]",
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    made.add_argument(
        "-p",
        "--profile",
        nargs="?",
        metavar="NAME",
        help="use this profile: a name, a path with a /, or a URL; without NAME list them",
    )
    made.add_argument("--demo", action="store_true", help="use the scripted demo model: no key, no network")
    made.add_argument("--conversations", action="store_true", help="choose a saved conversation first")
    made.add_argument(
        "--resume",
        nargs="?",
        const="last",
        metavar="ID",
        help="continue a saved conversation; without ID the last one",
    )
    made.add_argument("--profiles", action="store_true", help="list the profiles and open their folder")
    made.add_argument(
        "--reset-profile",
        nargs="?",
        const="default",
        metavar="NAME",
        help="reset a profile to its original state",
    )
    made.add_argument(
        "--import",
        dest="import_all",
        action="store_true",
        help="import the profiles, conversations and models of Open Interpreter on this machine",
    )
    made.add_argument(
        "--import-profiles", action="store_true", help="copy the profiles of Open Interpreter on this machine"
    )
    made.add_argument("-pl", "--plain", action="store_true", help="plain lines instead of the full screen")
    made.add_argument(
        "--acp", action="store_true", help="work as the agent of an editor (Agent Client Protocol)"
    )
    made.add_argument("--mcp", action="store_true", help="run code for an MCP host (Model Context Protocol)")
    made.add_argument(
        "--stdin", action="store_true", help="run one request from standard input, print, and exit"
    )
    made.add_argument(
        "--doctor",
        nargs="?",
        const="",
        metavar="FILE",
        help="check machine, terminal and installation; write the report to FILE",
    )
    server_options.add(made)
    made.add_argument("-V", "--version", action="version", version=f"oi-tui {__version__}")
    groups: dict[str, argparse._ArgumentGroup] = {}
    for setting in settings():
        group = groups.get(setting.section)
        if group is None:
            group = groups[setting.section] = made.add_argument_group(setting.section)
        _add(group, setting)
    return made


def read_profile(given: argparse.Namespace, *, write: bool = True) -> tuple[Profile, Path | None]:
    """The profile that the command line asks for, and its path. Raises ProfileError or OSError.

    Flags win over the environment, which wins over the file. The file `default.yaml` is made on first use.
    A profile that cannot be used stops the start: its limits would be lost. Without `write` no file is made
    or changed.
    """
    profile, path = _open_profile(given, write=write)
    return _complete(profile, given), path


def _open_profile(given: argparse.Namespace, *, write: bool = True) -> tuple[Profile, Path | None]:
    offline = bool(getattr(given, "offline", False))
    name = getattr(given, "profile", None)
    return profiles.open_profile(name, confirm_trust.ask, offline=offline, write=write)


def _complete(profile: Profile, given: argparse.Namespace) -> Profile:
    """The profile with the settings of the working directory, of the environment and of flags."""
    profile = _with_project(profile).with_environment()
    changes: dict[str, Value] = {}
    for setting in settings():
        if setting.name in given:
            value = getattr(given, setting.name)
            changes[setting.name] = setting.check_given(
                setting.parse(value) if isinstance(value, str) else value
            )
    if "demo" in given:
        changes |= {"model": "demo", "api_base": None}
    return profile.with_changes("flag", **changes)


def _with_project(profile: Profile) -> Profile:
    """The profile with what the working directory brings along, if a person trusted exactly that."""
    shown = profiles.project(Path.cwd())
    if shown is None:
        unread = profiles.unread_project(Path.cwd())
        return replace(profile, unknown=(*profile.unknown, unread)) if unread else profile
    note = f"This folder has its own settings ({profiles.PROJECT}); they are not used. %trust shows them."
    if profiles.is_trusted(shown):
        return profiles.with_project(profile, shown)
    return replace(profile, unknown=(*profile.unknown, note))


def _start(arguments: list[str]) -> int:
    if (code := compat.answered(arguments)) is not None:
        return code
    arguments, chosen, notes = compat.translate(arguments)
    made = parser()
    made.typed = _use_dashes(arguments, made)
    given, rest = made.parse_known_args(made.typed)
    words = _first_message(_words(rest, made))
    if "demo" in given and "model" in given:
        raise _UsageError("--demo and --model cannot be used together")
    notes += compat.add_choices(given, chosen)
    if "doctor" in given:
        return _examine(given)
    if "profiles" in given or ("profile" in given and given.profile is None):
        return _list_profiles()
    if "reset_profile" in given:
        return _reset_profile(given.reset_profile)
    if "import_all" in given:
        return _import_all()
    if "import_profiles" in given:
        return _import_profiles()
    for secret in (getattr(given, "api_key", ""), *learn_address(getattr(given, "api_base", ""))):
        if not _hide_argument(secret):
            notes.append(_SEEN)
    if problem := server_options.misplaced(given):
        raise _UsageError(problem)
    if "attach" in given:
        return _attach(given, words)
    profile, path = read_profile(given)
    _refuse_contradiction(profile)
    profile = replace(profile, unknown=(*profile.unknown, *notes))
    resume = _conversation(given.resume, profile) if "resume" in given else None
    if "server" in given:
        gc.enable()
        return _serve(given, profile, path)
    if "acp" in given:
        gc.enable()
        return _serve_editor(given)
    if "mcp" in given:
        gc.enable()
        return _serve_host(profile, path)
    if profile.target != "local":
        print(f"Connecting to {one_line(profile.target, 200)} …", file=sys.stderr)  # noqa: T201
    without_screen = "stdin" in given or "plain" in given or not _has_screen()
    if without_screen:
        gc.enable()
    if "stdin" in given:
        from oi_tui.plain.run import answer

        return answer(profile, profile_path=path, words=words)
    if without_screen:
        from oi_tui.plain.run import converse

        return converse(profile, profile_path=path, words=words, resume=resume)
    _tune_textual()
    with _loading_model_process() if not profile.completions else contextlib.nullcontext():
        from oi_tui.app import run

        return run(profile, profile_path=path, words=words, resume=resume, navigator="conversations" in given)


def _attach(given: argparse.Namespace, words: str) -> int:
    """Join a session of a server. Raises _UsageError for what cannot be used."""
    _hide_argument(given.attach.partition("#token=")[2])
    if words:
        raise _UsageError("--attach takes no request; type it when you have joined the session")
    gc.enable()
    try:
        return server_options.attach(given)
    except ValueError as error:
        raise _UsageError(str(error)) from None


def _serve(given: argparse.Namespace, profile: Profile, path: Path | None) -> int:
    """Run the server. Raises _UsageError where its flags or its packages are wrong."""
    try:
        return server_options.serve(given, profile, path)
    except ValueError as error:
        raise _UsageError(str(error)) from None


def _serve_host(profile: Profile, path: Path | None) -> int:
    """Run code for an MCP host. Raises _UsageError where a package is missing."""
    try:
        from oi_tui.mcp_server.run import run
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio", "pydantic"):
            raise
        raise _UsageError(
            f'--mcp needs more packages: pip install "oi-tui[mcp]" ({missing.name} is missing)'
        ) from None
    return run(profile, path)


def _serve_editor(given: argparse.Namespace) -> int:
    """Be the agent of an editor; the settings of a folder are those of its own sessions only.

    Raises _UsageError where a package is missing.
    """
    try:
        from oi_tui.acp.run import run
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("acp", "pydantic"):
            raise
        raise _UsageError(
            f'--acp needs more packages: pip install "oi-tui[acp]" ({missing.name} is missing)'
        ) from None
    profile, path = _open_profile(given)
    return run(lambda: _complete(profile, given), path)


def _refuse_contradiction(profile: Profile) -> None:
    """Refuse to start offline with the address of a server elsewhere."""
    if not (profile.offline and profile.api_base):
        return
    from oi_tui.engine.llm import endpoint

    if refusal := endpoint.refusal(profile):
        raise ProfileError(refusal.sentence, key="llm.api_base")


def _examine(given: argparse.Namespace) -> int:
    """Say what is wrong with this machine, and with the settings that a start with these flags would have."""
    from oi_tui.doctor import in_use
    from oi_tui.doctor.report import run

    try:
        found = in_use.InUse(*read_profile(given, write=False))
    except (ProfileError, OSError) as error:
        found = in_use.without(error)
    return run(given.doctor or None, found)


def _list_profiles() -> int:
    """Say which profiles there are, and open their folder where there is a desktop to open it on."""
    folder = paths.profiles()
    default = profiles.default_path()
    with contextlib.suppress(ProfileError, OSError):
        profiles.open_profile(None)  # makes the default profile; one that is wrong is listed as such
    lines = [f"Profiles in {one_line(paths.short(folder))}:"]
    for path in sorted([*folder.glob("*.y*ml"), *folder.glob("*.py")]):
        mark = " (default)" if path == default else ""
        lines.append(f"  {one_line(path.stem, 40):<20} {_describe_profile(path)}{mark}")
    lines.append("Ready-made:")
    own = {path.stem for path in folder.glob("*.y*ml")}
    lines += [f"  {name:<20} {presets.summary(name)}" for name in presets.names() if name not in own]
    lines += _waiting()
    _print("\n".join(lines))
    open_folder(folder)
    return 0


def _waiting() -> list[str]:
    """Say that something of Open Interpreter can be brought in, if it can."""
    from oi_tui.engine.open_interpreter import setup
    from oi_tui.engine.storage.store import Store

    found = setup.look(Store(paths.conversations()))
    return ["Open Interpreter was found on this machine; oi-tui --import imports it."] if found else []


def _describe_profile(path: Path) -> str:
    if path.suffix == ".py":
        return "a Python program; you review it before its first use"
    try:
        return one_line(f"model {profiles.load(path, write=False).model}", 200)
    except (ProfileError, OSError) as error:
        reason = error.problem if isinstance(error, ProfileError) else error.strerror
        return one_line(f"cannot be used: {reason}", 200)


def _reset_profile(name: str) -> int:
    """Set a profile back to what it was at first; the file as it was is kept beside it."""
    path = profiles.find(name)
    if path.parent != paths.profiles() or path.suffix != ".yaml":
        raise ProfileError("only profiles in the profiles folder can be reset", path=path)
    if path.exists():
        kept = migration.keep(path, yaml_file.read_text(path))
        _print(f"The previous profile is saved as {one_line(paths.short(kept))}.")
    paths.make_private(path.parent)
    yaml_file.replace_file(path, presets.text(path.stem) or starter())
    _print(f"{one_line(path.stem)} was reset.")
    return 0


def _import_profiles() -> int:
    from oi_tui.engine.open_interpreter import profiles as original_profiles

    results = list(original_profiles.bring_in(original_profiles.found(), paths.profiles()))
    source = original_profiles.folder()
    _print("\n".join(map(str, results)) or f"There are no profiles in {one_line(paths.short(source))}.")
    return 0


def _import_all() -> int:
    """Bring in everything of Open Interpreter; its default profile becomes the default one."""
    from oi_tui.engine.open_interpreter import setup
    from oi_tui.engine.storage.store import Store

    imported = setup.bring_in(Store(paths.conversations()))
    lines = [str(imported)] if str(imported) else ["Nothing new was found in Open Interpreter's folders."]
    if imported.default:
        profiles.make_default(imported.default)
        lines.append(f"{imported.default.stem} is the default profile now.")
    _print("\n".join(lines))
    return 0


def _conversation(wanted: str, profile: Profile) -> str:
    from oi_tui.engine.storage.store import Store, StoreError

    store = Store(conversations(profile))
    if wanted == "last":
        latest = store.latest()
        if latest is None:
            raise _UsageError("no conversation to resume yet")
        return latest
    try:
        return store.find(wanted)
    except StoreError as error:
        raise _UsageError(f"{error} oi-tui --conversations lists all") from None


def _tune_textual() -> None:
    """Set what Textual reads from the environment, once, when it is imported."""
    # A key then waits 8 ms for its frame instead of 17.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    # For so many ms an escape may be the beginning of another key; stopping should not wait longer.
    os.environ.setdefault("ESCDELAY", "40")
    # The size is the terminal's; what a shell exported would be believed more, and would never change.
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)


def _loading_model_process() -> contextlib.AbstractContextManager[None]:
    """Let LiteLLM be loaded while the screen is: it takes far longer."""
    from oi_tui.engine.llm.transport.child import started_ahead

    # Before anything is started that could look.
    close_to_others()
    return started_ahead()


def _has_screen() -> bool:
    """Whether there is a terminal that can place text."""
    streams = (sys.stdin, sys.stdout)
    there = all(stream is not None and not stream.closed and stream.isatty() for stream in streams)
    return there and os.environ.get("TERM") != "dumb"


# ---------------------------------------------------------------------------------------------- flags


def _add(group: argparse._ArgumentGroup, setting: Setting) -> None:
    flags = (*(f for f in setting.flags if not f.startswith("--")), setting.long_flag)
    more = tuple(f for f in setting.flags if f.startswith("--"))
    help_text = setting.help.replace("%", "%%")
    if setting.kind is not bool:
        metavar = (
            "{" + ",".join(setting.choices) + "}"
            if 0 < len(setting.choices) < 4
            else setting.kind.__name__.upper()
        )
        group.add_argument(
            *flags, *more, dest=setting.name, metavar={"STR": "TEXT"}.get(metavar, metavar), help=help_text
        )
        return
    off_flags = (*setting.off_flags, "--no-" + setting.long_flag[2:])
    hidden = argparse.SUPPRESS
    shown_on, shown_off = (hidden, help_text) if setting.default is True else (help_text, hidden)
    if setting.default is True:
        shown_off = setting.help_off.replace("%", "%%")
    group.add_argument(*flags, *more, dest=setting.name, action="store_true", help=shown_on)
    group.add_argument(*off_flags, dest=setting.name, action="store_false", help=shown_off)


def _without_value(arguments: Sequence[str]) -> Iterator[str]:
    """The flags that are followed by another flag, or by nothing."""
    for argument, following in itertools.zip_longest(arguments, arguments[1:], fillvalue="-"):
        if argument.startswith("-") and following.startswith("-"):
            yield argument


def _use_dashes(arguments: list[str], made: _Parser) -> list[str]:
    """The arguments with each known flag written with dashes, and `--flag=false` as `--no-flag`.

    Raises _UsageError for a short flag with text right after it, other than a number.
    """
    known = made._option_string_actions
    switches = {setting.name: setting for setting in settings() if setting.kind is bool}
    result: list[str] = []
    for number, argument in enumerate(arguments):
        if argument == "--":
            return [*result, *arguments[number:]]
        name, equals, value = argument.partition("=")
        dashed = name.replace("_", "-") if name.startswith("--") else name
        if not name.startswith("-") or dashed not in known:
            result += _split_short(argument, made)
            continue
        switch = switches.get(known[dashed].dest) if equals else None
        if switch is not None:
            on = switch.parse(value) if value else None
            if on is None:
                raise switch.error("expected true or false after the =")
            flag = switch.long_flag
            result.append(flag if on == known[dashed].const else f"--no-{flag[2:]}")
        else:
            result.append(dashed + equals + value)
    return result


def _split_short(argument: str, made: _Parser) -> list[str]:
    """Split `-t0.5` into the flag and its number. Raises _UsageError for other text after a short flag.

    By itself, argparse would read `-max_budget 5` as the model `ax_budget`, and lose the limit.
    """
    known = made._option_string_actions
    shorts = [flag for flag in known if not flag.startswith("--") and argument.startswith(flag)]
    if argument.startswith("--") or not shorts:
        return [argument]
    flag = max(shorts, key=len)
    value = argument.removeprefix(flag)
    if known[flag].nargs != 0 and re.fullmatch(r"[\d_.]+", value):
        return [flag, value]
    letters = [f"-{letter}" for letter in argument[1:]]
    if all(letter in known and known[letter].nargs == 0 for letter in letters):
        return letters
    raise _UsageError(_unknown(argument, made))


def _words(rest: Sequence[str], made: _Parser) -> str:
    """Join the positional arguments into the first message, as in: oi-tui how large is this folder."""
    # What follows "--" is words, whatever it begins with.
    end = rest.index("--") if "--" in rest else len(rest)
    for item in rest[:end]:
        if item.startswith("-") and item != "-":
            raise _UsageError(_unknown(item, made))
    return " ".join([*rest[:end], *rest[end + 1 :]]).strip()


def _first_message(words: str) -> str:
    """The first message: the words, or for `wtf` a request about the last error of the shell."""
    if words.split()[:1] != ["wtf"]:
        return words
    from oi_tui.cli import wtf

    try:
        return wtf.request(words.split(maxsplit=1)[1:])
    except ValueError as error:
        raise _UsageError(str(error)) from None


def _unknown(argument: str, made: _Parser) -> str:
    name = argument.partition("=")[0]
    dashed = name.replace("_", "-")
    known = [flag for flag in made._option_string_actions if flag.startswith("--")]
    meant = next((flag for flag in known if len(name) > 3 and flag.startswith(dashed)), None)
    short = f"-{name.strip('-')}"
    if meant is None and short in made._option_string_actions and short != name:
        meant = short
    hint = f"; did you mean {meant}?" if meant else nearest(dashed, known)
    hint = hint or "; oi-tui --help lists all flags"
    return f"unknown flag {name}{hint}"


def _hide_argument(secret: str) -> bool:
    """Overwrite the secret in this process's command line, which every user of the machine can read.

    Returns whether it is hidden by now; only Linux lets a process do so.
    """
    if not secret:
        return True
    with contextlib.suppress(OSError, ValueError, IndexError):
        where = Path("/proc/self/cmdline").read_bytes().find(secret.encode())
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        start = int(fields[45])  # arg_start, field 48 of proc(5); the first two are cut off
        if where < 0 or not start:
            return where < 0
        import ctypes

        ctypes.memset(start + where, ord("*"), len(secret.encode()))
        return True
    return False


def _print(text: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        print(text, flush=True)  # noqa: T201
