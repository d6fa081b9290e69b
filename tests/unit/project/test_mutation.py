"""The mutation test itself: which changes it makes, and that it tells those apart that a test notices."""

from pathlib import Path

import pytest

from tests.mutation.__main__ import ROOT, choose, leave_out_slow, main, select, try_group
from tests.mutation.mutants import make_mutants
from tests.mutation.table import EQUIVALENT, GROUPS

TOY = '''\
"""A module with tests that are good, and others that are not."""

import functools

MOST = 3
LEAST = 1


@functools.cache
def is_allowed(number: int) -> bool:
    return number < MOST


def first_positive(numbers: list[int]) -> int | None:
    for number in numbers:
        if number <= 0:
            continue
        return number
    return None


def is_big(number: int) -> bool:
    return number > 100


def count_down(number: int) -> int:
    while number:
        number -= 1
    return number


ALLOWED = [number for number in range(9) if is_allowed(number)]
'''
TESTS = """\

import toy


def test_limits():
    assert [toy.is_allowed(n) for n in (2, 3)] == [True, False]
    assert toy.ALLOWED == [0, 1, 2]


def test_first():
    assert toy.first_positive([0, -1, 5, 6]) == 5


def test_count_down():
    assert toy.count_down(3) == 0


def test_big():
    assert toy.is_big(1000)
"""


def changes(source: str) -> list[str]:
    return [mutant.change for mutant in make_mutants(source.encode())]


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("a = b < c", ["b < c => b <= c"]),
        ("a = b and not c", ["b and (not c) => b or not c", "not c => c"]),
        ("a = 5", ["5 => 4", "5 => 6"]),
        ("a = True", ["True => False"]),
        ("def f() -> bool:\n    return g()", ["return g() => return not (g())"]),
        ("def f() -> Path:\n    return g()", ["return g() => return None"]),
        ("def f() -> str:\n    'Explain.'\n    log.debug(1)\n    g()", ["removed: g()"]),
        ("while a:\n    break", ["a => not a", "break => continue"]),
        ("a = b[c:d]", ["c:d => :d", "c:d => c:"]),
        ("self.a: int = b", ["removed: self.a: int = b"]),
        ("raise ValueError", ["removed: raise ValueError"]),
    ],
)
def test_each_kind_of_change_is_made(source: str, made: list[str]) -> None:
    assert sorted(changes(source)) == sorted(made)


def test_a_change_keeps_all_lines_where_they_are() -> None:
    source = (
        "def f():\n    g(\n        'é',\n        1 <\n        2,\n    )\n    return h(\n        3)\n".encode()
    )
    for mutant in make_mutants(source):
        changed = mutant.apply(source)
        assert changed != source
        assert changed.count(b"\n") == source.count(b"\n")
        compile(changed, "changed", "exec")


@pytest.mark.slow
def test_noticed_changes_are_reported_from_survivors(tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text(TOY)
    (tmp_path / "test_toy.py").write_text(TESTS)
    tally = try_group(tmp_path, {"toy.py": ["test_toy.py"]}, None, 0, enclosed=False, timeout=0.5)
    survivors = {survivor.partition(": ")[2].partition("\n")[0] for survivor in tally.survivors}
    # Constants that nothing depends on, and limits that no test comes near.
    assert survivors == {
        "1 => 0",
        "1 => 2",
        "0 => 1",
        "number > 100 => number >= 100",
        "100 => 99",
        "100 => 101",
        "9 => 8",
        "9 => 10",
    }
    assert tally.noticed > 5
    assert tally.stopped >= 1, "without the step the loop never ends"
    assert (tmp_path / "toy.py").read_text() == TOY


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    module = "oi_tui/engine/llm/hosts.py"
    few = select(ROOT, module, 5, 1)
    assert len(few) == 5
    assert select(ROOT, module, 5, 1) == few != select(ROOT, module, 5, 2)
    assert set(few) <= set(select(ROOT, module, None, 1))


def test_modules_and_groups_are_chosen_by_name() -> None:
    groups = {"a": {"x/one.py": ["t"], "x/two.py": ["t"]}, "b": {"y/one.py": ["t"]}}
    assert choose([], groups) == groups
    assert choose(["two"], groups) == {"a": {"x/two.py": ["t"]}}
    assert choose(["y/one.py"], groups) == {"b": {"y/one.py": ["t"]}}
    assert choose(["b", "two"], groups) == {"a": {"x/two.py": ["t"]}, "b": {"y/one.py": ["t"]}}
    with pytest.raises(SystemExit, match="No module or group is called three"):
        main(["three"])


def test_every_module_and_test_of_the_table_exists() -> None:
    for modules in GROUPS.values():
        for module, tests in modules.items():
            assert [name for name in (module, *tests) if not (ROOT / name).is_file()] == []


def test_every_change_declared_equivalent_is_made() -> None:
    made = {
        (module, mutant.line, mutant.change)
        for module in {module for module, _, _ in EQUIVALENT}
        for mutant in make_mutants((ROOT / module).read_bytes())
    }
    assert set(EQUIVALENT) - made == set()
    assert all(len(reason) > 10 for reason in EQUIVALENT.values())


def test_tests_marked_slow_can_be_left_out() -> None:
    assert leave_out_slow({"x/one.py": ["t", "u"]}) == {"x/one.py": ("t", "u", "-m", "not slow")}
