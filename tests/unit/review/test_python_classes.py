"""Classes of the code itself are understood, and nothing else passes for one of their objects."""

import subprocess
import sys
from pathlib import Path

import pytest

from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.folder import LocalFolder
from oi_tui.engine.review.python import checker as python_checker

#: A class whose methods are harmless with its own objects, and not with others, such as `df`.
STACK = """
import pandas as pd
df = pd.DataFrame({"a": [1]})
class Stack:
    def __init__(self, first=0):
        self.items = [first]
        self.count = 1
    def strange(self, item):
        self.items.append(item)
        self.count += 1
        return self
    def update(self, item):
        return self.strange(item).count
    @staticmethod
    def make():
        return Stack()
    @classmethod
    def named(cls, name: str) -> "Stack":
        return cls(name)
    @property
    def last(self):
        return self.items[-1]
    @last.setter
    def last(self, value):
        self.items[-1] = value
"""


def list_unchecked(code: str, folder: Path, *before: str) -> list[str]:
    earlier = EarlierCode()
    for cell in before:
        earlier.add("python", cell, folder)
    return [item.what for item in python_checker.check(code, LocalFolder(folder), earlier)]


def split_cells(text: str) -> list[str]:
    return text.strip().split("\n---\n")


UNDERSTOOD = split_cells(
    """
s = Stack()
s.update(2)
print(s.items, s.count, s.last)
---
print(Stack(5).strange(1))
---
s = Stack.make()
print(s)
---
print(Stack.named('a'), isinstance(df, Stack), issubclass(Stack, list))
---
s = Stack()
s.last = 3
s.note = 'a'
print([Stack(n) for n in range(3)], list(map(Stack, [1])))
---
class Deep(Stack):
    def __init__(self):
        super().__init__(1)
    def update(self, item):
        return super().update(item) + self.count
d = Deep()
print(d.update(1), d.strange(2))
---
class Node:
    def __init__(self, value, next=None):
        self.value, self._next, self.id_ = value, next, 1
    def __len__(self): return 1 + len(self._next or ())
    def __repr__(self): return f'Node({self.value})'
print(len(Node(1, Node(2))))
---
class Bad(ValueError):
    pass
try:
    raise Bad('x')
except (Bad, KeyError) as error:
    print(error)
---
class Names(list):
    def put(self, name):
        self.append(name)
        return self
print(Names().put('a'))
---
from dataclasses import dataclass, field
@dataclass(frozen=True, order=True)
class Item:
    name: str
    price: float = 0.0
    tags: list[str] = field(default_factory=list)
    def twice(self): return self.price * 2
i = Item('a', 2.5)
print(i.twice(), i.name, sorted([i, Item('b')]))
---
import dataclasses
@dataclasses.dataclass
class Pair:
    a: int
    other: 'Pair | None' = None
print(dataclasses.asdict(Pair(1)), Pair(1, Pair(2)))
---
from enum import Enum, auto
class Color(Enum):
    RED = auto()
    GREEN = 'g'
    def text(self): return self.name
print(Color.RED, [c.value for c in Color], *Color, len(Color))
for c in Color:
    print(c.name)
---
from typing import NamedTuple, Optional
class P(NamedTuple):
    x: int
    y: Optional[int] = None
    def both(self) -> tuple: return (self.x, self.y)
p = P(1)
print(p.both(), p.x)
---
from abc import ABC, abstractmethod
class Shape(ABC):
    @abstractmethod
    def area(self): ...
class Square(Shape):
    size = 2
    def area(self): return self.size ** 2
print(Square().area(), Square.size)
---
def total(stack: Stack, more: list[Stack]) -> int:
    return 1
print(total(Stack(), []))
---
class Timer:
    def __enter__(self): return self
    def __exit__(self, *_): return None
with Timer():
    print(1)
---
from functools import cache, lru_cache
@lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
@cache
def twice(n): return n * 2
print(fib(9), twice(2))
---
from contextlib import contextmanager, suppress
@contextmanager
def shown():
    yield 1
with shown(), suppress(KeyError):
    print(1)
---
import os
for root, folders, files in os.walk('.'):
    for name in files:
        print(os.path.join(root, name), os.path.getsize(os.path.join(root, name)))
---
import uuid
print(uuid.uuid4().hex, uuid.uuid5(uuid.NAMESPACE_DNS, 'a'))
---
import xml.etree.ElementTree as ET
print([(e.tag, e.text, e.attrib) for e in ET.fromstring('<a><b>1</b></a>').iter('b')])
"""
)


@pytest.mark.parametrize("code", UNDERSTOOD)
def test_classes_that_only_compute_are_understood(code: str, tmp_path: Path) -> None:
    assert list_unchecked(STACK + code, tmp_path) == []
    assert list_unchecked(code, tmp_path, STACK) == []


def test_such_code_runs_and_leaves_nothing_behind(tmp_path: Path) -> None:
    cells = [STACK + code for code in UNDERSTOOD]
    done = subprocess.run(
        [sys.executable, "-c", f"for cell in {cells!r}:\n    exec(cell, {{'__name__': '__main__'}})"],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []


NOT_UNDERSTOOD = split_cells(
    """
Stack.update(df, 1)
---
B = Stack
B.update(df, 1)
---
[Stack][0].update(df, 1)
---
def f(c): c.update(df, 1)
f(Stack)
---
def f(c=Stack): c.update(df, 1)
f()
---
list(map(Stack.update, [df], [1]))
---
(Stack or 1).update(df, 1)
---
(lambda: Stack)().update(df, 1)
---
(b := Stack).update(df, 1)
---
max([1], key=Stack)
---
type(Stack()).update(df, 1)
---
Stack().__class__.update(df, 1)
---
class B(Stack):
    @classmethod
    def m(cls): return cls
---
class B(Stack):
    @classmethod
    def m(cls): return [c for c in [cls]]
---
class B(Stack):
    @classmethod
    def m(cls): cls.update(df, 1)
---
class B(Stack):
    @staticmethod
    def m(self): self.strange('x')
B.m(df)
---
import dataclasses
@dataclasses.dataclass
class Box:
    a: Stack
dataclasses.fields(Box(1))[0].type.update(df, 1)
---
class B(list): pass
B[int].append(df)
---
a = Stack()
a = df
a.strange('x')
---
a = Stack()
for a in [df]:
    a.strange('x')
---
a = Stack()
with df as a:
    a.strange('x')
---
a = Stack()
import os as a
a.strange('x')
---
a = Stack()
def g(a): a.strange('x')
g(df)
---
a = Stack()
print([a.strange('x') for a in [df]])
---
class B(Stack):
    def m(self, q):
        self = q
        self.strange('x')
---
class B(Stack):
    def m(self, q):
        def inner(self): self.strange('x')
        inner(q)
---
class B(Stack):
    def m(self, q): return [self.strange('x') for self in [q]]
---
class B(Stack):
    def m(self, q): (lambda self: self.strange('x'))(q)
---
class B(Stack):
    def m(self, q):
        for self in [q]: self.strange('x')
---
class B(Stack):
    def m(self, q):
        match q:
            case self: self.strange('x')
---
a = Stack()
a.update = pd.crosstab
---
Stack.update = pd.crosstab
---
class B(Stack):
    def __init__(self): self.update = pd.crosstab
---
class B(Stack):
    update = pd.crosstab
---
class B(Stack):
    @property
    def update(self): return pd.crosstab
---
class B(Stack):
    def items(self): return 1
---
class B:
    def __init__(self): self.f = pd.crosstab
B().f([1], [2], None, None, None, 'to_csv')
---
class B:
    f = pd.crosstab
B.f([1], [2], None, None, None, 'to_csv')
---
def helper(a, b): return a
class B(Stack):
    def helper(self, p): self.strange(p)
    y = helper(df, 'x')
---
class B(Stack):
    def helper(self, p): self.strange(p)
    y = list(map(helper, [df], ['x']))
---
class B(Stack):
    def helper(self, p): self.strange(p)
    def other(self, z=helper): return z
---
class B(Stack):
    def classmethod(f): return f
    @classmethod
    def m(cls, p): cls.named(p)
---
class B(Stack):
    classmethod = len
    @classmethod
    def m(cls, p): cls.named(p)
---
from functools import cache
class B:
    def cache(f): return pd.crosstab
    @cache
    def m(self): return 1
---
def helper(a, b, c, d, e, f): return a
class B:
    helper = pd.crosstab
    y = helper([1], [2], None, None, None, 'to_csv')
---
class B(Stack):
    def __reduce__(self): return (print, ('x',))
---
class B(Stack):
    def __getattr__(self, name): return name
---
class B(Stack):
    def __new__(cls): return df
---
class B(Stack):
    def __fspath__(self): return '/etc/passwd'
---
class B(Stack):
    def __class_getitem__(cls, key): return key
---
class B(Stack):
    def _repr_html_(self): return '<img src="http://x/">'
---
class B(Stack):
    _repr_html_ = lambda self: 'x'
---
class B(Stack):
    _repr_html_: str = 'x'
---
class B(Stack):
    def __init__(self): self._repr_html_ = lambda: 'x'
---
a = Stack()
a._repr_html_ = lambda: 'x'
---
class B(Stack):
    __reduce__ = len
---
class B(Stack):
    def m(self): self.__dict__['x'] = 1
---
class B(Stack):
    def m(self): super().__setattr__('_repr_html_', 1)
---
class B(Stack, metaclass=type): pass
---
class B(pd.DataFrame, Stack): pass
---
@pd.api.extensions.register_dataframe_accessor('q')
class B(Stack): pass
---
from dataclasses import dataclass
dataclass(pd.DataFrame)
---
from enum import Enum
Enum('X', {'_repr_html_': len})
---
from functools import lru_cache
@lru_cache(maxsize=breakpoint())
def f(): pass
---
class B:
    import os
    os.remove('x')
---
class B:
    x = breakpoint()
---
class B:
    breakpoint()
---
class B:
    if True:
        def m(self): pass
---
class B:
    async def m(self): pass
---
class B:
    class C: pass
---
class B:
    def m(self): breakpoint()
---
class B:
    def m(self, x=breakpoint()): pass
---
class B:
    def m(self) -> breakpoint(): pass
---
class B:
    x: breakpoint() = 1
---
@breakpoint
class B: pass
---
class B(breakpoint()): pass
---
import os
os.walk('.', True, breakpoint)
---
import uuid
uuid.uuid1()
---
import enum
enum.sys.modules['os'].remove('x')
"""
)


@pytest.mark.parametrize("code", NOT_UNDERSTOOD)
def test_what_only_looks_like_such_a_class_is_listed(code: str, tmp_path: Path) -> None:
    assert list_unchecked(STACK + code, tmp_path) != []
    assert list_unchecked(code, tmp_path, STACK) != []


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ((STACK, "a = Stack()", "a = df"), "a.strange('x')"),
        ((STACK, "a = Stack()\ndef f(): a.strange('x')", "a = df"), "f()"),
        ((STACK, "a = Stack()\ndef f(): a.strange('x')", "a = df\ndef g(): print(a)"), "f()"),
        ((STACK, "class Stack:\n    def other(self): pass"), "Stack().strange(1)"),
    ],
)
def test_an_object_may_become_something_else_in_later_code(
    before: tuple[str, ...], now: str, tmp_path: Path
) -> None:
    assert list_unchecked(now, tmp_path, *before) != []
