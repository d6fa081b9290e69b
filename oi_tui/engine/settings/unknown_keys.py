"""Explains unknown keys in a profile."""

import difflib
import re
import unicodedata
from collections.abc import Iterable

from oi_tui.engine.settings.setting import ProfileError, Setting, suggest_nearest

#: How much a key must be like the name of a limit to be a misspelling of it.
_ALIKE = 0.75
#: Words in the name of a key that is probably meant to limit something, whatever settings there are.
_LIMITING = frozenset(
    [
        "confirm",
        "confirmation",
        "approve",
        "approval",
        "permission",
        "permissions",
        "allow",
        "allowed",
        "deny",
        "denied",
        "block",
        "blocked",
        "forbid",
        "forbidden",
        "restrict",
        "restricted",
        "readonly",
        "network",
        "internet",
        "limit",
        "limits",
        "max",
        "maximum",
        "cost",
        "quota",
        "only",
        "disable",
        "disabled",
        "exclude",
        "excluded",
        "blacklist",
        "denylist",
        "whitelist",
        "allowlist",
        "isolated",
        "offline",
        "sandbox",
        "sandboxed",
        "budget",
        "languages",
        "timeout",
    ]
)
#: What may not happen, behind "no" in the name of a key.
_ACTING = frozenset(
    [
        "bash",
        "code",
        "delete",
        "exec",
        "execution",
        "files",
        "install",
        "internet",
        "network",
        "python",
        "root",
        "run",
        "shell",
        "sudo",
        "web",
        "write",
    ]
)
#: Names that hold such a word and limit nothing that happens here.
_NO_LIMITS = frozenset(["max_retries", "disable_procedures"])
#: Keys that name another file or profile with settings, which may well have limits.
_LOADING = frozenset(["extends", "extend", "include", "includes", "inherit", "inherits", "import", "profile"])
#: How `clean_line` shows a character that has no width.
_HIDDEN = re.compile(r"⟨U\+[0-9A-F]+⟩")

#: Open Interpreter writes its version into each profile. That is nothing that a person set.
FORMAT_VERSION = "version"
#: Open Interpreter runs what stands there, which may well set limits.
_PROGRAM = "start_script"
#: Settings of Open Interpreter 0.4.3, or groups of them, that nothing here acts on.
_ORIGINALS = (
    "conversation_filename",
    "plain_text_display",
    "import_skills",
    "skills_path",
    "sync_computer",
    "in_terminal_interface",
    "anonymized_telemetry",
    "anonymous_telemetry",
    "disable_procedures",
    "messages",
    "computer",
    "wtf",
    "llm.format",
    "llm.provider",
    "llm.stop",
    "llm.top_k",
    "llm.top_p",
    "llm.vision_renderer",
    # Of its voice interface, the 01.
    "llm_service",
    "stt",
    "tts",
)


def explain_unknown(key: str, known: Iterable[str]) -> str:
    """Explain a key that is not among the `known` ones; the text follows the key's name."""
    known = list(known)
    if "<<" in key.split("."):
        return "is a merge (<<), which is not supported; write its settings out"
    if any(key == original or key.startswith(f"{original}.") for original in _ORIGINALS):
        return "is a setting of Open Interpreter that has no effect in oi-tui"
    # Where it stands under the wrong group, the last part of the name still tells.
    name = key.rpartition(".")[2]
    same = [item for item in known if item.rpartition(".")[2] == name]
    return f"is not a setting{f'; did you mean {same[0]}?' if same else suggest_nearest(key, known)}"


def refuse_unknown_limit(key: str, settings: Iterable[Setting]) -> None:
    """Raise ProfileError where an unknown key is probably meant to limit something.

    Going on would be to go on without the limit.
    """
    if key == _PROGRAM:
        raise ProfileError(
            "is a program, and is run in a Python profile only. Put it into a file such as mine.py, and use "
            "that with --profile",
            key=key,
        )
    plain = simplify(key)
    if plain in _LOADING:
        raise ProfileError(
            "is not a setting, and what it names is not read. Copy the settings from there to here", key=key
        )
    names = {setting.key.rpartition(".")[2]: setting for setting in settings}
    name = plain.rpartition(".")[2]
    matches = difflib.get_close_matches(name, names, n=1, cutoff=_ALIKE)
    if matches and names[matches[0]].limits:
        problem = "is not a setting"
        if "<<" in key.split("."):
            problem = "is in a merge (<<), which is not supported"
        raise ProfileError(
            f"{problem}; did you mean {names[matches[0]].key}? Correct or remove it: "
            "oi-tui does not start while a limit is not understood",
            key=key,
        )
    if name not in _NO_LIMITS and any(map(_is_limiting, plain.split("."))):
        raise ProfileError(
            "is not a setting, but may be meant as a limit. Remove it, or use one of the settings under "
            "Running code (--help): oi-tui does not start while a limit is not understood",
            key=key,
        )


def _is_limiting(name: str) -> bool:
    """Return whether the words of a name say that something is limited."""
    words = {*name.split("_"), name.replace("_", "")}
    return bool(_LIMITING & words) or ("no" in words and bool(_ACTING & words))


def simplify(key: str) -> str:
    """Return a key as it was probably meant.

    It is in small letters without accents, with an underscore between words, and without characters that
    cannot be seen.
    """
    text = unicodedata.normalize("NFKD", _HIDDEN.sub("", key))
    text = "".join(char for char in text if unicodedata.category(char) not in ("Mn", "Cf", "Cc"))
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text)
    return re.sub(r"[^\w.<]+", "_", text.lower()).strip("_")


def refuse_group(key: str, settings: Iterable[Setting]) -> None:
    """Raise ProfileError where a group of settings has another value: the limits in it would be lost."""
    group = f"{simplify(key)}."
    limit = next(
        (setting.key for setting in settings if setting.limits and setting.key.startswith(group)), ""
    )
    if limit:
        name = group[:-1]
        raise ProfileError(
            f"is a group of settings, and oi-tui does not understand its value. Write {name}: in a line of "
            f"its own, and each setting in a line below it, such as {limit.removeprefix(group)}",
            key=key,
        )
