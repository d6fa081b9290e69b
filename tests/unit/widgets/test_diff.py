"""What a person changed is told by lines."""

from oi_tui.screens.diff import list_changes


def describe_diff(before: str, after: str) -> list[str]:
    return [
        f"{sign}{number} {text}".rstrip() for sign, number, text in list_changes(list(before), list(after))
    ]


def test_nothing_is_reported_of_what_is_the_same() -> None:
    assert describe_diff("abc", "abc") == []


def test_lines_that_went_and_came_stand_together() -> None:
    assert describe_diff("abc", "axc") == [" 1 a", "-2 b", "+2 x", " 3 c"]
    assert describe_diff("ab", "abc") == [" 1 a", " 2 b", "+3 c"]
    assert describe_diff("ab", "b") == ["-1 a", " 1 b"]


def test_what_is_alike_is_left_out_but_for_three_lines() -> None:
    assert describe_diff("Xabcdefghij", "Yabcdefghij") == ["-1 X", "+1 Y", " 2 a", " 3 b", " 4 c", "…7"]
    assert describe_diff("Xabcdefgh", "Xabcdefgi")[:2] == ["…5", " 6 e"]


def test_a_single_line_is_not_left_out() -> None:
    assert describe_diff("abcdX", "abcdY") == [" 1 a", " 2 b", " 3 c", " 4 d", "-5 X", "+5 Y"]
