"""`%snapshot` in the real program: variables are back after it was left and started again."""

import pytest

from tests.e2e.conftest import Start


@pytest.mark.needs("Rscript")
def test_variables_of_python_and_r_are_back_after_a_new_start(start: Start) -> None:
    program = start("--demo", "--keep-variables", "50")
    program.begin()
    program.say("%snapshot")
    program.wait_for("have no variables yet")
    for code, printed in (
        ("%python amount = 41; print('python', amount)", "python 41"),
        ("%r bmount <- 141; cat('r', bmount)", "r 141"),
    ):
        program.say(code)
        program.wait_for(lambda screen, end=printed: end in screen and "ready" in screen)
    program.say("%quit")
    assert program.wait_exit() == 0
    program = start("--demo", "--resume")
    program.wait_for("f9 or %snapshot restore brings", 60)
    program.send("\x1b[20~")
    program.wait_for("Restored 1 variable:", 30)
    program.say("%python print(amount + 1, 'amount')")
    program.wait_for("42 amount", 30)
    program.say("%r cat(bmount + 1, 'bmount')")
    program.wait_for("142 bmount", 30)
    program.say("%snapshot")
    program.wait_for("Kept 1 variable in ", 30)
    program.wait_for("Kept 1 variables", 30)
