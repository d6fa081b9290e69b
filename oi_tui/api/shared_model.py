"""One process that talks to language models, for all interpreters of a program."""

import os
import threading
from collections.abc import Hashable

from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.system.forks import call_in_forked_child

_Variables = frozenset[tuple[str, str]]


class ModelPool:
    """Lends model processes; interpreters with the same environment variables share one.

    LiteLLM takes seconds to load. A variable that changes, such as a key set in `os.environ`, counts from the
    next lease on.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: dict[_Variables, ModelProcess] = {}
        self._leases: dict[Hashable, _Variables] = {}
        call_in_forked_child(self._free_lock)

    def lease(self, owner: Hashable) -> ModelProcess:
        """Return the process for the current environment; the owner's lease of another one ends."""
        variables = frozenset(os.environ.items())
        with self._lock:
            old_variables = self._leases.get(owner)
            self._leases[owner] = variables
            process = self._processes.get(variables)
            if process is None:
                process = self._processes[variables] = ModelProcess(dict(os.environ), keys=Secrets().key_for)
            unused = self._pop_unused(old_variables)
        if unused:
            unused.close()
        return process

    def release(self, owner: Hashable) -> None:
        """End the owner's lease. The last one to leave ends the process."""
        with self._lock:
            unused = self._pop_unused(self._leases.pop(owner, None))
        if unused:
            unused.close()

    def _free_lock(self) -> None:
        # The model processes know themselves that they are not theirs in a forked process.
        self._lock = threading.Lock()

    def _pop_unused(self, variables: _Variables | None) -> ModelProcess | None:
        if variables is None or variables in self._leases.values():
            return None
        return self._processes.pop(variables, None)


#: The processes of this program.
POOL = ModelPool()
