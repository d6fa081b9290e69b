"""The object that `get_ipython()` returns, for code that was written for notebooks."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import sys
import types

import python_magics
from python_folder_magics import find_folder
from python_quiet_import import import_quietly


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
        self._magics = python_magics.get_magics(driver)
        self.events = Events()
        self.config = {}
        self.options = import_quietly("python_config").Options(self)
        self.starting_dir = find_folder()
        self.user_module = driver.module
        #: What objects of extensions leave here, and what hides variables in IPython.
        self.configurables, self.user_ns_hidden = [], {}
        parts = import_quietly("python_shell_parts")
        self.display_formatter = parts.DisplayFormatter(driver.shows)
        self.display_pub = parts.DisplayPublisher(driver.shows)
        self.history_manager = parts.HistoryManager(driver.history)
        self.magics_manager = parts.MagicsManager(self._magics)
        self.extension_manager = parts.ExtensionManager(self._magics)

    @property
    def user_ns(self):
        """The variables of the cells."""
        return self._driver.module.__dict__

    user_global_ns = user_ns

    @property
    def ast_node_interactivity(self):
        """Which statements of a cell have their values shown: "last_expr", "all", "last" or "none"."""
        return self.options.value("InteractiveShell", "ast_node_interactivity")

    @ast_node_interactivity.setter
    def ast_node_interactivity(self, value):
        self.options.change("InteractiveShell", "ast_node_interactivity", value)

    @property
    def ipython_dir(self):
        """The folder of IPython's files, where they would be."""
        return os.path.expanduser(os.environ.get("IPYTHONDIR") or os.path.join("~", ".ipython"))

    @property
    def profile_dir(self):
        """The folders of IPython's profile, where they would be."""
        location = os.path.join(self.ipython_dir, "profile_default")
        folders = {
            name + "_dir": os.path.join(location, name)
            for name in ("log", "pid", "security", "startup", "static")
        }
        return types.SimpleNamespace(location=location, **folders)

    profile = "default"

    @property
    def colors(self):
        """The colours of IPython's own texts, for libraries that choose theirs by it."""
        return self.options.value("InteractiveShell", "colors")

    @property
    def db(self):
        """What `%store` keeps, and other values, by their names."""
        return import_quietly("python_store").StoredValues(os.path.join(self.profile_dir.location, "db"))

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

    def register_magics(self, *classes):
        """Have the magics of classes or objects that IPython's `magics_class` made known."""
        for item in classes:
            if isinstance(item, type):
                # With a shell they would want one of IPython's, which knows its settings.
                item = item(None)
                item.shell = self
            for kind in ("line", "cell"):
                for name, function in item.magics.get(kind, {}).items():
                    function = getattr(item, function) if isinstance(function, str) else function
                    self._magics.register(function, kind, name)

    def define_macro(self, name, themacro):
        """Give code a name that runs it."""
        history = import_quietly("python_history_magics")
        self.user_ns[name] = history.Macro(self._driver, getattr(themacro, "value", themacro))

    def alias(self, name, command):
        """Give a command of the shell a name."""
        self._magics.aliases[name] = command

    def var_expand(self, cmd, depth=0, formatter=None):
        """Return a text with `$name` and `{expression}` filled in."""
        return self._magics._commands.expand(cmd)

    def set_next_input(self, text, replace=False):
        """Print code that is proposed for the next cell, for the person to copy."""
        print(text)

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

    def del_var(self, varname, by_name=False):
        """Forget a variable."""
        if self.user_ns.pop(varname, self) is self:
            raise NameError("name '{}' is not defined".format(varname))

    def drop_by_id(self, variables):
        """Forget those of the variables that still have these values."""
        for name, value in variables.items():
            if self.user_ns.get(name, self) is value:
                del self.user_ns[name]

    def reset(self, new_session=True, aggressive=False):
        """Forget all variables."""
        for name in self._magics._select_names():
            del self.user_ns[name]

    def safe_execfile(self, fname, *where, exit_ignore=False, raise_exceptions=False, shell_futures=False):
        """Run a file of Python; an error is shown, unless it is to be raised."""
        names = where[0] if where else self.user_ns
        try:
            with open(fname, "rb") as file:
                exec(compile(file.read(), str(fname), "exec"), names, *where[1:2])
        except SystemExit as error:
            if error.code and not exit_ignore:
                self._driver._print_error(error)
        except Exception as error:
            if raise_exceptions:
                raise
            self._driver._print_error(error)

    def run_code(self, code_obj, result=None, *, async_=False):
        """Run compiled code; return whether it failed, which is shown."""
        try:
            exec(code_obj, self.user_ns)
        except Exception as error:
            self._driver._print_error(error)
            return True
        return False

    async def run_cell_async(self, raw_cell, **options):
        """Run code as `run_cell` does."""
        return self.run_cell(raw_cell, silent=options.get("silent", False))

    def should_run_async(self, raw_cell, **options):
        """Return False: `run_cell` runs what awaits, too."""
        return False

    def check_complete(self, code):
        """Say whether code is complete, incomplete or invalid, and how far its next line is indented."""
        codeop = import_quietly("codeop")
        try:
            done = codeop.compile_command(code, "<input>", "exec")
        except (SyntaxError, OverflowError, ValueError):
            return "invalid", ""
        if done is not None:
            return "complete", ""
        last = code.rstrip("\n").rpartition("\n")[2]
        return "incomplete", " " * (len(last) - len(last.lstrip()) + 4 * last.rstrip().endswith(":"))

    def user_expressions(self, expressions):
        """Return the value of each expression as Jupyter's messages have it."""
        values = {}
        for name, expression in expressions.items():
            try:
                data, metadata = self.display_formatter.format(self.ev(expression))
                values[name] = {"status": "ok", "data": data, "metadata": metadata}
            except Exception as error:
                values[name] = {
                    "status": "error",
                    "traceback": [],
                    "ename": type(error).__name__,
                    "evalue": str(error),
                }
        return values

    def ask_yes_no(self, prompt, default=None, interrupt=None):
        """Ask the person."""
        while True:
            answer = builtins.input(prompt + " ").strip().lower() or (default or "")
            if answer in ("y", "yes", "n", "no"):
                return answer.startswith("y")

    def mktempfile(self, data=None, prefix="ipython_edit_"):
        """Return the path of a new file with this text."""
        number, path = import_quietly("tempfile").mkstemp(suffix=".py", prefix=prefix)
        with os.fdopen(number, "w") as file:
            file.write(data or "")
        return path

    def showsyntaxerror(self, *args, **options):
        """Show the error that is being handled."""
        self.showtraceback()

    def showtraceback(self, *args, **options):
        """Show the error that is being handled."""
        error = sys.exc_info()[1]
        if error is not None:
            self._driver._print_error(error)

    @property
    def InteractiveTB(self):
        """What writes errors as text."""
        return import_quietly("python_shell_parts").TracebackFormatter()

    def enable_gui(self, gui=None):
        """Do nothing: windows run by themselves here."""

    def enable_matplotlib(self, gui=None):
        """Have figures shown in the conversation."""
        self._driver.shows.choose_backend()

    def _make_printer(self):
        """Return what lays the results of cells out, for `IPython.lib.pretty`."""
        return import_quietly("python_pretty").Printer(self.display_formatter.own_printer())

    def _capture_output(self, stdout=True, stderr=True, display=True):
        """Capture what a block puts out, for `IPython.utils.capture`."""
        return import_quietly("python_captured").capture(self._driver.shows, stdout, stderr, display)

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
            result=self._driver.history.outputs.get(self.execution_count),
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
