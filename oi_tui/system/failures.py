"""Words for errors of the program itself."""


def describe_failure(error: BaseException) -> str:
    """Return one line about an error; where the system refused memory or a thread, it says what to raise."""
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "new thread" in str(error)):
        what = "memory" if isinstance(error, MemoryError) else "another thread"
        return f"the system refused {what}. A limit is too low: look at ulimit -v, ulimit -u and free memory"
    return f"{type(error).__name__}: {error}"
