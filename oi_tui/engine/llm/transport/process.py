"""The program that talks to language models, in a process of its own: LiteLLM lives here and nowhere else.

It reads JSON lines from its standard input and writes JSON lines to its standard output:

    {"do": "reply", "id": 7, "request": {...}}     a request (the fields of `llm.Request`)
    {"do": "cancel", "id": 7}                      stop it; its connection is closed
    {"do": "facts", "id": 8, "model": "gpt-4o"}    what LiteLLM's own table says of a model
    {"do": "count", "id": 9, "model": ..., "texts": [...]}    how many tokens each of the texts is

    {"id": 7, "text": "Hel"}                       and `reasoning`, `call`, `usage`, `finish`, `gap`
    {"id": 7, "fault": {...}}                      the reply broke off
    {"id": 7, "end": true}                         always the last line of a reply
    {"id": 8, "facts": {...}}
    {"id": 9, "counts": [...]}

It ends when its standard input does. Both streams are taken away from everything else before LiteLLM is
imported, so that nothing a library prints reaches the protocol or the screen.
"""

import asyncio
import contextlib
import ctypes
import gc
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from oi_tui.engine.llm import errors, urls
from oi_tui.engine.llm.base import ErrorInfo
from oi_tui.engine.llm.error_table import Attempt
from oi_tui.engine.llm.transport import redirects
from oi_tui.engine.llm.transport.raw_stream import RawReply, pieces
from oi_tui.engine.models.model_names import COMPATIBLE, family, resolve, why_gone
from oi_tui.environment import close_to_others

#: LiteLLM reads these when it is imported: no prices from the network, no `.env` file of whatever folder.
QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
    "PYTHON_DOTENV_DISABLED": "1",
    "LITELLM_LOG": "CRITICAL",
    "REPEATED_STREAMING_CHUNK_LIMIT": "1000000",
    # It looks for secrets in the words of errors for eight seconds a megabyte; we take keys out ourselves.
    "LITELLM_DISABLE_REDACT_SECRETS": "true",
    # For models with "llama-3" in their names it would fetch a tokenizer from the network, in the event loop.
    "HF_HUB_OFFLINE": "1",
}
#: LiteLLM keeps every chunk of a stream; they are dropped after this many.
_KEPT_CHUNKS = 500
#: A server that does not accept a request for so long, in seconds, is mentioned.
_SLOW = 0.5
#: So long, in seconds, a piece of a reply may wait for those that came with it.
_MOMENT = 0.01
#: So many silences in a row may be filled by comments.
_COMMENTS = 10
#: Parameters that a request can do without, and words with which a server says that it does not know one.
_DISPENSABLE = ("stream_options", "temperature", "max_tokens")
_UNKNOWN = re.compile(
    r"unsupported|unknown|unrecognized|not supported|does not support|extra inputs", re.IGNORECASE
)
_PR_SET_DUMPABLE = 4
#: How far behind the application this process stands in the queue for a processor. More would let the import
#: of LiteLLM, and with it the first reply, take a quarter of a minute on a machine that has much to do.
_MODEST = 3
#: The variables that HTTP libraries read proxies from.
_PROXIES = tuple(
    name
    for lower in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ws_proxy", "wss_proxy")
    for name in (lower, lower.upper())
)


def _import_litellm() -> Any:
    """Import LiteLLM in little more than half of its usual time.

    It declares a thousand models of pydantic, of which a conversation uses a few: each is built when it is
    first used. What an import makes stays, so that a search for garbage would find nothing.
    """
    import pydantic

    pydantic.BaseModel.model_config["defer_build"] = True
    gc.disable()
    try:
        import litellm
    finally:
        gc.freeze()
        gc.enable()
    return litellm


class Provider:
    """LiteLLM, imported and made quiet."""

    def __init__(self) -> None:
        import logging
        import warnings

        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        litellm = _import_litellm()
        litellm.suppress_debug_info = True
        litellm.disable_streaming_logging = True
        litellm.disable_hf_tokenizer_download = True
        litellm.telemetry = False
        redirects.stay_on_server()
        self.litellm: Any = litellm
        self._demo: tuple[str, str] | None = None
        #: The variables of proxies, while none may be used.
        self._proxies: dict[str, str] | None = None

    def address(self, request: dict[str, Any]) -> tuple[str, str | None, str | None]:
        """The model's name as LiteLLM wants it, the base and the key of a request."""
        model, base, key = request["model"], request.get("api_base"), request.get("api_key")
        if model == "demo":
            return "openai/demo", *self._demo_server()
        model = model if base else resolve(model)
        prefix = model.partition("/")[0]
        known = "/" in model and prefix in self.litellm.provider_list
        if base and prefix.lower() in COMPATIBLE and "/" in model:
            model = f"openai/{model.partition('/')[2]}"
        elif base and not known:
            model = f"openai/{model}"
        elif model.startswith("ollama/"):
            # The chat interface takes tools and streams them; the other one only completes text.
            model = f"ollama_chat/{model.removeprefix('ollama/')}"
        if model.startswith("ollama"):
            # Without a price LiteLLM asks the server for one after every reply, and waits for it.
            free = {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0, "mode": "chat"}
            self.litellm.model_cost.setdefault(model, {**free, "litellm_provider": model.partition("/")[0]})
        if base and not key and model.startswith("openai/") and not os.environ.get("OPENAI_API_KEY"):
            # The client insists on a key, a server of one's own mostly does not.
            key = "none-needed"
        return model, base, key

    def misnamed(self, model: str) -> ErrorInfo | None:
        """Return why a name without a provider is wrong or ambiguous; else None."""
        model = resolve(model)
        if why_gone(model) or model.partition("/")[0].lower() in COMPATIBLE:
            return errors.no_provider(model)
        if "/" in model or model == "demo":
            return None
        try:
            found = self.litellm.get_llm_provider(model)[1]
        except Exception:  # noqa: BLE001  (an unknown name raises a BadRequestError, or worse)
            found = None
        maker = family(model)
        if found and (maker is None or found.startswith(maker)):
            return None
        return errors.no_provider(model)

    def _demo_server(self) -> tuple[str, str]:
        if self._demo is None:
            from oi_tui.demo.server import start

            running = start()
            self._demo = running.base, running.key
        return self._demo

    def facts(self, model: str) -> dict[str, Any]:
        """Look a model up in LiteLLM's table; unknown facts are None."""
        if model == "demo":
            return {"supports_functions": True}
        if model.startswith("ollama"):
            # LiteLLM would ask the Ollama server of its own choice, and wait for it.
            return {}
        try:
            info: Mapping[str, Any] = self.litellm.get_model_info(resolve(model))
        except Exception:  # noqa: BLE001  (an unknown model raises a bare Exception)
            return {}
        return {
            "context_window": info.get("max_input_tokens") or info.get("max_tokens"),
            "max_output": info.get("max_output_tokens"),
            "supports_functions": info.get("supports_function_calling"),
            "supports_vision": info.get("supports_vision"),
            "prompt_price": info.get("input_cost_per_token"),
            "completion_price": info.get("output_cost_per_token"),
        }

    def count(self, model: str, texts: list[str]) -> list[int]:
        """Count the tokens of each text; LiteLLM uses OpenAI's tokenizer for models whose own it lacks."""
        return [self.litellm.token_counter(model=model, text=text) if text else 0 for text in texts]

    def cost(self, model: str, usage: Any) -> float | None:
        """The cost of a request in USD; None for a model with unknown price."""
        if model == "openai/demo" or model.startswith("ollama"):
            return 0.0
        try:
            prompt, completion = self.litellm.cost_per_token(model=model, usage_object=usage)
        except Exception:  # noqa: BLE001  (likewise)
            return None
        return float(prompt + completion)

    async def stream(self, request: dict[str, Any], said: Callable[..., None]) -> None:
        """Send the request and say each piece of the reply; a fault is said, too."""
        attempt = Attempt(
            request["model"], request.get("api_base"), request.get("api_key"), request["timeout"],
            tools=bool(request.get("tools")),
        )  # fmt: skip
        if (base := request.get("api_base")) and (wanted := urls.wanted(base)):
            said(fault=asdict(errors.not_an_address(base, wanted)))
            return
        if not request.get("api_base") and (
            wrong := await asyncio.to_thread(self.misnamed, request["model"])
        ):
            said(fault=asdict(wrong))
            return
        begun = False
        finish: str | None = None
        raw: RawReply | None = None
        try:
            model, base, key = await asyncio.to_thread(self.address, request)
            attempt = Attempt(
                model, base, key, request["timeout"], tools=attempt.tools, missing=self._missing(model, base)
            )
            self._use_proxies(not request.get("direct"))
            arguments = {
                name: request[name]
                for name in ("messages", "api_version", "temperature", "max_tokens", "timeout")
                if request.get(name) is not None
            }
            if request.get("tools"):
                arguments["tools"] = request["tools"]
            if re.search(r"\bclaude|^anthropic/", model):
                # Others keep what they have seen by themselves; this one wants to be told what to keep.
                arguments["cache_control_injection_points"] = [
                    {"location": "message", "role": "system"},
                    {"location": "message", "index": -1},
                ]
            if model.startswith("ollama") and request.get("context_window"):
                arguments["num_ctx"] = request["context_window"]
            clock = asyncio.get_running_loop().time
            # Comments keep a stream alive while the model gets ready, but not for ever.
            limit = clock() + attempt.timeout * _COMMENTS
            async with asyncio.timeout(attempt.timeout) as silence:

                def alive() -> None:
                    silence.reschedule(min(clock() + attempt.timeout, limit))

                stream = await self._open(
                    said, model=model, api_base=base, api_key=key, stream=True, max_retries=0, num_retries=0,
                    stream_options={"include_usage": True}, **arguments,
                )  # fmt: skip
                raw = RawReply(stream, alive)
                count = 0
                async for chunk in stream:
                    limit = clock() + attempt.timeout * _COMMENTS
                    alive()
                    count += 1
                    if count % _KEPT_CHUNKS == 0 and hasattr(stream, "chunks"):
                        stream.chunks.clear()
                        stream.response_uptil_now = ""
                    if gaps := raw.take_gaps():
                        said(gap=gaps)
                    for part in raw.take_signed() if raw.in_chunks else _signed(chunk):
                        said(signed=part)
                    for kind, value in self._told(chunk, model):
                        if kind == "finish":
                            finish = value
                        elif kind in ("text", "reasoning"):
                            begun = begun or bool(value.strip())
                        elif kind == "call":
                            begun = True
                        said(**{kind: value})
        except asyncio.CancelledError:
            raise
        except TimeoutError:
            said(fault=asdict(errors.timed_out(replace(attempt, begun=begun))))
        except Exception as error:  # noqa: BLE001  (whatever a provider's code raises ends here, as a fault)
            said(fault=asdict(errors.explain(error, replace(attempt, begun=begun))))
        else:
            if raw is not None and (gaps := raw.take_gaps()):
                said(gap=gaps)
            for part in raw.take_signed() if raw is not None else ():
                said(signed=part)
            if raw is not None and raw.cut and begun:
                said(finish="missing")
            if begun or raw is None:
                return
            for kind, value in pieces(raw.whole() or {}):
                begun = begun or kind == "call" or (kind != "signed" and bool(value.strip()))
                said(**{kind: value})
            if not begun:
                instead = raw.error()
                fault = errors.told(*instead, attempt) if instead else None
                said(fault=asdict(fault or errors.empty(attempt, finish, raw.says())))

    def _use_proxies(self, wanted: bool) -> None:
        """Use the environment's proxies, or none; clients made for the other case are dropped."""
        if wanted == (self._proxies is None):
            return
        if wanted:
            for name in _PROXIES:
                os.environ.pop(name, None)
            os.environ.update(self._proxies or {})
            self._proxies = None
        else:
            self._proxies = {name: os.environ.pop(name) for name in _PROXIES if name in os.environ}
            os.environ.update(NO_PROXY="*", no_proxy="*")
        self.litellm.in_memory_llm_clients_cache.flush_cache()

    async def _open(self, said: Callable[..., None], **arguments: Any) -> Any:
        """Send the request; a server that does not accept it at once is mentioned, and when it does."""
        slow = False

        def mention() -> None:
            nonlocal slow
            slow = True
            said(accepted=False)

        timer = asyncio.get_running_loop().call_later(_SLOW, mention)
        try:
            return await self._send(**arguments)
        finally:
            timer.cancel()
            if slow:
                said(accepted=True)

    async def _send(self, **arguments: Any) -> Any:
        """Open the stream, without the parameters that LiteLLM knows this model does not take."""
        while True:
            try:
                return await self.litellm.acompletion(**arguments)
            except (self.litellm.UnsupportedParamsError, self.litellm.BadRequestError) as error:
                lines = str(error)[:4000]
                known = isinstance(error, self.litellm.UnsupportedParamsError) or _UNKNOWN.search(lines)
                unwanted = next((name for name in _DISPENSABLE if name in arguments and name in lines), None)
                if unwanted is None or not known:
                    raise
                value = arguments.pop(unwanted)
                if unwanted == "max_tokens" and "max_completion_tokens" in lines:
                    arguments["max_completion_tokens"] = value

    def _missing(self, model: str, base: str | None) -> tuple[str, ...]:
        """The variables with keys that this model needs and that are not set."""
        if base:
            return ()
        try:
            missing = self.litellm.validate_environment(model)["missing_keys"]
        except Exception:  # noqa: BLE001  (an unknown provider raises; the request will say so, too)
            return ()
        return tuple(name for name in missing if name.endswith(("_API_KEY", "_TOKEN")))

    def _told(self, chunk: Any, model: str) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        for choice in getattr(chunk, "choices", None) or ():
            if getattr(choice, "index", 0):
                continue
            found += pieces(getattr(choice, "delta", None))
            if reason := getattr(choice, "finish_reason", None):
                found.append(("finish", str(reason)))
        if usage := getattr(chunk, "usage", None):
            prompt = usage.prompt_tokens or 0
            completion = usage.completion_tokens or 0
            details = getattr(usage, "prompt_tokens_details", None)
            cached = getattr(details, "cached_tokens", None) or 0
            found.append(("usage", [prompt, completion, self.cost(model, usage), cached]))
        return found


def _signed(chunk: Any) -> list[tuple[str, Any]]:
    """Return what the provider wants back unchanged, each with the name of its field."""
    found: list[tuple[str, Any]] = []
    for choice in (getattr(chunk, "choices", None) or ())[:1]:
        delta = getattr(choice, "delta", None)
        if blocks := getattr(delta, "thinking_blocks", None):
            found.append(("thinking_blocks", [dict(block) for block in blocks]))
        given = (getattr(delta, "provider_specific_fields", None) or {}).get("thought_signatures")
        if given and not getattr(delta, "tool_calls", None):
            # Signatures of calls come in the ids of the calls.
            found.append(("thought_signatures", [{"signature": each} for each in given]))
    return found


class Service:
    """Serves one parent, whose requests arrive as lines."""

    def __init__(self, output: int) -> None:
        self._output = output
        #: Records that are to be written, and since when the first of them waits.
        self._unsaid: list[str] = []
        self._since = 0.0
        self._provider: Provider | None = None
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def run(self, lines: AsyncIterator[str], provider: Provider) -> None:
        """Serve until the lines end."""
        self._provider = provider
        async for line in lines:
            order = json.loads(line)
            number = order["id"]
            if order["do"] == "cancel":
                if task := self._tasks.get(number):
                    task.cancel()
            elif order["do"] == "facts":
                self._say(id=number, facts=provider.facts(order["model"]))
            elif order["do"] == "count":
                self._tasks[number] = asyncio.create_task(self._count(number, order, provider))
            else:
                self._tasks[number] = asyncio.create_task(self._reply(number, order["request"], provider))

    async def _reply(self, number: int, request: dict[str, Any], provider: Provider) -> None:
        try:
            await provider.stream(request, lambda **piece: self._say(id=number, **piece))
        except Exception as error:  # noqa: BLE001  (what we did wrong must not pass for a reply without words)
            self._say(id=number, fault=asdict(errors.our_own(error)))
        finally:
            del self._tasks[number]
            self._say(id=number, end=True)

    async def _count(self, number: int, order: dict[str, Any], provider: Provider) -> None:
        """Count beside what else goes on: the first time takes a while."""
        counts: list[int] | None = None
        # Whatever a tokenizer raises means that nobody can tell.
        with contextlib.suppress(Exception):
            counts = await asyncio.to_thread(provider.count, order["model"], order["texts"])
        del self._tasks[number]
        self._say(id=number, counts=counts)

    def _say(self, **record: Any) -> None:
        """Write the record once nothing more is at hand, or after a moment: each write wakes the parent."""
        now = time.monotonic()
        if not self._unsaid:
            self._since = now
            asyncio.get_running_loop().call_soon(self._write)
        self._unsaid.append(json.dumps(record))
        if now - self._since > _MOMENT:
            self._write()

    def _write(self) -> None:
        data = "".join(f"{line}\n" for line in self._unsaid).encode()
        self._unsaid.clear()
        while data:
            data = data[os.write(self._output, data) :]


def _settle_in() -> tuple[int, int]:
    """Take the protocol's two streams for ourselves; returns their descriptors."""
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.close(nothing)
    try:
        os.nice(_MODEST)
        # The environment holds keys; other processes of this user may not read it from /proc.
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    except (OSError, AttributeError):
        pass
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.update(QUIET)
    local = "127.0.0.1,localhost,::1"
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = f"{os.environ[name]},{local}" if os.environ.get(name) else local
    return source, target


def _watch_parent(parent: int) -> None:
    """End this process when the parent is gone although our input is still open somewhere."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(0)


def main() -> None:
    """Serve the parent process."""
    close_to_others()
    source, target = _settle_in()
    threading.Thread(target=_watch_parent, args=(os.getppid(),), daemon=True).start()
    early: list[str] = []
    arrived = threading.Condition()
    take: list[Callable[[str], None]] = [early.append]

    def read() -> None:
        # Reading from the start keeps the parent from waiting at a full pipe while LiteLLM is imported.
        with open(source, encoding="utf-8", errors="surrogatepass") as stream:  # noqa: PTH123
            for line in stream:
                with arrived:
                    take[0](line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    provider = Provider()

    async def serve() -> None:
        queue: asyncio.Queue[str] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        with arrived:
            for line in early:
                queue.put_nowait(line)

            def pass_on(line: str) -> None:
                loop.call_soon_threadsafe(queue.put_nowait, line)

            take[0] = pass_on

        async def lines() -> AsyncIterator[str]:
            while True:
                yield await queue.get()

        await Service(target).run(lines(), provider)

    try:
        asyncio.run(serve())
    except BrokenPipeError:
        sys.exit(0)


if __name__ == "__main__":
    main()
