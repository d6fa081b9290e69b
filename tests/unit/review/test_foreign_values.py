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
#: One whose operator hands on what it gets, and one whose operator only computes with it.
FREE = "class A:\n    def __radd__(self, other):\n        list(map(other, ['data.csv']))\n        return 1\n"
COMPUTED = "class V:\n    x = 1\n    def __radd__(self, other):\n        return self.x + other.x + other\n"
TABLE = "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\n"
MOVED = "from pathlib import Path\np = Path('a.txt')\n"
USES = {
    "eq": (
        "p == A()",
        "p in [A()]",
        "[p] == [A()]",
        "f'{p == A()}'",
        "match p:\n    case b.x:\n        pass",
        "x = {(A(), 1): 1, (p, 1): 2}",
        "x = {**p, A(): 2}",
        "x = {y: 1 for y in [p, A()]}",
        "x = {(p, 1), (A(), 1)}",
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
        (f"{TABLE}def f(x):\n    return bool(df.to_csv + x)", FREE, "f(A())"),
        (f"{TABLE}def f(x):\n    return bool(df.to_csv + x)", COMPUTED, FREE, "f(A())"),
        (COMPUTED, f"{TABLE}def f(x):\n    return bool(df.to_csv + x)", FREE, "f(A())"),
        (f"{MOVED}def f(x):\n    return bool(p + x)", COMPUTED, "f(V(1))"),
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
    "body",
    [
        "list(map(other, ['data.csv']))",
        "return other",
        "o = other\n        list(map(o, ['data.csv']))",
        "[other][0]('data.csv')",
        "return [x for x in [other]]",
        "self.kept = other",
        "return print(1) or other",
        "return (other, 1) + ()",
        "return other.replace('x') + 1",
        "return (other + 1).replace('x')",
        "return max([1], key=other)",
        "other = [other, other.x]\n        return other + []",
        "return (lambda: other)",
        "return other.filters['attr']",
        "return ({} | other.filters)['attr']",
        "kept = {} | other.filters\n        return kept['attr']",
        "kept = other.filters\n        return kept",
        "self.kept = {} | other.filters\n        return self.kept['attr']",
        "self.kept |= other.filters\n        return self.kept['attr']",
        "self.kept = [] + other.filters",
        "self.kept += other.filters",
        "self.kept: list = [] + other.filters",
        "for kept in [] + other:\n            return kept",
        "return [*([] + other)]",
        "other.index = 1",
    ],
)
@pytest.mark.parametrize("use", ["df.to_csv + A()", "A() + df.to_csv", "x = A()\nx += df.to_csv"])
def test_an_operator_that_does_more_than_to_compute_gets_no_method(
    body: str, use: str, tmp_path: Path
) -> None:
    code = f"{TABLE}class A:\n    def __add__(self, other):\n        {body}\n"
    code += "    def __radd__(self, other):\n        return 1\n"
    assert not scan_code("python", code + use, tmp_path).nothing_listed


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n    def __add__(self, *rest):\n        return rest + ()\n(A() + df.to_csv)[0]",
        "class A:\n    def __contains__(self, *rest):\n        self.kept = rest + ()\ndf.to_csv in A()",
        "class A:\n    def __eq__(self, *rest):\n        return rest == 1\ndf.to_csv == A()",
        "class A:\n    def __eq__(self, other):\n        return other + ()\nA() == (df.to_csv, 1)",
        "class A:\n    def __add__(self, other):\n        self.kept = other + ()\nA() + (df.to_csv,)",
        "class A:\n    def __eq__(self, other):\n        return other + ()\n((df.to_csv,),) == (A(),)",
    ],
)
def test_an_operator_does_not_get_a_method_in_a_tuple(code: str, tmp_path: Path) -> None:
    assert not scan_code("python", TABLE + code, tmp_path).nothing_listed


VEC = """
class Vec:
    def __init__(self, x, y=0):
        self.x, self.y = x, y
    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)
    def __sub__(self, other): return Vec(self.x - other.x)
    def __mul__(self, k): return Vec(self.x * k)
    def __rmul__(self, k): return self * k
    def __truediv__(self, k): return Vec(self.x / k)
    def __eq__(self, other): return (self.x, self.y) == (other.x, other.y)
    def __lt__(self, other): return self.x < other.x
    def __neg__(self): return Vec(-self.x)
    def __abs__(self): return (self.x ** 2 + self.y ** 2) ** 0.5
    def __hash__(self): return hash((self.x, self.y))
    def __getitem__(self, i): return (self.x, self.y)[i]
    def __len__(self): return 2
    def __repr__(self): return f'Vec({self.x}, {self.y})'
"""
MONEY = """
from dataclasses import dataclass
@dataclass(frozen=True)
class Money:
    amount: float
    currency: str = 'EUR'
    def __add__(self, other: 'Money') -> 'Money':
        if self.currency != other.currency:
            raise ValueError(f'{self.currency} and {other.currency}')
        return Money(self.amount + other.amount, self.currency)
    def __mul__(self, factor):
        if not isinstance(factor, (int, float)):
            return NotImplemented
        return Money(self.amount * factor, self.currency)
    def __truediv__(self, other): return self.amount / other.amount
"""
FRACTION = """
from math import gcd
from functools import total_ordering
@total_ordering
class Fraction:
    def __init__(self, n, d=1):
        g = gcd(n, d)
        self.n, self.d = n // g, d // g
    def __add__(self, other): return Fraction(self.n * other.d + other.n * self.d, self.d * other.d)
    def __mul__(self, other): return Fraction(self.n * other.n, self.d * other.d)
    def __eq__(self, other): return self.n * other.d == other.n * self.d
    def __lt__(self, other): return self.n * other.d < other.n * self.d
"""
MATRIX = """
class Matrix:
    def __init__(self, rows):
        self.rows = rows
    def __matmul__(self, other):
        return Matrix([
            [sum(row[k] * other.rows[k][j] for k in range(len(row))) for j in range(len(other.rows[0]))]
            for row in self.rows
        ])
    def __iadd__(self, other):
        for i in range(len(self.rows)):
            self.rows[i][0] += other.rows[i][0]
        return self
"""
COLUMNS = f"{TABLE}print(df.price * df.number + df.price, df.price > df.number)"


@pytest.mark.parametrize(
    ("definition", "use"),
    [
        (
            VEC,
            "v = Vec(1)\nv += Vec(2)\nv *= 2\nprint(v + v, 2 * v, v == Vec(1), v < v, {v}, v[0], abs(v))",
        ),
        (
            VEC,
            "def f(a):\n    return len({(p.x, p.y) for p in a}) + len({(p.x, 1): 1 for p in a})",
        ),
        (f"{MOVED}{VEC}", "kept = {'path': p, 'other': p}\nprint({'a': type(p) for _ in [1]})"),
        (VEC, "print(sum([Vec(1), Vec(2)], Vec(0)), sorted([Vec(2), Vec(1)]), Vec(1) in [Vec(2)])"),
        (
            MONEY,
            "total = Money(0)\nfor m in [Money(1), Money(2)]:\n    total += m\nprint(total * 2, m / m)",
        ),
        (FRACTION, "print(Fraction(1, 2) + Fraction(1, 3), Fraction(1) >= Fraction(2))"),
        ("x = 'a'", "x += 'b'\nfor x in [1]:\n    x += 1"),
    ],
)
def test_ordinary_classes_with_operators_have_nothing_listed(
    definition: str, use: str, tmp_path: Path
) -> None:
    earlier = EarlierCode()
    for code in (
        definition,
        use,
        COLUMNS,
        "def f(t):\n    return t.price * t.number",
        definition,
        use,
        "print(1)",
    ):
        findings = scan_code("python", code, tmp_path, earlier)
        assert findings.nothing_listed, (code, findings.sentences, findings.unchecked)
        earlier.add("python", code, tmp_path)


def test_operators_that_take_the_other_value_apart_have_nothing_listed_for_their_own_class(
    tmp_path: Path,
) -> None:
    earlier = EarlierCode()
    use = "m = Matrix([[1]])\nm @= Matrix([[2]])\nm += m\nprint(m.rows, Matrix([[1]]) @ Matrix([[2]]))"
    for code in (MATRIX, use, "print(1)"):
        assert scan_code("python", code, tmp_path, earlier).nothing_listed
        earlier.add("python", code, tmp_path)
    # What they could take out of something else is not known.
    assert not scan_code("python", COLUMNS, tmp_path, earlier).nothing_listed


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
