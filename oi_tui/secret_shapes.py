"""Patterns of keys and passwords."""

from __future__ import annotations

import re

_SECRET = (
    # https://name:password@host, and a token in place of the name
    r"://[^/\s@:]*:[^/\s@]+@|://[^/\s@:]{16,}@"
    # the connection strings of databases and of Azure
    r"|\b(?i:password|pwd|accountkey|sharedaccesskey|accesskey|secret)=[^\s;&]"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|hooks\.slack\.com/services/"
    # keys that are known by how they begin, and signed tokens
    r"|^(?:sk-|[sr]k_live_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|hf_|npm_|pypi-|gsk_|xai-|AKIA|ASIA|AIza)"
    r"[A-Za-z0-9_-]{12,}$"
    r"|^eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\."
)


def has_secret(text: str) -> bool:
    """Whether the text has a password in an address or a setting, or a line that is a key."""
    return re.search(_SECRET, text, re.MULTILINE) is not None
