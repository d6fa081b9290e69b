"""Checks whether the model server of the profile answers."""

import socket
import ssl
import urllib.error
import urllib.request
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from oi_tui.doctor.finding import Diagnosis
from oi_tui.version import __version__

if TYPE_CHECKING:
    from oi_tui.engine.settings.profile import Profile

#: So long the server may take to answer, in seconds.
TIMEOUT = 2.0
_CHANGE = "change llm.api_base (f2 in oi-tui, or --api-base)"


def check_server(profile: "Profile") -> Diagnosis:
    """Ask the server at the profile's address without a key; any answer is a finding."""
    from oi_tui.engine.llm import endpoint

    if wrong := endpoint.check_provider_address(profile):
        return Diagnosis(False, wrong.sentence.partition(" Correct it")[0], f"Correct it, or {_CHANGE}.")
    if forbidden := endpoint.find_refusal(profile):
        return Diagnosis(False, forbidden.sentence, f"Change llm.model, llm.api_base or {forbidden.setting}.")
    parts = urlsplit(str(endpoint.find_base(profile)))
    # A name and password in it are the key, which is not sent.
    address = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl().rstrip("/")
    request = urllib.request.Request(f"{address}/models", headers={"User-Agent": f"oi-tui/{__version__}"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT):
            return Diagnosis(True, f"{address} answers")
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (502, 503, 504):
            words = f"{address} answers, but the server behind it does not (status {error.code})"
            return Diagnosis(False, words, f"Start the model server, or {_CHANGE}.")
        return Diagnosis(True, f"{address} answers")
    except (OSError, ValueError) as error:
        return _explain_silence(address, getattr(error, "reason", error))


def _explain_silence(address: str, reason: object) -> Diagnosis:
    """Explain why no server answers there, and what to do about it."""
    match reason:
        case TimeoutError():
            words, fix = (
                f"does not answer within {TIMEOUT:g} seconds",
                f"Check the server, or {_CHANGE}.",
            )
        case ConnectionRefusedError():
            words, fix = (
                "refuses the connection: no server is running there",
                (f"Start the server, or {_CHANGE}."),
            )
        case socket.gaierror():
            words, fix = (
                "is an unknown host name",
                f"Check the spelling and the network, or {_CHANGE}.",
            )
        case ssl.SSLError():
            words = f"has no valid certificate: {reason.reason or reason}"
            fix = f"Trust its certificate (SSL_CERT_FILE), or {_CHANGE}."
        case _:
            words, fix = f"cannot be reached: {reason}", f"Start the server, or {_CHANGE}."
    return Diagnosis(False, f"{address} {words}", fix)
