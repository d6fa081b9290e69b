"""Which code a grant for one window covers."""

from pathlib import Path

import pytest

from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.permissions import Permission, Permissions, list_offers
from oi_tui.engine.review.window_actions import ActedWindow, GrantedWindow, list_kinds

HERE = Path("/nowhere")
RENAME, OTHER = ActedWindow(7, "Rename"), ActedWindow(8, "Bank")


@pytest.mark.parametrize(
    ("code", "kinds"),
    [
        ("computer.mouse.click('Save')", "clicks"),
        ("computer.mouse.click(role='button', name='OK')\ncomputer.mouse.scroll(-3)", "clicks"),
        ("computer.keyboard.write('a', delay=0)\ncomputer.keyboard.hotkey('ctrl', 's')", "types"),
        ("print(computer.display.elements(role='text'))", "reads"),
        ("for word in ['a', 'b']:\n    computer.keyboard.write(word)", "types"),
        ("computer.os.activate('Rename')\ncomputer.mouse.click('OK')", "clicks"),
        ("import time\ntime.sleep(0.2)\ncomputer.keyboard.press('f5')", "types"),
        (
            "computer.mouse.click(1, 2)\ncomputer.keyboard.press('a')\nprint(computer.display.elements())",
            "clicks reads types",
        ),
    ],
)
def test_code_that_only_acts_is_covered_by_its_kinds_of_actions(code: str, kinds: str) -> None:
    assert " ".join(sorted(list_kinds("python", code, HERE, EarlierCode()))) == kinds


@pytest.mark.parametrize(
    "code",
    [
        "print(1)",
        "computer.os.activate('Rename')",
        "computer.mouse.click('Save'); open('x', 'w')",
        "computer.mouse.click('Save')\nimport os\nos.remove('x')",
        "computer.mouse.click('Save')\nprint(computer.clipboard.view())",
        "computer.mouse.click('Save')\ncomputer.display.view()",
        "print(computer.display.windows())\ncomputer.mouse.click('Save')",
        "computer.act({'action': 'left_click'})",
        "computer = other\ncomputer.mouse.click('Save')",
        "from other import computer\ncomputer.mouse.click('Save')",
        "m = computer.mouse\nm.click('Save')",
        "computer.mouse.click = print",
        "computer.mouse._computer.run('shell', 'ls')",
        "computer.mouse.click(open('x').read())",
        "other(name=computer.mouse.click('Save'))",
        "def f():\n    computer.mouse.click('Save')\nf()",
        "computer.desktop.session.session().desktop.button(1, True)",
        "computer.mouse.click('Save",
        "computer.mouse.click('\u202eSave')",
    ],
)
def test_code_that_may_do_anything_else_is_covered_by_no_window(code: str) -> None:
    assert list_kinds("python", code, HERE, EarlierCode()) == frozenset()


@pytest.mark.parametrize("before", ["computer = 1", "import computer", "class A(B): pass", "exec(text)"])
def test_nothing_is_covered_after_code_that_may_have_changed_what_names_mean(before: str) -> None:
    earlier = EarlierCode()
    earlier.add("python", before, HERE)
    assert list_kinds("python", "computer.mouse.click('Save')", HERE, earlier) == frozenset()


def test_code_is_still_covered_after_code_of_the_same_kind() -> None:
    earlier = EarlierCode()
    code = "found = computer.display.elements(role='text')\ncomputer.mouse.click(found[0])\nprint(found)"
    earlier.add("python", code, HERE)
    assert list_kinds("python", code, HERE, earlier) == {"clicks", "reads"}


def test_the_window_of_the_last_action_is_offered_with_the_kinds_of_the_code() -> None:
    code = "computer.mouse.click('OK')"
    assert all(item.scope != "window" for item in list_offers("python", code, HERE, EarlierCode()))
    found = list_offers("python", code, HERE, EarlierCode(), RENAME)
    assert [item.scope for item in found] == ["code", "window", "count", "language", "everything"]
    assert found[1].words == "clicking in the window “Rename”"
    assert found[1].offer.startswith(found[1].words)
    both = list_offers("python", f"{code}\ncomputer.keyboard.press('a')", HERE, EarlierCode(), RENAME)[1]
    assert both.words == "clicking and typing in the window “Rename”"
    assert all(item.scope != "window" for item in list_offers("python", "1", HERE, EarlierCode(), RENAME))


def test_a_grant_for_a_window_covers_its_kinds_only_and_is_revoked_alone() -> None:
    click, write = "computer.mouse.click('OK')", "computer.keyboard.write('a')"
    clicks = Permission("window", "python", window=RENAME, kinds=frozenset(["clicks"]))
    types = Permission("window", "python", window=OTHER, kinds=frozenset(["types"]))
    permissions = Permissions()
    permissions.add(clicks)
    assert permissions.use("python", click, HERE) == clicks
    assert permissions.use("python", write, HERE) is None
    assert permissions.use("python", "print(1)", HERE) is None
    assert permissions.use("shell", click, HERE) is None
    permissions.add(types)
    # Both are granted, but not in one window.
    assert permissions.use("python", f"{click}\n{write}", HERE) is None
    assert permissions.windows == (
        GrantedWindow(RENAME, frozenset(["clicks"])),
        GrantedWindow(OTHER, frozenset(["types"])),
    )
    assert permissions.revoke(clicks)
    assert permissions.in_force == (types,)
    assert permissions.use("python", click, HERE) is None


@pytest.mark.parametrize("call", ["computer.display.elements()", "computer.mail.get()", "computer.files"])
def test_a_function_that_uses_the_computer_object_is_not_taken_for_harmless_later(call: str) -> None:
    earlier = EarlierCode()
    earlier.add("python", f"def find():\n    return {call}", HERE)
    unremarkable = Permission("unremarkable", "python")
    assert not unremarkable.covers("python", "print(find())", HERE, earlier)
