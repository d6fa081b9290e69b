import subprocess
import sys

import pytest

from oi_tui.system.failures import describe_failure


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "the system refused memory. A limit is too low: "),
        (RuntimeError("can't start new thread"), "the system refused another thread. A limit is too low: "),
        (RuntimeError("other"), "RuntimeError: other"),
    ],
)
def test_a_failure_for_lack_of_memory_or_threads_names_the_limit(error: Exception, words: str) -> None:
    assert describe_failure(error).startswith(words)


def test_a_program_that_is_refused_memory_at_its_start_says_so() -> None:
    code = (
        "import sys, oi_tui.cli.main as program, oi_tui.start as start\n"
        "def main(_): return len(bytearray(10**12))\n"
        "program.main = main\n"
        "sys.exit(start.main(['--demo']))\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith("oi-tui failed: the system refused memory. ")
