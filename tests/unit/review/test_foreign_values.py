"""What is not made of known parts does not get into code that takes it for something known."""

from pathlib import Path

import pytest

from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.scanner import scan_code

#: A class with an operator that moves a path, and lists what it makes of a function.
OPERATOR = "class A:\n    def __NAME__(self, other):\n        other.replace('data.csv')\n        return 1\n"
#: One whose operator only compares.
COMPARED = """
class V:
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return isinstance(other, V) and self.x == other.x
"""
MOVED = "from pathlib import Path\np = Path('a.txt')\n"
USES = {
    "eq": (
        "p == A()",
        "p in [A()]",
        "[p] == [A()]",
        "f'{p == A()}'",
        "match p:\n    case b.x:\n        pass",
    ),
    "contains": ("p in A()", "p not in A()", "[1 for x in [1] if p in A()]", "assert p in A()"),
    "add": ("A() + p", "x = A()\nx += p"),
    "iadd": ("x = A()\nx += p", "def f(x):\n    x += p"),
    "radd": ("p + A()", "p += A()", "lambda x: p + x"),
    "rtruediv": ("p / A()", "x = 1 / (p / A())"),
    "rsub": ("import pandas as pd\npd.Series([1]).to_csv - A()",),
    "lt": ("p < A()", "1 < 2 < (p > A())", "while p < A():\n    pass"),
    "hash": (),
}


@pytest.mark.parametrize(("name", "use"), [(name, use) for name, uses in USES.items() for use in uses])
def test_an_operator_of_a_class_gets_nothing_that_is_not_known_without_a_word(
    name: str, use: str, tmp_path: Path
) -> None:
    operator = OPERATOR.replace("NAME", name)
    for code in (
        f"{operator}{MOVED}{use}",
        f"{MOVED}def g():\n    {use.replace(chr(10), chr(10) + '    ')}\n{operator}g()",
    ):
        assert not scan_code("python", code, tmp_path).nothing_listed


@pytest.mark.parametrize(
    "body",
    [
        "o = other\n        o.replace('x')",
        "return [other][0].replace('x')",
        "(other / 'x').replace('x')",
        "f(other) == 1",
        "return other.replace('x') == 1",
        "other = other\n        return other == 1",
        "return [x.replace('x') for x in other]",
    ],
)
def test_an_operator_that_does_more_than_to_compare_gets_nothing_that_is_not_known(
    body: str, tmp_path: Path
) -> None:
    code = f"def f(x):\n    return x.replace('x')\nclass A:\n    def __eq__(self, other):\n        {body}\n"
    code += f"{MOVED}p == A()"
    assert not scan_code("python", code, tmp_path).nothing_listed


@pytest.mark.parametrize(
    "codes",
    [
        (OPERATOR.replace("NAME", "eq"), f"{MOVED}p == A()"),
        (f"{MOVED}def f(x):\n    return bool(p == x)", OPERATOR.replace("NAME", "eq"), "f(A())"),
        ("def isinstance(x, y):\n    x.replace('x')", COMPARED, f"{MOVED}p == V(1)"),
        (COMPARED, "isinstance = lambda x, y: x.replace('x')", f"{MOVED}p == V(1)"),
        (OPERATOR.replace("NAME", "eq"), "class A:\n    pass", f"{MOVED}p == A()"),
    ],
)
def test_operators_of_classes_count_in_later_cells(codes: tuple[str, ...], tmp_path: Path) -> None:
    earlier = EarlierCode()
    for code in codes[:-1]:
        earlier.add("python", code, tmp_path)
    assert not scan_code("python", codes[-1], tmp_path, earlier).nothing_listed


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    assert 0, p\nexcept AssertionError as e:\n    e.args[0].replace('data.csv')",
        "try:\n    p.nope\nexcept AttributeError as e:\n    e.obj.replace('data.csv')",
        "try:\n    p.nope\nexcept AttributeError as e:\n    x = e.obj\n    x.replace('data.csv')",
        "import numpy as np\nnp.random.default_rng.func_globals.get('os').remove('data.csv')",
        "import numpy as np\nnp.random.default_rng.func_globals['os'].remove('data.csv')",
        "(x for x in []).gi_frame.get('os').remove('data.csv')",
        "try:\n    p.nope\nexcept AttributeError as e:\n    list(map(str.upper, [e.obj]))",
    ],
)
def test_an_error_or_a_function_does_not_hand_out_what_is_not_known(code: str, tmp_path: Path) -> None:
    assert not scan_code("python", MOVED + code, tmp_path).nothing_listed


@pytest.mark.parametrize(
    "code",
    [
        "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\ndf.price * df.number + df.price",
        "type(1) == int",
        f"{COMPARED}V(1) == V(2)\n[V(1)] == [V(2)]\ntype(V(1)) == type(V(2))",
        f"{OPERATOR.replace('NAME', 'eq')}x = [1]\nx.price > 3\nx.price is None",
        "assert 1 == 1, f'{1}'",
    ],
)
def test_ordinary_operators_have_nothing_listed(code: str, tmp_path: Path) -> None:
    assert scan_code("python", code, tmp_path).nothing_listed
