"""The errors that a request to a model can have: how each is recognised and explained."""

import os
import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from oi_tui.engine.llm.hosts import is_this_machine
from oi_tui.engine.models.model_names import find_family

Kind = Literal[
    "no_key", "key", "model", "address", "refused", "network", "rate", "quota", "timeout", "server",
    "context", "tools", "request", "empty", "cut", "process", "unknown",
]  # fmt: skip
_USUAL = "http://127.0.0.1:11434"
#: How Python, and LiteLLM for it, say that a package is missing.
MISSING_MODULE = re.compile(
    r"No module named \\?['\"]?(?P<a>[\w.]+)|pip install ['\"`]?(?P<b>[\w.\[\]-]+)"
    r"|Missing (?P<c>boto3|google-cloud-aiplatform)"
)
#: Names of exceptions that mean trouble on the way, whatever status they claim.
CONNECTION = re.compile(
    r"\b(?:APIConnectionError|RequestError|ConnectError|Client\w*Error|TransportError|\w*ProtocolError|ReadError)\b"
)


#: Sent as the key where none is set: the client insists on one, though a server of one's own mostly does not.
NO_KEY = "none-needed"


@dataclass(frozen=True, slots=True)
class Attempt:
    """The request that went wrong: for which model, to which address, how long silence is allowed."""

    model: str
    api_base: str | None = None
    api_key: str | None = None
    timeout: float = 120.0
    tools: bool = False
    #: Variables with keys that LiteLLM looked for and did not find.
    missing: tuple[str, ...] = ()
    #: The address that the server sends the request on to, instead of answering it.
    led: str = ""
    #: True once something of the reply had arrived.
    begun: bool = False
    #: The network failed, rather than what was to be sent or read.
    on_the_way: bool = True

    @property
    def provider(self) -> str:
        """The first part of the model's name, as a person would call the provider."""
        prefix, slash, _ = self.model.partition("/")
        return prefix if slash else find_family(self.model) or "openai"

    @property
    def name(self) -> str:
        """The model's name as its provider knows it."""
        return self.model.partition("/")[2] or self.model

    @property
    def place(self) -> str:
        """The address of the server, else the provider's name."""
        usual = _USUAL if self.provider.startswith("ollama") else ""
        base = self.api_base or os.environ.get("OLLAMA_API_BASE") or usual if usual else self.api_base
        return urlsplit(base or "").netloc.rpartition("@")[2] or self.provider

    @property
    def is_here(self) -> bool:
        """Whether the server is one of this machine."""
        try:
            return is_this_machine(urlsplit(f"//{self.place}").hostname)
        except ValueError:
            return False

    @property
    def host(self) -> str:
        """The server's name for sentences."""
        return urlsplit(self.api_base or "").netloc.rpartition("@")[2] or self.provider


@dataclass(frozen=True, slots=True)
class ErrorPattern:
    """One error: how it is recognised and explained; of several that fit, the first counts.

    A `setting` of "base" is `api_base` if that is set, else `model`.
    """

    kind: Kind
    setting: str | None
    sentence: str
    message: str = ""
    statuses: Container[int | None] | None = None
    retryable: bool = False
    when: Callable[[Attempt], bool] = lambda _attempt: True


def _is_remote(attempt: Attempt) -> bool:
    return not attempt.api_base


_REFUSED = r"Connection refused|All connection attempts failed|Connect call failed"
#: Statuses with which servers answer when the request is at fault, rightly or wrongly.
_CLIENT = (None, 400, 404, 405, 413, 415, 422, 500, 501)
#: From the most specific to the most general; the last one fits everything.
TROUBLES = (
    # Found before anything was sent.
    ErrorPattern(
        "model",
        "model",
        "The provider of “{model}” is unknown. {advice}",
        r"LLM Provider NOT provided|LiteLLMUnknownProvider",
    ),
    ErrorPattern(
        "no_key",
        "api_key",
        "No API key for {provider}. Set api_key, or the environment variable {variable}.",
        r"api_key client option must be set|Missing \w* ?API Key"
        r"|api.?key (?:is )?(?:not set|required|missing)|No (?:api.?key|API_KEY)|Missing credentials"
        r"|Unable to locate credentials|default credentials were not found",
        when=lambda attempt: not attempt.api_key,
    ),
    ErrorPattern(
        "no_key",
        "api_key",
        "No API key for {provider}. Set api_key, or the environment variable {variable}.",
        statuses=(None, 401, 403),
        when=lambda attempt: bool(attempt.missing) and not attempt.api_key,
    ),
    ErrorPattern(
        "address",
        "api_base",
        "The server address is not valid. It should look like http://127.0.0.1:8080/v1; see api_base.",
        r"Unsupported(?:Protocol|URL)|Invalid ?URL|NonHttpUrl|missing an 'http|No host supplied"
        r"|Port out of range|Cannot combine AUTHORIZATION|label (?:is )?(?:empty|too long)|Invalid IPv6",
    ),
    ErrorPattern(
        "model",
        "model",
        "{model} needs the Python package {module}, which is not installed. Install it where oi-tui is "
        "installed: {install}",
        MISSING_MODULE.pattern,
    ),
    # On the way.
    ErrorPattern(
        "network",
        "base",
        "The proxy refused the request. Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.",
        r"ProxyError|ProxyConnection|\bproxy\b.*(?:error|refused|failed|required)",
        retryable=True,
    ),
    ErrorPattern(
        "timeout",
        "timeout",
        "{host} did not answer within {timeout:g} s. Slow models need a longer timeout.",
        r"ReadTimeout|ConnectTimeout|PoolTimeout|WriteTimeout|\bTimeout\b|TimeoutError|timed out",
        (None, 408),
        retryable=True,
    ),
    ErrorPattern(
        "network",
        None,
        "{host} cannot be reached: there seems to be no network. Check the connection.",
        _NO_NAME := r"Name or service not known|nodename nor servname|getaddrinfo|name resolution",
        retryable=True,
        when=_is_remote,
    ),
    ErrorPattern(
        "address",
        "api_base",
        "Host {host} not found, or no network. Check the connection, and api_base.",
        _NO_NAME,
    ),
    ErrorPattern(
        "refused",
        "api_base",
        "Ollama is not running at {place}. Start it with: ollama serve",
        _REFUSED,
        when=lambda attempt: attempt.provider.startswith("ollama") and attempt.is_here,
    ),
    ErrorPattern(
        "refused",
        "api_base",
        "No server answers at {place}. Start the model server, or correct api_base.",
        _REFUSED,
        when=lambda attempt: attempt.is_here,
    ),
    ErrorPattern(
        "refused",
        "api_base",
        "No server answers at {host}. Start the model server, or correct api_base.",
        _REFUSED,
        retryable=True,
    ),
    ErrorPattern(
        "network",
        "base",
        "{host} cannot be reached. Check the network.",
        r"Network is unreachable|No route to host|Host is down",
        retryable=True,
    ),
    ErrorPattern(
        "network",
        "api_base",
        "The certificate of {host} cannot be trusted. If it is your own, point SSL_CERT_FILE at its "
        "authority; otherwise check api_base.",
        r"CERTIFICATE_VERIFY_FAILED|certificate verify failed",
    ),
    ErrorPattern(
        "network",
        "api_base",
        "A secure connection to {host} failed. If the server speaks plain HTTP, api_base must begin "
        "with http:// instead of https://.",
        r"\[SSL|SSLError|ssl\.c:|TLSV1|WRONG_VERSION_NUMBER",
    ),
    ErrorPattern(
        "address",
        "base",
        "{host} redirects in a loop, or redirects to {led}. Check api_base.",
        when=lambda attempt: (
            bool(attempt.led) and urlsplit(attempt.api_base or "")[:2] == urlsplit(attempt.led)[:2]
        ),
    ),
    ErrorPattern(
        "address",
        "base",
        "{host} redirects to {led}, which oi-tui does not follow: your messages and your API key are for "
        "the server that you named. If {led} is the one you want, set api_base to it.",
        when=lambda attempt: bool(attempt.led),
    ),
    ErrorPattern(
        "empty",
        "base",
        "The answer of {host} could not be read. Check model, and api_base where it is set.",
        r"body decoded to no events",
        when=lambda attempt: not attempt.begun,
    ),
    ErrorPattern(
        "network",
        "base",
        "{host} does not answer like a model server: the answer is not valid HTTP. Check api_base.",
        r"status line|chunk size|Content-Length|Data after|header (?:token|value)|while decompressing"
        r"|Got more than|Too many headers|TransferEncodingError(?![^>]*not enough data)"
        r"|ContentEncodingError|LineTooLong",
        when=lambda attempt: not attempt.begun,
    ),
    ErrorPattern(
        "cut",
        "base",
        "The connection broke in the middle of the reply. What had arrived is kept.",
        _BROKEN := (
            r"incomplete chunked read|RemoteProtocolError|Server disconnected|Connection reset|ReadError"
            r"|peer closed connection|ClientPayloadError|ServerDisconnectedError|not enough data (?:for|to)"
        ),
        retryable=True,
        when=lambda attempt: attempt.begun,
    ),
    ErrorPattern(
        "network", "base", "{host} closed the connection without an answer.", _BROKEN, retryable=True
    ),
    # What the provider's own words say more clearly than its status.
    ErrorPattern(
        "server",
        None,
        "{host} is still loading the model.{wait}",
        r"loading model|model is (?:still |currently )?(?:being )?load(?:ing|ed)\b(?! with)"
        r"|currently loading",
        (None, *range(400, 600)),
        retryable=True,
    ),
    ErrorPattern(
        "cut",
        None,
        "The reply was interrupted: {detail}",
        r"unexpected response from Ollama",
        retryable=True,
        when=lambda attempt: attempt.begun,
    ),
    ErrorPattern(
        "model",
        "model",
        "{host} has no model loaded. Load one there, or choose another model.",
        r"no models? (?:is |are )?(?:currently )?loaded",
    ),
    ErrorPattern(
        "model",
        "model",
        "This model is too large for the machine that runs it: {detail}. Choose a smaller one.",
        r"requires more system memory|out of memory|insufficient memory|not enough memory|failed to allocate",
    ),
    ErrorPattern(
        "key",
        "model",
        "{host} is not available in your region: {detail}",
        r"(?:country|region|territory|location)\W+(?:\w+\W+){0,4}(?:not|un)\s?(?:supported|available)"
        r"|user location is not",
    ),
    ErrorPattern(
        "key",
        "api_key",
        "{host} does not accept the organisation that the key belongs to: {detail}",
        r"organi[sz]ation.{0,40}(?:verified|missing|not found|required|member)|member of an organi[sz]ation"
        r"|no such organi[sz]ation|mismatched_organization",
    ),
    ErrorPattern(
        "request",
        "model",
        "{host} refused the request because of its content: {detail}",
        r"content.?(?:policy|management policy|filter)|safety system|responsible ?ai|flagged as|moderation",
        (400, 403, 422),
    ),
    ErrorPattern(
        "request",
        "supports_vision",
        "{model} takes no images. With supports_vision off they are described by their paths.",
        r"image(?:_url|s| input)?\W+(?:\w+\W+){0,5}(?:not supported|only supported|unsupported)"
        r"|does(?: not|n't) support (?:image|vision)|unsupported.{0,20}image_url",
        _CLIENT,
    ),
    ErrorPattern(
        "context",
        "context_window",
        "The conversation is longer than this model takes. Set context_window to its limit, so that old "
        "messages are left out, or begin a new conversation.",
        r"context.?(?:length|window|size)|maximum (?:context|prompt|input) ?(?:length|tokens)?"
        r"|too many (?:input )?tokens|prompt is too long|input.{0,40}exceeds? the.{0,20}(?:limit|maximum)"
        r"|reduce the length|context limit|maximum model length|tokens\W+must (?:be <=|have less than)",
        _CLIENT,
    ),
    ErrorPattern(
        "context",
        "context_window",
        "The request has more tokens than your account at {host} may send in a minute. Lower "
        "context_window, so that old messages are left out: {detail}",
        r"request too large.{0,200}\blimit:? \d",
        (*_CLIENT, 429),
    ),
    ErrorPattern(
        "quota",
        "model",
        "The account at {host} has no credit or quota left. Top it up, or choose another model.",
        r"insufficient.?quota|exceeded your current quota|credit balance|billing|payment required"
        r"|insufficient (?:credits|balance|funds)",
    ),
    ErrorPattern(
        "tools",
        "supports_functions",
        "{model} does not support tool calls. With supports_functions off it writes its code as text.",
        r"does(?: not|n't) support (?:the )?(?:parameters?:? )?\W*"
        r"(?:tools?|functions?|tool.?(?:calling|use|choice))"
        r"|(?:tools?|functions?|function.?calling|tool.?use|tool.?choice)\W+(?:\w+\W+){0,4}"
        r"(?:not|n't|un)\s*(?:supported|available|enabled|allowed)"
        r"|unsupported (?:parameter|field|argument)s?\W+(?:\w+\W+){0,3}tools?\b"
        r"|no endpoints found that support tool use|enable-auto-tool-choice|requires? --jinja"
        r"|(?:unknown|unrecognized|unexpected|extra)\W+(?:\w+\W+){0,4}tools?\b"
        r"|\btools?\b\W+(?:\w+\W+){0,3}(?:unknown|unrecognized|unexpected|extra inputs|not permitted)",
        _CLIENT,
        when=lambda attempt: attempt.tools,
    ),
    ErrorPattern(
        "model",
        "model",
        "Ollama has no model “{name}”. Download it with: ollama pull {name}. Or choose another model.",
        _NO_MODEL := (
            r"model.{0,80}(?:not found|does(?: not|n't) exist|not a valid|is not available|unknown)"
            r"|(?:unknown|invalid|no such) model|not a valid model|model_not_found|try pulling it"
        ),
        _CLIENT,
        when=lambda attempt: attempt.provider.startswith("ollama"),
    ),
    ErrorPattern(
        "model", "model", "{host} has no model “{name}”. Check the spelling of model.", _NO_MODEL, _CLIENT
    ),
    # What the status says.
    ErrorPattern(
        "address",
        "base",
        "{host} answered with {detail} ({status}), not like a model server. A login or a proxy may be in "
        "between. Check api_base and the network.",
        r"<(?:!doctype html|html|head|body)\b",
        statuses=(401, 403, 407),
    ),
    ErrorPattern(
        "key",
        "api_key",
        "{host} wants an API key, and none is set. Set api_key.",
        statuses=(401,),
        when=lambda attempt: attempt.api_key == NO_KEY,
    ),
    ErrorPattern(
        "key",
        "api_key",
        "{host} did not accept the API key. Check api_key: is it complete, current, and for this host?",
        statuses=(401,),
    ),
    ErrorPattern(
        "quota",
        "model",
        "The account at {host} has no credit left. Top it up, or choose another model.",
        statuses=(402,),
    ),
    ErrorPattern(
        "key",
        "api_key",
        "{host} refused: this API key may not use {model}, or not from this network. Check api_key and "
        "model.",
        statuses=(403,),
    ),
    ErrorPattern(
        "model",
        "model",
        "{host} has no such model or path. Check model.",
        statuses=(404, 405),
        when=_is_remote,
    ),
    ErrorPattern(
        "address",
        "api_base",
        "{host} answers, but not at this path. Check api_base. It usually ends in /v1.",
        statuses=(404, 405),
        when=lambda attempt: not (attempt.api_base or "").rstrip("/").endswith("/v1"),
    ),
    ErrorPattern(
        "address", "api_base", "{host} answers, but not at this path. Check api_base.", statuses=(404, 405)
    ),
    ErrorPattern(
        "timeout",
        "model",
        "{host} gave up waiting for the model ({status}).",
        statuses=(408, 504, 524),
        retryable=True,
    ),
    ErrorPattern(
        "context",
        "context_window",
        "The request is larger than the server accepts. Lower context_window or max_output.",
        statuses=(413,),
    ),
    ErrorPattern(
        "server",
        None,
        "{host} cannot do this at the moment ({status}).",
        statuses=(409, 423, 425),
        retryable=True,
    ),
    ErrorPattern(
        "model", "model", "{host} no longer has this model ({status}). Choose another.", statuses=(410,)
    ),
    ErrorPattern(
        "key", "model", "{host} may not answer in your region for legal reasons ({status}).", statuses=(451,)
    ),
    ErrorPattern(
        "network", None, "This network requires a login first ({status}). Open any web page.", statuses=(511,)
    ),
    ErrorPattern(
        "address",
        "base",
        "{host} redirects elsewhere ({status}). Check api_base.",
        statuses=range(300, 400),
    ),
    ErrorPattern(
        "rate",
        "model",
        "{host} received too many requests with this API key (429).{wait}",
        statuses=(429,),
        retryable=True,
    ),
    ErrorPattern(
        "server", None, "{host} is overloaded or down ({status}).{wait}", statuses=(503, 529), retryable=True
    ),
    ErrorPattern(
        "server",
        None,
        "{host} had an internal error ({status}): {detail}",
        statuses=range(500, 600),
        retryable=True,
    ),
    ErrorPattern(
        "request", "model", "{host} did not accept the request ({status}): {detail}", statuses=range(400, 500)
    ),
    ErrorPattern(
        "server",
        None,
        "{host} sent an error: {detail}",
        r"\bAPIError: ",
        retryable=True,
        when=lambda attempt: not attempt.begun,
    ),
    ErrorPattern(
        "network",
        "base",
        "Could not connect to {host}: {reason}",
        CONNECTION.pattern,
        retryable=True,
        when=lambda attempt: not attempt.begun and attempt.on_the_way,
    ),
    ErrorPattern(
        "server",
        "base",
        "The answer of {host} could not be read ({broke}). It may not be a model server, or use another "
        "protocol.",
        CONNECTION.pattern,
        when=lambda attempt: not attempt.begun,
    ),
    ErrorPattern(
        "cut",
        None,
        "The reply was interrupted: {detail}",
        r"\b(?:APIError|_BodyError): ",
        retryable=True,
        when=lambda attempt: attempt.begun,
    ),
    ErrorPattern(
        "cut",
        None,
        "The reply was interrupted: the server sent something unexpected.",
        retryable=True,
        when=lambda attempt: attempt.begun,
    ),
    ErrorPattern("unknown", None, "The request failed: {detail}"),
)
