"""Arguments of magics, declared by decorators and parsed as those of a command line."""

# mypy: ignore-errors
from __future__ import annotations

import argparse
import inspect
import shlex

from IPython.core.error import UsageError


class MagicHelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Writes the help of a magic."""


class MagicArgumentParser(argparse.ArgumentParser):
    """Parses the line behind a magic."""

    def __init__(self, prog=None, usage=None, description=None, epilog=None, **options):
        options.setdefault("formatter_class", MagicHelpFormatter)
        options.setdefault("add_help", False)
        super().__init__(prog=prog, usage=usage, description=description, epilog=epilog, **options)

    def error(self, message):
        """Raise UsageError, where a command line would end the program."""
        raise UsageError(message)

    def parse_argstring(self, argstring, *, partial=False):
        """Return the arguments in a text; with `partial` also those that are not known."""
        words = shlex.split(argstring)
        return self.parse_known_args(words) if partial else self.parse_args(words)


def construct_parser(magic_func):
    """Return the parser that the decorators of a function declare."""
    options = getattr(magic_func, "argcmd_kwds", {})
    parser = MagicArgumentParser(real_name(magic_func), description=magic_func.__doc__, **options)
    group = None
    for decorator in magic_func.decorators[::-1]:
        new_group = decorator.add_to_parser(parser, group)
        group = group if new_group is None else new_group
    magic_func.__doc__ = parser.format_help()
    return parser


def parse_argstring(magic_func, argstring, *, partial=False):
    """Return the arguments in a text, as the decorators of a function declare them."""
    return magic_func.parser.parse_argstring(argstring, partial=partial)


def real_name(magic_func):
    """Return the name of the magic."""
    name = magic_func.__name__
    return getattr(magic_func, "argcmd_name", name[6:] if name.startswith("magic_") else name)


class ArgDecorator:
    """A decorator that is noted on the function."""

    def __call__(self, func):
        """Note the decorator."""
        func.decorators = [*getattr(func, "decorators", ()), self]
        func.has_arguments = True
        return func

    def add_to_parser(self, parser, group):
        """Add what it declares; return a group where it begins one."""


class magic_arguments(ArgDecorator):
    """Make a magic have arguments; stands above the other decorators."""

    def __init__(self, name=None):
        self.name = name

    def __call__(self, func):
        """Make the parser."""
        func.decorators = getattr(func, "decorators", [])
        func.has_arguments = True
        if self.name is not None:
            func.argcmd_name = self.name
        func.__doc__ = inspect.getdoc(func)
        func.parser = construct_parser(func)
        return func


class ArgMethodWrapper(ArgDecorator):
    """A decorator that stands for a method of the parser."""

    _method = ""

    def __init__(self, *args, **kwds):
        self.args, self.kwds = args, kwds

    def add_to_parser(self, parser, group):
        """Call the method with the arguments of the decorator."""
        getattr(parser if group is None else group, self._method)(*self.args, **self.kwds)


class argument(ArgMethodWrapper):
    """Declare an argument, as `add_argument` of argparse."""

    _method = "add_argument"


class defaults(ArgMethodWrapper):
    """Set defaults, as `set_defaults` of argparse."""

    _method = "set_defaults"


class argument_group(ArgMethodWrapper):
    """Begin a group of arguments."""

    def add_to_parser(self, parser, group):
        """Return the group."""
        return parser.add_argument_group(*self.args, **self.kwds)


class kwds(ArgDecorator):
    """Give options to the parser itself."""

    def __init__(self, **kwds):
        self.kwds = kwds

    def __call__(self, func):
        """Note the options."""
        func = super().__call__(func)
        func.argcmd_kwds = self.kwds
        return func


__all__ = ["argument", "argument_group", "defaults", "kwds", "magic_arguments", "parse_argstring"]
