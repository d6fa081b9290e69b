"""The command line: reads flags, environment and profile, and starts the application."""

import argparse
import contextlib
import gc
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui import paths, profiles
from oi_tui.actions import confirm_trust
from oi_tui.cli import combinations, compat, server_options
from oi_tui.cli.flags import UsageError, join_words, make_parser, use_dashes
from oi_tui.engine.credentials.redaction import learn_address
from oi_tui.engine.settings.profile import Profile, find_conversations_folder, list_remarks, list_settings
from oi_tui.engine.settings.setting import ProfileError, Value
from oi_tui.system.environment import close_to_others
from oi_tui.system.extras import MissingExtraError, need_extra
from oi_tui.terminal import textual_variables
from oi_tui.terminal.color_system import is_colourful_xterm
from oi_tui.text import clean_line

if TYPE_CHECKING:
    from oi_tui.runtimes.remote.left_targets import LeftTarget

#: The exit code for a command line, profile or terminal that cannot be used.
USAGE = 2
#: Flags that only manage the files of profiles.
_PROFILE_FLAGS = frozenset({"profiles", "reset_profile", "import_all", "import_profiles"})

_SEEN = (
    "Other users of this machine can see the key on the command line, as ps shows it. Use the provider's "
    "environment variable instead, or type the key in the settings (f2)"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code: 0, or 2 when the command line or the profile is wrong."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        return _start(arguments)
    except (UsageError, ProfileError, MissingExtraError) as error:
        print(f"oi-tui: {clean_line(str(error), 1000)}", file=sys.stderr)  # noqa: T201
    except OSError as error:
        print(f"oi-tui: {clean_line(_describe_problem(error), 1000)}", file=sys.stderr)  # noqa: T201
    return USAGE


def _describe_problem(error: OSError) -> str:
    """Return what the system refused, with the name of the file if there is one."""
    try:
        paths.find_cwd()
    except FileNotFoundError as gone:
        error = gone
    where = f"{error.filename}: " if error.filename else ""
    return where + (error.strerror or str(error))


def read_profile(given: argparse.Namespace, *, write: bool = True) -> tuple[Profile, Path | None]:
    """Return the profile that the command line asks for, and its path. Raises ProfileError or OSError.

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
    """Return the profile with the settings of the working directory, of the environment and of flags."""
    profile = _add_project(profile).with_environment()
    changes: dict[str, Value] = {}
    for setting in list_settings():
        if setting.name in given:
            value = getattr(given, setting.name)
            changes[setting.name] = setting.check_given(
                setting.parse(value) if isinstance(value, str) else value
            )
    if "demo" in given:
        changes |= {"model": "demo", "api_base": None}
    return profile.with_changes("flag", **changes)


def _add_project(profile: Profile) -> Profile:
    """Return the profile with what the working directory brings along, if a person trusted exactly that."""
    project = profiles.find_project(Path.cwd())
    if project is None:
        unread = profiles.explain_unread_project(Path.cwd())
        return replace(profile, notes=(*profile.notes, unread)) if unread else profile
    note = f"This folder has its own settings ({profiles.PROJECT}); they are not used. %trust shows them."
    if profiles.is_trusted(project):
        return profiles.add_project(profile, project)
    return replace(profile, notes=(*profile.notes, note))


def _start(arguments: list[str]) -> int:
    if (code := compat.handle_flag(arguments)) is not None:
        return code
    options, words, notes = _parse_arguments(arguments)
    if (code := _manage_profiles(options)) is not None:
        return code
    notes += _hide_secrets(options)
    if client := _find_client(options):
        return _attach(options, client)
    left_target = _find_left(options)
    profile, path = _choose_profile(options, notes, left_target)
    resume = _find_conversation(options.resume, profile) if "resume" in options else None
    if left_target and left_target.conversation and not resume:
        resume = _find_saved(left_target.conversation, profile)
    if (code := _serve_others(options, profile, path)) is not None:
        return code
    if profile.target != "local":
        print(f"Connecting to {clean_line(profile.target, 200)} …", file=sys.stderr)  # noqa: T201
    come_back = left_target.target if left_target else ""
    if "stdin" in options or "plain" in options or not _has_screen():
        return _run_plain(options, profile, path, words, resume, come_back)
    return _run_screen(options, profile, path, words, resume, come_back)


def _parse_arguments(arguments: list[str]) -> tuple[argparse.Namespace, str, list[str]]:
    """Return the flags, the words of the first message, and notes about old flags. Raises UsageError."""
    arguments, old_flags, notes = compat.translate(arguments)
    flags_parser = make_parser()
    flags_parser.typed = use_dashes(arguments, flags_parser)
    options, rest = flags_parser.parse_known_args(flags_parser.typed)
    words = join_words(rest, flags_parser)
    returns = server_options.attaches_to_target(options)
    if problem := combinations.describe_conflict(options, words, returns=returns):
        raise UsageError(problem)
    if problem := server_options.describe_misplaced(options):
        raise UsageError(problem)
    words = _make_first_message(words)
    return options, words, [*notes, *compat.add_choices(options, old_flags)]


def _find_client(given: argparse.Namespace) -> Callable[[argparse.Namespace], int] | None:
    """Return what works with a running server, if a flag asks for that."""
    if "kernel" in given:
        return server_options.run_kernel
    if "install_kernel" in given:
        return server_options.install_kernel
    if "attach" in given and not server_options.attaches_to_target(given):
        return server_options.attach
    return None


def _choose_profile(
    given: argparse.Namespace, notes: list[str], left: "LeftTarget | None"
) -> tuple[Profile, Path | None]:
    """Return the profile of a start, with notes for the person, and its path."""
    profile, path = read_profile(given)
    if left:
        # What was left is the target; another one could not be reached without it.
        profile = profile.with_changes("flag", target="local")
    _refuse_contradiction(profile)
    unused = [] if profile.sandbox else combinations.describe_unused(given)
    return replace(profile, notes=(*profile.notes, *notes, *unused)), path


def _manage_profiles(given: argparse.Namespace) -> int | None:
    """Do what needs no conversation: examine the machine, list, reset or import profiles. Else None."""
    if "doctor" in given:
        return _examine(given)
    if not _PROFILE_FLAGS.isdisjoint(vars(given)) or getattr(given, "profile", "") is None:
        return _manage_files(given)
    return None


def _manage_files(given: argparse.Namespace) -> int:
    """List, reset or import profiles."""
    from oi_tui.cli.profile_files import import_all, import_profiles, list_profiles, reset_profile

    if "profiles" in given or ("profile" in given and given.profile is None):
        return list_profiles()
    if "reset_profile" in given:
        return reset_profile(given.reset_profile)
    return import_all(given.import_all) if "import_all" in given else import_profiles()


def _hide_secrets(given: argparse.Namespace) -> list[str]:
    """Hide keys in the arguments from other programs. Returns a note for each that stays visible."""
    secrets = (getattr(given, "api_key", ""), *learn_address(getattr(given, "api_base", "")))
    return [_SEEN for secret in secrets if not _hide_argument(secret)]


def _serve_others(given: argparse.Namespace, profile: Profile, path: Path | None) -> int | None:
    """Serve clients, an editor or a host, if a flag says so; else None."""
    if not {"server", "acp", "mcp"} & vars(given).keys():
        return None
    gc.enable()
    for remark in list_remarks(profile):
        print(f"oi-tui: {clean_line(remark, 500)}", file=sys.stderr)  # noqa: T201
    if "server" in given:
        return _serve(given, profile, path)
    return _serve_editor(given) if "acp" in given else _serve_host(profile, path)


def _run_plain(
    given: argparse.Namespace,
    profile: Profile,
    path: Path | None,
    words: str,
    resume: str | None,
    come_back: str,
) -> int:
    """Work on one request from standard input, or converse in plain lines."""
    from oi_tui.plain import run

    gc.enable()
    if "stdin" in given:
        return run.answer(profile, profile_path=path, words=words, resume=resume)
    return run.converse(
        profile,
        profile_path=path,
        words=words,
        resume=resume,
        navigator="conversations" in given,
        come_back=come_back,
    )


def _run_screen(
    given: argparse.Namespace,
    profile: Profile,
    path: Path | None,
    words: str,
    resume: str | None,
    come_back: str,
) -> int:
    """Run the full-screen application."""
    _tune_textual()
    with _loading_model_process() if not profile.completions else contextlib.nullcontext():
        from oi_tui.app import run

        return run(
            profile,
            profile_path=path,
            words=words,
            resume=resume,
            navigator="conversations" in given,
            come_back=come_back,
        )


def _attach(given: argparse.Namespace, work: Callable[[argparse.Namespace], int]) -> int:
    """Work with a server that runs. Raises UsageError for what cannot be used."""
    _hide_argument(getattr(given, "attach", "").partition("#token=")[2])
    gc.enable()
    try:
        return work(given)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _serve(given: argparse.Namespace, profile: Profile, path: Path | None) -> int:
    """Run the server. Raises UsageError where its flags are wrong, or MissingExtraError."""
    try:
        return server_options.serve(given, profile, path)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _serve_host(profile: Profile, path: Path | None) -> int:
    """Run code for an MCP host. Raises MissingExtraError where a package is missing."""
    with need_extra("mcp", "--mcp", ("mcp", "mcp_types", "anyio", "pydantic")):
        from oi_tui.mcp_server.run import run
    return run(profile, path)


def _serve_editor(given: argparse.Namespace) -> int:
    """Serve an editor as its agent; the settings of a folder count for sessions in that folder only.

    Raises MissingExtraError where a package is missing.
    """
    with need_extra("acp", "--acp", ("acp", "pydantic")):
        from oi_tui.acp.run import run
    profile, path = _open_profile(given)
    return run(lambda: _complete(profile, given), path)


def _refuse_contradiction(profile: Profile) -> None:
    """Refuse to start offline with the address of a server elsewhere."""
    if not (profile.offline and profile.api_base):
        return
    from oi_tui.engine.llm import endpoint

    if refusal := endpoint.find_refusal(profile):
        raise ProfileError(refusal.sentence, key="llm.api_base")


def _examine(given: argparse.Namespace) -> int:
    """Say what is wrong with this machine, and with the settings that a start with these flags would have."""
    from oi_tui.doctor import active_profile
    from oi_tui.doctor.report import run

    try:
        profile = active_profile.ActiveProfile(*read_profile(given, write=False))
    except (ProfileError, OSError) as error:
        profile = active_profile.make_defaults(error)
    return run(given.doctor or None, profile)


def _find_conversation(wanted: str, profile: Profile) -> str:
    from oi_tui.engine.storage.store import Store, StoreError

    store = Store(find_conversations_folder(profile))
    if wanted == "last":
        latest = store.find_latest()
        if latest is None:
            raise UsageError("no conversation to resume yet")
        return latest
    try:
        return store.find(wanted)
    except StoreError as error:
        raise UsageError(f"{error} oi-tui --conversations lists all") from None


def _find_left(given: argparse.Namespace) -> "LeftTarget | None":
    """Return what was left running on the target that --attach names, if it names one. Raises UsageError."""
    try:
        return server_options.find_left(given)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _find_saved(id: str, profile: Profile) -> str | None:
    """Return the conversation, if it is saved."""
    from oi_tui.engine.storage.store import Store, StoreError

    with contextlib.suppress(StoreError):
        return Store(find_conversations_folder(profile)).find(id)
    return None


def _tune_textual() -> None:
    """Set what Textual reads from the environment, once, when it is imported.

    Raises UsageError for a variable that it could not use.
    """
    textual_variables.drop_empty(os.environ)
    if problem := textual_variables.find_problem(os.environ):
        raise UsageError(problem)
    # A key then waits 8 ms for its frame instead of 17.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    # How long an escape may be the beginning of another key, in ms. Stopping should not wait longer.
    os.environ.setdefault("ESCDELAY", "40")
    # The size is the terminal's; what a shell exported would be believed more, and would never change.
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)
    if is_colourful_xterm(os.environ):
        os.environ.setdefault("TEXTUAL_COLOR_SYSTEM", "truecolor")


def _loading_model_process() -> contextlib.AbstractContextManager[None]:
    """Load LiteLLM at the same time as the screen, because it takes far longer."""
    from oi_tui.engine.llm.transport.child import start_ahead

    # Before anything is started that could look.
    close_to_others()
    return start_ahead()


def _has_screen() -> bool:
    """Return whether there is a terminal that can place text."""
    streams = (sys.stdin, sys.stdout)
    there = all(stream is not None and not stream.closed and stream.isatty() for stream in streams)
    return there and os.environ.get("TERM") != "dumb"


def _make_first_message(words: str) -> str:
    """Return the first message: the words, or for `wtf` a request about the last error of the shell."""
    if words.split()[:1] != ["wtf"]:
        return words
    from oi_tui.cli import wtf

    try:
        return wtf.request(words.split(maxsplit=1)[1:])
    except ValueError as error:
        raise UsageError(str(error)) from None


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
