"""Every promise on the page names a test that exists, or says why it cannot hold."""

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.promises import PROMISES, Promise

TESTS = Path(__file__).parents[2]
ALL = [promise for group in PROMISES.values() for promise in group]


@cache
def named_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return frozenset(
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@pytest.mark.parametrize("promise", ALL, ids=[promise.text for promise in ALL])
def test_a_promise_names_its_test_or_why_it_is_gone(promise: Promise) -> None:
    assert bool(promise.test) != bool(promise.gone)
    if promise.test:
        assert promise.test in named_in(promise.file)


def test_no_promise_is_there_twice() -> None:
    for group in PROMISES.values():
        assert len({promise.text for promise in group}) == len(group)
