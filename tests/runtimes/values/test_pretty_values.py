"""Values are shown as IPython lays them out: compared with IPython where it is installed."""

# ruff: noqa: E501 - values of the cells, as they are

import sys
from collections.abc import Iterator

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import play

#: Defines `values`, a list of values of every kind that is printed in its own way.
VALUES = """
import array, collections, dataclasses, datetime, decimal, enum, functools, os, pathlib, random, re, types
from collections import Counter, OrderedDict, UserDict, UserList, defaultdict, deque

class Own:
    def _repr_pretty_(self, p, cycle):
        with p.group(4, "Own(", ")"):
            for number, item in p._enumerate(range(30)):
                if number:
                    p.text(","); p.breakable()
                p.pretty([item] * 3)
class Recursive:
    def __init__(self): self.inner = [self]
    def _repr_pretty_(self, p, cycle):
        p.text("Recursive(...)") if cycle else p.pretty(self.inner)
class Indented:
    def _repr_pretty_(self, p, cycle):
        with p.indent(3):
            p.text("first"); p.break_(); p.text("second"); p.break_(); p.pretty({"k": list(range(40))})
class Lines:
    def __repr__(self): return "one\\ntwo\\nthree"
class Plain: pass
class Meta(type):
    def __repr__(cls): return "metaclass's own"
class Made(metaclass=Meta): pass
class MyList(list): pass
class MyTuple(tuple): pass
class MyDict(dict): pass
class MySet(set): pass
class MyFrozenSet(frozenset): pass
class MyCounter(Counter): pass
class MyInt(int): pass
class MyError(Exception): pass
class Proxy:
    @property
    def __class__(self): return dict
    def keys(self): return ["k"]
    def __getitem__(self, key): return 5
class Loud:
    def __getattr__(self, name): return lambda *args: "loud"
Point = collections.namedtuple("Point", "x y")
Color = enum.Enum("Color", "red green")
Number = enum.IntEnum("Number", "one two")
Flags = enum.Flag("Flags", "a b")
@dataclasses.dataclass
class Data:
    name: str = "n" * 60
    items: list = dataclasses.field(default_factory=lambda: list(range(20)))
@dataclasses.dataclass(repr=False)
class Silent:
    name: str = "n"
def function(a, *b, c: int = 3, **d) -> list: "A function."
loop, knot = [1], {}
loop.append(loop); knot["k"] = [knot]
ring = defaultdict(list); ring["r"].append(ring)
order = OrderedDict(a=1); order["o"] = order
queue = deque([1]); queue.append(queue)
space = types.SimpleNamespace(a=1); space.s = space

long = ["a" * size for size in (5, 30, 40, 80, 3)]
values = [
    1, True, None, ..., NotImplemented, 2.5, 1e300, float("nan"), 1j, "text", "q" * 200, "two\\nlines", b"b" * 90,
    [], (), {}, set(), frozenset(), [[]], ((),), (1,), ((1,),), [()] * 40, {1: {}}, [set(), frozenset()],
    list(range(20)), list(range(30)), tuple(range(60)), set(range(50)), frozenset(range(50)), list(range(1200)),
    list(range(999)), list(range(1000)), list(range(1001)), set(range(1500)), {n: n for n in range(1100)},
    {"b", "a", "c"}, {3, "a", None}, {(2, 1), (1, 2)}, {1: 2, "a": [3]}, {"z": 1, "a": 2}, {frozenset("ab"), frozenset("c")},
    long, tuple(long), {text: long for text in long}, [long, long], {tuple(long): tuple(long)}, {"k" * 70: "v" * 70},
    {("a" * 30, "b" * 30): ("c" * 30, "d" * 30)}, [{("a" * 39, "b"): ("c" * 40, "d" * 50, "e" * 60)}, 1],
    [("x" * 100, 1), 2], [[["y" * 90]]], {"a": {"b": {"c": list(range(40))}}}, [1, [2, [3, [4, list(range(30))]]]],
    Counter("abracadabra" * 3), Counter(), Counter({n: n for n in range(30)}), OrderedDict(), OrderedDict(a=1, b=2),
    OrderedDict((n, "v" * n) for n in range(15)), defaultdict(list), defaultdict(int, {n: n for n in range(30)}),
    defaultdict(function), defaultdict(Plain), deque(), deque([1, 2], 5), deque(range(40)), deque(range(40), 50),
    UserList(range(40)), UserDict({"a": 1}), collections.ChainMap({"a": 1}, {}), array.array("i", range(50)),
    types.MappingProxyType({n: "v" * n for n in range(12)}), types.SimpleNamespace(), types.SimpleNamespace(a=1, b=list(range(40))),
    range(5), slice(1, 2), iter([]).__class__, dict(a=1).keys(), {n: n for n in range(40)}.values(), {1: 2}.items(),
    int, list, Plain, Made, Meta, Point, Color, Data, type, object, collections.OrderedDict, pathlib.Path,
    function, len, print, dict.fromkeys, "a".upper, Own()._repr_pretty_, lambda x, y=2: x, functools.partial(function, 1),
    function.__get__(1), os.path.join, random.random, random.Random.random, property(function), staticmethod(function), max,
    ValueError(), ValueError("v" * 70, list(range(20))), MyError("mine"), KeyError("k"), OSError(2, "No such"), ExceptionGroup("g", [KeyError(1)]),
    [KeyError], re.compile("a+"), re.compile(r"\\s\\\\", re.I | re.M), re.compile(b"b"), re.match("a", "a"),
    datetime.datetime(2020, 1, 2), datetime.date(2020, 1, 2), datetime.timedelta(days=2), datetime.timezone.utc, decimal.Decimal("1.50"),
    pathlib.PurePosixPath("a/b"), Point(1, [2] * 40), [Point(n, n) for n in range(12)], Color.red, Number.two, Flags.a | Flags.b, list(Color),
    Data(), [Data()] * 2, Silent().name, Own(), [Own(), Own()], Recursive(), Indented(), [Indented()], Lines(), [Lines(), Lines()],
    {"k": Lines()}, MyList(range(40)), MyTuple((1,)), MyDict(a=1), MySet(), MySet([2, 1]), MyFrozenSet([2, 1]), MyCounter("aab"), MyInt(5),
    Proxy(), Loud(), [Loud()], loop, knot, ring, order, queue, space, super(MyList, MyList()), os, __name__, Warning,
    NotImplementedError, memoryview(b"m").readonly, bytearray(b"x" * 90), [bytearray(b"x" * 90)] * 2, (n for n in [1]).__class__,
]
def build(depth, choose):
    kind = choose.randrange(9 if depth else 3)
    if kind == 0: return choose.randrange(10 ** choose.randrange(1, 30))
    if kind <= 2: return choose.choice("abc") * choose.randrange(45)
    many = [build(depth - 1, choose) for _ in range(choose.randrange(7))]
    if kind == 3: return tuple(many)
    if kind == 4: return {str(item): item for item in many}
    if kind == 5: return {(item, n): many for n, item in enumerate(map(str, many))}
    if kind == 6: return deque(many)
    if kind == 7: return defaultdict(list, enumerate(many))
    return many
choose = random.Random(14)
values += [build(5, choose) for _ in range(300)]
"""
COMPARE = """
from IPython.lib.pretty import pretty
ours = get_ipython().display_formatter
for value in values:
    found, wanted = ours.format(value)[0]["text/plain"], pretty(value)
    if found != wanted:
        print(type(value), found, wanted, sep="\\n")
len(values) > 450
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    computer = Computer(cwd=tmp_path_factory.mktemp("pretty"), python=sys.executable)
    # It belongs to all tests, not to the one that comes first.
    assert play(computer, "python", "None").state == "finished"
    yield computer
    computer.close()


def test_values_have_the_text_that_ipython_gives_them(python: Computer) -> None:
    pytest.importorskip("IPython", reason="IPython is not installed")
    assert play(python, "python", VALUES).state == "finished"
    assert play(python, "python", COMPARE).text == "True\n"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("{'b', 'a'}", "{'a', 'b'}\n"),
        ("['a' * 40, 'b' * 40]", f"['{'a' * 40}',\n '{'b' * 40}']\n"),
        ("int, len", "(int, <function len(obj, /)>)\n"),
        ("display({1: 'a' * 40, 2: 'b' * 40})", f"{{1: '{'a' * 40}',\n 2: '{'b' * 40}'}}\n"),
        ("%precision 2\n[0.123, {'k': 4.567}]", "[0.12, {'k': 4.57}]\n"),
        ("%precision\n[0.123]", "[0.123]\n"),
        (
            "class Bad:\n  def __repr__(self): return 'bad'\n  def _repr_pretty_(self, p, c): 1 / 0\n[Bad()]",
            "[bad]\n",
        ),
    ],
)
def test_no_ipython_is_needed_for_it(python: Computer, code: str, text: str) -> None:
    hide = "import sys\nsys.modules['IPython'] = sys.modules['IPython.lib.pretty'] = None"
    assert play(python, "python", hide).state == "finished"
    assert play(python, "python", code).text == text
    undo = "%precision\ndel sys.modules['IPython'], sys.modules['IPython.lib.pretty']"
    assert play(python, "python", undo).text == ""


def test_functions_of_the_program_print_values_within_others(python: Computer) -> None:
    code = """class Mine: pass
plain = get_ipython().display_formatter.formatters['text/plain']
plain.for_type(Mine, lambda value, p, cycle: p.text('mine'))
[Mine(), (Mine(),)]"""
    assert play(python, "python", code).text == "[mine, (mine,)]\n"
