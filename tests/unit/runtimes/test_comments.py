"""Nothing is completed in a comment, whatever the language."""

import pytest

from oi_tui.runtimes.comments import is_in_comment
from oi_tui.runtimes.languages import LANGUAGES


@pytest.mark.parametrize(
    ("language", "before", "expected"),
    [
        ("r", "x <- 1 # al", True),
        ("r", "x <- '# ' ; al", False),
        ("r", "# it's done\nal", False),
        ("ruby", "x = 1 # alpha.le", True),
        ("ruby", '"#{al', False),
        ("ruby", "=begin\nal", True),
        ("ruby", "=begin\n=end\nal", False),
        ("perl", "my $x = 1; # $al", True),
        ("perl", "$#al", False),
        ("perl", "=pod\n$al", True),
        ("lua", "--[[\nal", True),
        ("lua", "--[[ done ]] al", False),
        ("octave", "%{\nal", True),
        ("octave", "x = al", False),
        ("shell", "echo 1 # $al", True),
        ("shell", "echo ${#al", False),
        ("javascript", "f(1, // first\n", False),
        ("javascript", "f(1, // first", True),
        ("javascript", "/* one */ al", False),
        ("javascript", "/* one\nal", True),
        ("javascript", "`// ${al", False),
        ("typescript", "let url = 'http://al", False),
        ("php", "/* $al", True),
        ("php", "$al", False),
        ("sql", "select 1 -- al", True),
        ("c", "#include <st", False),
        ("cpp", "// al", True),
        ("rust", "/* al", True),
        ("python", "# al", False),
        ("nothing", "# al", False),
        ("r", "", False),
    ],
)
def test_the_end_of_code_is_in_a_comment_or_not(language: str, before: str, *, expected: bool) -> None:
    assert is_in_comment(language, before) == expected


@pytest.mark.parametrize("language", [language.name for language in LANGUAGES])
def test_odd_code_is_looked_at_in_every_language(language: str) -> None:
    for code in ("\0\udc80\n", "((((" * 1000, "'" * 999, "/*" * 900, "\n" * 50):
        assert is_in_comment(language, code) in (True, False)
