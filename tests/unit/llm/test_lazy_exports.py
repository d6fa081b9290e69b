"""OpenAI's library, loaded lazily: the same names, and far fewer modules."""

import json
import subprocess
import sys

import pytest

from oi_tui.engine.llm.transport.lazy_exports import read_exports

#: Prints what each name of each package is, whichever way it was loaded.
_LIST_NAMES = """
import importlib, json, pkgutil, openai, openai.types, openai.resources
names = {}
for package in (openai.types, openai.resources):
    found = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    for name in [package.__name__, *(module.name for module in found if module.ispkg)]:
        module = importlib.import_module(name)
        exported = {}
        exec(f"from {name} import *", exported)
        for key in (key for key in exported if key != "__builtins__"):
            value = getattr(module, key)
            assert value is exported[key], (name, key)
            names[f"{name}.{key}"] = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
print(json.dumps(names))
"""
_LAZILY = "from oi_tui.engine.llm.transport import lazy_exports; lazy_exports.install()\n"
_USE = "import openai, sys; openai.AsyncOpenAI(api_key='none').chat.completions; print(*sys.modules)"


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_each_name_is_the_same_as_without() -> None:
    plain, lazy = json.loads(run(_LIST_NAMES)), json.loads(run(_LAZILY + _LIST_NAMES))
    assert len(lazy) > 500
    # Without, `import *` takes the modules as well.
    assert lazy == {name: value for name, value in plain.items() if name in lazy}
    missing = [name for name, (module, _) in plain.items() if module and name not in lazy]
    assert all(name.endswith(".annotations") for name in missing), "but for `from __future__`"


@pytest.mark.slow
def test_modules_that_a_conversation_does_not_need_are_not_loaded() -> None:
    loaded = run(_LAZILY + _USE).split()
    assert "openai.types.chat.chat_completion" in loaded
    assert not {"openai.types.beta.assistant", "openai.resources.images"} & set(loaded)


@pytest.mark.slow
def test_the_command_line_of_httpx_is_not_loaded_with_litellm() -> None:
    code = (
        "from oi_tui.engine.llm.transport.provider import _import_litellm as load; load(); "
        "import httpx, sys; assert httpx.AsyncClient and callable(httpx.main); print(*sys.modules)"
    )
    assert not {"httpx._main", "rich.console", "pygments"} & set(run(code).split())


@pytest.mark.parametrize(
    "source",
    [
        "from . import one\nprint()",
        "import os",
        "from .one import *",
        "from ..other import One",
        "from .one import one",
        "def f(): ...",
        "ONE = 1",
    ],
)
def test_a_package_that_does_anything_else_is_left_as_it_is(source: str) -> None:
    assert read_exports(source) is None


def test_exports_are_read() -> None:
    head = '"""Doc."""\nfrom __future__ import annotations\n__all__ = ["F"]\n'
    assert read_exports(head + "from . import a, b as c\nfrom .d.e import F as F, G as H") == {
        "a": (".a", ""),
        "c": (".b", ""),
        "F": (".d.e", "F"),
        "H": (".d.e", "G"),
    }
