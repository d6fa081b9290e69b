"""Removes keys from text before it is shown, logged or exported."""

import base64
import functools
import html
import json
import logging
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, quote_plus, urlsplit

from oi_tui.system.environment import list_secret_values

#: The text that replaces a key.
MARK = "[key]"
#: Shorter values are no keys; taking them out would only damage the text.
_SHORTEST = 8
#: `_PIECE` characters in a row of a secret with at least `_LONG` are removed from errors and logs.
_PIECE, _LONG = 8, 16
#: What looks like a secret; each way of writing one has a group for the secret itself. It is compiled when it
#: is first used, as a start seldom needs it.
_SHAPES = (
    r"\b((?:sk|pk|rk|gsk|xai|hf|r8|nvapi|AIza|ghp|glpat|pplx|tgp|fw|csk)[-_]?[A-Za-z0-9*_-]{8,})"
    r"|Bearer (\S+)"
    # https://name:password@host
    r"|://([^/\s@\"'<>]+)@"
    # ?key=..., &access_token=...
    r"|(?i:[?&](?:[a-z-]*[-_])?(?:key|token|secret|password|sig|signature)=)([^&\s\"'<>#]+)"
    # X-Api-Key: ..., Authorization: Basic ...
    r"|(?i:\b(?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?(?:(?:basic|bearer|token|digest)\s+)?)([^\s\"',}]+)"
    r"|(?i:\b(?:x-[a-z-]*key|api-key|x-[a-z-]*token)[\"']?\s*[:=]\s*[\"']?)([^\s\"',}]+)"
    # "api_key": "..."
    r"|(?i:\bapi_?key[\"']?\s*[:=]\s*[\"'])([^\"']+)"
)
_learned: set[str] = set()
_lock = threading.Lock()


def learn(secret: str | None) -> None:
    """Remove this secret from now on, wherever `redact` and `remove_secrets` are used."""
    if secret and len(secret) >= _SHORTEST:
        with _lock:
            _learned.add(secret)


def learn_address(address: str | None) -> tuple[str, ...]:
    """Learn what in the address of a server is secret: a password, or a key in its query. Returns that."""
    try:
        parts = urlsplit(address or "")
        own = parts.password or (parts.username if "@" in parts.netloc else None)
    except ValueError:
        return ()
    shapes = re.finditer(_SHAPES, f"?{parts.query}") if parts.query else ()
    keys = [match[match.lastindex or 0] for match in shapes]
    secrets = (*((own,) if own else ()), *keys)
    for secret in secrets:
        learn(secret)
    return secrets


def remove_secrets(text: str, environment: Mapping[str, str] | None = None) -> str:
    """Return the text without the secrets that are known: those learned, and those of the environment."""
    return _cut(text, _find_secrets(text, _list_secrets(environment)))


def list_known_secrets(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the keys and passwords that are known: those learned, and those of the environment."""
    with _lock:
        learned = tuple(_learned)
    # A variable may hold the path of a file with a key, and paths are everywhere.
    values = (value for value in list_secret_values(environment) if not value.startswith(("/", "~")))
    return learned + tuple(value for value in values if len(value) >= _SHORTEST)


def take_out(text: str, secrets: Iterable[str]) -> str:
    """Return the text without these secrets, however they are written."""
    return _cut(text, _find_secrets(text, secrets))


def redact(text: str, *keys: str | None, environment: Mapping[str, str] | None = None) -> str:
    """Remove the given keys, the known ones, and everything else that looks like a key.

    For words about what happened (errors, logs, reports); what a person made is only ever given to
    `remove_secrets`, which leaves alone what merely looks like a key.
    """
    secrets = [*_list_secrets(environment), *(key for key in keys if key and len(key) > 3)]
    shapes = (match.span(match.lastindex or 0) for match in re.finditer(_SHAPES, text))
    return _cut(text, [*_find_secrets(text, secrets), *_find_pieces(text, secrets), *shapes])


def _list_secrets(environment: Mapping[str, str] | None) -> list[str]:
    with _lock:
        learned = list(_learned)
    return learned + [value for value in list_secret_values(environment) if len(value) >= _SHORTEST]


def _find_secrets(text: str, secrets: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Find the secrets, as they are and as they are encoded elsewhere."""
    for form in {form for secret in secrets for form in _list_forms(secret)}:
        yield from _find_places(text, form)


def _find_pieces(text: str, secrets: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Find parts of secrets: an error about a wrong key often shows its beginning and end."""
    for secret in secrets:
        # A variable with `key` in its name may hold the path of a file, whose parts occur everywhere.
        if len(secret) >= _LONG and not secret.startswith(("/", "~", "http")) and " " not in secret:
            for start in range(len(secret) - _PIECE + 1):
                yield from _find_places(text, secret[start : start + _PIECE])


def _find_places(text: str, sought: str) -> Iterator[tuple[int, int]]:
    start = text.find(sought)
    while start >= 0:
        yield start, start + len(sought)
        start = text.find(sought, start + 1)


@functools.lru_cache(maxsize=64)
def _list_forms(secret: str) -> frozenset[str]:
    """Return the secret in plain text, and as JSON, HTML, URLs, hexadecimal digits and Base64 write it."""
    within_tags = html.escape(secret, quote=False)
    raw = secret.encode("utf-8", "surrogatepass")
    forms = {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        html.escape(secret),
        within_tags,
        within_tags.replace('"', "&quot;"),
        quote(raw, safe=""),
        quote_plus(raw),
    }
    if len(secret) >= _SHORTEST:
        forms |= {raw.hex(), raw.hex().upper()}
        # Within a longer text (name:password) it may begin at any of three places; what it shares a
        # character with is left out.
        for before in range(3):
            whole = base64.b64encode(b"\0" * before + raw).decode("ascii")
            shared = 1 + (-(before + len(raw))) % 3 if (before + len(raw)) % 3 else 0
            part = whole[(0, 2, 3)[before] : len(whole) - shared]
            forms |= {part, part.translate(_FOR_ADDRESSES)}
    return frozenset(forms)


_FOR_ADDRESSES = str.maketrans("+/", "-_")


def _cut(text: str, places: Iterable[tuple[int, int]]) -> str:
    """Return the text with a mark for each place.

    Places that overlap are one, so that no end of a key is left.
    """
    parts = []
    done = 0
    for start, end in sorted(places):
        if start >= done:
            parts += [text[done:start], MARK]
        done = max(done, end)
    return "".join([*parts, text[done:]])


class RedactingFormatter(logging.Formatter):
    """Writes log records, tracebacks included, without keys."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's text."""
        return redact(super().format(record))
