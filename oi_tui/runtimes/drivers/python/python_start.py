"""The entry point of the person's Python: loads the driver without looking into the working directory."""

# mypy: ignore-errors

import os
import sys

if sys.version_info < (3, 8):
    sys.exit("Python %d.%d is too old, cells need 3.8 or later" % sys.version_info[:2])

_here = os.path.dirname(os.path.abspath(__file__))
_safe = bool(getattr(sys.flags, "safe_path", False))
if not _safe and sys.path:
    del sys.path[0]
sys.path.insert(0, _here)

import python_driver

sys.path.remove(_here)
if not _safe:
    sys.path.insert(0, "")
python_driver.main(sys.argv[1])
