"""Whose model a name means, where it does not say so."""

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


def family(model: str) -> str | None:
    """Return the provider that makes models of this name; None where nobody can tell."""
    name = model.lower()
    return next((provider for start, provider in _FAMILIES if re.match(start, name)), None)


def advice(model: str) -> str:
    """Return what to write instead of a name without a provider."""
    _, _, name = model.rpartition("/")
    if provider := family(name):
        return f"Put the provider before the name: {provider}/{name}."
    return (
        f"Put the provider before the name, such as ollama/{name} for Ollama on this machine or "
        f"openrouter/{name} for OpenRouter, or set api_base for a server of your own."
    )
