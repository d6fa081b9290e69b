"""A cell prints what a script prints: nothing of the driver is in stacks, profiles, traces and warnings."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import play

PROFILE = """import cProfile, io, pstats
profile = cProfile.Profile()
profile.enable()
numbers = [number for number in range(3)]
sorted(numbers)
profile.disable()
found = pstats.Stats(profile, stream=io.StringIO()).stats
print(sorted((line, name) for _, line, name in found))
"""
PROFILE_FUNCTION = """import sys
seen = []
sys.setprofile(lambda frame, event, value: seen.append((event, frame.f_code.co_name)))
len('')
x = 1
sys.setprofile(None)
print(seen)
"""
TRACE = """import sys
seen = []
def trace(frame, event, value):
    seen.append((event, frame.f_code.co_name, frame.f_lineno))
    return trace
def work():
    return 1
sys.settrace(trace)
work()
x = 1
sys.settrace(None)
print(seen)
"""
STACKS = """import inspect, logging, traceback
def work():
    traceback.print_stack()
    print([(frame.function, frame.lineno) for frame in inspect.stack()])
    logging.error('with its stack', stack_info=True)
    print([frame.name for frame in traceback.extract_stack()])
work()
"""
WARNINGS = """import warnings
def work():
    warnings.warn('of the caller', stacklevel=2)
    warnings.warn('of nobody', stacklevel=9)
work()
warnings.warn('at the top', stacklevel=2)
"""
CLASS = """import dataclasses, inspect
@dataclasses.dataclass
class Place:
    name: str = ''
class Outer:
    class Inner:
        x = 1
print(inspect.getsource(Place), inspect.getsource(Outer.Inner))
"""
THREAD = """import threading
def work():
    raise ValueError('in a thread')
thread = threading.Thread(target=work, name='worker')
thread.start()
thread.join()
"""
DEBUGGER = """import pdb
class Quiet(pdb.Pdb):
    def user_line(self, frame):
        print([place.f_code.co_name for place, _ in self.get_stack(frame, None)[0]])
        self.set_continue()
def work():
    Quiet().set_trace()
    x = 1
work()
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A Python that the tests share."""
    computer = Computer(cwd=tmp_path_factory.mktemp("script"), python=sys.executable)
    assert play(computer, "python", "").state == "finished"
    yield computer
    computer.close()


@pytest.mark.parametrize(
    "code",
    [PROFILE, PROFILE_FUNCTION, TRACE, STACKS, WARNINGS, CLASS, THREAD, DEBUGGER],
    ids=["profile", "profile-function", "trace", "stacks", "warnings", "class", "thread", "debugger"],
)
def test_a_cell_prints_what_a_script_prints(python: Computer, tmp_path: Path, code: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(code)
    plain = subprocess.run(
        [sys.executable, "-u", str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    played = play(python, "python", code, number=1)
    text = re.sub("<cell 1(, run [0-9]+)?>", str(script), played.text)
    assert (played.state, text) == ("finished", plain.stdout)


def test_a_profile_goes_on_in_the_next_cell(python: Computer) -> None:
    play(python, "python", "import cProfile, sys\nprofile = cProfile.Profile()\nprofile.enable()")
    play(python, "python", "def counted(): pass\ncounted()\ncounted()\nprofile.disable()")
    code = "print([entry.callcount for entry in profile.getstats() if 'counted' in str(entry.code)])"
    assert play(python, "python", code).text == "[2]\n"
    code = "seen = []\nsys.setprofile(lambda frame, event, _: seen.append(frame.f_code.co_name))"
    play(python, "python", code)
    play(python, "python", "counted()\nsys.setprofile(None)")
    assert play(python, "python", "print('counted' in seen, 'send' in seen)").text == "True False\n"


def test_a_single_cell_leaves_no_name_behind(python: Computer) -> None:
    play(python, "python", "40 + 2")
    assert play(python, "python", "print([name for name in globals() if ' ' in name])").text == "[]\n"
