"""A profile that is a Python program, run in a process of its own once a person trusts its exact text."""

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

from oi_tui.engine.profile import Profile, ProfileError, settings
from oi_tui.engine.trust import Shown
from oi_tui.text import one_line

#: Longer than this no profile takes to set its values, in seconds.
PATIENCE = 30.0
#: What stands between the program and us: an object that notes what is set. It reads a JSON object from the
#: standard input and writes one to the descriptor that was the standard output; what the profile prints
#: goes nowhere.
_DRIVER = r"""
import json, os, sys, types
given = json.loads(sys.stdin.buffer.read())
report = os.fdopen(os.dup(1), "w", encoding="utf-8")
null = os.open(os.devnull, os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(null, number)
values, odd, functions = {}, [], []
class Part:
    def __init__(self, path=""):
        object.__setattr__(self, "_path", path)
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self._path}.{name}" if self._path else name
        if path in values:
            return values[path]
        if path in given["defaults"]:
            return given["defaults"][path]
        return Part(path)
    def __setattr__(self, name, value):
        path = f"{self._path}.{name}" if self._path else name
        if isinstance(value, (str, int, float, bool, type(None))) or (
            isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value)):
            values[path] = value
        elif path == "llm.completions" and callable(value):
            functions.append(path)
        elif not isinstance(value, Part):
            odd.append(f"{path} is set to something that is no text, number or list of texts")
    def __call__(self, *_, **__):
        odd.append(f"{self._path}() is called, and nothing came of it")
        return Part(self._path)
    def __iter__(self):
        return iter(())
    def __bool__(self):
        return False
interpreter = Part()
module = types.ModuleType("interpreter")
module.interpreter, module.OpenInterpreter = interpreter, lambda *_, **__: interpreter
module.AsyncInterpreter = module.OpenInterpreter
sys.modules["interpreter"] = module
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
    fault = [f"{type(error).__name__}: {error}", getattr(error, "lineno", None) or line]
json.dump({"values": values, "odd": odd, "functions": functions, "fault": fault}, report)
report.close()
os._exit(0)
"""


def run(shown: Shown) -> Profile:
    """The profile that the program makes. Whoever calls has seen to it that the text is trusted.

    `interpreter` is there as in Open Interpreter, and takes what is assigned to it and its parts. What is
    called instead of assigned has no effect and is told of in `unknown`. A function as `llm.completions` is
    noted in `completions`. Raises ProfileError, with the line.
    """
    defaults = {each.key: each.default for each in settings()}
    order = json.dumps({"text": shown.text, "place": shown.place, "defaults": defaults})
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _DRIVER],
            input=order.encode("utf-8", "surrogatepass"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
            check=False,
        )
        told = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise ProfileError(f"did not come to its end within {PATIENCE:g} s", path=shown.place) from None
    except (ValueError, OSError):
        raise ProfileError("ended before it had set anything", path=shown.place) from None
    if told["fault"]:
        words, line = told["fault"]
        raise ProfileError(one_line(words, 200), path=shown.place, line=line)
    made = _profile(told["values"], told["odd"], shown.place)
    return replace(made, completions=(shown.text, shown.place)) if told["functions"] else made


def _profile(values: dict[str, Any], odd: list[str], place: str) -> Profile:
    known = {key: each for each in settings() for key in (each.key, *each.also)}
    found = Profile(unknown=tuple(odd))
    for key, value in values.items():
        each = known.get(key)
        if each is None:
            found = _noting(found, f"{key} is not a setting here")
        elif value is not None or each.optional:
            try:
                found = found.with_changes("profile", **{each.name: value})
            except ProfileError as error:
                raise error.at(place) from None
    return found


def _noting(profile: Profile, remark: str) -> Profile:
    return replace(profile, unknown=(*profile.unknown, one_line(remark, 200)))
