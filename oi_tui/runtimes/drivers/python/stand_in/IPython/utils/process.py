"""Commands of the shell."""

# mypy: ignore-errors
from __future__ import annotations

import builtins
import shlex
import shutil
import subprocess

__all__ = ["arg_split", "find_cmd", "getoutput", "getoutputerror", "system"]


class FindCmdError(Exception):
    """There is no such program."""


def find_cmd(cmd):
    """Return the path of a program."""
    path = shutil.which(cmd)
    if path is None:
        raise FindCmdError("command could not be found: " + cmd)
    return path


def getoutput(cmd):
    """Return what a command prints, errors too."""
    return subprocess.run(
        cmd, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    ).stdout


def getoutputerror(cmd):
    """Return what a command prints, and its errors."""
    return get_output_error_code(cmd)[:2]


def get_output_error_code(cmd):
    """Return what a command prints, its errors and its status."""
    done = subprocess.run(cmd, shell=True, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr, done.returncode


def system(cmd):
    """Run a command on the terminal."""
    builtins.get_ipython().system(cmd)


def arg_split(commandline, posix=False, strict=True):
    """Return the words of a command line."""
    return shlex.split(commandline, posix=posix)
