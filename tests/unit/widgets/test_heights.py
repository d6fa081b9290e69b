"""Heights of blocks: sums that agree with simple addition, whatever was done."""

from hypothesis import given
from hypothesis import strategies as st

from oi_tui.widgets.conversation.heights import Heights

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 9)),
        st.tuples(st.just("change"), st.integers(0, 99)),
        st.tuples(st.just("ask"), st.integers(0, 300)),
    ),
    max_size=60,
)


@given(st.lists(st.integers(0, 9), max_size=30), STEPS)
def test_tops_and_rows_are_found_as_by_adding_up(start: list[int], steps: list[tuple[str, int]]) -> None:
    plain, heights = list(start), Heights(start)
    for step, number in steps:
        if step == "append":
            plain.append(number)
            heights.append(number)
        elif step == "change" and plain:
            index = number % len(plain)
            assert heights.change(index, number) == number - plain[index]
            plain[index] = number
        assert heights.total == sum(plain)
        assert len(heights) == len(plain)
        for index in range(len(plain) + 1):
            assert heights.find_top(index) == sum(plain[:index])
        if plain:
            index = heights.find(number)
            if number < sum(plain):
                assert sum(plain[:index]) <= number < sum(plain[: index + 1])
            else:
                assert index == len(plain) - 1
        else:
            assert heights.find(number) == -1
