"""The driver in the person's own Python: reads cells from one pipe and reports on another.

It runs on Python 3.8 and later and needs nothing but the standard library. The terminal (descriptors 0 to 2)
is the program's own. Requests come as lines `run NONCE PATH`, where the path ends
with the number of the cell; events go as JSON lines; an event that
has a place in the output carries a `mark`, which is written to the terminal at that place.
"""

# mypy: ignore-errors

from __future__ import annotations

import builtins

# The driver looks its builtins up here, so that a program may shadow or delete any of them.
__builtins__ = dict(vars(builtins))

import atexit
import faulthandler
import os
import sys
import types

# A program may put others in their place.
from os import _exit, getpid

import python_cells
import python_history
from python_channel import Channel
from python_quiet_import import import_quietly, remember_finders, restore_path
from python_sampler import Sampler
from python_signals import Signals
from python_streams import Streams


class Stopped(BaseException):
    """Raised in the program when it ignored KeyboardInterrupt."""


class Driver:
    """Runs cells in one module `__main__`, statement by statement."""

    def __init__(self, folder):
        self.folder = folder
        self.channel = Channel(folder)
        self.module = types.ModuleType("__main__")
        self.module.__dict__["__builtins__"] = builtins
        self.file_name = ""
        self.coroutine = None
        self.history = python_history.CellHistory()
        self.reloader = self.magics = self.shell = None
        #: The databases of `%sql` and of cells of SQL.
        self.databases = None
        self._sql_completer = None
        self._cells = 0
        #: The number of the running cell, as the application counts cells.
        self._number = 0
        self.futures = 0
        self._tasks = None
        self._resting = self._stopped_early = False
        #: What a child that the program forked ends with, where it fails.
        self._exit_status = 1
        self._pid = getpid()
        self._trace = self._profile = self._output = None
        self._recursion = sys.getrecursionlimit()
        self.streams = Streams(self.channel)
        self._saved = dict(vars(builtins))
        self.sampler = Sampler(self)
        sys.modules["__main__"] = self.module
        self.imports = import_quietly("python_imports").Imports()
        self.shows = import_quietly("python_shows").ValueDisplay(
            self.channel, self.streams.flush, self.imports, import_quietly
        )
        self.imports.makers["oi_tui"] = _find_application
        self._install()
        if os.environ.get("OI_TUI_COMPUTER_API"):
            self._saved["computer"] = import_quietly("python_computer").install(self)
        if os.environ.get("OI_TUI_TOOLS"):
            self._saved["tools"] = import_quietly("python_tools").install()
        self._saved.update(import_quietly("python_llm").install(import_quietly))

    def _install(self):
        builtins.input = self._read_input
        builtins.exit = builtins.quit = _Exit()
        builtins.display = self.shows.display
        builtins.get_ipython = self._get_ipython
        # What notebook code asks before it calls `get_ipython()`.
        builtins.__IPYTHON__ = True
        builtins._ = builtins.__ = builtins.___ = ""
        # By these, libraries know that a person is at work, as in a notebook.
        sys.ps1, sys.ps2 = "In : ", "...: "
        sys.displayhook = self._display_result
        self._shows_results = sys.displayhook
        self._saved.update(
            input=builtins.input,
            exit=builtins.exit,
            quit=builtins.quit,
            display=builtins.display,
            In=builtins.In,
            Out=builtins.Out,
            get_ipython=builtins.get_ipython,
        )
        self.streams.accept_all_text()
        self.imports.prepare("linecache", python_cells.fill)
        self.imports.prepare("asyncio", self._begin_tasks)
        self.imports.prepare("multiprocessing.spawn", self._prepare_spawn)
        self.imports.prepare("IPython.core.getipython", self._prepare_ipython)
        for name in ("pydoc", "bdb", "signal", "traceback", "inspect", "warnings", "threading"):
            self.imports.prepare(name, _adjust)
        faulthandler.enable(self.channel.terminal, all_threads=False)
        self._signals = Signals(self._interrupt_at_rest, self._stop, self._print_error)
        remember_finders()

    def _begin_tasks(self, _):
        self._tasks = import_quietly("python_tasks").Tasks()

    def _prepare_ipython(self, module):
        """Have `IPython.get_ipython()` return what `get_ipython()` returns; IPython takes it from here."""
        module.get_ipython = self._get_ipython

    def _prepare_spawn(self, spawn):
        import_quietly("python_spawn").prepare(spawn, self)

    def serve(self):
        """Serve requests until the application disconnects."""
        stop = int(self._signals.stop_number)
        self.channel.send("ready", pid=self._pid, stop=stop, interpreter=_locate_interpreter())
        while True:
            try:
                self._rest()
                request = self.channel.request()
                stopped, self._stopped_early = self._stopped_early, False
                if request is None:
                    break
                if request[0] == "run":
                    self._run(request[1], request[2], stopped, self._run_source)
                elif request[0] == "sql":
                    self._run(request[1], request[2], stopped, self._run_sql)
                elif request[0] == "variables":
                    total, variables = import_quietly("python_variables").describe(self.module.__dict__)
                    self.channel.send("variables", nonce=request[1], total=total, variables=variables)
                elif request[0] == "variable":
                    detail = import_quietly("python_variables").describe_variable(
                        self.module.__dict__, request[2]
                    )
                    self.channel.send("variable", nonce=request[1], **detail)
                elif request[0] == "table":
                    variables = import_quietly("python_tables").answer(
                        self.module.__dict__, request[2], self.channel.has_request
                    )
                    self.channel.send("table", nonce=request[1], **variables)
                elif request[0] == "complete":
                    variables = import_quietly("python_completion").answer(
                        self.module.__dict__, request[2], self._list_magics
                    )
                    self.channel.send("completions", nonce=request[1], **variables)
                elif request[0] == "complete_sql":
                    self._complete_sql(request[1], request[2])
            except (KeyboardInterrupt, Stopped):
                continue
            except OSError:
                # The channel itself is gone, and nothing can be reported any more.
                raise
            except BaseException as error:
                # Threads of the program's can raise what they like here.
                self._print_error(error)

    def _list_magics(self):
        """Return the names of magics for lines, and of those for cells."""
        return import_quietly("python_magics").get_magics(self).names()

    def _complete_sql(self, nonce, words):
        if self._sql_completer is None:
            self._sql_completer = import_quietly("python_sql_completion").SqlCompleter()
        answer = self._sql_completer.answer(self.databases, self.module.__dict__, words, self._number)
        self.channel.send("completions", nonce=nonce, **answer)

    def _rest(self):
        """Let the program's tasks go on until a request comes."""
        if self._tasks is None or self.channel.unread:
            return
        self._resting = True
        try:
            self._tasks.rest(self.channel.requests)
        except BaseException as error:
            self._print_error(error)
        finally:
            self._resting = False

    def _interrupt_at_rest(self, *_):
        """Ignore an interrupt when nothing runs, unless a task keeps a cell from starting."""
        if self._resting and self._is_asked():
            self._stopped_early = True
            raise KeyboardInterrupt

    def _is_asked(self):
        return import_quietly("python_tasks").has_something_to_read(self.channel.requests)

    # -- one cell

    def _run(self, nonce, path, stopped, execute):
        self.channel.nonce = nonce
        state, reason, self._exit_status = "failed", None, 1
        try:
            state, reason = self._run_file(path, stopped, execute)
        except (KeyboardInterrupt, Stopped):
            state, reason = "interrupted", None
        except BaseException as error:
            self._print_error(error)
            reason = _describe_error(error)
        if getpid() != self._pid:
            # A child that the program forked came to the end of the cell: it must not take requests.
            self.streams.flush()
            _exit(0 if state == "finished" else self._exit_status)
        try:
            self.channel.repair()
            self._signals.tidy(state == "finished")
            self.channel.line(0)
            self._repair_builtins()
            if "oi_tui.computer" in sys.modules:
                import_quietly("python_computer").cell_ended(state == "finished")
            for step in (self.shows.finish, self.streams.flush):
                try:
                    step()
                except (Exception, KeyboardInterrupt, Stopped) as error:
                    self._print_error(error)
                    if state == "finished":
                        # A figure that cannot be drawn is a mistake of the cell that made it.
                        state, reason = "failed", _describe_error(error)
            self._print_where_output_goes()
        finally:
            names = _get_newest(self.module.__dict__)
            self.channel.send(
                "finished",
                placed=True,
                nonce=nonce,
                state=state,
                reason=reason,
                names=names,
                database=self.databases.words if self.databases is not None else "",
            )

    @property
    def number(self):
        """The number of the cell that runs, as the conversation counts them."""
        return self._number

    @property
    def cells(self):
        """How many cells have begun."""
        return self._cells

    def _print_where_output_goes(self):
        if self.streams.prints_on_terminal():
            self._output = None
            return
        if self._output is None:
            self._output = import_quietly("python_output").OutputMonitor(self.channel.terminal)
        self.streams.print_plainly(self._output.describe(self._number))

    def _run_file(self, path, stopped, execute):
        try:
            self._number = int(path.rpartition("-")[2])
            with open(path, "rb") as file:
                source = file.read().decode("utf-8", "surrogatepass")
            self._repair()
            self._signals.hand_over()
            self.sampler.begin()
            return ("interrupted", None) if stopped else execute(source)
        finally:
            self.sampler.end()
            self._signals.take_back()

    def _run_source(self, source):
        try:
            self._execute(source)
        except SystemExit as error:
            return self._exit_outcome(error.code)
        except (KeyboardInterrupt, Stopped) as error:
            if self._tasks is not None:
                self._tasks.cancel()
            with import_quietly("warnings").catch_warnings():
                # Coroutines that the interrupt kept from beginning are no mistake of the program's.
                import_quietly("warnings").simplefilter("ignore", RuntimeWarning)
                self._print_error(KeyboardInterrupt() if isinstance(error, Stopped) else error)
            return "interrupted", "KeyboardInterrupt"
        except BaseException as error:
            self._print_error(error)
            if self.magics is not None and self.magics.debugs_errors:
                self._debug(error)
            return "failed", _describe_error(error)
        return "finished", None

    def _debug(self, error):
        """Let the person look at the place of an error, as they wanted with %pdb."""
        if error.__traceback__ is None or isinstance(error, SyntaxError):
            return
        try:
            import_quietly("pdb").post_mortem(error.__traceback__)
        except (Exception, KeyboardInterrupt, Stopped) as trouble:
            self._print_error(trouble)

    def _run_sql(self, source):
        return import_quietly("python_sql_cells").run(self, source)

    def _exit_outcome(self, code):
        if code is None or code == 0:
            return "finished", None
        if isinstance(code, int):
            self._exit_status = code & 255
            return "failed", "exit status {}".format(code)
        print(code, file=sys.stderr)
        return "failed", "exit status 1"

    def _get_ipython(self):
        if self.shell is None:
            self.shell = import_quietly("python_shell").InteractiveShell(self)
        return self.shell

    def _execute(self, source):
        if self.shell is not None:
            self.shell.before(source)
        try:
            self._execute_cell(source)
        finally:
            # The cell itself may have asked for it.
            if self.shell is not None:
                self.shell.after(source, sys.exc_info()[1])

    def _execute_cell(self, source):
        if self.reloader is not None:
            self.reloader.reload_changed()
        self._cells += 1
        self.file_name, run = python_cells.name_of(self._number, source)
        name = self.file_name
        self.channel.cell(self._number, run)
        tree, source = self._parse(source, name)
        python_cells.remember(name, source)
        try:
            steps, futures = python_cells.compile_cell(
                tree, source, name, self.futures, self._get_interactivity()
            )
        except SyntaxError as error:
            lines = source.splitlines()
            if not error.text and error.lineno and error.lineno <= len(lines):
                error.text = lines[error.lineno - 1] + "\n"
            raise
        self.futures = futures
        python_cells.ran.append((name, source))
        self.history.begin(self._number, source)
        try:
            self._watch_again()
            for line, code, is_shown in steps:
                if self.sampler.active_line:
                    self.channel.line(line)
                value = self._evaluate(code)
                if is_shown:
                    sys.displayhook(value)
        finally:
            self._trace, self._profile = sys.gettrace(), sys.getprofile()
            sys.settrace(None)
            sys.setprofile(None)
            self._restore_settings()

    def _watch_again(self):
        """Let what traces or profiles the program go on where it was at the end of the last cell."""
        if isinstance(self._profile, getattr(sys.modules.get("_lsprof"), "Profiler", ())):
            self._profile.enable()
        elif self._profile is not None:
            sys.setprofile(self._profile)
        if self._trace is not None:
            sys.settrace(self._trace)

    def _get_interactivity(self):
        """Return which values a cell shows, where code set `ast_node_interactivity` as in notebooks."""
        if self.shell is None and "IPython.core.interactiveshell" not in sys.modules:
            return "last_expr"
        return self._get_ipython().ast_node_interactivity

    def _restore_settings(self):
        """Restore, after the program's own code, the settings that the driver's code needs."""
        if sys.getrecursionlimit() < _LEAST_RECURSION:
            sys.setrecursionlimit(self._recursion)
        if isinstance(getattr(self._trace, "__self__", None), getattr(sys.modules.get("bdb"), "Bdb", ())):
            # A debugger that stepped to the end of the cell has nothing more to look at.
            self._trace = None

    def run_part(self, source):
        """Run code within a cell, its lines being those of the cell; the value of its last expression."""
        name, last = self.file_name, None
        tree, source = self._parse(source, name, remember=False)
        for line, code, is_shown in python_cells.compile_cell(tree, source, name, self.futures)[0]:
            if self.sampler.active_line:
                self.channel.line(line)
            value = self._evaluate(code)
            last = value if is_shown else None
        return last

    def get_tree(self, name, source):
        """Return the syntax tree of a cell that ran before."""
        return self._parse(source, name)[0]

    def _parse(self, source, name, remember=True):
        if python_cells.is_command(source, self.module.__dict__):
            return self._parse("%" + source.lstrip(), name, remember)[0], source
        try:
            if source.lstrip().startswith("In ["):
                # With its prompt, as copied from a notebook, an assignment could be read as an annotation.
                source = import_quietly("python_magics").remove_prompts(source)
            return python_cells.parse(source, name, self.futures), source
        except SyntaxError as error:
            if remember:
                python_cells.remember(name, source)

            def parse(text):
                return python_cells.parse(text, name, self.futures)

            return import_quietly("python_magics").parse(source, parse, error, self)

    def _evaluate(self, code):
        names = self.module.__dict__
        if not code.co_flags & python_cells.COROUTINE:
            value = eval(code, names)
            return names.pop(python_cells.VALUE, value)
        import_quietly("asyncio")
        coroutine = self.coroutine = eval(code, names)
        try:
            return self._tasks.run(coroutine)
        finally:
            self.coroutine = None

    # -- what the person sees

    def _display_result(self, value):
        if value is None:
            return
        earlier = [getattr(builtins, name, "") for name in ("_", "__")]
        self.shows.result(value, "result")
        builtins._, builtins.__, builtins.___ = value, *earlier
        self.history.remember(self._number, value)

    def _print_error(self, error):
        self.streams.flush()
        try:
            show = import_quietly("python_trouble").show
        except Exception:
            self.streams.print_plainly(_describe_error(error) + "\n")
        else:
            show(error, self.streams.print_plainly)

    def _repair(self):
        """Undo what would make any further cell impossible: closed streams, deleted builtins."""
        self.streams.repair()
        self._repair_builtins()
        for name, original in (("displayhook", self._shows_results), ("excepthook", sys.__excepthook__)):
            if not hasattr(sys, name):
                setattr(sys, name, original)
        if not isinstance(getattr(sys, "path", None), list):
            restore_path()
        sys.modules["__main__"] = self.module
        if self._tasks is not None:
            self._tasks.begin()

    def _repair_builtins(self):
        self.module.__dict__["__builtins__"] = builtins
        for name in self._saved.keys() - vars(builtins).keys():
            setattr(builtins, name, self._saved[name])

    def _read_input(self, prompt="", /):
        if sys.stdin is not self.streams.stdin or getpid() != self._pid:
            return self._saved_input(prompt)
        text = str(prompt)
        sys.stdout.write(text)
        self.streams.flush()
        self.channel.send("input", placed=True, prompt=text)
        try:
            line = sys.stdin.readline()
        finally:
            self.channel.send("input_end", placed=True)
        if not line:
            raise EOFError("EOF when reading a line")
        return line[:-1] if line.endswith("\n") else line

    _saved_input = staticmethod(builtins.input)

    def _stop(self, *_):
        if self.sampler.busy:
            raise Stopped
        self._interrupt_at_rest()


def _find_application(name):
    return import_quietly("python_computer").find(name)


def _adjust(module):
    import_quietly("python_adjusted").adjust(module)


class _Exit:
    """`exit` and `quit`: they end the cell, and leave the streams alone."""

    def __call__(self, code=None):
        raise SystemExit(code)

    def __repr__(self):
        return "Use exit() to end the cell"


#: With a lower limit not even the driver could run.
_LEAST_RECURSION = 200


def _locate_interpreter():
    """Return where the application finds the main thread's frames in our memory; nothing where it cannot."""
    # What is built to run without the lock has other structures, even with the lock switched on.
    locked = "t" not in getattr(sys, "abiflags", "")
    if sys.implementation.name != "cpython" or sys.maxsize < 2**62 or not locked:
        return {}
    try:
        # What ctypes is made of: to import that itself takes long.
        import _ctypes

        result = type("Address", (_ctypes._SimpleCData,), {"_type_": "P"})
        flags = {"_flags_": _ctypes.FUNCFLAG_PYTHONAPI, "_restype_": result}
        function = type("Function", (_ctypes.CFuncPtr,), flags)
        thread = function(_ctypes.dlsym(_ctypes.dlopen(None, 0), "PyThreadState_Get"))()
    except Exception:
        return {}
    code = types.CodeType.__basicsize__
    return {"version": list(sys.version_info[:2]), "thread": getattr(thread, "value", thread), "code": code}


def _get_newest(names):
    """Return a few of the variables, the newest first, without looking at the others."""
    newest_names = []
    try:
        for name in reversed(names):
            if type(name) is str and name[:1] != "_" and type(names[name]) is not types.ModuleType:
                newest_names.append(name)
                if len(newest_names) == 5:
                    break
    except (KeyError, RuntimeError):
        # A thread of the program's own defines something just now.
        pass
    return newest_names


def _describe_error(error):
    try:
        return import_quietly("python_trouble").describe_error(error)
    except Exception:
        return BaseException.__repr__(error)[:300]


def main(folder):
    """Serve the application that made `folder`, then leave without waiting for the program's threads."""
    sys.argv[:] = [""]
    driver = Driver(folder)
    driver.serve()
    try:
        atexit._run_exitfuncs()
    finally:
        driver.streams.flush()
        _exit(0)
