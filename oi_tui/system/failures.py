"""Words for errors of the program itself."""

#: What the errors of Python, of the loader of libraries, and of OpenBLAS say where the system refuses memory.
_MEMORY = ("MemoryError", "Cannot allocate memory", "failed to map segment", "Memory allocation still failed")
_THREAD = ("new thread", "pthread_create failed")
_FILE = ("Too many open files",)
#: What Python raises where a process cannot be forked.
_PROCESS = ("BlockingIOError: ",)
#: What was refused, its signs, and where to look.
_REFUSALS = (
    ("another thread", _THREAD, "ulimit -v, ulimit -u and free memory"),
    ("memory", _MEMORY, "ulimit -v, ulimit -u and free memory"),
    ("another open file", _FILE, "ulimit -n"),
    ("another process", _PROCESS, "ulimit -u"),
)


def describe_failure(error: BaseException) -> str:
    """Return one line about an error; where the system refused something, it says what to raise."""
    text = f"{type(error).__name__}: {error}"
    return describe_refusal(text) or text


def describe_refusal(text: str) -> str:
    """Return which limit to raise where the text of an error says that the system refused something, else "".

    That is memory, a thread, a process or an open file. The text begins with the class of the error.
    """
    for what, signs, place in _REFUSALS:
        if any(sign in text for sign in signs):
            return f"the system refused {what}. A limit is too low: look at {place}"
    return ""
