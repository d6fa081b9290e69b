"""Words for errors of the program itself."""

#: What the errors of Python, of the loader of libraries, and of OpenBLAS say where the system refuses memory.
_MEMORY = ("MemoryError", "Cannot allocate memory", "failed to map segment", "Memory allocation still failed")
_THREAD = ("new thread", "pthread_create failed")


def describe_failure(error: BaseException) -> str:
    """Return one line about an error; where the system refused memory or a thread, it says what to raise."""
    text = f"{type(error).__name__}: {error}"
    return describe_refusal(text) or text


def describe_refusal(text: str) -> str:
    """Return which limit to raise where a text says that the system refused memory or a thread, else ""."""
    for what, signs in (("another thread", _THREAD), ("memory", _MEMORY)):
        if any(sign in text for sign in signs):
            return (
                f"the system refused {what}. A limit is too low: look at ulimit -v, ulimit -u and free memory"
            )
    return ""
