"""The flags of the command line: one or more for each setting, and those of the program itself."""

import argparse
import contextlib
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

from oi_tui.cli import server_options
from oi_tui.engine.settings.profile import list_settings
from oi_tui.engine.settings.setting import Setting, suggest_nearest
from oi_tui.version import __version__

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

#: What `-s` was in Open Interpreter.
_STDIN = "To read one request from standard input, as -s did in Open Interpreter, use --stdin"

#: What stands for a value in the help, by the kind of its setting.
_METAVARS = {str: "TEXT", tuple: "LIST", int: "NUMBER", float: "NUMBER"}


class UsageError(Exception):
    """The command line cannot be understood."""


class FlagParser(argparse.ArgumentParser):
    """Like its base, but an error is one line, and the help a page of our own."""

    #: The arguments that are parsed, to name a flag in an error as it was typed.
    typed: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        """Raise UsageError, with what argparse found wrong."""
        problem = message.removeprefix("argument ")
        if problem.endswith(": expected one argument"):
            problem = self._describe_missing_value(problem.partition(":")[0].split("/"))
        raise UsageError(problem)

    def _describe_missing_value(self, names: Sequence[str]) -> str:
        """Say which flag has no value, as it was typed, and what the value sets."""
        action = self._option_string_actions[names[0]]
        long = next(name for name in names if name.startswith("--"))
        typed_flag = next((flag for flag in _find_flags_without_value(self.typed) if flag in names), long)
        key = next((setting.key for setting in list_settings() if setting.name == action.dest), action.dest)
        problem = f"{typed_flag} needs a value for {key}; write a value that begins with - as {long}=VALUE"
        return f"{problem}. {_STDIN}" if typed_flag == "-s" else problem

    def format_help(self) -> str:
        """Return the page of help."""
        from oi_tui.cli.help_page import write_page

        return write_page(self)

    def print_help(self, file: "SupportsWrite[str] | None" = None) -> None:
        """Print the page of help; unlike in the base, a full disk is an error."""
        with contextlib.suppress(BrokenPipeError):
            print(self.format_help(), end="", file=file)


def make_parser() -> FlagParser:
    """Return the command line, one flag or more for each setting."""
    flag_parser = FlagParser(
        prog="oi-tui",
        usage="oi-tui [options] [request]",
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    _add_actions(flag_parser)
    server_options.add(flag_parser)
    flag_parser.add_argument("-V", "--version", action="version", version=f"oi-tui {__version__}")
    _add_settings(flag_parser)
    return flag_parser


def _add_actions(flag_parser: FlagParser) -> None:
    """Add the flags that are no settings: what to start with, or to do instead of a conversation."""
    flag_parser.add_argument(
        "-p",
        "--profile",
        nargs="?",
        metavar="NAME",
        help="use this profile: a name, a path with a /, or a URL; without NAME list them",
    )
    flag_parser.add_argument(
        "--demo", action="store_true", help="use the scripted demo model: no key, no network"
    )
    flag_parser.add_argument("--conversations", action="store_true", help="choose a saved conversation first")
    flag_parser.add_argument(
        "--resume",
        nargs="?",
        const="last",
        metavar="ID",
        help="continue a saved conversation; without ID the last one",
    )
    flag_parser.add_argument(
        "--profiles", action="store_true", help="list the profiles and open their folder"
    )
    flag_parser.add_argument(
        "--reset-profile",
        nargs="?",
        const="default",
        metavar="NAME",
        help="reset a profile to its original state",
    )
    flag_parser.add_argument(
        "--import",
        dest="import_all",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="import the profiles, conversations and models of Open Interpreter on this machine; "
        "also the conversations in FOLDER",
    )
    flag_parser.add_argument(
        "--import-profiles", action="store_true", help="copy the profiles of Open Interpreter on this machine"
    )
    flag_parser.add_argument(
        "-pl", "--plain", action="store_true", help="plain lines instead of the full screen"
    )
    flag_parser.add_argument(
        "--acp", action="store_true", help="work as the agent of an editor (Agent Client Protocol)"
    )
    flag_parser.add_argument(
        "--mcp", action="store_true", help="run code for an MCP host (Model Context Protocol)"
    )
    flag_parser.add_argument(
        "--stdin", action="store_true", help="run one request from standard input, print, and exit"
    )
    flag_parser.add_argument(
        "--doctor",
        nargs="?",
        const="",
        metavar="FILE",
        help="check machine, terminal and installation; write the report to FILE",
    )


def _add_settings(flag_parser: FlagParser) -> None:
    """Add the flags of each setting, in the group of its section."""
    groups: dict[str, argparse._ArgumentGroup] = {}
    for setting in list_settings():
        group = groups.get(setting.section)
        if group is None:
            group = groups[setting.section] = flag_parser.add_argument_group(setting.section)
        _add_setting(group, setting)


def _add_setting(group: argparse._ArgumentGroup, setting: Setting) -> None:
    flags = (*(f for f in setting.flags if not f.startswith("--")), setting.long_flag)
    more = tuple(f for f in setting.flags if f.startswith("--"))
    help_text = setting.help.replace("%", "%%")
    if setting.kind is not bool:
        has_few_choices = 0 < len(setting.choices) < 4
        metavar = "{" + ",".join(setting.choices) + "}" if has_few_choices else _METAVARS[setting.kind]
        group.add_argument(*flags, *more, dest=setting.name, metavar=metavar, help=help_text)
        return
    off_flags = (*setting.off_flags, "--no-" + setting.long_flag[2:])
    no_help = argparse.SUPPRESS
    shown_on, shown_off = (no_help, help_text) if setting.default is True else (help_text, no_help)
    if setting.default is True:
        shown_off = setting.help_off.replace("%", "%%")
    group.add_argument(*flags, *more, dest=setting.name, action="store_true", help=shown_on)
    group.add_argument(*off_flags, dest=setting.name, action="store_false", help=shown_off)


def use_dashes(arguments: list[str], made: FlagParser) -> list[str]:
    """Return the arguments with each known flag written with dashes, and `--flag=false` as `--no-flag`.

    Raises UsageError for a short flag with text right after it, other than a number.
    """
    actions = made._option_string_actions
    switches = {setting.name: setting for setting in list_settings() if setting.kind is bool}
    result: list[str] = []
    for number, argument in enumerate(arguments):
        if argument == "--":
            return [*result, *arguments[number:]]
        name, equals, value = argument.partition("=")
        dashed = name.replace("_", "-") if name.startswith("--") else name
        if not name.startswith("-") or dashed not in actions:
            result += _split_short(argument, made)
            continue
        switch = switches.get(actions[dashed].dest) if equals else None
        if switch is not None:
            on = switch.parse(value) if value else None
            if on is None:
                raise switch.make_error("expected true or false after the =")
            flag = switch.long_flag
            result.append(flag if on == actions[dashed].const else f"--no-{flag[2:]}")
        else:
            result.append(dashed + equals + value)
    return result


def join_words(rest: Sequence[str], made: FlagParser) -> str:
    """Join the positional arguments into the first message, as in: oi-tui how large is this folder."""
    # What follows "--" is words, whatever it begins with.
    end = rest.index("--") if "--" in rest else len(rest)
    for item in rest[:end]:
        if item.startswith("-") and item != "-":
            raise UsageError(_describe_unknown_flag(item, made))
    return " ".join([*rest[:end], *rest[end + 1 :]]).strip()


def _find_flags_without_value(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the flags that are followed by another flag, or by nothing."""
    for argument, following in itertools.zip_longest(arguments, arguments[1:], fillvalue="-"):
        if argument.startswith("-") and following.startswith("-"):
            yield argument


def _split_short(argument: str, made: FlagParser) -> list[str]:
    """Split `-t0.5` into the flag and its number. Raises UsageError for other text after a short flag.

    By itself, argparse would read `-max_budget 5` as the model `ax_budget`, and lose the limit.
    """
    actions = made._option_string_actions
    shorts = [flag for flag in actions if not flag.startswith("--") and argument.startswith(flag)]
    if argument.startswith("--") or not shorts:
        return [argument]
    flag = max(shorts, key=len)
    value = argument.removeprefix(flag)
    if actions[flag].nargs != 0 and re.fullmatch(r"[\d_.]+", value):
        return [flag, value]
    letters = [f"-{letter}" for letter in argument[1:]]
    if all(letter in actions and actions[letter].nargs == 0 for letter in letters):
        return letters
    raise UsageError(_describe_unknown_flag(argument, made))


def _describe_unknown_flag(argument: str, made: FlagParser) -> str:
    name = argument.partition("=")[0]
    dashed = name.replace("_", "-")
    long_flags = [flag for flag in made._option_string_actions if flag.startswith("--")]
    suggestion = next((flag for flag in long_flags if len(name) > 3 and flag.startswith(dashed)), None)
    short = f"-{name.strip('-')}"
    if suggestion is None and short in made._option_string_actions and short != name:
        suggestion = short
    hint = f"; did you mean {suggestion}?" if suggestion else suggest_nearest(dashed, long_flags)
    hint = hint or "; oi-tui --help lists all flags"
    return f"unknown flag {name}{hint}"
