"""A hundred changes to a file of a person's own leave the rest of it as it was, to the byte."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from oi_tui.engine.settings import yaml_file
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.settings.profile import list_settings as all_settings
from oi_tui.engine.settings.setting import Setting, Value
from oi_tui.engine.settings.templates import write_starter
from tests.setting_values import RIGHT_WORDS, other_value

MINE = """\
# mine, é
llm:   # the group
  model: "gpt-4"   # the model
  extra: {a: 1}
  temperature: 0.5

custom_instructions: |
  hello
  there

# tail
other: [1,   2]
loop_breakers:   # sentences
  # the first
  - one
  - "two"   # 2

max_output:    3000   # roomy"""
#: In the shape of the original's default profile.
THEIRS = """\
### A PROFILE

# Remove the "#" before the settings below to use them.

llm:
  model: "gpt-4o"
  temperature: 0
  # api_key: ...  # if the API requires it
  # api_base: ...

computer:
  import_computer_api: True # lets it see

custom_instructions: ""  # This will be appended
auto_run: False

  #verbose: True
safe_mode: off
version: 0.2.5 # the format
"""
#: As nobody would write it: quoted keys, odd indents, text in several lines, flow within blocks, a beginning.
ODD = """\
---   # begin

"llm" :
      'model'  :   "a/b"   # far in

      temperature:   # not said
theme :    nord   #y
system_message: >-
   folded
   text

   more   # no comment

loop_breakers: [ one ,
   "two" , ]   # over two lines
computer:
  languages:
  - python
  - r   # the second
unknown: &x {a: [1, {b: 2}]}
other: *x
"quoted key": 'it''s'
? max_output
: 3000
...
"""
DOCUMENTS = {
    "odd": ODD,
    "mine": MINE,
    "theirs": THEIRS,
    "new": write_starter(),
    "windows": MINE.replace("\n", "\r\n"),
    "marked": "\ufeff" + MINE,
    "empty": "",
}
TEXTS = st.one_of(
    st.sampled_from(
        ["plain", "two\nlines", "tail\n", " lead", "# no comment", "a: b", "'", '"', "- x", "yes", "off"]
    ),
    st.sampled_from(
        [
            "|",
            "\n\nblank",
            "end  ",
            "x\n\n\ny",
            "null",
            "~",
            "@at",
            "%",
            "\x1b[2J",
            "é\t✓",
            "\x85x",
            "x\u2028",
        ]
    ),
    st.text(max_size=40).filter(lambda text: "\0" not in text),
)


def values(setting: Setting) -> st.SearchStrategy[Value]:
    """Any value of the setting, its default among them."""
    if setting.name in RIGHT_WORDS:
        return st.lists(st.sampled_from(RIGHT_WORDS[setting.name]), max_size=4).map(tuple)
    if setting.kind is tuple:
        words = TEXTS.filter(lambda text: bool(text.strip()) and "\n" not in text)
        return st.lists(words, max_size=4).map(tuple)
    if setting.kind is str and setting.long and not setting.must:
        return TEXTS
    if setting.kind is str and setting.long and setting.must and not setting.must("{content}"):
        return TEXTS.map(lambda text: text + "{content}")
    if setting.kind is float:
        low, high = setting.minimum or 0, setting.maximum or 1e6
        return st.floats(low, high) | st.just(setting.default)
    if setting.kind is int:
        return st.integers(int(setting.minimum or 0), 10**9)
    return st.sampled_from([other_value(setting), setting.default])


EDITS = st.sampled_from(all_settings()).flatmap(lambda item: st.tuples(st.just(item), values(item)))


def list_other_lines(text: str, key: str) -> list[str]:
    """The lines of the text that have no part in the key and its value."""
    entry = yaml_file.parse(text).get(key)
    lines = text.replace("\r\n", "\n").removeprefix("\ufeff").split("\n")
    if entry is None:
        return [line for line in lines if line]
    plain = text.replace("\r\n", "\n").removeprefix("\ufeff")
    entry = yaml_file.parse(plain)[key]
    first = plain.count("\n", 0, entry.key_start)
    last = plain.count("\n", 0, entry.start + len(plain[entry.start : entry.end].rstrip()))
    return [line for line in lines[:first] + lines[last + 1 :] if line]


def untouched(before: str, after: str, key: str) -> bool:
    """Whether all of the text outside the key and its value is as it was, to the byte."""
    entry = yaml_file.parse(before).get(key)
    if entry is None:
        # A key is put in somewhere, and that is all.
        start = next(
            (n for n, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), -1
        )
        return len(after) >= len(before) and (start < 0 or after.endswith(before[start:]))
    mark = len(before) - len(before.removeprefix("\ufeff"))
    begin = before.rfind("\n", 0, mark + entry.key_start) + 1
    value = before[mark + entry.start : mark + entry.end].rstrip()
    end = before.find("\n", mark + entry.start + len(value))
    rest = before[end:] if end >= 0 else ""
    # A line that says nothing else goes as a whole.
    gone = key not in yaml_file.parse(after)
    return after.startswith(before[:begin]) and after.endswith(rest[1:] if gone else rest)


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCUMENTS)
@settings(max_examples=2, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_hundred_random_edits_change_nothing_but_the_values(name: str, data: st.DataObject) -> None:
    text = DOCUMENTS[name]
    expected = Profile.from_entries(yaml_file.parse(text), name)
    for item, value in data.draw(st.lists(EDITS, min_size=100, max_size=100)):
        value = item.check(value)
        before = text
        text = yaml_file.change_text(before, {item.key: None if value == item.default else value})
        expected = expected.with_changes(**{item.name: value})
        assert Profile.from_entries(yaml_file.parse(text), name) == expected
        assert untouched(before, text, item.key), f"{before!r}\n{text!r}"
        kept, now = list_other_lines(before, item.key), list_other_lines(text, item.key)
        assert all(line.startswith("  # the first") for line in now if line not in kept)
        assert [line for line in kept if line not in now] == []
        if name == "windows":
            assert text.count("\n") == text.count("\r\n")


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        ("a: 1  # c\nloop: true # d\n", "loop", False, "a: 1  # c\nloop: false # d\n"),
        ("loop:   # d\n", "loop", True, "loop: true   # d\n"),
        ("llm:\n    model: x\n# t\n", "llm.timeout", 1.0, "llm:\n    model: x\n    timeout: 1.0\n# t\n"),
        ("loop_breakers:  # c\n  # d\n  - a\n  - b  # e\n# f\n", "loop_breakers", ("x", "y"),
         "loop_breakers: [x, y]  # c\n  # d  # e\n# f\n"),
        ("loop_breakers:\n- a\n- b\n# z\n", "loop_breakers", ("x",), "loop_breakers: [x]\n# z\n"),
        ("loop_breakers: [a,\n  b]  # c\n", "loop_breakers", ("x",), "loop_breakers: [x]  # c\n"),
        ("system_message: ''  # c\n\n  # d\nloop: true\n", "system_message", "a\nb",
         'system_message: "a\\nb"  # c\n\n  # d\nloop: true\n'),
        ("system_message: |\n  a\n  b\nloop: true  # c\n  # d\nverbose: true\n", "loop", None,
         "system_message: |\n  a\n  b\nloop:  # c\n  # d\nverbose: true\n"),
        ("loop: true\n...\n", "verbose", True, "loop: true\nverbose: true\n...\n"),
        ("safe_mode: off # c\n", "safe_mode", "ask", "safe_mode: ask # c\n"),
        ("system_message: >-\n  a\n  b\n\n# c\n", "system_message", "x", "system_message: x\n\n# c\n"),
    ],
)  # fmt: skip
def test_comments_stay_where_they_are(before: str, key: str, value: Value, after: str) -> None:
    assert yaml_file.change_text(before, {key: value}) == after
