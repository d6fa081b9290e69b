"""Has objects forget the processes of their parent in a process that was forked.

The threads that read from them are not there in the child, and what they know belongs to the parent.
"""

import os
import weakref
from collections.abc import Callable

_forgetting: "set[weakref.WeakMethod[Callable[[], None]]]" = set()


def call_in_forked_child(method: Callable[[], None]) -> None:
    """Call a method first in each child that this process forks, while the method's object lives.

    No lock can be waited for in it: another thread of the parent may have held it.
    """
    # The garbage collector may remove members at any moment, so each change is one call.
    _forgetting.add(weakref.WeakMethod(method, _forgetting.discard))


def _forget() -> None:
    for reference in tuple(_forgetting):
        if method := reference():
            method()


os.register_at_fork(after_in_child=_forget)
