"""What of a message was typed, and what was pasted."""

from oi_tui.widgets.prompt.pastes import Pastes


def test_a_short_paste_takes_no_letters_from_words_typed_later() -> None:
    pastes = Pastes()
    for paste in ("e", ".", "png", "plot"):
        pastes.add(paste)
    assert pastes.remove_pastes("look at screen.png and plot.png") == "look at screen.png and plot.png"


def test_what_was_pasted_beside_typed_words_is_not_typed() -> None:
    pastes = Pastes()
    pastes.add("cannot read a.png\nnor b.png")
    assert "a.png" not in pastes.remove_pastes("Why: cannot read a.png\nnor b.png and c.png?")
    assert "c.png" in pastes.remove_pastes("Why: cannot read a.png\nnor b.png and c.png?")
