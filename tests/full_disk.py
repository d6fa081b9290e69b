"""A disk that takes no more: files that this process writes may not grow beyond a few bytes."""

import contextlib
import resource
from collections.abc import Iterator


@contextlib.contextmanager
def full_disk(most: int = 0) -> Iterator[None]:
    """Let no file grow beyond `most` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
