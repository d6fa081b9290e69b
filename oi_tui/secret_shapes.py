"""Patterns of keys and passwords."""

from __future__ import annotations

import re

_SECRET = (
    # https://name:password@host, and a token in place of the name
    r"://[^/\s@:]*:[^/\s@]+@|://[^/\s@:]{16,}@"
    # the connection strings of databases and of Azure
    r"|\b(?i:password|pwd|accountkey|sharedaccesskey|accesskey|secret)=[^\s;&]"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|hooks\.slack\.com/services/|discord(?:app)?\.com/api/webhooks/"
    # headers, and signed addresses
    r"|\b(?i:authorization)[\"']?\s*[:=]\s*[\"']?(?i:bearer|basic|token)\s+\S"
    r"|[?&](?i:api_?key|access_token|client_secret|sig|signature|x-amz-signature|x-goog-signature)=[^\s&]{6}"
    # keys that are known by how they begin, and signed tokens
    r"|^(?:sk-|[sr]k_live_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|hf_|npm_|pypi-|gsk_|xai-|AKIA|ASIA|AIza"
    r"|hvs\.|r8_|pplx-|dapi|dop_v1_|shp(?:at|ca|pa|ss)_|sbp_|ntn_|lin_api_|figd_|PMAK-|glsa_|dckr_pat_|tskey-"
    r"|ATATT3|pscale_tkn_|AGE-SECRET-KEY-1|SG\.[A-Za-z0-9_-]{16,}\.|\d{8,10}:AA)"
    r"[A-Za-z0-9_-]{12,}=*$"
    r"|^eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\."
)


def has_secret(text: str) -> bool:
    """Return whether the text has a password in an address or a setting, or a line that is a key."""
    return re.search(_SECRET, text, re.MULTILINE) is not None
