"""Cells that act, and cells that do not, in every language: the first are listed, the second are not.

The cells are in hostile_cells.txt and harmless_cells.txt. A line `%%%% LANGUAGE KIND` begins each; with a
kind, that kind must be named, and without one something must be listed.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from oi_tui.engine.review import call_search, quoting
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.review.harmless_names import HARMLESS, REACHING
from oi_tui.engine.review.line_rules import PATTERNS
from oi_tui.engine.review.scanner import scan_code

HERE = Path(__file__).parent
FOLDER = Path("/home/ada/sales")


class Cell(NamedTuple):
    language: str
    kind: str
    code: str


def cells(name: str) -> Iterator[Cell]:
    for part in (HERE / name).read_text().split("%%%% ")[1:]:
        header, _, code = part.partition("\n")
        language, _, kind = header.partition(" ")
        yield Cell(language, kind, code.removesuffix("\n"))


def scan_cell(cell: Cell) -> Findings:
    return scan_code(cell.language, cell.code, FOLDER)


HOSTILE = list(cells("hostile_cells.txt"))
LANGUAGES = sorted({cell.language for cell in HOSTILE})


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_that_acts_is_without_a_word(language: str) -> None:
    silent = [
        cell.code
        for cell in HOSTILE
        if cell.language == language and scan_cell(cell).readable and not scan_cell(cell).sentences
    ]
    assert silent == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_that_acts_runs_by_the_grant_for_code_without_findings(language: str) -> None:
    silent = [cell.code for cell in HOSTILE if cell.language == language and scan_cell(cell).nothing_listed]
    assert silent == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_cell_does_is_named(language: str) -> None:
    unnamed = [
        (cell.kind, cell.code)
        for cell in HOSTILE
        if cell.language == language
        and cell.kind
        and not {cell.kind, f"{cell.kind} outside"} & {item.kind for item in scan_cell(cell).found}
    ]
    assert unnamed == []


@pytest.mark.parametrize("language", sorted({cell.language for cell in cells("harmless_cells.txt")}))
def test_ordinary_cells_have_nothing_listed(language: str) -> None:
    wrong = [
        (cell.code, scan_cell(cell).sentences)
        for cell in cells("harmless_cells.txt")
        if cell.language == language and scan_cell(cell).sentences
    ]
    assert wrong == []


def test_every_language_that_is_searched_by_lines_is_searched_for_calls() -> None:
    told = {language: call_search.find_unknown_calls(language, "zzz(1)") for language in PATTERNS}
    # These have no calls of this form, a reader of their own, or libraries that make nothing harmless.
    for language in ("applescript", "python", "deno", "bun"):
        del told[language]
    assert [language for language, found in told.items() if found[0].what != "zzz(…)"] == []
    assert set(HARMLESS) == set(REACHING)


def test_code_without_parser_is_never_free_of_findings_for_a_grant() -> None:
    found = scan_code("javascript", "1 + 1", FOLDER)
    assert not found.nothing_listed
    assert found.conclusion == "no risks found, but only known risks were searched"


def test_what_is_listed_has_its_line_and_is_not_too_much() -> None:
    code = "// close(x) is only a word\nlet s = 'go(1)'\n\nhide(1); hide(2)\nopenSesame()"
    found = scan_code("javascript", code, FOLDER)
    assert found.sentences == ["not checked: hide(…) (line 4), openSesame(…) (line 5)"]
    assert found.conclusion == ""
    many = "\n".join(f"f{number}()" for number in range(500))
    assert len(call_search.find_unknown_calls("javascript", many)) == 40
    assert call_search.find_unknown_calls("javascript", "x" * 20_001)[0].what == "code of this length"


def test_code_within_texts_is_looked_at() -> None:
    assert scan_cell(Cell("javascript", "", "`${unlock(1)} and ${1 + 1}`")).sentences == [
        "not checked: unlock(…) (line 1)"
    ]
    assert scan_cell(Cell("ruby", "", '"#{unlock(1)}"')).sentences == ["not checked: unlock(…) (line 1)"]
    assert scan_cell(Cell("julia", "", '"$(unlock(1))"')).sentences == ["not checked: unlock(…) (line 1)"]


def test_code_within_texts_is_looked_at_to_a_depth_that_is_said() -> None:
    nested = "`${" * 15 + "unlock(1)" + "}`" * 15
    assert scan_cell(Cell("javascript", "", nested)).sentences == ["not checked: unlock(…) (line 1)"]
    nested = "`${" * 3_000 + "1" + "}`" * 3_000
    assert (
        scan_cell(Cell("javascript", "", nested)).sentences[0].startswith("not checked: texts within texts")
    )


def test_own_functions_and_variables_are_known() -> None:
    assert scan_cell(Cell("javascript", "", "const add = (a, b) => a + b; add(1, 2)")).sentences == []
    assert scan_cell(Cell("r", "", "add <- function(a, f) f(a)\nadd(1, sqrt)")).sentences == []
    # What they are made of is listed where it stands.
    assert scan_cell(Cell("javascript", "", "const go = fetch; go(u)")).sentences == [
        "not checked: fetch (line 1)"
    ]


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("r", 'sapply(u, "sum",', "FUN = download.file)"),
        ("r", "plot(u,", 'formula = paste0("a", "b"))'),
        ("ruby", "[1].inject(", "m)"),
        ("ruby", "[1].inject(:+,", "m)"),
    ],
)
def test_a_call_that_is_too_long_to_read_is_listed(language: str, before: str, after: str) -> None:
    for length in (0, 2_500):
        assert scan_cell(Cell(language, "", before + " " * length + after)).sentences
    # With many calls, less of each is read.
    filler = "sum(sapply(1, sqrt))\n" * 150 if language == "r" else ""
    assert scan_cell(Cell(language, "", filler + before + " " * 2_500 + after)).sentences


def test_a_long_function_is_no_finding() -> None:
    body = "    total <- total + x\n" * 200
    code = f"sapply(1:3, function(x) {{\n    total <- 0\n{body}    total\n}})"
    assert scan_cell(Cell("r", "", code)).sentences == []


@pytest.mark.slow
@pytest.mark.parametrize("language", ["javascript", "ruby", "php", "r", "perl"])
def test_the_time_for_odd_code_grows_no_faster_than_its_length(language: str) -> None:
    longest = call_search._LONGEST
    texts = ["a\n", "x = ", "function f(", "int ", "def ", "class ", "a.", "f(", "'", "/*", "f(){", "(a,"]
    texts += ["`${", "`${a}", "${`a`}", "1", "a=(", "a=b[", "lm(", "Map(", ".inject("]
    texts += ["a:", "a:{", "a:<", "a=|\n", "m,", "{|", "do |m|"]
    odd = [text * (longest // len(text)) for text in texts]
    beginnings = ("a =", "a:", "a=b[", "A::$", "function", "function f(){return a[b]", "f(&a", ".inject")
    odd += [begin + " " * (longest - len(begin)) for begin in beginnings]
    odd.append("def " * 2_500 + ";\n" + "f(&a)\n" * 1_600)
    began = time.process_time()
    for code in odd:
        assert len(code) <= longest
        call_search.find_unknown_calls(language, code)
    # About two seconds; with one pattern that looks back over spaces it is minutes.
    assert time.process_time() - began < 30


@pytest.mark.slow
@pytest.mark.parametrize(
    "language", ["javascript", "perl", "ruby", "lua", "r", "rust", "go", "fish", "powershell"]
)
def test_the_time_to_take_texts_out_grows_no_faster_than_the_code(language: str) -> None:
    marks = ["'", '"', "`", "\\", "(", "[", "{", ")", "]", "}", "/", "#", "=", "%", "<", "s/", "--", "\n"]
    marks += [
        "\\'",
        '\\"',
        "\\`",
        '`"',
        "'\\",
        "$(",
        "${",
        "#{",
        '"#{',
        "`${",
        "<<A\n",
        "=begin\n",
        "/*",
        "<#",
    ]
    marks += ["=/[", "= /a", "=/\\", 'r#"', "'" * 3, '"' * 3, "[[", "--[[", "%q(", "@'\n", "\\\n"]

    def measure(code: str) -> float:
        began = time.process_time()
        quoting.strip(language, code)
        quoting.remove_comments(language, code)
        return time.process_time() - began

    for mark in marks:
        once, four = (measure(mark * (length // len(mark))) for length in (2_500, 10_000))
        # A mark that looks ahead to the end of the line or of the code is cheap, if nothing is tried there.
        assert four < max(once * 8 + 0.01, 0.3), mark


@pytest.mark.parametrize("mark", ['`"', "$'"])
def test_the_files_of_odd_powershell_are_found_in_time_that_grows_as_the_code(mark: str) -> None:
    def measure(length: int) -> float:
        began = time.process_time()
        scan_code("powershell", mark * (length // len(mark)), FOLDER)
        return time.process_time() - began

    assert measure(20_000) < measure(5_000) * 8 + 0.05


def test_ordinary_commands_of_the_shell_are_not_called_dangerous() -> None:
    commands = """
git commit -m "rm old files and sudo notes"
git commit -am 'rm x'
git log --grep 'rm x'
git config user.name "Ada L"
git config --get alias.x
git status && git diff
git checkout -b feature/rm
echo "please rm x"
echo 'curl it'
grep -rn "rm -rf" src
awk '{print "rm x"}' f
awk -F, '{s += $2} END {print s}' a.csv
sed 's/rm x/rm y/' f
tar -tzf a.tgz
make test
make -j4 all
npm run build
ls -la | sort -k2 | head
for f in *.csv; do wc -l "$f"; done
x=5; echo $x
name="a b"; echo "${name}"
export PYTHONPATH=src
ps aux | grep python
find . -name '*.py' -print
docker ps
docker logs web
kubectl get pods
python3 script.py --remove-nothing
pytest -k 'rm and x'
ssh-keygen -lf key.pub
ulimit -a
openssl dgst -sha256 f
less README.md
man ls
vim notes.txt
psql -c 'select 1'
zip a.zip f
tmux ls
cat <<< 'hello world'
printf '%s\\n' "rm x"
"""
    wrong = [
        (line, found.sentences)
        for line in commands.strip().split("\n")
        if (found := scan_code("shell", line, FOLDER)).risks
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "code",
    [
        "rm${IFS}x",
        "{rm,x}",
        "$(echo rm) x",
        "a=rm; $a x",
        "a=r; b=m; $a$b x",
        "c='rm x'\n$c",
        "$'rm' x",
        "bash <<< 'rm x'",
        "bash -lc 'rm x'",
        "timeout -k 1 5 rm x",
        "flock l rm x",
        "vim -c '!rm x' -c q",
        "git -c alias.x='!rm x' x",
        "git rebase -x 'rm x' main",
        "awk 'BEGIN{system(\"rm x\")}'",
        "sed -n '1e rm x' f",
        "tar cf /dev/null f --checkpoint-action=exec='rm x'",
        "env -S 'rm x'",
        "find . -okdir rm x {} ;",
        "git rm x",
    ],
)
def test_commands_that_are_put_together_or_handed_on_are_named(code: str) -> None:
    assert "deletes" in {item.kind for item in scan_code("shell", code, FOLDER).found}
