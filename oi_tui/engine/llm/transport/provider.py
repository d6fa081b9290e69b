"""Imports LiteLLM without its messages: what it knows of models, and how to address them.

LiteLLM is imported here and nowhere else, in a process of its own.
"""

import asyncio
import gc
import os
import sys
from collections.abc import Mapping
from typing import Any

from oi_tui.engine.llm import errors
from oi_tui.engine.llm.base import ErrorInfo
from oi_tui.engine.llm.error_table import NO_KEY
from oi_tui.engine.llm.transport import (
    broken_bodies,
    gzip_members,
    header_text,
    lazy_exports,
    line_ends,
    redirects,
)
from oi_tui.engine.models.model_names import COMPATIBLE, explain_gone, find_family, resolve

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
#: Providers that are a server of one's own, so that their requests cost nothing.
_FREE = ("ollama", "lm_studio/", "llamafile/")


def _import_litellm() -> Any:
    """Import LiteLLM in half of its usual time.

    It declares a thousand models of pydantic, of which a conversation uses a few: each is built when it is
    first used. What an import makes stays, so that a search for garbage would find nothing.
    """
    import pydantic

    _load_httpx()
    lazy_exports.install()
    pydantic.BaseModel.model_config["defer_build"] = True
    gc.disable()
    try:
        import litellm
    finally:
        gc.freeze()
        gc.enable()
    return litellm


def _load_httpx() -> None:
    """Load httpx without its command line, which would load rich and pygments: a fifteenth of the whole."""
    command_line = "httpx._main"
    # An import of a module that is None fails, as it does where the packages of the command line are missing.
    sys.modules.setdefault(command_line, None)  # type: ignore[arg-type]
    try:
        import httpx  # noqa: F401
    except ImportError:
        # Another version that needs it: LiteLLM imports all of it.
        pass
    finally:
        if sys.modules[command_line] is None:
            del sys.modules[command_line]


def _load_openai() -> None:
    """Load what OpenAI's library imports when it is used first, which is a quarter of a first request."""
    import anyio._backends._asyncio  # noqa: F401 -- its connections load it when a first one is opened
    import openai

    openai.AsyncOpenAI(api_key="none", base_url="http://127.0.0.1").chat.completions  # noqa: B018


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
        # It prices each reply as it begins, and loads a tokenizer of 100 MB for it. We price by usage.
        litellm.response_cost_calculator = lambda **_: None
        redirects.stay_on_server()
        line_ends.split_at_newlines_only()
        header_text.accept_any_headers()
        broken_bodies.report_at_once()
        gzip_members.read_all()
        self.litellm: Any = litellm
        self._demo: tuple[str, str] | None = None

    def address(self, request: dict[str, Any]) -> tuple[str, str | None, str | None]:
        """Return the model's name as LiteLLM wants it, the base and the key of a request."""
        model, base, key = request["model"], request.get("api_base"), request.get("api_key")
        if model == "demo":
            return "openai/demo", *self._start_demo_server()
        model = model if base else resolve(model)
        prefix = model.partition("/")[0]
        has_provider = "/" in model and prefix in self.litellm.provider_list
        if base and prefix.lower() in COMPATIBLE and "/" in model:
            model = f"openai/{model.partition('/')[2]}"
        elif base and not has_provider:
            model = f"openai/{model}"
        elif model.startswith("ollama/"):
            # The chat interface takes tools and streams them; the other one only completes text.
            model = f"ollama_chat/{model.removeprefix('ollama/')}"
        if model.startswith("ollama"):
            # Without a price LiteLLM asks the server for one after every reply, and waits for it.
            free = {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0, "mode": "chat"}
            self.litellm.model_cost.setdefault(model, {**free, "litellm_provider": model.partition("/")[0]})
        if base and not key and model.startswith("openai/") and not os.environ.get("OPENAI_API_KEY"):
            key = NO_KEY
        return model, base, key

    async def prepare(self, model: str, base: str | None) -> None:
        """Load what LiteLLM loads with its first request, for a model and its base; asks no network."""
        name = model if model == "demo" else self.address({"model": model, "api_base": base})[0]
        if name == "demo" or name.startswith("openai/") or "/" not in name:
            await asyncio.to_thread(_load_openai)
        hello = [{"role": "user", "content": "hello"}]
        # A reply that is given with the request: all but the way to the server is used. At its end LiteLLM
        # would load a tokenizer, which it needs only for servers that report no usage.
        stream = await self.litellm.acompletion(
            model="openai/prepared", messages=hello, mock_response="hello", stream=True
        )
        await anext(aiter(stream))

    def check_name(self, model: str) -> ErrorInfo | None:
        """Return why a name without a provider is wrong or ambiguous; else None."""
        model = resolve(model)
        if explain_gone(model) or model.partition("/")[0].lower() in COMPATIBLE:
            return errors.explain_no_provider(model)
        if "/" in model or model == "demo":
            return None
        try:
            provider = self.litellm.get_llm_provider(model)[1]
        except Exception:  # noqa: BLE001  (an unknown name raises a BadRequestError, or worse)
            provider = None
        maker = find_family(model)
        if provider and (maker is None or provider.startswith(maker)):
            return None
        return errors.explain_no_provider(model)

    def _start_demo_server(self) -> tuple[str, str]:
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
        """Return the cost of a request in USD; None for a model with unknown price."""
        if model == "openai/demo" or model.startswith(_FREE):
            return 0.0
        try:
            prompt, completion = self.litellm.cost_per_token(model=model, usage_object=usage)
        except Exception:  # noqa: BLE001  (likewise)
            return None
        return float(prompt + completion)

    def missing_keys(self, model: str, base: str | None) -> tuple[str, ...]:
        """Return the variables with keys that this model needs and that are not set."""
        if base:
            return ()
        try:
            missing = self.litellm.validate_environment(model)["missing_keys"]
        except Exception:  # noqa: BLE001  (an unknown provider raises; the request will say so, too)
            return ()
        return tuple(name for name in missing if name.endswith(("_API_KEY", "_TOKEN")))
