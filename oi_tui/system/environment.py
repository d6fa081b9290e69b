"""The environment variables that code gets, without keys and passwords."""

import functools
import os
import re
import sys
from collections.abc import Iterable, Mapping

from oi_tui.secret_shapes import has_secret

#: Words in the names of variables that hold a key or a password.
_WORDS = frozenset(
    {
        *("KEY", "KEYS", "APIKEY", "TOKEN", "TOKENS", "SECRET", "SECRETS", "CREDENTIAL", "CREDENTIALS"),
        *("CRED", "CREDS", "AUTH", "OAUTH", "OAUTH2", "BEARER", "JWT", "PAT", "DSN", "SAS", "COOKIE"),
        *("MNEMONIC", "TOTP", "OTP", "HMAC", "SALT"),
        *("WEBHOOK", "PASS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "PWD"),
    }
)
#: The same, written in one with another word: PGPASSWORD, WATSONX_ZENAPIKEY, NPM_AUTHTOKEN.
_ENDINGS = (
    *("APIKEY", "ACCESSKEY", "SECRETKEY", "PRIVATEKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD"),
    *("PASSPHRASE", "CREDENTIALS", "SSHPASS"),
)
#: Words of these may well be a short number.
_PASSWORDS = ("PASS", "PWD", "PASSWORD", "PASSWD", "PASSPHRASE")
#: These lead to a program or a folder that a person's usual tools need, and hold no secret themselves. The
#: agent behind SSH_AUTH_SOCK signs, but never gives a key away; the sandbox hides it all the same.
_HARMLESS = frozenset({"SSH_AUTH_SOCK", "PASSWORD_STORE_DIR"})
_WORD_ENDS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])")
#: A switch or a quantity, as in MAX_TOKENS=4096 and DISABLE_AUTH=true.
_NO_SECRET = re.compile(r"\d{0,6}|true|false|yes|no|on|off|none|null", re.IGNORECASE)
_PASSWORD_IN_URL = re.compile(r"://(?:[^/\s@:]*:([^/\s@]+)|([^/\s@:]{16,}))@")
#: From linux/prctl.h.
_PR_SET_DUMPABLE = 4


def list_secret_variables(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the names of the variables that look like a key or a password, by name or by value."""
    variables = os.environ if environment is None else environment
    return tuple(name for name, value in variables.items() if is_secret(name, value))


def list_withheld(
    passed: Iterable[str] = (), environment: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the names of the variables that run code does not get.

    `passed` are the exceptions that a person made: names, or beginnings of names as `AWS_*`.
    """
    exceptions = tuple(passed)
    return tuple(name for name in list_secret_variables(environment) if not _is_named(name, exceptions))


def select_public_variables(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables without those that look like a key or a password."""
    variables = os.environ if environment is None else environment
    return {name: value for name, value in variables.items() if not is_secret(name, value)}


def list_secret_values(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return what must not be shown of the environment: whole values, and the passwords in addresses."""
    variables = os.environ if environment is None else environment
    values = [variables[name] for name in list_secret_variables(variables)]
    passwords = (match[1] or match[2] for value in values for match in _PASSWORD_IN_URL.finditer(value))
    return (*values, *passwords)


@functools.lru_cache(maxsize=1024)
def is_secret(name: str, value: str) -> bool:
    """Return whether a variable looks like a key or a password."""
    if name in _HARMLESS or not value:
        return False
    if has_secret(value):
        return True
    words = [word.upper() for word in _WORD_ENDS.split(name) if word]
    secret_words = [word for word in words if word in _WORDS or word.endswith(_ENDINGS)]
    if secret_words and all(word == "PWD" for word in secret_words):
        # PWD and OLDPWD are folders, MYSQL_PWD is a password.
        return not value.startswith(("/", "~"))
    return any(word.endswith(_PASSWORDS) or not _NO_SECRET.fullmatch(value) for word in secret_words)


def _is_named(name: str, patterns: Iterable[str]) -> bool:
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
        for pattern in patterns
        if pattern
    )


def can_be_closed() -> bool:
    """Return whether this system lets a process hide the environment that it was started with."""
    return sys.platform == "linux"


def close_to_others() -> None:
    """Keep other processes of the same user from reading our memory and first environment.

    Taking a variable out of `os.environ` leaves it in /proc/PID/environ, where any child could read it. On
    Linux the kernel closes that file, and core dumps with it, to all but root for a process that asks for it.
    Root reads on, so the secrets are overwritten there too.
    """
    if can_be_closed():
        import ctypes

        wipe_environment()
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def wipe_environment() -> None:
    """Overwrite the secrets in the block of memory that the kernel shows as /proc/PID/environ.

    The variables themselves stay as they are, also for libraries that are not Python's.
    """
    if not can_be_closed():
        return
    import ctypes

    start, end = _find_first_environment()
    # The last byte ends the last variable.
    block = ctypes.string_at(start, end - start) if 0 < start < end else b""
    place = start
    for entry in block.split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if equals and is_secret(os.fsdecode(name), os.fsdecode(value)):
            current = os.environ.get(os.fsdecode(name))
            if current is not None:
                # The C library then has a copy of its own, elsewhere.
                os.putenv(name, os.fsencode(current))
            else:
                os.unsetenv(name)
            ctypes.memset(place + len(name) + 1, ord("*"), len(value))
        place += len(entry) + 1


def _find_first_environment() -> tuple[int, int]:
    """Find the process's initial environment in memory; zeros where unknown."""
    try:
        with open("/proc/self/stat", "rb") as file:  # noqa: PTH123 -- pathlib is not needed this early
            fields = file.read().rpartition(b")")[2].split()
        return int(fields[47]), int(fields[48])  # env_start and env_end of proc(5)
    except (OSError, ValueError, IndexError):
        return 0, 0
