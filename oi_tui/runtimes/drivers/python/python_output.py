"""Redirects the output of the program where it does not go to its terminal."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import sys
from _io import StringIO, TextIOWrapper

# A program may put others in their place.
from os import fstat, isatty, readlink


class OutputMonitor:
    """Notices that a cell has redirected the output permanently, so that later cells would be silent."""

    def __init__(self, terminal):
        self._terminal = terminal
        self._place, self._since = "", 0

    def describe(self, cell):
        """Say where the output goes, and since which cell; empty where it goes to the terminal."""
        place, way_back = self._find_elsewhere(getattr(sys, "stdout", None))
        if place != self._place:
            self._place, self._since = place, cell
        if not place:
            return ""
        return "(Python's output goes to {} since cell {}; {} brings it back.)\n".format(
            place, self._since, way_back
        )

    def _find_elsewhere(self, stream):
        """Find where a redirected stream goes, and the way back; only streams of Python itself are asked."""
        if type(stream) is StringIO:
            return "memory", "sys.stdout = sys.__stdout__"
        if type(stream) is not TextIOWrapper:
            return "", ""
        try:
            number = stream.fileno()
            if isatty(number) or self._is_same(number):
                return "", ""
            way_back = "os.dup2(0, 1)" if number == 1 else "sys.stdout = sys.__stdout__"
            return self._name(number), way_back
        except (OSError, ValueError):
            # Closed, which the next cell mends, or on something that is no file.
            return "", ""

    def _is_same(self, number):
        here, there = fstat(number), fstat(self._terminal)
        return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)

    @staticmethod
    def _name(number):
        try:
            return ascii(readlink("/proc/self/fd/{}".format(number)))[1:-1]
        except OSError:
            return os.devnull if fstat(number).st_rdev == os.stat(os.devnull).st_rdev else "a file"
