"""Finds the provider of a model whose name does not say it."""

import re

#: How the names of models begin, and LiteLLM's name for their provider.
_FAMILIES = (
    (r"claude", "anthropic"),
    (r"gemini|gemma-\d+n?-.*-it|learnlm", "gemini"),
    (r"deepseek", "deepseek"),
    (r"(?:open-)?(?:mistral|mixtral|codestral|ministral|magistral|devstral|pixtral)", "mistral"),
    (r"grok", "xai"),
    (r"command|c4ai|aya", "cohere"),
    (r"sonar|pplx", "perplexity"),
    (r"kimi|moonshot", "moonshot"),
    (r"glm", "zai"),
    (r"gpt|chatgpt|o\d|davinci|text-davinci|ft:gpt", "openai"),
)
#: Prefixes that people give to models of servers with the interface of OpenAI.
COMPATIBLE = frozenset(
    {
        *("vllm", "lmstudio", "lm-studio", "llamacpp", "llama-cpp", "llama.cpp", "llama_cpp", "localai"),
        *("text-generation-webui", "oobabooga", "koboldcpp", "sglang", "tgi", "tabbyapi", "gpt4all", "jan"),
        *("mlx", "exllama", "local"),
    }
)

#: Names that Open Interpreter took for a model, and what they stand for.
_ALIASES = {
    "claude": "anthropic/claude-sonnet-4-5",
    "claude-3.5": "anthropic/claude-3-5-sonnet-20240620",
    "claude-3.5-sonnet": "anthropic/claude-3-5-sonnet-20240620",
}
#: How other names begin that Open Interpreter documented without their provider.
_DOCUMENTED = (
    (r"@(?:cf|hf)/", "cloudflare"),
    (r"command(?:-(?:light|medium|medium-beta|xlarge-beta|nightly))?$", "cohere"),
    (r"j2-(?:light|mid|ultra)$", "ai21"),
    (r"dolphin$", "nlp_cloud"),
)
#: Makers whose models only they serve under a name without a provider.
_ONLY_SERVED_BY = ("anthropic", "gemini")
_CHOOSE = "Choose another model with %model or --model."
#: Models and providers that Open Interpreter documented and that no longer exist.
_GONE = {
    "i": f"The hosted model “i” of Open Interpreter no longer exists. {_CHOOSE}",
    "anyscale": f"Anyscale no longer serves models. {_CHOOSE}",
    "palm": f"Google replaced PaLM by Gemini. Use gemini/gemini-2.5-flash, for example. {_CHOOSE}",
    "petals": f"Petals cannot be used: its Python package does not work with LiteLLM any more. {_CHOOSE}",
}


def resolve(model: str) -> str:
    """Return the name with its provider, where only one can be meant; else the name unchanged.

    >>> resolve("claude-2"), resolve("@cf/meta/llama"), resolve("llama3")
    ('anthropic/claude-2', 'cloudflare/@cf/meta/llama', 'llama3')
    """
    if model in _ALIASES:
        return _ALIASES[model]
    for start, provider in _DOCUMENTED:
        if re.match(start, model):
            return f"{provider}/{model}"
    maker = find_family(model)
    return f"{maker}/{model}" if maker in _ONLY_SERVED_BY and "/" not in model else model


def explain_gone(model: str) -> str | None:
    """Return what became of a model of Open Interpreter's that no longer exists; None for another."""
    return _GONE.get(model.partition("/")[0])


def find_family(model: str) -> str | None:
    """Return the provider that makes models of this name; None if unknown."""
    name = model.lower()
    return next((provider for start, provider in _FAMILIES if re.match(start, name)), None)


def suggest_name(model: str) -> str:
    """Return what to write instead of a name without a provider."""
    name = model.rpartition("/")[2]
    if model.partition("/")[0].lower() in COMPATIBLE:
        return f"Set api_base to the address of your server, such as http://localhost:8000/v1, for {model}."
    if provider := find_family(name):
        return f"Put the provider before the name: {provider}/{name}."
    return (
        f"Put the provider before the name, such as ollama/{name} for Ollama on this machine or "
        f"openrouter/{name} for OpenRouter, or set api_base for a server of your own."
    )
