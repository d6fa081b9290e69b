"""The program that runs the documentation of Open Interpreter, with pages made up for it."""

from pathlib import Path

import pytest

from tests import original_documentation
from tests.original_documentation import report

README = """
# Made up

```python
messages = interpreter.chat("Multiply")
print(messages)
```

```bash
pip install something
```

```python
interpreter.llm.no_such_thing = 1
```

```python
interpreter.computer.run("python", "print(1)"
```
"""


@pytest.mark.slow
def test_each_block_is_run_and_counted(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(README)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "again.mdx").write_text(README.partition("```bash")[0])
    lines = list(report(tmp_path, None))
    assert lines[-1] == "3 blocks: 1 ran, 1 failed, 1 not Python"
    assert lines[0].startswith("README.md 2: failed AttributeError: interpreter.llm has no attribute")
    assert lines[1].startswith("README.md 3: not Python")


@pytest.mark.slow
def test_a_block_that_goes_on_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = 'import time\nprint("http://127.0.0.1:1")\ntime.sleep(100)'
    (tmp_path / "README.md").write_text(f"```python\n{code}\n```\n")
    outcome = ""
    # All of the limit passes: the first ones are enough for a block to begin where nothing else runs.
    for limit in (2, 4, 8, 16):
        monkeypatch.setattr(original_documentation, "TIMEOUT", limit)
        outcome = list(report(tmp_path, None))[-1]
        if outcome == "1 blocks: 1 served":
            break
    assert outcome == "1 blocks: 1 served"
