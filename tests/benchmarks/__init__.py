"""Figures, each a ratio to a reference that is measured in the same run.

Programs are measured as they run where they are installed: with their bytecode kept.
"""

import os

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
