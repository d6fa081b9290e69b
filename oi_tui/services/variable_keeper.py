"""Keeps the variables of Python and R with the conversation when the person leaves it."""

import json
import shlex
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui.engine.storage.saved_variables import LANGUAGES, LEFT_OUT, SavedVariables

if TYPE_CHECKING:
    from oi_tui.services.languages import Languages

#: How many seconds a language has, and how many are waited for it in all.
_SECONDS, _TIMEOUT = 0.6, 0.9
#: How long an interrupted run has to end, and how often it is checked, in seconds.
_RUN, _LOOK = 0.3, 0.01
_MEGABYTE = 1_000_000

#: Keeps the small variables first. What was kept before stays, unless it was restored or kept by this R.
#: On a full disk R may write half of a file without an error, so it is read before the old one goes.
_R = """\
local({{
  path <- {path}; coming <- {coming}; room <- {size}
  if (file.exists(path) && !isTRUE(getOption("oi_tui.kept"))) stop("not restored")
  setTimeLimit(elapsed = {seconds}, transient = TRUE)
  sizes <- vapply(ls(globalenv()), function(name) as.numeric(object.size(get(name, globalenv()))), 0)
  sizes <- sort(sizes)
  fits <- cumsum(sizes) <= room
  if (!any(fits)) stop("nothing fits")
  on.exit(unlink(coming))
  save(list = names(sizes)[fits], file = coming, envir = globalenv(), compress = FALSE)
  if (file.size(coming) > 2 * room) stop("too large")
  load(coming, new.env())
  reasons <- sprintf('%s: "%.3g MB, for which there is no room"',
    vapply(names(sizes)[!fits], function(name) encodeString(name, quote = '"'), ""), sizes[!fits] / 1e6)
  writeLines(paste0('{{"left_out": {{', paste(reasons, collapse = ", "), "}}}}"), {left_out})
  file.rename(coming, path)
}})
"""


class VariableKeeper:
    """Has languages keep their variables, bounded in size and time."""

    def __init__(self, saved: SavedVariables, computer: "Languages") -> None:
        self._saved = saved
        self._computer = computer

    def save(self, id: str, megabytes: float) -> None:
        """Save what can be saved with the conversation `id`. Blocks for less than a second; never raises.

        In the sandbox nothing is kept, since what is restored runs code; nor on other machines.
        """
        if self._computer.sandbox or self._computer.where:
            return
        worker = threading.Thread(target=self._save, args=(id, megabytes), daemon=True)
        worker.start()
        worker.join(_TIMEOUT)
        if worker.is_alive():
            self._computer.interrupt()

    def _save(self, id: str, megabytes: float) -> None:
        size, computer = int(megabytes * _MEGABYTE), self._computer
        until = time.monotonic() + _RUN
        while computer.targets.is_running_on(computer.targets.home):
            if time.monotonic() > until:
                return
            time.sleep(_LOOK)
        for language in self._list_used():
            try:
                path = self._saved.make_path(id, language)
            except OSError:
                return
            for _ in computer.run(language, _write(language, path, size)):
                pass

    def _list_used(self) -> Iterator[str]:
        memories = {memory.language: memory for memory in self._computer.inspector.read_memories()}
        for language in LANGUAGES:
            if language in memories and memories[language].variables:
                yield language


def _write(language: str, path: Path, size: int) -> str:
    """Return the code that keeps the variables of a language."""
    if language == "python":
        return f"%snapshot leave {shlex.quote(str(path))} {size} {_SECONDS}"
    names = {
        "path": path,
        "coming": path.with_suffix(f"{path.suffix}.tmp"),
        "left_out": path.with_suffix(f"{path.suffix}{LEFT_OUT}"),
    }
    quoted = {key: json.dumps(str(value), ensure_ascii=False) for key, value in names.items()}
    return _R.format(size=size, seconds=_SECONDS, **quoted)
