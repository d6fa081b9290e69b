"""A language of a person's own, for tests that need one."""

from collections.abc import Iterator


class Shout:
    """Answers in capitals."""

    name = "Shout"

    def run(self, code: str) -> Iterator[dict[str, str]]:
        yield {"type": "console", "format": "output", "content": code.upper()}

    def stop(self) -> None: ...
    def terminate(self) -> None: ...
