"""Completions from live JavaScript, Ruby and shells; those of Python and R have files of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.completions import CompletionSet
from tests.runtimes.playing import play

JAVASCRIPT = """
const sales = [{ region: "n", amount: 3 }];
const größe = 5, maße = { breite: 1 };
const conf = { colour: { text: "red", "odd key": 1 }, get live() { console.log("EVIL"); return 1; } };
class Account {
  constructor(owner, limit = 10) { this.owner = owner; }
  deposit(amount, note = "") {}
  get balance() { console.log("EVIL"); return 1; }
}
const account = new Account("Ada");
function add_up(first, second = 2, ...rest) {}
const proxy = new Proxy({ a: 1 }, { ownKeys() { console.log("EVIL"); return []; } });
"""
RUBY = """
sales = [{ region: "n", amount: 3 }]
conf = { colour: { text: "red" }, "odd key" => 1 }
class Account
  attr_reader :owner
  LIMIT = 3
  def initialize(owner, limit = 10) = @owner = owner
  def deposit(amount, *rest, times: 1) = puts("EVIL")
  def self.open(name) = 1
end
class Nosy
  def methods(*) = (puts "EVIL"; [])
  def respond_to?(*) = puts("EVIL")
  def class = puts("EVIL")
end
account = Account.new("Ada")
nosy = Nosy.new
def add_up(first, second = 2) = first
@field = 5
"""
SHELL = """
deploy_all() { :; }
deploy_to=north
mkdir -p inner; cd inner; touch 'my file.txt' notes.md "it's"; mkdir sub; ln -s circle circle
"""
NODE, RUBY_HERE = pytest.mark.needs("node"), pytest.mark.needs("ruby")
PHP_HERE = pytest.mark.needs("php")
DEPOSITS = "table of 2 keys"
LUA = """
sales = { { item = "n", amount = 3 } }
conf = { colour = { text = "red" }, f = function(first, ...) end }
lazy = setmetatable({}, { __index = function() print("EVIL") return 1 end })
class = { }; class.__index = class; function class:deposit(amount) end
account = setmetatable({ owner = "Ada" }, class)
text = "abc"
"""
PERL = """
package Account; sub deposit { print "EVIL" }
sub new { my ($class) = @_; return bless { owner => 'Ada' }, $class }
package Savings; our @ISA = ('Account'); sub rate { 1 }
package Nosy; sub TIEHASH { bless {}, shift } sub FETCH { print "EVIL" } sub FIRSTKEY { print "EVIL" }
package main;
my @sales = ({ region => 'n', amount => 3 });
my %conf = (colour => { text => 'rote Grüße' }, size => 3);
my $ref = { deep => [1, { inner => 'x' }] };
my $account = Savings->new;
our %nosy;
tie %nosy, 'Nosy';
sub add_up { return 1 }
"""
PHP = """
class Account {
  public $owner = ['name' => 'Ada']; private $pin = 5; const LIMIT = 3; static $count = 0;
  function __construct($owner = '') {}
  static function open(string $name): self { return new self; }
  function deposit(int $amount, $note = '', ...$rest) {}
  function __get($name) { echo 'EVIL'; }
}
function add_up(int $first, &$second = 2) { return 1; }
const RATE = 1.5;
$sales = [['region' => 'n', 'amount' => 3]];
$account = new Account;
$when = new DateTime('2020-01-01');
"""
SETUP = {"javascript": JAVASCRIPT, "ruby": RUBY, "shell": SHELL, "lua": LUA, "perl": PERL, "php": PHP}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file."""
    folder = tmp_path_factory.mktemp("completion")
    (folder / "data").mkdir()
    (folder / "data" / "prices.csv").touch()
    return folder


@pytest.fixture(scope="module")
def computer(folder: Path) -> Iterator[Computer]:
    """A computer whose languages, those that are here, remember a few values."""
    computer = Computer(cwd=folder)
    for language, code in SETUP.items():
        if not computer.explain_missing(language):
            assert play(computer, language, code).state == "finished"
    yield computer
    computer.close()


def complete(computer: Computer, language: str, before: str) -> CompletionSet:
    found = computer.inspector.complete(language, before)
    assert found is not None
    return found


@pytest.mark.needs("node")
@pytest.mark.parametrize(
    ("before", "typed", "offers"),
    [
        ("sal", 3, {"sales": "Array of 1"}),
        ("sales[0].", 0, {"region": '"n"', "amount": "3"}),
        ("f(conf.colour.", 0, {"text": '"red"'}),
        ('conf.colour["odd', 3, {"odd key": "1"}),
        ("account.", 0, {"owner": '"Ada"', "deposit": "function deposit", "balance": ""}),
        ('account.owner.toUpperC', 8, {"toUpperCase": "function toUpperCase"}),
        ("JSON.", 0, {"parse": "function parse", "stringify": "function stringify"}),
        ('require("cry', 3, {"crypto": "module"}),
        ('fs.readFileSync("data/', 5, {"data/prices.csv": ""}),
        ("`${conf.colour.", 0, {"text": '"red"'}),
        ("process.versio", 6, {"version": None, "versions": None}),
        ("process.env.HOM", 3, {"HOME": "variable of the environment"}),
        ("Buffer.isB", 3, {"isBuffer": "function isBuffer"}),
        ("conf.live.", 0, {}),
        ("proxy.", 0, {}),
        ("nothing.such", 4, {}),
        ("// it's ", 0, {}),
        ("// conf.", 0, {}),
        ("conf\n  // its colour\n  .colour\n  .te", 2, {"text": '"red"'}),
        ("größ", 4, {"größe": "5"}),
        ("maße.br", 2, {"breite": "1"}),
        ("import x from 'node:readl", 10, {"node:readline": "module", "node:readline/promises": "module"}),
        ("awai", 4, {"await": ""}),
    ],
)  # fmt: skip
def test_javascript_is_completed(
    computer: Computer, before: str, typed: int, offers: dict[str, str | None]
) -> None:
    found = complete(computer, "javascript", before)
    assert (found.typed, [item.text for item in found.found]) == (typed, list(offers))
    assert all(offers[item.text] in (item.facts, None) for item in found.found)


@pytest.mark.needs("ruby")
@pytest.mark.parametrize(
    ("before", "typed", "offers"),
    [
        ("sal", 3, {"sales": "Array of 1"}),
        ("sales.filter_", 7, {"filter_map": ""}),
        ("conf[:colour][:", 0, {"text": '"red"'}),
        ('conf["', 0, {"odd key": "1"}),
        ("account.", 0, {"owner": "", "deposit": "(amount, *rest, times: …)"}),
        ("Account.", 0, {"new": "", "open": "(name)"}),
        ("Account::", 0, {"LIMIT": "", "new": "", "open": "(name)"}),
        ("[1, 2].take_", 5, {"take_while": ""}),
        ('"abc".start', 5, {"start_with?": ""}),
        ("3.tim", 3, {"times": ""}),
        ("@f", 2, {"@field": "5"}),
        ('File.read("data/', 5, {"data/prices.csv": ""}),
        ("nosy.", 0, {}),
        ("row.fi", 2, {}),
        ("# it's ", 0, {}),
        ("x = 1 # sal", 0, {}),
        ("=begin\nsal", 0, {}),
        ("unles", 5, {"unless": ""}),
    ],
)
def test_ruby_is_completed(computer: Computer, before: str, typed: int, offers: dict[str, str]) -> None:
    found = complete(computer, "ruby", before)
    assert (found.typed if offers else typed, {item.text: item.facts for item in found.found}) == (
        typed,
        offers,
    )


@pytest.mark.needs("lua5.4")
@pytest.mark.parametrize(
    ("before", "typed", "offers"),
    [
        ("sal", 3, {"sales": "table of 1"}),
        ("print(conf.colour.", 0, {"text": '"red"'}),
        (
            "account:",
            0,
            {"owner": '"Ada"', "deposit": "function(self, amount)", "__index": "table of 2 keys"},
        ),
        ("text:rev", 3, {"reverse": "function"}),
        ("string.rep", 3, {}),
        ("math.hu", 2, {"huge": "inf"}),
        ("lazy.", 0, {}),
        ("-- sal", 0, {}),
        ("repea", 5, {"repeat": ""}),
    ],
)
def test_lua_is_completed(computer: Computer, before: str, typed: int, offers: dict[str, str]) -> None:
    found = complete(computer, "lua", before)
    assert (found.typed, {item.text: item.facts for item in found.found}) == (typed, offers)


@pytest.mark.needs("lua5.4")
def test_lua_lists_its_variables(computer: Computer) -> None:
    complete(computer, "lua", "")
    listed = {item.name: item.summary for item in computer.inspector.read_variables("lua")}
    assert listed["conf"] == "table of 2 keys"
    assert "print" not in listed
    detail = computer.inspector.inspect("lua", "sales")
    assert detail
    assert detail.preview == '{\n  {\n    amount = 3,\n    item = "n"\n  }\n}'


@pytest.mark.needs("perl")
@pytest.mark.parametrize(
    ("before", "typed", "offers"),
    [
        ("push @sa", 2, {"sales": "array of 1"}),
        ("my $first = $sal", 3, {"sales": "array of 1"}),
        ("keys %co", 2, {"conf": "hash of 2 keys"}),
        ("$conf{", 0, {"colour": "hash of 1 key", "size": "3"}),
        ("$conf{colour}{'te", 2, {"text": "'rote Grüße'"}),
        ("$sales[0]{", 0, {"amount": "3", "region": "'n'"}),
        ("$ref->{deep}[1]{", 0, {"inner": "'x'"}),
        ("print $account->de", 2, {"deposit": "method of Account"}),
        (
            "Savings->",
            0,
            {"deposit": "method of Account", "new": "method of Account", "rate": "method of Savings"},
        ),
        ('"an $acc', 3, {"account": "Savings object"}),
        ("ad", 2, {"add_up": "sub"}),
        ("wantar", 6, {"wantarray": ""}),
        ("$nosy{", 0, {}),
        ("$conf{size}{", 0, {}),
        ("# ad", 0, {}),
        ('print "ad', 2, {}),
    ],
)
def test_perl_is_completed(computer: Computer, before: str, typed: int, offers: dict[str, str]) -> None:
    found = complete(computer, "perl", before)
    assert (found.typed, {item.text: item.facts for item in found.found}) == (typed, offers)


@pytest.mark.needs("php")
@pytest.mark.parametrize(
    ("before", "typed", "offers"),
    [
        ("echo $sa", 2, {"sales": "array of 1"}),
        ("$sales[0]['am", 2, {"amount": "3"}),
        ('"sum: {$account->', 0, {"owner": "array of 1", "deposit": "(int $amount, $note = …, ...$rest)"}),
        ("$account->owner['", 0, {"name": '"Ada"'}),
        ("Account::", 0, {"open": "(string $name): self", "$count": "", "LIMIT": ""}),
        ("$x = new Acco", 4, {"Account": "class"}),
        ("$when->form", 4, {"format": "(string $format)"}),
        ("RAT", 3, {"RATE": "1.5"}),
        ("echo add_", 4, {"add_up": "(int $first, &$second = …)"}),
        ("str_conta", 9, {"str_contains": "function"}),
        ("foreac", 6, {"foreach": ""}),
        ("fopen('data/", 5, {"data/prices.csv": ""}),
        ("<?= 1 ?><b>$sa", 0, {}),
        ("<b><?= $sa", 2, {"sales": "array of 1"}),
        ("$nothing->", 0, {}),
        ("// $sa", 0, {}),
    ],
)
def test_php_is_completed(computer: Computer, before: str, typed: int, offers: dict[str, str]) -> None:
    found = complete(computer, "php", before)
    assert (found.typed, {item.text: item.facts for item in found.found}) == (typed, offers)


@pytest.mark.needs("bash")
@pytest.mark.parametrize(
    ("before", "typed", "offers"),
    [
        ("depl", 4, {"deploy_all": "function"}),
        ("echo $depl", 4, {"deploy_to": "north"}),
        ("cd /tmp && depl", 4, {"deploy_all": "function"}),
        ("cat my", 2, {r"my\ file.txt": ""}),
        (r"cat my\ f", 5, {r"my\ file.txt": ""}),
        ('cat "my f', 4, {"my file.txt": ""}),
        ("cat ./no", 4, {"./notes.md": ""}),
        ("cat ../data/", 8, {"../data/prices.csv": ""}),
        ("cat <no", 2, {"notes.md": ""}),
        ("cat it", 2, {r"it\'s": ""}),
        ("ls su", 2, {"sub/": ""}),
        ("x=1; cat # no", 0, {}),
    ],
)
def test_shells_are_completed(computer: Computer, before: str, typed: int, offers: dict[str, str]) -> None:
    found = complete(computer, "shell", before)
    assert (found.typed, {item.text: item.facts for item in found.found}) == (typed, offers)


@pytest.mark.needs("bash")
def test_programs_are_completed_in_the_place_of_a_command(computer: Computer) -> None:
    for before in ("bas", "true; bas", "x=1 bas", "if bas", "echo $(bas", "sudo bas"):
        assert ("bash", "program") in {
            (item.text, item.facts) for item in complete(computer, "shell", before).found
        }
    assert "bash" not in [item.text for item in complete(computer, "shell", "echo bas").found]


@pytest.mark.parametrize(
    ("language", "before", "note"),
    [
        pytest.param("javascript", "add_up(1, ", "add_up(first, second = 2, ...rest)", marks=NODE),
        pytest.param("javascript", "new Account(", "Account(owner, limit = 10)", marks=NODE),
        pytest.param("ruby", "add_up(1, ", "add_up(first, second = …)", marks=RUBY_HERE),
        pytest.param("ruby", "Account.new(", "Account.new(owner, limit = …)", marks=RUBY_HERE),
        pytest.param("php", "add_up(1, ", "add_up(int $first, &$second = …)", marks=PHP_HERE),
        pytest.param("php", "new Account(", "Account($owner = …)", marks=PHP_HERE),
        pytest.param(
            "php", "str_contains($a, ", "str_contains(string $haystack, string $needle): bool", marks=PHP_HERE
        ),
        pytest.param("ruby", "account.deposit(", "account.deposit(amount, *rest, times: …)", marks=RUBY_HERE),
    ],
)
def test_the_function_that_is_called_is_shown(
    computer: Computer, language: str, before: str, note: str
) -> None:
    assert complete(computer, language, before).note == note


@pytest.mark.parametrize(
    ("language", "code"),
    [
        pytest.param("javascript", "console.log('1')", marks=NODE),
        pytest.param("ruby", "puts 1", marks=RUBY_HERE),
        pytest.param("perl", 'print "1\\n"', marks=pytest.mark.needs("perl")),
    ],
)
def test_no_code_of_the_program_ran_for_it(computer: Computer, language: str, code: str) -> None:
    for before in ("account.", "conf.", "proxy.", "nosy.", "$nosy{", "$account->"):
        complete(computer, language, before)
    assert play(computer, language, code).text == "1\n"
