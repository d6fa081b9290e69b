"""Runs a profile that is a Python program, in its own process, once a person trusts its exact text."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from oi_tui.engine.credentials.trust import ExternalContent
from oi_tui.engine.settings.migration import MOVED, choose_stricter
from oi_tui.engine.settings.profile import Profile, ProfileError, list_settings
from oi_tui.engine.settings.setting import Setting
from oi_tui.engine.settings.unknown_keys import explain_unknown, refuse_unknown_limit
from oi_tui.text import clean_line

#: The name by which a language is listed here, the one that Open Interpreter gives it, and its aliases.
KnownLanguage = tuple[str, str, tuple[str, ...]]
#: A call of the program: what, in which line, and with which texts.
_Call = tuple[str, int | None, list[str], dict[str, str]]
#: Longer than this no profile takes to set its values, in seconds.
TIMEOUT = 30.0
#: What stands between the program and us: an object that notes what is set. It reads a JSON object from the
#: standard input and writes one to the descriptor that was the standard output; what the profile prints
#: goes nowhere.
_DRIVER = r"""
import importlib.machinery, json, os, sys, types
given = json.loads(sys.stdin.buffer.read())
report = os.fdopen(os.dup(1), "w", encoding="utf-8")
null = os.open(os.devnull, os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(null, number)
class Name(str):
    # A capital letter, or an alias, must not keep a language that the profile leaves out.
    aliases = ()
    def __eq__(self, other):
        return isinstance(other, str) and other.casefold() in (self.casefold(), *self.aliases)
    def __ne__(self, other):
        return not self == other
    __hash__ = str.__hash__
class Language:
    def __init__(self, key, name, aliases):
        self.key, self.name, self.aliases = key, Name(name), aliases
        self.name.aliases = aliases
LISTS = {key: value for key, value in given["defaults"].items() if isinstance(value, list)}
LISTS["computer.languages"] = [Language(*entry) for entry in given["languages"]]
SAME = {"computer.terminal.languages": "computer.languages"}
values, lines, calls = {}, {}, []
def line_now():
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != given["place"]:
        frame = frame.f_back
    return frame and frame.f_lineno
class Part:
    __slots__ = ("_path",)
    def __init__(self, path=""):
        object.__setattr__(self, "_path", path)
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        path = path_of(self, name)
        if path not in values and path in LISTS:
            # A list may be changed in place.
            values[path], lines[path] = list(LISTS[path]), line_now()
        if path in values:
            return values[path]
        if path in given["defaults"]:
            return given["defaults"][path]
        return Part(path)
    def __setattr__(self, name, value):
        path = path_of(self, name)
        if isinstance(value, Part) and object.__getattribute__(value, "_path") == path:
            return
        values[path], lines[path] = value, line_now()
    def __call__(self, *positional, **named):
        named_words = {key: value for key, value in named.items() if isinstance(value, str)}
        words = [value for value in positional if isinstance(value, str)]
        calls.append([object.__getattribute__(self, "_path"), line_now(), words, named_words])
        return Part(object.__getattribute__(self, "_path"))
    def __iter__(self):
        return iter(())
    def __bool__(self):
        return False
def path_of(part, name):
    group = object.__getattribute__(part, "_path")
    path = f"{group}.{name}" if group else name
    return SAME.get(path, path)
interpreter = Part()
def made(*positional, **named):
    if positional:
        named = {"messages": positional[0], **named}
    for name, value in named.items():
        setattr(interpreter, name, value)
    return interpreter
class BaseLanguage:
    pass
NAMES = {"interpreter": interpreter, "BaseLanguage": BaseLanguage}
NAMES.update(OpenInterpreter=made, AsyncInterpreter=made, Interpreter=made)
class Module(types.ModuleType):
    # In version 0.1, the module itself was the interpreter.
    def __getattr__(self, name):
        return NAMES[name] if name in NAMES else getattr(interpreter, name)
    def __setattr__(self, name, value):
        if name.startswith("_") or isinstance(value, types.ModuleType):
            super().__setattr__(name, value)
        else:
            setattr(interpreter, name, value)
class Finder:
    # Profiles also import from the modules inside of Open Interpreter.
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "interpreter":
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        return Module(spec.name)
    def exec_module(self, module):
        pass
sys.meta_path.insert(0, Finder())
space = {"__name__": "__main__", "__file__": given["place"], "interpreter": interpreter}
fault = None
try:
    exec(compile(given["text"], given["place"], "exec"), space)
except BaseException as error:
    line = None
    walk = error.__traceback__
    while walk is not None:
        if walk.tb_frame.f_code.co_filename == given["place"]:
            line = walk.tb_lineno
        walk = walk.tb_next
    fault = [type(error).__name__, str(error), getattr(error, "lineno", None) or line]
def is_plain(value):
    return value is None or type(value) in (str, Name, int, float, bool) or (
        isinstance(value, (list, tuple)) and all(type(entry) in (str, Name) for entry in value))
def described(value):
    # What kind of value it is, and the value itself where it can be written as JSON.
    if isinstance(value, (list, tuple)) and any(isinstance(entry, Language) for entry in value):
        value = [entry.key if isinstance(entry, Language) else entry for entry in value]
    if is_plain(value):
        return "plain", value
    classes = [one for one in value if isinstance(one, type)] if isinstance(value, (list, tuple)) else []
    if classes:
        return "class", classes[0].__name__
    return "function" if callable(value) and not isinstance(value, Part) else "other", type(value).__name__
values = [
    [path, *described(value), lines[path]]
    for path, value in values.items()
    if not (path in LISTS and isinstance(value, list) and value == LISTS[path])
]
json.dump({"values": values, "calls": calls, "fault": fault}, report)
report.close()
os._exit(0)
"""
#: What a fault in the program means, where its own words do not say it.
_FAULTS = {
    "SystemExit": "the profile ends the program",
    "EOFError": "the profile asks for input, which it cannot get",
}
#: Calls of Open Interpreter that need nothing here: models are loaded when they are first asked.
_NEEDLESS_CALLS = frozenset({"llm.load", "computer.vision.load"})


def run(shown: ExternalContent, languages: Sequence[KnownLanguage] = ()) -> Profile:
    """Return the profile that the program makes. The caller has checked that the text is trusted.

    `interpreter` is there as in Open Interpreter, and takes what is assigned to it and its parts. `languages`
    are what its `computer.languages` holds at first. Code that it runs with `computer.run` is noted in
    `startup`. What has no effect is named in `unknown`. A function as
    `llm.completions` is noted in `completions`. Raises ProfileError, with the line, also where a limit that
    the program sets is not understood.
    """
    # Editors of Windows put a byte order mark before the text.
    shown = replace(shown, text=shown.text.removeprefix("\ufeff"))
    found = _execute(shown, languages)
    if found["fault"]:
        kind, words, line = found["fault"]
        raise ProfileError(_explain(kind, words, found["calls"]), path=shown.place, line=line)
    if loads := [line for path, line, *_ in found["calls"] if path == "profile"]:
        problem = "profile() loads another profile, whose limits would be lost. Copy what it sets to here"
        raise ProfileError(problem, path=shown.place, line=loads[0])
    profile = Profile(
        unknown=tuple(_describe_calls(found["calls"])), startup=tuple(_list_startup_code(found["calls"]))
    )
    if any(path == "local_setup" for path, *_ in found["calls"]):
        profile = profile.with_changes("profile", local=True)
    for path, kind, value, line in found["values"]:
        try:
            profile = _assign(profile, path, kind, value, shown)
        except ProfileError as error:
            raise error.at(shown.place, line) from None
    return profile


def _execute(shown: ExternalContent, languages: Sequence[KnownLanguage]) -> dict[str, Any]:
    """Run the program in a separate process. Returns what it set and called."""
    defaults = {setting.key: setting.default for setting in list_settings()}
    order = {"text": shown.text, "place": shown.place, "defaults": defaults, "languages": list(languages)}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _DRIVER],
            input=json.dumps(order).encode("utf-8", "surrogatepass"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT,
            check=False,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise ProfileError(f"did not finish within {TIMEOUT:g} s", path=shown.place) from None
    except (ValueError, OSError):
        raise ProfileError("ended before it set anything", path=shown.place) from None
    return answer


def _explain(kind: str, words: str, calls: Sequence[_Call]) -> str:
    """Describe a fault in the program, with the last text that it displayed before."""
    if kind == "ModuleNotFoundError":
        words += f"; install it for the Python of oi-tui, {sys.executable}"
    shown = [call for path, _, call, _ in calls if path == "display_message" and call]
    last = f" (it says: {clean_line(' '.join(shown[-1][0].split()), 200)})" if shown else ""
    return clean_line(f"{kind}: {_FAULTS.get(kind, words)}{last}", 400)


def _describe_calls(calls: Sequence[_Call]) -> Iterator[str]:
    """Describe the calls that have no effect, and what the program displays."""
    for path, line, words, named in calls:
        if path in _NEEDLESS_CALLS or path == "local_setup" or _read_code_call(path, words, named):
            continue
        place = f"line {line}: " if line else ""
        if path == "display_message" and words:
            yield clean_line(f"{place}the profile says: {' '.join(words[0].split())}", 300)
        else:
            yield clean_line(f"{place}{path}() has no effect in a profile", 200)


def _list_startup_code(calls: Sequence[_Call]) -> Iterator[tuple[str, str]]:
    """Yield the code that the program runs, with its language."""
    for path, _, words, named in calls:
        if code := _read_code_call(path, words, named):
            yield code


def _read_code_call(path: str, words: Sequence[str], named: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the language and the code of a call of `computer.run`; None for another call."""
    if path not in ("computer.run", "computer.terminal.run"):
        return None
    given = {**dict(zip(("language", "code"), words, strict=False)), **named}
    return (given["language"], given["code"]) if {"language", "code"} <= given.keys() else None


def _assign(profile: Profile, path: str, kind: str, value: Any, shown: ExternalContent) -> Profile:
    """Return the profile with one assignment of the program. Raises ProfileError."""
    key = MOVED.get(path, path)
    if key == "llm.completions" and kind == "function":
        return replace(profile, completions=(shown.text, shown.place))
    declared = {name: setting for setting in list_settings() for name in (setting.key, *setting.also)}
    setting = declared.get(key)
    if setting is None:
        _refuse_group(key, declared)
        refuse_unknown_limit(key, list_settings())
        note = clean_line(f"{key} {explain_unknown(key, declared)}", 200)
        return replace(profile, unknown=(*profile.unknown, note))
    if kind == "class" and setting.name == "languages":
        raise setting.make_error(
            f"{value} is a class, which a profile cannot contain. Put it into a separate file, "
            f"and name it in computer.custom_languages, as FILE.py:{value}"
        )
    if kind != "plain":
        raise setting.make_error(f"expected {setting.expected}, not {clean_line(str(value), 60)}")
    if value is None and not setting.optional:
        return profile
    checked = setting.check_given(value)
    if setting.name in profile.origins:
        # It was set by another of its names before.
        before = getattr(profile, setting.name)
        stricter = choose_stricter(setting.key, checked, before)
        checked = stricter if stricter is not None else before if path in MOVED else checked
    return profile.with_changes("profile", **{setting.name: checked})


def _refuse_group(key: str, declared: Mapping[str, Setting]) -> None:
    """Refuse to have a whole group replaced: the limits in it would be lost."""
    if any(name.startswith(f"{key}.") for name in declared):
        raise ProfileError("is a group of settings; set its parts one by one", key=key)
