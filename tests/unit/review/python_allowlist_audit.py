"""Calls every known method and function with arguments that could do harm, and prints what harm was done.

It runs as a program of its own, in a folder that holds a.csv, since an audit hook cannot be taken off.
"""
# ruff: noqa: E501, SIM115, T201 -- tables; files that are only given away; what is printed is the result

import builtins
import contextlib
import csv
import datetime
import importlib
import importlib.util
import io
import os
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from oi_tui.engine.review.python import allowlist as known

HARM = ("subprocess", "socket", "shutil", "ctypes", "urllib", "tempfile", "pty")
DEEDS = ("os.system", "os.exec", "os.remove", "os.rename", "os.mkdir", "os.fork", "os.posix_spawn")
#: They wait, crash with odd arguments, or make an event loop, which has two sockets of its own.
NOT_CALLED = {"asyncio.gather", "asyncio.run", "scipy.stats.fisher_exact", "time.sleep"}
at: Any = None
found: set[str] = set()


def hook(event: str, args: tuple[Any, ...]) -> None:
    if at is None:
        return
    if event == "open" and args[0] == "a.csv":
        found.add(f"{at}: reads the file")
    writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if writes or event in DEEDS or event.split(".")[0] in HARM:
        found.add(f"{at}: {event}")


def by_name(*_: Any, **__: Any) -> int:
    if at is not None:
        found.add(f"{at}: called by its name")
    return 1


_TABLE = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "d": pd.to_datetime(["2024-01-01", "2024-01-02"])})


def table() -> pd.DataFrame:
    # Making one anew for each call would take most of the time.
    return _TABLE.copy()


MAKERS: list[Callable[[], Any]] = [
    lambda: "canary", lambda: b"x", lambda: [1, 2], lambda: {"a": 1}, lambda: {1}, lambda: (1,), lambda: 1.5,
    table, lambda: table()["a"], lambda: table()["b"], lambda: table().groupby("b"), lambda: table().groupby("b")["a"],
    lambda: table()["b"].str, lambda: table()["d"].dt, lambda: table().index, lambda: table()[["a"]].rolling(1),
    lambda: table().set_index("d")["a"].resample("D"), lambda: table()[["a"]].expanding(), lambda: pd.Timestamp(1),
    lambda: np.array([1, 2]), lambda: np.array(["canary"], dtype=object), lambda: np.random.default_rng(1),
    lambda: open("a.csv"), lambda: open("a.csv", "rb"), lambda: io.StringIO("canary"), lambda: csv.reader(["a"]),
    lambda: re.match("a", "a"), lambda: random.Random(1), datetime.datetime.now, lambda: str, lambda: dict,
    lambda: pd.DataFrame, lambda: pd.Series, lambda: np.ndarray,
]  # fmt: skip
axes = Figure().add_subplot
#: What is slow to make is made once for all calls, and called with less.
SLOW: list[Callable[[], Any]] = [
    Figure, axes, lambda: axes().xaxis, lambda: axes().plot([1, 2])[0], lambda: axes().bar([1, 2], [1, 2]),
    lambda: axes().bar([1, 2], [1, 2])[0], lambda: axes().scatter([1, 2], [1, 2]), lambda: axes().text(0, 0, "x"),
    lambda: axes().spines, lambda: axes().imshow([[1, 2]]), lambda: axes(projection="3d"),
    lambda: axes().legend([Line2D([0], [0])], ["a"]), lambda: axes().annotate("x", (0, 0)),
]  # fmt: skip
MAKERS += [
    lambda: plt.cm.viridis, lambda: table().plot, lambda: np.add, lambda: np.random.RandomState(1),
    lambda: pd.offsets.MonthEnd(),
]  # fmt: skip
if importlib.util.find_spec("seaborn"):
    SLOW += [lambda: importlib.import_module("seaborn").FacetGrid(table())]
if importlib.util.find_spec("scipy"):
    MAKERS += [
        lambda: importlib.import_module("scipy.stats").norm,
        lambda: importlib.import_module("scipy.stats").norm(0, 1),
    ]
if importlib.util.find_spec("sklearn"):
    MAKERS += [
        lambda: importlib.import_module("sklearn.linear_model").LinearRegression(),
        lambda: importlib.import_module("sklearn.preprocessing").StandardScaler(),
        lambda: importlib.import_module("sklearn.decomposition").PCA(),
        lambda: importlib.import_module("sklearn.ensemble").RandomForestClassifier(2),
    ]  # fmt: skip
GIVEN: list[tuple[Any, ...]] = [
    (), ("canary",), ("canary", "w"), ("to_csv",), ("to_csv", True, "canary"), (["to_csv"],), ({"a": "to_csv"},),
    ("a", "to_csv"), (1, "canary"), (str,), ("a.csv",), ("http://127.0.0.1:9/x",),
]  # fmt: skip


def functions() -> Iterator[tuple[str, Callable[[], Any], list[tuple[Any, ...]]]]:
    """Every known function by its name, how to get at it anew, and what to call it with."""
    for make in (*MAKERS, *SLOW):
        # One for all names, which only says what there is: each call gets an object of its own.
        one = make()
        for name in sorted(known.ATTRIBUTES):
            with contextlib.suppress(Exception):
                if callable(getattr(one, name)):
                    yield (
                        f"{type(one).__name__}.{name}",
                        partial(getattr, one, name)
                        if make in SLOW
                        else lambda make=make, name=name: getattr(make(), name),
                        GIVEN[:2] if make in SLOW else GIVEN,
                    )
    for full in sorted(known.MEMBERS - NOT_CALLED):
        module, _, name = full.rpartition(".")
        with contextlib.suppress(ImportError, AttributeError):
            member = getattr(importlib.import_module(module), name)
            if callable(member):
                yield (
                    full,
                    lambda member=member: member,
                    GIVEN[:2] if module == "matplotlib.pyplot" else GIVEN,
                )
    for name in sorted(known.BUILTINS & set(dir(builtins))):
        yield name, lambda name=name: getattr(builtins, name), GIVEN


def main() -> None:
    global at
    mpl.use("agg")
    warnings.simplefilter("ignore")
    sys.addaudithook(hook)
    pd.core.generic.NDFrame.to_csv = by_name
    shown, calls = sys.stdout, 0
    sys.stdout = io.StringIO()
    for name, get, given in list(functions()):
        for arguments in given:
            with contextlib.suppress(BaseException):
                function = get()
                at = (name, arguments)
                calls += 1
                function(*arguments)
            at = None
        plt.close("all")
    sys.stdout = shown
    print(calls, *sorted(found), sep="\n")


if __name__ == "__main__":
    main()
