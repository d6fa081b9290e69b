"""`In` and `Out`: the cells that ran and the values that they showed, as in IPython."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))


class CellHistory:
    """Keeps cells and values by the number of the cell, also under the names `_i3` and `_3`.

    The names are builtins, so that they are no variables of the program, which may use them for its own.
    """

    def __init__(self):
        self.inputs = [""]
        self.outputs = {}
        builtins.In, builtins.Out = self.inputs, self.outputs
        builtins._ih, builtins._oh = self.inputs, self.outputs
        builtins._i = builtins._ii = builtins._iii = ""

    def begin(self, number, source):
        """Remember the text of a cell that begins."""
        earlier = self.inputs[-1]
        # Cells of other languages have numbers too.
        self.inputs += [""] * (number + 1 - len(self.inputs))
        self.inputs[number] = source
        builtins._i, builtins._ii, builtins._iii = earlier, builtins._i, builtins._ii
        setattr(builtins, "_i{}".format(number), source)

    def remember(self, number, value):
        """Remember the value that a cell shows."""
        if value is not self.outputs:
            self.outputs[number] = value
            setattr(builtins, "_{}".format(number), value)
