"""Runs the Python of Open Interpreter's documentation, and says of each block how it ended.

    python -m tests.original_documentation FOLDER [PYTHON]

FOLDER is a checkout of Open Interpreter, of which nothing is copied. Each block runs in a process of its own,
with a home of its own, through the module `interpreter`. Its model is a server on this machine, which has
code run once and then answers in words. With PYTHON, an interpreter in which the original is installed, each
block also runs with the original.
"""

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.servers import openai_server as server

#: How long a block may take, in seconds. Servers run until then.
TIMEOUT = 60
_BLOCK = re.compile(r"^[ \t]*```(?:python|py)\b[^\n]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
#: Pages that are not about the package, and translations.
_LEFT_OUT = re.compile(r"README_|ROADMAP|CONTRIBUTING")
#: Addresses of model servers in the documentation.
_SERVERS = re.compile(r"http://(?:localhost|0\.0\.0\.0):(?:1234|1337|11434|8080)")
_BEGIN = """
import os
{shim}
from interpreter import OpenInterpreter, interpreter
messages = [{{"role": "user", "type": "message", "content": "Hello"}}]
agent_1, agent_2 = OpenInterpreter(), OpenInterpreter()
for _made in (interpreter, agent_1, agent_2):
    _made.llm.model, _made.llm.api_key, _made.llm.api_base = "openai/m", "k", os.environ["BASE"]
    _made.llm.supports_functions, _made.auto_run = True, True
    _made.llm.context_window, _made.llm.max_tokens = 16000, 500
"""


@dataclass(frozen=True)
class Block:
    """A block of Python on a page."""

    page: str
    number: int
    code: str


@dataclass(frozen=True)
class Outcome:
    """How a block ended: `ran`, `served`, `failed` or `not Python`; and the error, if any."""

    kind: str
    why: str = ""


def blocks(folder: Path) -> Iterator[Block]:
    """Return each block of the documentation once, as it is first found."""
    seen = set()
    pages = [folder / "README.md", *sorted((folder / "docs").rglob("*.md*"))]
    for page in pages:
        name = str(page.relative_to(folder))
        if _LEFT_OUT.search(name) or not page.is_file():
            continue
        for number, match in enumerate(_BLOCK.finditer(page.read_text(encoding="utf-8")), 1):
            code = textwrap.dedent(match[1]).strip()
            if code not in seen:
                seen.add(code)
                yield Block(name, number, code)


def run(block: Block, python: str, *, shim: bool) -> Outcome:
    """Run a block. Conversations without an end are cut after two rounds."""
    code = block.code.replace("while True:\n    for agent", "for _ in range(2):\n    for agent")
    try:
        ast.parse(code)
    except SyntaxError as error:
        return Outcome("not Python", str(error.msg))
    call = server.Call(json.dumps({"language": "python", "code": "print(1)"}))
    answers = (server.spoken(call), server.spoken(server.Say("Hello there")))
    with (
        tempfile.TemporaryDirectory(prefix="documentation-", ignore_cleanup_errors=True) as home,
        server.ModelServer(*answers, strict=False) as models,
    ):
        begin = _BEGIN.format(shim="import oi_tui.interpreter_module" if shim else "")
        program = Path(home, "block.py")
        program.write_text(f"{begin}\n{_SERVERS.sub(models.root, code)}\n", encoding="utf-8")
        try:
            done = subprocess.run(
                [python, str(program)],
                input="",
                capture_output=True,
                text=True,
                cwd=home,
                env=_environment(home, models.base),
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            served = b"http://" in (late.stdout or b"") + (late.stderr or b"")
            return Outcome("served" if served else "failed", f"it went on for {TIMEOUT} s")
    errors = done.stderr.strip().splitlines()
    return Outcome("failed", errors[-1] if errors else "") if done.returncode else Outcome("ran")


def _environment(home: str, base: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "DISPLAY"):
        kept.pop(name, None)
    own = {"HOME": home, "BASE": base, "DISABLE_TELEMETRY": "true", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return {**kept, **own, "PYTHONUNBUFFERED": "1"}


def report(folder: Path, original: str | None) -> Iterator[str]:
    """Run everything; return a line for each block that did not simply run, and then the sums."""
    found = list(blocks(folder))
    with ThreadPoolExecutor(2) as pool:
        ours = list(pool.map(lambda block: run(block, sys.executable, shim=True), found))
        theirs = list(pool.map(lambda block: run(block, original, shim=False), found)) if original else []
    for place, (block, outcome) in enumerate(zip(found, ours, strict=True)):
        line = f"{block.page} {block.number}: {outcome.kind}"
        if theirs and theirs[place].kind != outcome.kind:
            their = theirs[place]
            yield f"{line} {outcome.why[:150]} (with the original: {their.kind} {their.why[:150]})"
        elif outcome.kind != "ran":
            yield f"{line} {outcome.why[:150]}"
    yield f"{len(found)} blocks: {_sums(ours)}"
    if theirs:
        same = sum(one.kind == other.kind for one, other in zip(ours, theirs, strict=True))
        yield f"with the original: {_sums(theirs)}; the same outcome: {same}"


def _sums(outcomes: list[Outcome]) -> str:
    counts = Counter(outcome.kind for outcome in outcomes)
    return ", ".join(f"{count} {kind}" for kind, count in counts.most_common())


if __name__ == "__main__":
    for text in report(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None):
        sys.stdout.write(f"{text}\n")
