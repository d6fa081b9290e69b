"""What programs that a model wrote must not see: the keys of providers."""

import os
import sys

#: Parts of the names of variables that hold a provider's keys.
_SECRET_WORDS = ("API_KEY", "API_TOKEN", "ACCESS_KEY", "SECRET", "AUTH_TOKEN", "BEARER_TOKEN")
#: From linux/prctl.h.
_PR_SET_DUMPABLE = 4


def secret_variables() -> tuple[str, ...]:
    """The names of the variables in our environment that look like a provider's keys."""
    return tuple(name for name in os.environ if any(word in name.upper() for word in _SECRET_WORDS))


def close_to_others() -> None:
    """Keep other processes of the same user from reading our memory and first environment.

    Taking a variable out of `os.environ` leaves it in /proc/PID/environ, where any child could read it. On
    Linux the kernel closes that file, and core dumps with it, to all but root for a process that says so.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
