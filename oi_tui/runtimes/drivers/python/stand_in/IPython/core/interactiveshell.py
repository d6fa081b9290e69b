"""The class of shells, on which notebooks set `ast_node_interactivity`."""

# mypy: ignore-errors
from __future__ import annotations

import builtins


class InteractiveShell:
    """What is set here counts for the shell of the cells."""

    ast_node_interactivity = "last_expr"

    @staticmethod
    def instance():
        """Return the shell of the cells."""
        return builtins.get_ipython()

    @staticmethod
    def initialized():
        """Return True: there is a shell."""
        return True
