"""Runs a profile that is a Python program, in its own process, once a person trusts its exact text."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from oi_tui.engine.credentials.trust import ExternalContent
from oi_tui.engine.settings.migration import MOVED, choose_stricter
from oi_tui.engine.settings.profile import Profile, ProfileError, list_settings
from oi_tui.engine.settings.python_profile_driver import DRIVER
from oi_tui.engine.settings.setting import Setting
from oi_tui.engine.settings.unknown_keys import explain_unknown, refuse_unknown_limit, simplify
from oi_tui.text import clean_line

#: The name by which a language is listed here, the one that Open Interpreter gives it, and its aliases.
KnownLanguage = tuple[str, str, tuple[str, ...]]
#: A call of the program: what, in which line, with which texts, and with which names of values.
_Call = tuple[str, int | None, list[str], dict[str, str], list[str]]
#: Longer than this no profile takes to set its values, in seconds.
TIMEOUT = 30.0
#: How long threads of the program may still set values after its end, in seconds.
_PATIENCE = 2.0
#: What a fault in the program means, where its own words do not say it.
_FAULTS = {
    "SystemExit": "the profile ends the program",
    "EOFError": "the profile asks for input, which it cannot get",
}
#: Calls of Open Interpreter that need nothing here: models are loaded when they are first asked.
_NEEDLESS_CALLS = frozenset({"llm.load", "computer.vision.load"})
#: Words in the names of calls that bring in other settings.
_SETTINGS = frozenset({"profile", "settings", "config", "configuration", "preset"})
_BRINGING_IN = frozenset(
    {"apply", "extend", "from", "import", "load", "read", "set", "switch", "use", "with"}
)
#: Methods of Open Interpreter through which all code runs, or all requests go.
_REPLACEABLE = frozenset({"chat", "respond", "computer.run", "computer.terminal.run", "llm.run"})
#: What a variable of the environment ends with that decides where requests go.
_ADDRESSES = ("_API_BASE", "_BASE_URL", "_PROXY")


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
    result = _execute(shown, languages)
    if result["fault"]:
        kind, words, line = result["fault"]
        raise ProfileError(_explain(kind, words, result["calls"]), path=shown.place, line=line)
    for path, line, words, named, keys in result["calls"]:
        if not _read_code_call(path, words, named):
            try:
                _refuse_limiting_call(path, words, keys)
            except ProfileError as error:
                raise error.at(shown.place, line) from None
    if problem := _explain_lost_variables(result["environment"]):
        raise ProfileError(problem, path=shown.place)
    profile = Profile(
        unknown=tuple(_describe_calls(result["calls"])), startup=tuple(_list_startup_code(result["calls"]))
    )
    if any(path == "local_setup" for path, *_ in result["calls"]):
        profile = profile.with_changes("profile", local=True)
    for path, kind, value, line in result["values"]:
        try:
            profile = _assign(profile, path, kind, value, shown)
        except ProfileError as error:
            raise error.at(shown.place, line) from None
    return profile


def _execute(shown: ExternalContent, languages: Sequence[KnownLanguage]) -> dict[str, Any]:
    """Run the program in a separate process. Returns what it set and called."""
    defaults = {setting.key: setting.default for setting in list_settings()}
    order = {
        "text": shown.text,
        "place": shown.place,
        "defaults": defaults,
        "languages": list(languages),
        "patience": _PATIENCE,
    }
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", DRIVER],
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
    messages = [call for path, _, call, *_ in calls if path == "display_message" and call]
    last = f" (it says: {clean_line(' '.join(messages[-1][0].split()), 200)})" if messages else ""
    return clean_line(f"{kind}: {_FAULTS.get(kind, words)}{last}", 400)


def _describe_calls(calls: Sequence[_Call]) -> Iterator[str]:
    """Describe the calls that have no effect, and what the program displays."""
    for path, line, words, keywords, _ in calls:
        if path in _NEEDLESS_CALLS or path == "local_setup" or _read_code_call(path, words, keywords):
            continue
        place = f"line {line}: " if line else ""
        if path == "display_message" and words:
            yield clean_line(f"{place}the profile says: {' '.join(words[0].split())}", 300)
        else:
            yield clean_line(f"{place}{path}() has no effect in a profile", 200)


def _list_startup_code(calls: Sequence[_Call]) -> Iterator[tuple[str, str]]:
    """Yield the code that the program runs, with its language."""
    for path, _, words, keywords, _ in calls:
        if code := _read_code_call(path, words, keywords):
            yield code


def _refuse_limiting_call(path: str, words: Sequence[str], keys: Sequence[str]) -> None:
    """Refuse a call that probably limits something, or brings in other settings: it would have no effect."""
    name = simplify(path).rpartition(".")[2]
    parts = set(name.split("_"))
    if name == "profile" or (_SETTINGS & parts and _BRINGING_IN & parts):
        raise ProfileError(
            f"{clean_line(path, 80)}() loads another profile, whose limits would be lost. "
            "Copy what it sets to here"
        )
    if path in _NEEDLESS_CALLS or path in _REPLACEABLE or path in ("local_setup", "display_message"):
        return
    settings = list_settings()
    limits = {part for item in settings if item.limits for part in (item.key, item.key.rpartition(".")[2])}
    meant = [_remove_verb(path), *keys, *(word for word in words if simplify(word) in limits)]
    for key in meant:
        if simplify(MOVED.get(key, key)) in limits:
            problem = "does not set it in a profile. Assign it, as in interpreter.KEY = VALUE"
            raise ProfileError(f"{clean_line(path, 80)}() {problem}", key=clean_line(key, 80))
    for item in (_remove_verb(path), *keys):
        refuse_unknown_limit(clean_line(item, 80), settings)


def _remove_verb(path: str) -> str:
    """Return what a method sets, by its name."""
    return re.sub(r"(?:^|(?<=\.))(?:set|enable|use|apply|with|turn_on|get)_(?=[^.]+$)", "", path)


def _explain_lost_variables(changed: Sequence[str]) -> str:
    """Return why a profile cannot change these variables of its environment; "" where it may."""
    for name in changed:
        if name.startswith("OI_TUI"):
            return f"os.environ[{name!r}] has no effect in a profile. Set the value on interpreter"
        if name.upper().endswith(_ADDRESSES):
            return (
                f"os.environ[{name!r}] has no effect in a profile, so requests would go elsewhere. Set "
                "interpreter.llm.api_base, or the variable before oi-tui starts"
            )
    return ""


def _read_code_call(path: str, words: Sequence[str], named: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the language and the code of a call of `computer.run`; None for another call."""
    if path not in ("computer.run", "computer.terminal.run"):
        return None
    arguments = {**dict(zip(("language", "code"), words, strict=False)), **named}
    return (arguments["language"], arguments["code"]) if {"language", "code"} <= arguments.keys() else None


def _assign(profile: Profile, path: str, kind: str, value: Any, shown: ExternalContent) -> Profile:
    """Return the profile with one assignment of the program. Raises ProfileError."""
    key = MOVED.get(path, path)
    if key == "llm.completions" and kind == "function":
        return replace(profile, completions=(shown.text, shown.place))
    declared = {name: setting for setting in list_settings() for name in (setting.key, *setting.also)}
    setting = declared.get(key)
    if setting is None:
        _refuse_group(key, declared)
        if key in _REPLACEABLE and kind == "function":
            raise ProfileError(
                "is replaced by a function, which oi-tui does not call. Remove it, or use one of the "
                "settings under Running code (--help)",
                key=key,
            )
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
