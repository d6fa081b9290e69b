"""`python -m oi_tui`: the same as the command `oi-tui`."""

import os
import sys

# `-m` puts the working directory first, where a file named yaml.py would be mistaken for the real one.
# It stays only where the package itself is found in it, as in a checkout that is not installed.
try:
    folder = os.getcwd()  # noqa: PTH109
except OSError:
    # It was deleted, so there is nothing in it.
    folder = ""
if sys.path[:1] in ([""], [folder]) and not os.path.isfile("oi_tui/__main__.py"):  # noqa: PTH113
    del sys.path[0]

from oi_tui.start import start

start()
