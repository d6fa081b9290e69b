"""A small application that runs one piece of code and is killed: `python host.py LANGUAGE CODE`."""

import sys

from oi_tui.messages import Printed
from oi_tui.runtimes import Computer

computer = Computer()
for report in computer.run(sys.argv[1], sys.argv[2]):
    if isinstance(report, Printed):
        sys.stdout.write(report.text)
        sys.stdout.flush()
sys.stdout.write("over\n")
sys.stdout.flush()
sys.stdin.read()
