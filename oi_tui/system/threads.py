"""Threads for work that others need not wait for."""

import subprocess
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue


def start_threads(
    process: "subprocess.Popen[bytes]", works: Mapping[str, Callable[[], None]]
) -> list[threading.Thread]:
    """Start daemon threads that read from a process or write to it, by their names.

    Where the system refuses one, end the process, close its pipes, and raise RuntimeError.
    """
    threads = [threading.Thread(target=work, name=name, daemon=True) for name, work in works.items()]
    try:
        for thread in threads:
            thread.start()
    except RuntimeError:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                pipe.close()
        raise
    return threads


class SpareThread:
    """Starts threads, and has one ready for the end of the program.

    From Python 3.12 on, no thread begins once the program ends. What is ended then (a language of the user's
    own, a kernel) would be left, or could keep the program from ending. Call `end` when it is not needed any
    more.
    """

    def __init__(self, name: str) -> None:
        self._tasks: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        threading.Thread(target=_run_tasks, args=(self._tasks,), name=name, daemon=True).start()

    def start(self, work: Callable[[], object], name: str) -> threading.Event:
        """Do the work in a daemon thread of its own; at the end of the program, in the spare one.

        Returns what is set once it is done.
        """
        done = threading.Event()

        def do() -> None:
            try:
                work()
            finally:
                done.set()

        try:
            threading.Thread(target=do, name=name, daemon=True).start()
        except RuntimeError:
            if threading.main_thread().is_alive():
                raise
            self._tasks.put(do)
        return done

    def end(self) -> None:
        """End the spare thread once it has done what it was given."""
        self._tasks.put(None)


def _run_tasks(tasks: "SimpleQueue[Callable[[], object] | None]") -> None:
    while task := tasks.get():
        task()
