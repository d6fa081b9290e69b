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
from oi_tui.engine.settings.profile import Profile, list_settings, save
from oi_tui.engine.settings.setting import ProfileError

#: What stands in the file, and what is said of it.
BROKEN: dict[str, tuple[bytes, str]] = {
    "a tab": (b"llm:\n\tmodel: x\n", "line 2: not readable as YAML: a tab where YAML needs spaces"),
    "a group that is none": (b"llm: x\n", "line 1: llm: is a group of settings, and oi-tui does not"),
    "a group as a list": (
        b"llm: [max_budget: 1]\n",
        "each setting in a line below it, such as context_window",
    ),
    "a group as text": (b'Computer: "languages: python"\n', "line 1: Computer: is a group of settings"),
    "a key with a hidden letter": ("off\u200bline: true\n".encode(), "did you mean offline? Correct"),
    "a key in wide letters": (
        "llm.\uff4dax_\uff42udget: 1\n".encode(),
        "did you mean llm.max_budget? Correct",
    ),
    "another profile": (b"extends: strict.yaml\n", "line 1: extends: is not a setting, and what it names"),
    "twice": (b"loop: true\nloop: false\n", "line 2: loop: given twice (also in line 1)"),
    "nested and dotted": (b"llm:\n  model: x\nllm.model: y\n", "line 3: llm.model: given twice"),
    "UTF-16": ("loop: true\n".encode("utf-16"), "line 1: not UTF-8 text (byte 0xff); save it as UTF-8"),
    "Latin-1": (b"a: 1\nllm.model: caf\xe9\n", "line 2: not UTF-8 text (byte 0xe9)"),
    "NUL": (b"llm.model: x\0y\n", "line 1: not readable as YAML: control characters"),
    "an escaped NUL": (b'llm.model: "x\\0y"\n', "line 1: llm.model: expected text, not a NUL character"),
    "10 MB": (b"a: " + b"x" * 10_000_000, "too large: 10,000,003 bytes, and the most is 1,000,000"),
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
    "few values used often": (
        b"".join(
            [b"a0: &a0 [" + b"x," * 4000 + b"]\n"]
            + [b"a%d: &a%d [*a%d, *a%d, *a%d]\n" % (n, n, n - 1, n - 1, n - 1) for n in range(1, 7)]
        ),
        "line 1: too many values",
    ),
    "no bool": (b"auto_run: !!bool x\n", "line 1: cannot read 'x'"),
    "no integer": (b"llm.max_tokens: !!int ''\n", "line 1: cannot read ''"),
    "no time": (b"llm.model: !!timestamp x\n", "line 1: cannot read 'x'"),
    "a long number in another base": (b"llm.max_tokens: 0x" + b"f" * 5000, "line 1: cannot read '0xfff"),
    "a long number in parts": (b"llm.max_tokens: 1" + b":1" * 20_000, "line 1: cannot read '1:1:1"),
    "a time": (
        b"llm.model: 2024-01-01 10:00:00\n",
        "llm.model: expected text, not 2024-01-01 10:00:00; write it in quotes",
    ),
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
    "two documents": (
        b"loop: true\n---\nloop: true\n",
        "line 2: not readable as YAML: a second document begins (---)",
    ),
    "a list": (b"- loop: true\n", "line 1: expected settings such as 'llm.model: gpt-4o'"),
    "words": (b"llm.model = x\n", "line 1: expected settings such as 'llm.model: gpt-4o'"),
    "a key that is none": (b"? [a]\n: b\n", "line 1: expected the name of a setting"),
    "an open quote": (
        b"loop: true\nllm.model: 'x\n\n\n",
        "line 2: not readable as YAML: a quote that is not closed",
    ),
    "a colon in a text": (
        b"custom_instructions: say this: hello\n",
        "line 1: not readable as YAML: an unexpected colon. Text with a colon needs quotes",
    ),
    "no space behind a colon": (b"auto_run:true\nloop: true\n", "and a setting a space behind its colon"),
    "indented too far": (
        b"llm:\n  model: x\n   max_tokens: 9\n",
        "line 3: not readable as YAML: an unexpected colon",
    ),
    "indented too little": (
        b"llm:\n  model: x\n max_tokens: 9\n",
        "line 3: not readable as YAML: check the indentation",
    ),
    "quotes in quotes": (
        b'llm.model: "say "hi" now"\n',
        "line 1: not readable as YAML: check the indentation and",
    ),
    "the path of Windows": (
        b'shell: "C:\\Users\\me"\n',
        "line 1: not readable as YAML: a backslash between double quotes; use single quotes",
    ),
    "the path of a program": (
        b'shell: "C:\\Git"\n',
        "a backslash between double quotes; use single quotes",
    ),
    "an open list": (b"loop_breakers: [a, b\nloop: true\n", "a [ that is not closed"),
    "an open group": (b"llm: {model: x\nloop: true\n", "a { that is not closed"),
    "a star": (
        b"llm.model: *x\n",
        "line 1: not readable as YAML: a value that begins with * must be in quotes",
    ),
    "an at": (b"llm.model: @x\n", "line 1: not readable as YAML: a value that begins with @"),
    "a conflict": (b"<<<<<<< HEAD\nloop: true\n=======\n", "not readable as YAML"),
    "a line end of another kind": ("llm.model: a\u0085b\n".encode(), "not readable as YAML"),
}
#: What is used, but for a word about it; None where there is nothing to say.
USED: dict[str, tuple[bytes, str | None]] = {
    "nothing": (b"", None),
    "comments": (b"# a\n\n# b\n", None),
    "a beginning": (b"---\n", None),
    "null": (b"llm.model: ~\n", None),
    "a group that is commented out": (b"llm:\n  # model: x\n", None),
    "an empty group": (b"llm: {}\n", None),
    "a mark": (b"\xef\xbb\xbfllm.model: x\n", None),
    "Windows' line ends": (b"llm.model: x\r\nloop: true\r\n", None),
    "old Mac's line ends": (b"llm.model: x\rloop: true\r", None),
    "JSON": (b'{"llm": {"model": "x"}}\n', None),
    "an anchor": (b"llm.model: &a x\ncustom_instructions: *a\n", None),
    "no": (b"auto_run: no\n", None),
    "on": (b"loop: ON\n", None),
    "off for a word": (b"safe_mode: off\n", None),
    "octal": (b"llm.max_tokens: 0777\n", None),
    "an emoji": ("llm.model: \U0001f600\n".encode(), None),
    "a merge": (
        b"a: &a {model: x}\nllm:\n  <<: *a\n",
        "llm.<<.model is a merge (<<), which is not supported",
    ),
    "a group with an empty list": (b"llm: []\n", None),
    "a mistyped key": (b"llm.modle: x\n", "line 1: llm.modle is not a setting; did you mean llm.model?"),
    "another alphabet": ("llm.mödel: x\n".encode(), "did you mean llm.model?"),
    "a number for a key": (b"1: 2\n", "line 1: 1 is not a setting"),
    "the original's version": (b"version: 0.2.5\n", None),
}


@pytest.fixture
def path() -> Path:
    return paths.make_private(paths.profiles()) / "default.yaml"


@pytest.mark.parametrize(("raw", "words"), BROKEN.values(), ids=BROKEN)
def test_a_broken_profile_is_named_with_its_line_and_kept(path: Path, raw: bytes, words: str) -> None:
    path.write_bytes(raw)
    for name in (None, "default"):
        with pytest.raises(ProfileError) as caught:
            profiles.open_profile(name)
        assert words in str(caught.value)
        assert str(caught.value).startswith(str(path))
    assert path.read_bytes() == raw


@pytest.mark.parametrize(("raw", "words"), USED.values(), ids=USED)
def test_an_odd_profile_is_used_and_can_be_changed(path: Path, raw: bytes, words: str | None) -> None:
    path.write_bytes(raw)
    profile = profiles.load(path)
    if words is None:
        assert profile.unknown == ()
    else:
        assert words in profile.unknown[-1]
    save(path, {"theme": "nord", "verbose": True})
    assert Profile.load(path) == profile.with_changes("profile", theme="nord", verbose=True)
    save(path, {"theme": "oi-dark", "verbose": False})
    assert Profile.load(path) == profile
    kept = [line.strip() for line in raw.decode().removeprefix("\ufeff").splitlines() if line.strip()]
    now = path.read_text(encoding="utf-8")
    assert [line for line in kept if line not in now and not line.startswith("{")] == []


@pytest.mark.parametrize("kind", ["folder", "pipe", "link to nowhere", "link to a device"])
def test_what_is_no_file_is_no_profile(path: Path, kind: str) -> None:
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "link to nowhere":
            path.symlink_to(path.parent / "nowhere" / "x")
        case "link to a device":
            path.symlink_to("/dev/zero")
    if kind == "link to nowhere":
        assert profiles.open_profile(None)[0] == Profile()
    else:
        with pytest.raises(ProfileError, match="not a regular file"):
            profiles.open_profile(None)


def test_a_link_stays_a_link_and_its_file_is_changed(path: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("# mine\nloop: true\n")
    path.symlink_to(mine)
    save(path, {"theme": "nord"})
    assert path.is_symlink()
    assert mine.read_text() == "# mine\nloop: true\ntheme: nord\n"


def test_a_read_only_profile_is_left_alone(path: Path) -> None:
    path.write_text("loop: true\n")
    path.chmod(0o400)
    with pytest.raises(OSError, match="read-only"):
        save(path, {"theme": "nord"})
    assert path.read_text() == "loop: true\n"


def test_what_was_changed_meanwhile_is_kept(path: Path) -> None:
    path.write_text("loop: true\n")
    Profile.load(path)
    path.write_text("# by hand\nloop: true\nllm.model: a/b\n")
    save(path, {"theme": "nord"})
    assert path.read_text() == "# by hand\nloop: true\nllm.model: a/b\ntheme: nord\n"
    path.unlink()
    save(path, {"theme": "nord"})
    assert Profile.load(path).theme == "nord"


@pytest.mark.parametrize("other", ["x: [{a: 1, a: 2}]", "x: [!!bool z]", "x: !!timestamp [a]", "<<: 5"])
def test_what_cannot_be_written_again_is_left_alone(path: Path, other: str) -> None:
    before = f"llm: {{model: m}}\n{other}\n"
    path.write_text(before)
    with pytest.raises(ProfileError):
        save(path, {"temperature": 0.5})
    assert path.read_text() == before


@limits(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_content_is_a_crash(raw: bytes) -> None:
    with contextlib.suppress(ProfileError, UnicodeDecodeError):
        Profile.from_entries(yaml_file.parse(raw.decode("utf-8"), "x.yaml"), "x.yaml")


@limits(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(list_settings()), st.text(alphabet="[]{}*&!|>'\"%@`,:#- \n\t\\0x1.e\u2028", max_size=30)
)
def test_no_value_is_a_crash(each: object, value: str) -> None:
    key = getattr(each, "key", "")
    with contextlib.suppress(ProfileError):
        Profile.from_entries(yaml_file.parse(f"{key}: {value}\n", "x.yaml"), "x.yaml")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (
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
    ((profile, shown),) = taken
    assert {name: getattr(profile, name) for name in values} == values
    assert shown == words


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x85", "\u2028", "\u2029"])
def test_a_setting_after_a_comment_counts_whatever_ends_the_line(end: str) -> None:
    assert set(yaml_file.parse(f"# a comment{end}verbose: true")) == {"verbose"}


@pytest.mark.parametrize(
    "text", ["", "\n \n", "# a comment", "  # one\r\n\n# another\n", "\ufeff# a comment\n"]
)
def test_comments_alone_set_nothing(text: str) -> None:
    assert yaml_file.parse(text) == {}


def test_a_comment_that_yaml_refuses_is_refused() -> None:
    with pytest.raises(ProfileError, match="line 2"):
        yaml_file.parse("# a comment\n# and \x00 in one\n")
