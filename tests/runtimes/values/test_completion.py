"""Completions of code from the live Python process."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.messages import Printed
from oi_tui.runtimes import Computer
from oi_tui.runtimes.completions import CompletionSet, cut_code_to_complete, read_completions
from tests.runtimes.playing import play

SETUP = """
import collections, os, pandas
sales = pandas.DataFrame({"region": ["north"], "net total": [1.5], "amount": [2]})
settings = {"colour": {"text": "red", "border": 1}, "contrast": 3, 7: "no text"}
rows = [{"first": 1}]
calls = []

class Account:
    "An account."

    kind = "private"

    def __init__(self, owner, *, limit=100):
        self.owner = owner

    @property
    def balance(self):
        calls.append("balance")
        return 1

    def __getattr__(self, name):
        calls.append(name)
        raise AttributeError(name)

    def deposit(self, amount, note="none", times=calls):
        "Add an amount.\\n\\nReturns nothing."

account = Account("Ada")

class Nosy(dict):
    def __getattribute__(self, name):
        calls.append(name)
        return dict.__getattribute__(self, name)

    def __len__(self):
        calls.append("len")
        return 1

    def items(self):
        calls.append("items")

nosy = Nosy(key=1)
nosy_owner = Account(nosy)
wide = pandas.DataFrame([range(20_000)], columns=[f"col{n}" for n in range(20_000)])
many = {f"key{n}": n for n in range(100_000)}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few files."""
    folder = tmp_path_factory.mktemp("completion")
    (folder / "data").mkdir()
    (folder / "data" / "prices.csv").touch()
    (folder / "dates.txt").touch()
    (folder / "two words.txt").touch()
    (folder / "circle").symlink_to("circle")
    return folder


@pytest.fixture(scope="module", params=["local", "command:env"])
def python(folder: Path, request: pytest.FixtureRequest) -> Iterator[Computer]:
    """A computer whose Python, here or on a remote host, remembers a few values."""
    computer = Computer(cwd=folder, python=sys.executable, target=request.param)
    assert play(computer, "python", SETUP).state == "finished"
    yield computer
    computer.close()


def complete(python: Computer, before: str) -> CompletionSet:
    found = python.inspector.complete("python", before)
    assert found is not None
    return found


def texts(python: Computer, before: str) -> list[str]:
    return [item.text for item in complete(python, before).found]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("sal", ["sales"]),
        ("x = acc", ["account"]),
        ("collections.Ordered", ["OrderedDict"]),
        ("account.", ["balance", "deposit", "kind", "owner"]),
        ("account.dep", ["deposit"]),
        ("Account.ki", ["kind"]),
        ("account.owner.upp", ["upper"]),
        ("settings['co", ["colour", "contrast"]),
        ('settings["colour"]["', ["text", "border"]),
        ("rows[0]['", ["first"]),
        ("sales['n", ["net total"]),
        ("sales[['region', 'a", ["amount"]),
        ("sales.loc[:, 'am", ["amount"]),
        ("sales.groupby('reg", ["region"]),
        ("sales.sort_values(by=['reg", ["region"]),
        ("sales.amo", ["amount"]),
        ("sales.query('amount > 1 and reg", ["region"]),
        ("sales.query('ne", []),
        ("sales.query('amount > 1 and `ne", ["net total"]),
        ("sales.query('`net total` > 1 or am", ["amount"]),
        ("wide['col1999", [f"col1999{n}" for n in range(10)]),
        ("wide.col1999", [f"col1999{n}" for n in range(10)]),
        ("many['KEY9999", ["key9999", *(f"key9999{n}" for n in range(10))]),
        ("%%bash\nsal", []),
        ("%%bash\ncat <<END\nsales.am", []),
        ("sales.", ["amount", "region", "abs"]),
        ("sales['region'].str.capital", ["capitalize"]),
        ("open('dat", ["data/", "dates.txt"]),
        ("pandas.read_csv('data/p", ["prices.csv"]),
        ("import collections.ab", ["abc"]),
        ("from collections import Chain", ["ChainMap"]),
        ("import json, sqli", ["sqlite3"]),
        ("Account('Ada', li", ["limit="]),
        ("account.deposit(1, no", ["note="]),
        ("total_of_all = 1\nprint(total_o", ["total_of_all"]),
        ("SAL", ["sales"]),
        ("# sal", []),
        ("'sal", []),
        ("missing.", []),
        ("account.balance.", []),
        ("account.other.", []),
        ("print(1).", []),
        ("1.", []),
        ("x = ", []),
        ("'''\nsal", []),
    ],
)
def test_what_may_follow_is_offered(python: Computer, before: str, expected: list[str]) -> None:
    assert texts(python, before)[: len(expected) or None] == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("parted['", ["top", "low"]),
        ("parted.", ["low", "top", "abs"]),
        ("parted['top'].", ["x", "abs"]),
        ("grouped['", ["region", "net total", "amount"]),
        ("labelled['", ["a", "b"]),
        # What has no names has no files either; a function's argument may be one.
        ("numbers['d", []),
        ("numbers.append('dat", ["data/", "dates.txt"]),
    ],
)
def test_parts_of_names_and_columns_of_groups_are_offered(
    python: Computer, before: str, expected: list[str]
) -> None:
    code = """
parted = pandas.DataFrame([[1, 2]], columns=pandas.MultiIndex.from_tuples([("top", "x"), ("low", "y")]))
grouped = sales.groupby("region")
labelled = pandas.Series([1, 2], index=pandas.MultiIndex.from_tuples([("a", 1), ("b", 2)]))
numbers = [1, 2]
"""
    assert play(python, "python", code).state == "finished"
    assert texts(python, before)[: len(expected) or None] == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        # What has the same columns has them after the call, too.
        ("sales[sales['amount'] > 1].", ["amount", "region", "abs"]),
        ("sales.head().", ["amount", "region", "abs"]),
        ("sales.query('amount > (1').sort_values('amount').", ["amount", "region", "abs"]),
        ("sales.loc[0:1].", ["amount", "region", "abs"]),
        ("(sales\n .dropna()\n .", ["amount", "region", "abs"]),
        ("sales.head().groupby('reg", ["region"]),
        ("sales.describe().amou", []),
        ("sales.describe().transpos", ["transpose"]),
        ("sales.groupby('region').ngro", ["ngroup", "ngroups"]),
        ("sales.groupby('region')['amount'].nlarg", ["nlargest"]),
        ("sales.groupby('region').agg(fu", ["func="]),
        ("pandas.read_csv('x').transpos", ["transpose"]),
        ("sales.loc[:, 'region'].str.capital", ["capitalize"]),
        ("Account('Bob').dep", ["deposit"]),
        ("[1].app", ["append"]),
        ("{n: 1 for n in rows}.upd", ["update"]),
        ("'text'.upp", ["upper"]),
        ("f'{sales.amo", ["amount"]),
        ("f'{rows} {settings[\"co", ["colour", "contrast"]),
        ('f"""{x}\n{sal', ["sales"]),
        ("f'{{sales.amo", []),
        ("f'{rows} sal", []),
        ("'{sales.amo", []),
        ("%timei", ["timeit"]),
        ("%%bas", ["bash"]),
        ("x = 1\n  %pw", ["pwd"]),
        ("x = 1\n%%bas", []),
        ("rows %sal", ["sales"]),
    ],
)
def test_what_follows_calls_conditions_and_braces_is_offered(
    python: Computer, before: str, expected: list[str]
) -> None:
    assert texts(python, before)[: len(expected) or None] == expected


MADE = """
import functools, types
import numpy, pandas
sales = pandas.DataFrame({"region": ["north"], "net total": [1.5], "amount": [2]})
total = functools.partial(print, sep=";", flush=True)

@functools.lru_cache
def find(place, depth=1):
    "Find it."

class Adder:
    def __call__(self, left, right=0):
        "Add."
        raise SystemExit

    def __getattr__(self, name):
        raise SystemExit

adder = Adder()
parts = types.SimpleNamespace(first=1, second=2)

def draw(data, x, y=None):
    "Draw."
"""


@pytest.mark.parametrize(
    ("before", "signature"),
    [
        ("numpy.linspace(0, 1, ", "linspace(start, stop, num=50"),
        ("numpy.sin(", "sin(x"),
        ("numpy.random.normal(", "normal(loc=0.0, scale=1.0"),
        ("total(", "print(*args, sep=';', end="),
        ("find(", "find(place, depth=1): Find it."),
        ("adder(", "__call__(left, right=0): Add."),
    ],
)
def test_signatures_of_functions_in_c_and_of_wrapped_ones_are_known(
    python: Computer, before: str, signature: str
) -> None:
    assert play(python, "python", MADE).state == "finished"
    assert complete(python, before).note.startswith(signature)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("parts.", ["first", "second"]),
        # Columns of the table that is given, or of the one that the groups are of.
        ("draw(sales, x='", ["region", "net total", "amount"]),
        ("draw(data=sales, x='am", ["amount"]),
        ("draw(1, sales[sales.amount > 1], ['reg", ["region"]),
        ("pandas.merge(sales, sales, on='re", ["region"]),
        ("sales.groupby('region').agg({'am", ["amount"]),
        ("sales.groupby('region')['am", ["amount"]),
        # Files where a file is meant.
        ("sales.to_csv('dat", ["data/", "dates.txt"]),
        ("draw(1, 'dat", ["data/", "dates.txt"]),
        ("!cat da", ["data/", "dates.txt"]),
        ("x = !ls ./da", ["data/", "dates.txt"]),
        ("%cd da", ["data/", "dates.txt"]),
        ("%run data/pr", ["prices.csv"]),
        ("%%bash\nsort <da", ["data/", "dates.txt"]),
        ("!cat tw", ["two\\ words.txt"]),
        ("!cat two\\ w", ["two\\ words.txt"]),
        ("!cat {sal", ["sales"]),
        ("!cat $sal", ["sales"]),
        ("%timeit sal", ["sales"]),
        ("x = 5 != sal", ["sales"]),
    ],
)
def test_columns_of_arguments_and_files_of_commands_are_offered(
    python: Computer, before: str, expected: list[str]
) -> None:
    assert play(python, "python", MADE).state == "finished"
    assert texts(python, before)[: len(expected)] == expected


def test_a_name_with_a_blank_takes_the_place_of_what_was_typed(python: Computer) -> None:
    assert complete(python, "!cat two\\ w").typed == len("two\\ w")


def test_fields_of_pydantic_are_arguments(python: Computer) -> None:
    pytest.importorskip("pydantic", reason="pydantic is not installed")
    code = "import pydantic\nclass Model(pydantic.BaseModel):\n    alpha: int\n    beta: str = 'x'"
    assert play(python, "python", code).state == "finished"
    assert texts(python, "Model(") == ["alpha=", "beta="]


def test_no_code_of_the_program_runs_for_a_completion(python: Computer) -> None:
    for before in ("account.", "account.balance.", "account.nothing.", "account.deposit(", "account['"):
        complete(python, before)
    for before in (
        "nosy",
        "nosy.",
        "nosy.own",
        "nosy[",
        "nosy(",
        "nosy_owner.owner.",
        "nosy_owner.",
        "nosy.len(",
        "nosy.items().",
        "calls.append(1).",
        "calls.append(1)[0].",
        "account.deposit(1).",
        "Account(1).balance.",
        "Nosy(key=1).",
        "Nosy(key=1)['",
        "f'{account.balance.",
        "f'{nosy.items().",
    ):
        complete(python, before)
    assert texts(python, "nosy['") == ["key"]
    played = play(python, "python", "print(calls)")
    assert "".join(item.text for _, item in played.reports if isinstance(item, Printed)).strip() == "[]"


def test_nothing_is_printed_for_a_completion(python: Computer) -> None:
    code = (
        "import warnings\n"
        "def warn(self):\n    warnings.warn('outdated', FutureWarning)\n    return 'text'\n"
        "pandas.DataFrame.outdated = property(warn)\n"
    )
    assert play(python, "python", code).state == "finished"
    assert "upper" in texts(python, "sales.outdated.")
    played = play(python, "python", "del pandas.DataFrame.outdated")
    assert played.text == ""


def test_a_call_is_described_with_its_signature_and_documentation(python: Computer) -> None:
    found = complete(python, "account.deposit(")
    assert found.note == "deposit(amount, note='none', times=...): Add an amount."
    assert [(item.text, item.facts) for item in found.found] == [
        ("amount=", "argument"),
        ("note=", "'none'"),
        ("times=", "..."),
    ]
    assert complete(python, "account.deposit(amount=1,").found[0].text == "note="
    assert "*, limit=100" in complete(python, "Account(").note
    assert complete(python, "acc").found[0].facts == "Account"
    assert complete(python, "sal").found[0].facts == "DataFrame 1x3"
    assert complete(python, "sales['n").typed == 1


def test_nothing_is_offered_while_the_language_runs_or_before_it_was_started(folder: Path) -> None:
    computer = Computer(cwd=folder, python=sys.executable)
    try:
        assert not computer.inspector.can_complete("python")
        assert computer.inspector.complete("python", "pri") is None
        assert play(computer, "python", "1").state == "finished"
        assert computer.inspector.can_complete("python")
        running = threading.Event()

        def run() -> None:
            for report in computer.run("python", "print('begun')\nimport time\ntime.sleep(60)"):
                if isinstance(report, Printed):
                    running.set()

        thread = threading.Thread(target=run)
        thread.start()
        assert running.wait(20)
        assert not computer.inspector.can_complete("python")
        assert computer.inspector.complete("python", "pri") is None
        computer.interrupt()
        thread.join(20)
        assert not thread.is_alive()
        assert computer.inspector.complete("python", "prin").found[0].text == "print"  # type: ignore[union-attr]
    finally:
        computer.close()


def test_long_code_is_sent_in_part() -> None:
    code = "x = 1\n" * 10_000 + "pri"
    assert cut_code_to_complete(code).endswith("x = 1\npri")
    assert cut_code_to_complete(code).startswith("x = 1\n")
    assert len(cut_code_to_complete(code)) <= 8_000
    assert len(cut_code_to_complete("x" * 10_000)) == 8_000


@pytest.mark.parametrize(
    "answer", [{}, {"typed": -1, "offers": []}, {"typed": "1", "offers": []}, {"typed": 1}]
)
def test_an_answer_of_another_form_is_none(answer: dict[str, object]) -> None:
    assert read_completions(answer) is None


def test_texts_that_would_change_the_screen_are_left_out() -> None:
    offers: list[object] = [["a\x1b[2J", "x"], ["b\n", "x"], [1, "x"], "c", ["d", "x"]]
    found = read_completions({"typed": 0, "offers": offers, "note": 3})
    assert found is not None
    assert [item.text for item in found.found] == ["d"]
    assert found.note == ""


def test_a_folder_that_cannot_be_read_has_no_files(python: Computer) -> None:
    assert texts(python, "open('/nonexistent/a") == []


SECRETS = """
db_password = "hunter2"
def log_in(user, api_key="hunter2", retries=3): pass
login = {"password": "hunter2", "user": "ada"}
"""


def test_values_of_secrets_are_not_shown(python: Computer) -> None:
    code = SECRETS + "import getpass\ntyped_answer = getpass.getpass('Key: ')"
    assert play(python, "python", code, answers=("s3cret-words\n",)).state == "finished"
    found = [complete(python, before) for before in ("db_pass", "log_in(", "login['", "typed_ans")]
    assert [item.found[0].text for item in found] == ["db_password", "user=", "password", "typed_answer"]
    assert found[1].note == "log_in(user, api_key=..., retries=3)"
    assert "hunter2" not in str(found)
    assert "s3cret" not in str(found)


@pytest.mark.parametrize(
    ("language", "code", "before"),
    [
        pytest.param("javascript", "let remembered = 5", "f(remem", marks=pytest.mark.needs("node")),
        pytest.param("ruby", "remembered = 5", "puts remem", marks=pytest.mark.needs("ruby")),
        pytest.param("r", "remembered <- 5", "print(remem", marks=pytest.mark.needs("R")),
        pytest.param("shell", "remembered=5", "echo $remem", marks=pytest.mark.needs("bash")),
    ],
)
def test_other_languages_offer_their_variables(
    computer: Computer, language: str, code: str, before: str
) -> None:
    assert not computer.inspector.can_complete(language)
    assert play(computer, language, code).state == "finished"
    assert computer.inspector.can_complete(language)
    found = computer.inspector.complete(language, before)
    assert found is not None
    assert (found.typed, [item.text for item in found.found]) == (5, ["remembered"])
    for other in ("x.remem", "", "remembered", "df$remem", "(df)$remem"):
        assert computer.inspector.complete(language, other).found == ()  # type: ignore[union-attr]


def test_a_call_of_what_the_program_made_runs_none_of_its_code(python: Computer) -> None:
    code = """
import functools
asked = []
class Meta(type):
    def __getattr__(self, name):
        asked.append(name)
        raise SystemExit
class Made(metaclass=Meta):
    pass
class Callable:
    def __getattr__(self, name):
        asked.append(name)
        raise SystemExit
    def __call__(self): ...
def wrapper(price, tax=0): ...
wrapper.__wrapped__ = Callable()
@functools.wraps(wrapper)
def outer(*arguments): ...
@functools.wraps(len)
def plain(*arguments): ...
def inner(colour): ...
@functools.wraps(inner)
def decorated(*arguments): ...
"""
    assert play(python, "python", code).state == "finished"
    assert texts(python, "Made(") == []
    assert texts(python, "wrapper(") == ["price=", "tax="]
    assert texts(python, "outer(") == []
    assert texts(python, "plain(") == []
    assert texts(python, "decorated(") == ["colour="]
    assert "'asked', []" in play(python, "python", "print(('asked', asked))").text


def test_variables_of_a_dataset_are_offered_and_described(python: Computer) -> None:
    pytest.importorskip("xarray", reason="xarray is not installed")
    code = """
import xarray
weather = xarray.Dataset({"wind": ("time", [1.0, 2.0])}, {"time": [0, 1]})
"""
    assert play(python, "python", code).state == "finished"
    assert texts(python, "weather['wi") == ["wind"]
    assert texts(python, "weather.wi") == ["wind"]
    assert texts(python, "weather['wind']['ti") == ["time"]
    found = {item.name: item.summary for item in python.inspector.read_variables("python")}
    assert found["weather"] == "Dataset time=2"


def test_columns_of_geopandas_are_offered_and_described(python: Computer) -> None:
    pytest.importorskip("geopandas", reason="geopandas is not installed")
    code = """
import geopandas
places = geopandas.GeoDataFrame({"city": ["Ulm"]}, geometry=geopandas.points_from_xy([1], [2]))
"""
    assert play(python, "python", code).state == "finished"
    assert texts(python, "places['ci") == ["city"]
    assert texts(python, "places.geo")[0] == "geometry"
    found = {item.name: item.summary for item in python.inspector.read_variables("python")}
    assert found["places"] == "GeoDataFrame 1x2"


def test_expressions_and_columns_of_polars_are_offered(python: Computer) -> None:
    pytest.importorskip("polars", reason="polars is not installed")
    code = (
        "import polars\nprices = polars.DataFrame({'amount': [1], 'net total': [2]})\nlater = prices.lazy()"
    )
    assert play(python, "python", code).state == "finished"
    for before, expected in (
        ("polars.col('amount').is_betw", ["is_between"]),
        ("polars.col('amount').str.to_upper", ["to_uppercase"]),
        ("polars.col('amount').sum().ove", ["over"]),
        ("prices.filter(polars.col.am", ["amount"]),
        ("prices.filter(polars.col.net", []),
        ("prices.lazy().select(polars.col.amount.is_nu", ["is_null"]),
        ("prices.lazy().filter(polars.col('net", ["net total"]),
        ("later.filter(True).with_col", ["with_columns", "with_columns_seq"]),
        ("later.collect().to_panda", ["to_pandas"]),
    ):
        found = texts(python, before)
        assert found[: len(expected) or None] == expected, before
