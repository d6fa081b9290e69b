"""Profiles as they come: each that cannot be used is named with its line, and nothing of it is lost."""

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as limits
from hypothesis import strategies as st

from oi_tui import paths, profiles
from oi_tui.cli import main
from oi_tui.engine.settings import yaml_file
from oi_tui.engine.settings.profile import Profile, save, settings
from oi_tui.engine.settings.setting import ProfileError

#: What stands in the file, and what is said of it.
BROKEN: dict[str, tuple[bytes, str]] = {
    "a tab": (b"llm:\n\tmodel: x\n", "line 2: not readable as YAML: a tab where YAML needs spaces"),
    "twice": (b"loop: true\nloop: false\n", "line 2: loop: given twice (also in line 1)"),
    "nested and dotted": (b"llm:\n  model: x\nllm.model: y\n", "line 3: llm.model: given twice"),
    "UTF-16": ("loop: true\n".encode("utf-16"), "line 1: not UTF-8 text (byte 0xff)"),
    "Latin-1": (b"a: 1\nllm.model: caf\xe9\n", "line 2: not UTF-8 text (byte 0xe9)"),
    "NUL": (b"llm.model: x\0y\n", "line 1: not readable as YAML: control characters"),
    "an escaped NUL": (b'llm.model: "x\\0y"\n', "line 1: llm.model: expected text, not a NUL character"),
    "10 MB": (b"a: " + b"x" * 10_000_000, "too large for a profile (10,000,003 bytes)"),
    "deep": (b"a: " + b"[" * 10_000, "line 1: too deeply nested"),
    "a program": (b"a: !!python/object/apply:os.system ['id']\n", "line 1: the tag"),
    "a tag": (b"llm.model: !mine x\n", "line 1: the tag !mine is not allowed"),
    "a circle": (b"a: &a [*a]\n", "line 1: an alias (*) refers to itself"),
    "a circle of groups": (b"llm: &a\n  x: *a\n", "line 1: an alias (*) refers to itself"),
    "many aliases": (
        b"".join(b"a%d: &a%d 1\nb%d: *a%d\n" % (n, n, n, n) for n in range(30)),
        "line 42: too many aliases",
    ),
    "many values": (b"".join(b"k%d: 1\n" % n for n in range(6000)), "line 2500: too many values"),
    "a date": (b"llm.model: 2024-01-01\n", "llm.model: expected text, not 2024-01-01; write it in quotes"),
    "no such date": (b"llm.model: 2024-13-45\n", "line 1: cannot read '2024-13-45'"),
    "a bare no": (b"llm.model: no\n", "llm.model: expected text, not false; write it in quotes"),
    "a number": (b"llm.model: 4\n", "llm.model: expected text, not 4; write it in quotes"),
    "a quoted no": (b"auto_run: 'no'\n", "line 1: auto_run: expected true or false, not 'no'"),
    "one for yes": (b"auto_run: 1\n", "line 1: auto_run: expected true or false, not 1"),
    "not a number": (b"llm.temperature: .nan\n", "expected a number from 0 to 2, not nan"),
    "endless": (
        b"llm.max_budget: .inf\n",
        "line 1: llm.max_budget: expected a number of at least 0, not inf",
    ),
    "half a token": (b"llm.max_tokens: 1.5\n", "expected a whole number of at least 1, not 1.5"),
    "a long number": (b"llm.max_tokens: " + b"9" * 5000, "line 1: cannot read '999"),
    "a half address": (
        b"llm.api_base: 'http://['\n",
        "llm.api_base: expected an address with the numbers of IPv6",
    ),
    "a list of a list": (
        b"loop_breakers: [[a]]\n",
        "loop_breakers: expected a list of strings, each in one line",
    ),
    "two documents": (b"loop: true\n---\nloop: true\n", "line 2: not readable as YAML"),
    "a list": (b"- loop: true\n", "line 1: expected settings such as 'llm.model: gpt-4o'"),
    "words": (b"llm.model = x\n", "line 1: expected settings such as 'llm.model: gpt-4o'"),
    "a key that is none": (b"? [a]\n: b\n", "line 1: expected the name of a setting"),
    "an open quote": (b"llm.model: 'x\n", "line 2: not readable as YAML"),
    "an at": (b"llm.model: @x\n", "line 1: not readable as YAML: a value that begins with @"),
    "a conflict": (b"        (
            ["--model"],
            "--model needs a value for llm.model; write a value that begins with - as --model=VALUE",
        ),
        (["--api-key", "-x"], "--api-key needs a value for llm.api_key"),
        (["--temp", "1"], "unknown flag --temp; did you mean --temperature?"),
        (["--modle=x"], "unknown flag --modle; did you mean --model?"),
        (["--ml"], "unknown flag --ml; did you mean -ml?"),
        (["--auto_run=maybe"], "auto_run: expected true or false, not 'maybe'"),
        (["--auto_run="], "auto_run: expected true or false after the ="),
        (["--context_window=-5"], "llm.context_window: expected a whole number of at least 256, not -5"),
        (["--profile", ""], "there is no profile '' in "),
        (["--api_base", "http://["], "llm.api_base: expected an address"),
    ],
)
def test_odd_flags_are_named(flags: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(flags) == main.USAGE
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "values", "words"),
    [
        (["--auto_run=true"], {"auto_run": True}, ""),
        (["--auto-run=off"], {"auto_run": False}, ""),
        (["--no-mouse=false"], {"mouse": True}, ""),
        (["-nhl"], {"highlight_active_line": False}, ""),
        (["-m", "x", "--model=y"], {"model": "y"}, ""),
        (["-m", "x", "--", "-m", "--what"], {"model": "x"}, "-m --what"),
    ],
)
def test_flags_in_odd_forms_are_understood(
    flags: list[str], values: dict[str, object], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[tuple[Profile, str]] = []

    def converse(profile: Profile, **more: object) -> int:
        taken.append((profile, str(more["words"])))
        return 0

    monkeypatch.setattr("oi_tui.plain.run.converse", converse)
    assert main.main(["--plain", *flags]) == 0
    ((profile, said),) = taken
    assert {name: getattr(profile, name) for name in values} == values
    assert said == words
