"""The object that `get_ipython()` returns, for code that was written for notebooks."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import sys
import types

import python_magics


class Events:
    """Functions of the program that are called before and after each cell, as IPython's `events`."""

    names = ("pre_execute", "pre_run_cell", "post_execute", "post_run_cell", "shell_initialized")

    def __init__(self):
        self.callbacks = {name: [] for name in self.names}

    def register(self, event, function):
        """Call the function at each such event."""
        if not callable(function):
            raise TypeError("Need a callable, got {!r}".format(function))
        if function not in self._functions(event):
            self._functions(event).append(function)

    def unregister(self, event, function):
        """Stop calling the function."""
        if function not in self._functions(event):
            raise ValueError("Function {!r} is not registered as a {} callback".format(function, event))
        self._functions(event).remove(function)

    def trigger(self, event, *args, **options):
        """Call the functions of an event. One that fails is reported, and the others are still called."""
        for function in list(self._functions(event)):
            try:
                function(*args, **options)
            except Exception as error:
                sys.stderr.write("Error in callback {!r} (for {}):\n".format(function, event))
                sys.excepthook(type(error), error, error.__traceback__)

    def _functions(self, event):
        if event not in self.callbacks:
            raise KeyError("there is no event {}; there are {}".format(event, ", ".join(self.names)))
        return self.callbacks[event]


class InteractiveShell:
    """What notebook code asks of IPython's shell, done by the driver.

    It is neither `ZMQInteractiveShell` nor `TerminalInteractiveShell`: for libraries these names mean that
    widgets of a notebook's page, or IPython's own prompt, are there.
    """

    def __init__(self, driver):
        self._driver = driver
        self._magics = python_magics.magics_of(driver)
        self.events = Events()
        self.config = {}
        self.user_module = driver.module

    @property
    def user_ns(self):
        """The variables of the cells."""
        return self._driver.module.__dict__

    user_global_ns = user_ns

    @property
    def execution_count(self):
        """The number of the cell that runs."""
        return self._driver.number

    def run_line_magic(self, magic_name, line, _stack_depth=1):
        """Run `%magic_name line` and return its value."""
        return self._magics.line("{} {}".format(magic_name, line).rstrip())

    def run_cell_magic(self, magic_name, line, cell):
        """Run `%%magic_name line` with the lines of a cell below it, and return its value."""
        return self._magics.cell("{} {}".format(magic_name, line).rstrip(), cell)

    def register_magic_function(self, func, magic_kind="line", magic_name=None):
        """Have `%name` (kind "line"), `%%name` ("cell") or both ("line_cell") call a function."""
        self._magics.register(func, magic_kind, magic_name or func.__name__)

    def find_magic(self, magic_name, magic_kind="line"):
        """Return the function that the program registered under a name; None where it has not."""
        return self._magics.registered[magic_kind].get(magic_name)

    find_line_magic = find_magic

    def find_cell_magic(self, magic_name):
        """Return the function that the program registered for `%%name`; None where it has not."""
        return self.find_magic(magic_name, "cell")

    def magic(self, text):
        """Run a line magic that is written as one text."""
        return self._magics.line(text.lstrip("%"))

    def system(self, cmd):
        """Run a command on the terminal."""
        self._magics.shell(cmd)

    system_raw = system_piped = system

    def getoutput(self, cmd, split=True, depth=0):
        """Run a command and return the lines of its output, or its output as one text."""
        lines = self._magics.capture(cmd)
        return lines if split else lines.n

    def run_cell(self, raw_cell, store_history=False, silent=False, shell_futures=True):
        """Run code as part of this cell, show its value, and return what became of it."""
        result = types.SimpleNamespace(
            info=_info(raw_cell), result=None, error_before_exec=None, error_in_exec=None, success=True
        )
        try:
            result.result = self._driver.run_part(raw_cell)
        except Exception as error:
            result.success = False
            result.error_in_exec = error
            self._driver._print_error(error)
        else:
            if not silent:
                sys.displayhook(result.result)
        return result

    def ev(self, expr):
        """Return the value of an expression."""
        return eval(expr, self.user_ns)

    def ex(self, cmd):
        """Run statements."""
        exec(cmd, self.user_ns)

    def push(self, variables, interactive=True):
        """Set variables: a dictionary, or names of the caller's variables as a list or one text."""
        if not isinstance(variables, dict):
            caller = sys._getframe(1)
            names = variables.split() if isinstance(variables, str) else variables
            variables = {name: eval(name, caller.f_globals, caller.f_locals) for name in names}
        self.user_ns.update(variables)

    def showtraceback(self, *args, **options):
        """Show the error that is being handled."""
        error = sys.exc_info()[1]
        if error is not None:
            self._driver._print_error(error)

    def enable_gui(self, gui=None):
        """Do nothing: windows run by themselves here."""

    def enable_matplotlib(self, gui=None):
        """Have figures shown in the conversation."""
        self._driver.shows.choose_backend()

    def before(self, source):
        """Tell the program's functions that a cell begins."""
        self.events.trigger("pre_execute")
        self.events.trigger("pre_run_cell", _info(source))

    def after(self, source, error):
        """Tell the program's functions that a cell is over."""
        functions = self.events.callbacks
        if not functions["post_execute"] and not functions["post_run_cell"]:
            return
        self.events.trigger("post_execute")
        result = types.SimpleNamespace(
            info=_info(source),
            result=getattr(builtins, "_", None),
            error_before_exec=None,
            error_in_exec=error,
            success=error is None,
            execution_count=self.execution_count,
        )
        self.events.trigger("post_run_cell", result)


def _info(source):
    return types.SimpleNamespace(
        raw_cell=source, store_history=True, silent=False, shell_futures=True, cell_id=None
    )
