"""The settings of the model, and its limits."""

from dataclasses import dataclass

from oi_tui.engine.llm import urls
from oi_tui.engine.settings.setting import setting


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ModelSettings:
    """Settings of the model: which one, where, and limits."""

    # ---- Model
    model: str = setting(
        "gpt-4o",
        "The language model, by its LiteLLM name, such as gpt-4o, anthropic/claude-sonnet-4-5 or "
        "ollama/llama3.1. demo is the scripted demo model, which needs no API key and no network.",
        key="llm.model",
        section="Model",
        flags=("-m",),
        variable="OI_TUI_MODEL",
    )
    api_base: str | None = setting(
        None,
        "The address of the model server, for your own servers and compatible providers.",
        key="llm.api_base",
        title="Server address",
        section="Model",
        flags=("-ab",),
        variable="OI_TUI_API_BASE",
        unset="provider default",
        must=urls.explain_invalid,
        shown=urls.hide_password,
    )
    api_key: str | None = setting(
        None,
        "The provider's API key. If you type it in the settings (f2), it is saved in the system's keyring "
        "or a file that "
        "only you can read; or set the provider's variable, such as OPENAI_API_KEY.",
        key="llm.api_key",
        title="API key",
        section="Model",
        flags=("-ak",),
        variable="OI_TUI_API_KEY",
        masked=True,
        unset="from the keyring or the environment",
    )
    api_version: str | None = setting(
        None,
        "The version of the provider's API, where one is needed (Azure).",
        key="llm.api_version",
        title="API version",
        section="Model",
        flags=("-av",),
        unset="provider default",
    )
    temperature: float | None = setting(
        None,
        "Sampling temperature: how varied replies are; 0 is the most predictable.",
        key="llm.temperature",
        section="Model",
        flags=("-t",),
        minimum=0,
        maximum=2,
        unset="provider default",
    )
    supports_functions: bool | None = setting(
        None,
        "Whether the model supports tool calls. If not, it writes code in fenced blocks.",
        key="llm.supports_functions",
        title="Model supports tools",
        section="Model",
        flags=("-lsf", "--llm-supports-functions"),
        off_flags=("--no-llm-supports-functions",),
        unset="detected",
    )
    supports_vision: bool | None = setting(
        None,
        "Whether the model accepts images.",
        also=("vision",),
        key="llm.supports_vision",
        title="Model accepts images",
        section="Model",
        flags=("-lsv", "--llm-supports-vision", "-vi", "--vision"),
        off_flags=("--no-llm-supports-vision",),
        unset="detected",
    )
    fast: bool = setting(
        False,
        "Ask the model to be quick: no plan, few words, code first.",
        key="fast",
        title="Fast mode",
        section="Model",
        flags=("-f",),
    )
    local: bool = setting(
        False,
        "Use only a model on this machine: the one set in model, or one that you choose at the "
        "start. Nothing is sent elsewhere. If its context window is unknown, 3000 tokens are assumed, "
        "and replies end after 1000.",
        key="local",
        title="Local models only",
        limits=True,
        section="Model",
        flags=("-l",),
    )
    offline: bool = setting(
        False,
        "Send nothing to the internet: use only models on this machine or the local network.",
        key="offline",
        title="Offline mode",
        limits=True,
        section="Model",
        flags=("-o",),
    )
    # ---- Limits
    context_window: int | None = setting(
        None,
        "The model's context window, in tokens. Messages that do not fit are omitted, oldest first.",
        key="llm.context_window",
        limits=True,
        section="Limits",
        flags=("-c", "-cw"),
        minimum=256,
        unset="detected",
    )
    assumed_window: int = setting(
        32_000,
        "The context window to assume, in tokens, when it is unknown. A server that "
        "refuses a request and names its limit corrects it for the session.",
        key="llm.assumed_window",
        title="Context window if unknown",
        section="Limits",
        minimum=256,
    )
    max_tokens: int | None = setting(
        None,
        "The longest reply, in tokens.",
        key="llm.max_tokens",
        title="Longest reply",
        limits=True,
        section="Limits",
        flags=("-x",),
        minimum=1,
        unset="provider default",
    )
    max_output: int = setting(
        2800,
        "How many characters of a program's output the model gets. You always see all of it.",
        key="max_output",
        title="Output sent to the model",
        limits=True,
        section="Limits",
        flags=("-xo",),
        minimum=100,
    )
    max_budget: float | None = setting(
        None,
        "The budget of a session, in USD. When it is spent, or the model's price is unknown, "
        "no more requests are sent.",
        key="llm.max_budget",
        title="Budget",
        limits=True,
        section="Limits",
        flags=("-b",),
        minimum=0,
        unset="no limit",
    )
    cell_requests: int = setting(
        1000,
        "How many requests the Python code of one cell may send to the model with llm(), llm_map() and "
        "computer.ai. The question before the cell names those of llm() and llm_map(). 0 turns all off; they "
        "are also off with local, offline and in the sandbox.",
        key="llm.cell_requests",
        title="Requests from code",
        limits=True,
        section="Limits",
        minimum=0,
    )
    cell_cost: float | None = setting(
        1.0,
        "The most that the requests of one cell may cost, in USD, where the model's price is known. They "
        "also count against the budget.",
        key="llm.cell_cost",
        title="Cost of requests from code",
        limits=True,
        section="Limits",
        minimum=0,
        unset="no limit",
    )
    timeout: float = setting(
        120.0,
        "How many seconds to wait for the model server while it sends nothing.",
        key="llm.timeout",
        title="Timeout of the server",
        limits=True,
        section="Limits",
        minimum=1,
        maximum=86400,
    )
