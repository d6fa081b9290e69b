"""What is not known to be harmless is noticed wherever Python's syntax lets it stand, and at its own line."""

from pathlib import Path

import pytest

from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.findings import Finding
from oi_tui.engine.review.folder import LocalFolder
from oi_tui.engine.review.python import checker as python_checker

#: A call that nobody knows to be harmless, one that everybody does, and a value that may be anything.
STRANGE, HARMLESS, UNKNOWN = "breakpoint()", "len([])", "type(1)"

#: Where an expression may stand, as HOLE; what surrounds it is harmless.
POSITIONS = (
    "HOLE",
    "x = 1\nHOLE",
    "x = HOLE",
    "x = y = HOLE",
    "x = 1\nx += HOLE",
    "class A:\n    x = HOLE",
    "class A:\n    x: int = HOLE",
    "class A:\n    x: HOLE",
    "class A:\n    def f(self):\n        HOLE",
    "class A:\n    def f(self):\n        self.x = HOLE",
    "class A:\n    def f(self, x=HOLE):\n        pass",
    "class A:\n    def f(self, x: HOLE):\n        pass",
    "class A:\n    def f(self) -> HOLE:\n        pass",
    "class A:\n    def f(self, x):\n        pass\nA().f(HOLE)",
    "class A:\n    def __init__(self, x):\n        pass\nA(HOLE).x = 1",
    "class A(Exception):\n    pass\nraise A(HOLE)",
    "x: int = HOLE",
    "x: HOLE = 1",
    "x: HOLE",
    "for x in HOLE:\n    pass",
    "for x in [1]:\n    HOLE",
    "for x in [1]:\n    pass\nelse:\n    HOLE",
    "while HOLE:\n    pass",
    "while False:\n    HOLE",
    "while False:\n    pass\nelse:\n    HOLE",
    "if HOLE:\n    pass",
    "if 1:\n    HOLE",
    "if 1:\n    pass\nelif HOLE:\n    pass",
    "if 1:\n    pass\nelse:\n    HOLE",
    "with HOLE:\n    pass",
    "with open('a.csv') as f:\n    HOLE",
    "try:\n    HOLE\nexcept ValueError:\n    pass",
    "try:\n    pass\nexcept HOLE:\n    pass",
    "try:\n    pass\nexcept ValueError as e:\n    HOLE",
    "try:\n    pass\nexcept ValueError:\n    pass\nelse:\n    HOLE",
    "try:\n    pass\nfinally:\n    HOLE",
    "def f():\n    HOLE",
    "def f():\n    return HOLE",
    "def f():\n    yield HOLE",
    "def f():\n    yield from HOLE",
    "def f(a: HOLE):\n    pass",
    "def f(a=HOLE):\n    pass",
    "def f(*, a=HOLE):\n    pass",
    "def f(*args: HOLE):\n    pass",
    "def f() -> HOLE:\n    pass",
    "def f():\n    def g():\n        HOLE",
    "raise HOLE",
    "raise ValueError from HOLE",
    "assert HOLE",
    "assert 1, HOLE",
    "x = {}\nx[HOLE] = 1",
    "x = {}\ndel x[HOLE]",
    "x = {}\nx[HOLE], y = 1, 2",
    "match HOLE:\n    case 1:\n        pass",
    "match 1:\n    case 1 if HOLE:\n        pass",
    "match 1:\n    case _:\n        HOLE",
    "not HOLE",
    "-HOLE",
    "1 + HOLE",
    "HOLE + 1",
    "1 < HOLE",
    "1 < 2 < HOLE",
    "1 and HOLE",
    "HOLE or 1",
    "1 if HOLE else 2",
    "HOLE if 1 else 2",
    "1 if 2 else HOLE",
    "(1, HOLE)",
    "[HOLE]",
    "{HOLE}",
    "{HOLE: 1}",
    "{1: HOLE}",
    "[*HOLE]",
    "'abc'[HOLE]",
    "'abc'[HOLE:]",
    "'abc'[:HOLE]",
    "'abc'[::HOLE]",
    "f'{HOLE}'",
    "f'{1:{HOLE}}'",
    "(x := HOLE)",
    "lambda: HOLE",
    "lambda a=HOLE: 1",
    "[HOLE for x in [1]]",
    "[1 for x in HOLE]",
    "[1 for x in [1] if HOLE]",
    "{HOLE for x in [1]}",
    "{1: HOLE for x in [1]}",
    "{HOLE: 1 for x in [1]}",
    "{1: 2 for x in HOLE}",
    "list(HOLE for x in [1])",
    "list(1 for x in HOLE)",
    "print(1, HOLE)",
    "print(1, end=HOLE)",
    "print(\n    1,\n    HOLE)",
    "'a'.join(HOLE)",
    "sorted([1], key=HOLE)",
    "(lambda a: 1)(HOLE)",
    "def f(a):\n    pass\nf(HOLE)",
    "def f(a):\n    pass\nf(a=HOLE)",
    "type(HOLE)",
    "'{}'.format(HOLE)",
    "import pandas as pd\npd.read_csv(HOLE)",
    "import pandas as pd\npd.read_csv('a.csv', sep=HOLE)",
    "import pandas as pd\npd.DataFrame(HOLE)",
    "open(HOLE)",
    "open('a.csv', encoding=HOLE)",
    "open('a.csv', HOLE)",
    "open(file=HOLE)",
    "import math\nmath.sqrt(HOLE)",
    "import pandas as pd\ndf = pd.read_csv('a.csv')\ndf.pivot_table(values=HOLE, aggfunc='sum')",
    "import pandas as pd\ndf = pd.read_csv('a.csv')\ndf.agg(HOLE)",
    "import pandas as pd\ndf = pd.read_csv('a.csv')\ndf.groupby('x').filter(HOLE)",
    "import pandas as pd\ndf = pd.read_csv('a.csv')\ndf.assign(z=HOLE)",
)
#: Where a value may stand that is noted whatever it is; an expression in it is noticed all the same.
NOTED_POSITIONS = (
    "@HOLE\ndef f():\n    pass",
    "open('a.csv', 'w', HOLE)",
    "open(HOLE, 'w')",
    "HOLE()",
    "unknown = type(1)\nunknown(HOLE)",
    "unknown = type(1)\nunknown(a=HOLE)",
    "breakpoint(HOLE)",
    "len(breakpoint=HOLE)",
    "len(**HOLE)",
    "import os\nos.listdir('data', HOLE)",
    "import os\nos.listdir(path=HOLE)",
    "import pandas as pd\npd.read_csv('a.csv', HOLE)",
    "def f():\n    HOLE.x = 1",
    "[1][0](HOLE)",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("work")
    (place / "a.csv").write_text("x,y\n1,2\n")
    (place / "data").mkdir()
    return place


def check_code(code: str, folder: Path) -> list[Finding]:
    return list(python_checker.check(code, LocalFolder(folder)))


@pytest.mark.parametrize("position", [*POSITIONS, *NOTED_POSITIONS])
def test_a_strange_call_is_noticed_in_every_position_at_its_line(position: str, folder: Path) -> None:
    if position.startswith("@"):
        position = f"def g():\n    HOLE\n{position.replace('HOLE', 'g')}"
    line = position[: position.index("HOLE")].count("\n") + 1
    noticed = {(item.what, item.line) for item in check_code(position.replace("HOLE", STRANGE), folder)}
    assert ("breakpoint(…)", line) in noticed


#: Positions in which only some expressions are harmless, such as the name of a file.
CHOOSY = (
    "open(HOLE)",
    "open('a.csv', HOLE)",
    "open(file=HOLE)",
    "read_csv(HOLE)",
    "agg(HOLE)",
    "filter(HOLE)",
)


@pytest.mark.parametrize("position", [item for item in POSITIONS if not item.endswith(CHOOSY)])
def test_a_harmless_call_is_not_listed_in_any_position(position: str, folder: Path) -> None:
    assert check_code(position.replace("HOLE", HARMLESS), folder) == []


#: Expressions whose value is only known to be harmless when the value in the hole is.
HOLDERS = (
    "HOLE",
    "[HOLE]",
    "(1, HOLE)",
    "{HOLE}",
    "{HOLE: 1}",
    "{1: HOLE}",
    "[*HOLE]",
    "HOLE or 1",
    "1 and HOLE",
    "(HOLE if 1 else 2)",
    "(1 if 2 else HOLE)",
    "(x := HOLE)",
    "-HOLE",
    "HOLE + 1",
    "1 + HOLE",
    "(1 < HOLE)",
    "HOLE[0]",
    "'abc'[HOLE]",
    "'abc'[HOLE:]",
    "[HOLE for x in [1]]",
    "[x for x in HOLE]",
    "{x for x in HOLE}",
    "{1: x for x in HOLE}",
    "{x: 1 for x in HOLE}",
    "(x for x in HOLE)",
    "(HOLE for x in [1])",
    "(lambda: HOLE)",
    "(lambda a=HOLE: 1)",
    "HOLE.strange",
)
#: Ways by which a value gets into a name or comes out of a function, and from there into `sorted`.
CARRIERS = (
    "x = HOLE\nsorted(x)",
    "x = y = HOLE\nsorted(x)",
    "x, y = HOLE\nsorted(y)",
    "[x, *y] = HOLE\nsorted(y)",
    "x: int = HOLE\nsorted(x)",
    "x = 1\nx += HOLE\nsorted(x)",
    "x = HOLE\nx += 1\nsorted(x)",
    "for x in HOLE:\n    sorted(x)",
    "with HOLE as x:\n    sorted(x)",
    "match HOLE:\n    case x:\n        sorted(x)",
    "match HOLE:\n    case [*x]:\n        sorted(x)",
    "match HOLE:\n    case {**x}:\n        sorted(x)",
    "match HOLE:\n    case [1 as x]:\n        sorted(x)",
    "def f():\n    return HOLE",
    "def f():\n    yield HOLE",
    "def f():\n    yield from HOLE",
    "def f(a=HOLE):\n    pass",
    "def f(a):\n    pass\nf(HOLE)",
    "x = {}\nx[0] = HOLE",
    "x = {}\nx[HOLE] = 1",
    "x = {}\ndel x[HOLE]",
    "x = 1\nif 1:\n    x = HOLE\nsorted(x)",
    "(lambda a: a)(HOLE)",
    "for i in [1, 2]:\n    sorted(x)\n    x = HOLE",
)


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_value_that_may_be_anything_stays_so_in_whatever_holds_it(holder: str, folder: Path) -> None:
    assert check_code(f"sorted({holder.replace('HOLE', UNKNOWN)})", folder) != []


@pytest.mark.parametrize("holder", [item for item in HOLDERS if not item.endswith(".strange")])
def test_a_known_value_stays_known_in_whatever_holds_it(holder: str, folder: Path) -> None:
    assert check_code(f"sorted({holder.replace('HOLE', '1')})", folder) == []


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_value_that_may_be_anything_stays_so_under_any_name(carrier: str, folder: Path) -> None:
    assert check_code(carrier.replace("HOLE", UNKNOWN), folder) != []
    assert check_code(carrier.replace("HOLE", "[1]"), folder) == []


@pytest.mark.parametrize(
    "value",
    [
        "not 1",
        "f'{1}'",
        "f'{1:{2}}'",
        "lambda: 1",
        "[n for n in [1]]",
        "{n: n for n in [1]}",
        "sorted([1])",
        "(lambda: 1)()",
        "'a'.upper()",
        "math.pi",
        "math.sqrt(2)",
        "json",
        "pd.read_csv('a.csv')",
        "open('a.csv')",
        "os.listdir('.')",
        "df.groupby('x').agg('sum')",
        "(yield)",
    ],
)
def test_values_of_harmless_expressions_may_be_handed_on(value: str, folder: Path) -> None:
    before = "import os, math, pandas as pd\njson = 1\ndf = pd.read_csv('a.csv')\n"
    code = f"def f():\n    print({value})" if "yield" in value else f"{before}x = {value}\nprint(x)"
    assert check_code(code, folder) == []


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("def f():\n    class A:\n        pass", "class A"),
        ("import os\nclass A(os.PathLike):\n    pass", "class …(os.PathLike)"),
        ("class A(metaclass=type):\n    pass", "class A(…=…)"),
        ("class A:\n    pass\nx = A", "A as a value"),
        ("class A:\n    def __reduce__(self):\n        pass", "def __reduce__"),
        ("async with x:\n    pass", "asyncwith"),
        ("def f():\n    pass\n@f\ndef g():\n    pass", "@f"),
        ("def f():\n    pass\n@(f or f)\ndef g():\n    pass", "@…"),
        ("x.y.z.strange()", "x.y.z.strange(…)"),
        ("(1).strange()", ".strange(…)"),
        ("x = {}\nx.strange = 1", ".strange = …"),
        ("del x.y", "del …"),
        ("match 1:\n    case int():\n        pass", "a class pattern"),
        ("import strange_" + "x" * 50, "import strange_" + "x" * 24 + "…"),
        ("x._private", "._private"),
        ("[print][0](1)", "a call of a computed function"),
        ("print(*[1], **{})", "**…"),
        ("len([1], strange=1)", "strange=…"),
        ("import os\nos.environ['A'] = '1'", "os.environ[…] = …"),
        ("import pandas as pd\npd.read_csv('a.csv', ',')", "a second argument without a name"),
        ("import os\nos.listdir('a', 'b')", "a list of files"),
        ("import os\nx = [os.strange]", "os.strange"),
        ("eval = 1", "eval as a name"),
    ],
)
def test_what_is_not_known_is_named_in_a_few_words(code: str, what: str, folder: Path) -> None:
    assert what in [item.what for item in check_code(code, folder)]


def test_only_readers_that_follow_addresses_take_one_apart(folder: Path) -> None:
    assert check_code("open('a::b')", folder) == []
    assert check_code("import pandas as pd\npd.read_csv('a::b')", folder) == [Finding("reads", "a::b", 2)]


@pytest.mark.parametrize(
    "statement",
    [
        "import strange",
        "from strange import x",
        "class A(strange.B):\n    pass",
        "del x.y",
        "async with x:\n    pass",
    ],
)
def test_a_statement_that_is_not_known_is_listed_at_its_line(statement: str, folder: Path) -> None:
    assert {item.line for item in check_code(f"a = 1\n\n{statement}", folder)} == {3}


@pytest.mark.parametrize(
    "code",
    ["x = 1\n%prun x", "%%capture\nx = 1", "\n %%time\nx", "x?", "ls data", "a\0b", "x = (", "#" * 100_001],
)
def test_code_that_is_not_plain_python_is_listed_as_a_whole(code: str, folder: Path) -> None:
    assert check_code(code, folder) == [Finding("not understood", "code that is not plain Python", 0)]


def test_the_longest_code_that_is_read_is_read(folder: Path) -> None:
    assert check_code("#" * 100_000, folder) == []
    assert check_code("x = 1 # %%", folder) == []


def test_what_concerns_all_of_the_code_has_no_line(folder: Path) -> None:
    earlier = EarlierCode()
    earlier.add("python", "exec('x')", folder)
    unclear = Finding("not understood", "effects of earlier code", 0)
    assert list(python_checker.check("x = 1", LocalFolder(folder), earlier)) == [unclear]
    (folder / "json.py").write_text("")
    try:
        [found] = python_checker.check("x = 1", LocalFolder(folder))
    finally:
        (folder / "json.py").unlink()
    assert (found.kind, found.line) == ("not understood", 0)
