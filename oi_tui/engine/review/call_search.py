"""Finds what is not known to be harmless in the languages that have no reader of their own.

It reads words and not syntax: a name that is called, or that reaches out of the language, is listed unless it
is known or the code defines it. So nothing of this makes code harmless; it says what nobody looked at.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from oi_tui.engine.review.findings import Finding
from oi_tui.engine.review.harmless_names import HARMLESS, KEYWORDS, REACHING

#: Longer code is not read, and no more than so many parts are listed.
_LONGEST = 100_000
_MOST = 40
_SLASHES = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_HASH = r"(?<![$\\{])#[^\n]*"
_QUOTED = r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\""
_QUOTED_LINES = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
#: Perl's `s/a/b/` without `e`, which would run the second part, and patterns.
_SUBSTITUTION = (
    r"\b(?:s|tr|y)/(?:\\.|[^/\\\n])*/(?:\\.|[^/\\\n])*/[a-df-z]*(?![a-z])"
    r"|(?<=[~(])\s*/(?!\(\?\{)(?:\\.|[^/\\\n])*/"
)


@dataclass(frozen=True, slots=True)
class _Syntax:
    """How a language writes comments and texts, and code within texts (its group 1)."""

    comment: str
    text: str
    inside: str = r"(?!)"
    #: How a name that is reached through others is written.
    joint: str = r"(?:\.|::|->|\?\.|&\.)"
    #: What a name may hold besides letters.
    name: str = r"[A-Za-z_]\w*"
    #: Where a word alone calls something: behind these, and at the beginning of a line.
    command: str = ""
    #: Calls of what is computed.
    computed: str = r"\]\s*\("
    caseless: bool = False


_SYNTAX: dict[str, _Syntax] = {
    "javascript": _Syntax(
        _SLASHES,
        rf"{_QUOTED}|`(?:\\.|[^`\\])*`|(?<=[=(,:;!&|?{{\[])\s*/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*",
        r"\$\{((?:[^{}]|\{[^{}]*\})*)\}",
        name=r"[A-Za-z_$][\w$]*",
        computed=r"\]\s*\(|(?<!\})\)\s*\(|\bset(?:Timeout|Interval)\s*\(\s*\"\"",
    ),
    "ruby": _Syntax(
        rf"{_HASH}|^=begin.*?^=end",
        _QUOTED_LINES,
        r"#\{([^{}]*)\}",
        name=r"[A-Za-z_]\w*[!?]?",
        command=r"[;{|=(]|\b(?:do|then|else)\b",
    ),
    "perl": _Syntax(
        rf"{_HASH}|^=\w+.*?^=cut",
        rf"{_QUOTED_LINES}|{_SUBSTITUTION}",
        r"@\{\[([^\]]*)\]\}",
        computed=r"->\s*\(|&\s*[{$]|\$\{|<\s*>|[$%@](?:ENV|SIG|ARGV|INC)\b",
    ),
    "lua": _Syntax(
        r"--\[\[.*?(?:\]\]|\Z)|--[^\n]*",
        rf"{_QUOTED}|\[\[.*?\]\]",
        joint=r"[.:]",
        computed=r"\]\s*\(|\)\s*\(",
    ),
    "r": _Syntax(
        r"#[^\n]*",
        _QUOTED_LINES,
        joint=r"(?:::?:?|\$|@)",
        name=r"\.?[A-Za-z_][\w.]*",
        computed=r"\]\s*\(|\)\s*\(|\bfile\s*=(?!=)",
    ),
    "c": _Syntax(_SLASHES, _QUOTED, computed=r"\(\s*\*\s*\w+\s*\)\s*\(|\]\s*\("),
    "rust": _Syntax(
        _SLASHES, r"b?r#*\".*?\"#*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\\n])'", name=r"[A-Za-z_]\w*!?"
    ),
    "go": _Syntax(_SLASHES, rf"{_QUOTED}|`[^`]*`", joint=r"\."),
    "php": _Syntax(
        rf"{_SLASHES}|{_HASH}",
        _QUOTED_LINES,
        r"\{(\$[^{}]*)\}",
        computed=r"\$\w+\s*\(|\]\s*\(|\)\s*\(|->\s*[${]|\bnew\s+\$|\$_(?:ENV|SERVER|GET|POST|FILES|COOKIE)\b|\$GLOBALS\b",
    ),
    "octave": _Syntax(
        r"[%#][^\n]*",
        r"\"(?:\\.|[^\"\\\n])*\"|(?<![\w)\]}'])'(?:''|[^'\n])*'",
        joint=r"\.",
        computed=r"\)\s*\(|\)\s*\{",
    ),
    "java": _Syntax(_SLASHES, rf"\"\"\".*?\"\"\"|{_QUOTED}"),
    "julia": _Syntax(
        r"#=.*?(?:=#|\Z)|#[^\n]*",
        r"\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\\n])'",
        r"\$\(([^()]*(?:\([^()]*\)[^()]*)*)\)",
        name=r"@?[A-Za-z_]\w*!?",
        computed=r"\)\s*\(|\]\s*\(|`|^[ \t]*\][ \t]*\w+",
    ),
    "powershell": _Syntax(
        r"<#.*?(?:#>|\Z)|(?<!`)#[^\n]*",
        r"'(?:''|[^'])*'|\"(?:`.|[^\"`])*\"",
        r"\$\(([^()]*(?:\([^()]*\)[^()]*)*)\)",
        joint=r"(?:\.|::)",
        name=r"[$]?[A-Za-z_][\w-]*",
        command=r"[|;{(=]",
        computed=r"(?:^|[|;{(=])\s*[&.]\s*(?=[({$'\"\w])|\]::",
        caseless=True,
    ),
    "fish": _Syntax(
        _HASH,
        _QUOTED_LINES,
        command=r"[|;(]|\b(?:and|or|not|begin|if|while|else)\b",
        computed=r"(?:^|[|;(])\s*\$|\bset(?:[ \t]+-\w*)?[ \t]*(?=$|[;|)])|\bset[ \t]+-\w*[xUe]\w*",
    ),
}
_SYNTAX["cpp"] = _SYNTAX["c"]
_SYNTAX["typescript"] = _SYNTAX["react"] = _SYNTAX["javascript"]
#: Languages in which a bare word is a call.
_BARE_WORDS = frozenset(("perl",))
#: What code defines: its own functions, variables and parameters.
_DEFINED = re.compile(
    r"\b(?:(?:let|const|var|val|def|class|fn|func|sub|local(?:\s+function)?|for|struct|enum|interface|record|auto|mut)\s+)+[$&]?(\w+[!?]?)"
    r"|\bfunction\s+(?:[\w\[\], ~]+=\s*)?([\w-]+)"
    r"|(?<![\w.$])([\w.$]{1,80})[ \t]{0,8}(?:(?<![=!<>])=(?![=~>])|:=|<-|<<-)"
    r"|[|(,]\s*[$&]?(\w+)\s*(?=[^()\n]{0,80}(?:\)\s*(?:=>|->|\{)|\|))"
    r"|\b(\w{1,80})[ \t]{0,8}(?:=>|->)"
    r"|^[\w:<>, \t*&\[\]]{1,80}?[ \t*&](\w{1,80})[ \t]{0,8}\([^;{}]{0,300}\)\s{0,80}(?:const\s)?\{"
    r"|(?:^|;)[ \t]*(\w+)\([^()\n]*\)[ \t]*=(?!=)",
    re.MULTILINE,
)
#: Methods, in languages where nothing else has parentheses with braces behind them.
_METHOD = re.compile(r"\b(\w{1,80})[ \t]{0,8}\([^;{}()]{0,300}\)\s{0,80}(?:const\s)?\{")
_WITH_METHODS = frozenset(("javascript", "typescript", "react", "java", "c", "cpp", "php"))
_PARAMETERS = re.compile(r"\b(?:function|fn|func|sub|def)\b[^(\n]{0,80}\(([^)]{0,300})\)")
#: Functions that are given the name of a package, or of a function that they call.
_GIVEN_A_NAME = frozenset(("library", "require", "do.call", "match.fun", "requireNamespace"))
_FIRST_NAME = re.compile(r"\s*\(\s*([\w.]+)\s*[,)]")
#: What is brought in, by the text of the code itself: names of modules, separated by commas.
_IMPORTS = {
    "go": re.compile(r'^[ \t]*(?:import[ \t]+)?(?:[\w.]+[ \t]+)?"([\w./-]+)"[ \t]*$', re.MULTILINE),
    "julia": re.compile(r"^[ \t]*(?:using|import)[ \t]+([\w., ]+)", re.MULTILINE),
    "javascript": re.compile(r"""\b(?:from|import)[ \t]+['"]([^'"\n]+)"""),
    "c": re.compile(r'^[ \t]*#[ \t]*include[ \t]*("[^"\n]*")', re.MULTILINE),
}
_IMPORTS["cpp"] = _IMPORTS["c"]
_IMPORTS["typescript"] = _IMPORTS["react"] = _IMPORTS["javascript"]
_COMPUTED = "a call of a computed function"
_GOES_ON = re.compile(r"\s*(?:\(|!\()")
#: Lines of AppleScript that only compute and show.
_SCRIPT_LINE = re.compile(
    r"(?:set \w+ to [^¬]*|return\b[^¬]*|log\b.*|display (?:dialog|alert|notification)\b.*|if\b.*\bthen"
    r"|else(?: if\b.*then)?|end\b.*|repeat\b.*|exit repeat|on \w+\([\w, ]*\)|try|on error\b.*|--.*|#.*|)",
    re.IGNORECASE,
)
_SCRIPT_REACHES = re.compile(
    r"\b(?:tell|do|run|load|open|read|write|system|application|app|path|file|alias|clipboard|POSIX"
    r"|current|choose|mount|keystroke|shell)\b|'s\b",
    re.IGNORECASE,
)


def look_for_calls(language: str, code: str) -> list[Finding]:
    """List the calls in the code that are not known to be harmless, each once for a line."""
    if len(code) > _LONGEST:
        return [Finding("not understood", "code of this length", 0)]
    if language == "applescript":
        found = _lines_of_script(code)
    elif language in _SYNTAX:
        found = _Search(language).look(code)
    else:
        return [Finding("not understood", f"all of the {language}", 0)]
    listed = [Finding("not understood", what[:40], line) for line, what in sorted(dict.fromkeys(found))]
    return listed[:_MOST]


def _lines_of_script(code: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(code.split("\n"), 1):
        words = re.sub(r"\"(?:\\.|[^\"\\])*\"", '""', line).strip()
        if not _SCRIPT_LINE.fullmatch(words) or _SCRIPT_REACHES.search(words):
            yield number, line.strip()


class _Search:
    """Looks through code of one language."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._syntax = syntax = _SYNTAX[language]
        self._harmless, self._reaching = HARMLESS[language], REACHING[language]
        flags = re.DOTALL | re.MULTILINE
        self._hidden = re.compile(f"(?P<comment>{syntax.comment})|(?P<text>{syntax.text})", flags)
        self._inside = re.compile(syntax.inside, flags)
        self._computed = re.compile(syntax.computed, flags)
        self._path = re.compile(rf"(?<![\w$@%]){syntax.name}(?:\s*{syntax.joint}\s*{syntax.name})*")
        self._joint = re.compile(rf"\s*{syntax.joint}\s*")
        self._command = re.compile(rf"(?:^|{syntax.command})\s*$") if syntax.command else None
        self._own: set[str] = set()

    def look(self, code: str) -> Iterator[tuple[int, str]]:
        """Yield each part with its line."""
        bare = self._without_texts(code)
        if self._syntax.caseless:
            bare = bare.lower()
        self._own = self._defined(bare)
        yield from self._imports(code)
        lines = _Lines(bare)
        for match in self._computed.finditer(bare):
            shown = match[0].strip()
            yield lines.of(match.start()), shown if re.search(r"\w\w", shown) else _COMPUTED
        for match in self._path.finditer(bare):
            before = bare[max(0, match.start() - 80) : match.start()].rpartition("\n")[2]
            if shown := self._judge(match[0], before, bare[match.end() : match.end() + 40]):
                yield lines.of(match.start()), shown

    def _imports(self, code: str) -> Iterator[tuple[int, str]]:
        pattern = _IMPORTS.get(self._language)
        for found in pattern.finditer(code) if pattern else ():
            for name in found[1].split(","):
                if not all(self._known(part) for part in re.split(r"[./ ]+", name.strip())):
                    yield code.count("\n", 0, found.start()) + 1, f"import {name.strip()}"

    def _without_texts(self, code: str) -> str:
        """The code without comments, and of texts only the code in them; lines stay where they are."""

        def bare(found: re.Match[str]) -> str:
            parts = [] if found["comment"] else self._inside.findall(found[0])
            shown = f"({' ; '.join(parts)})" if parts else " " if found["comment"] else '""'
            return shown + "\n" * (found[0].count("\n") - shown.count("\n"))

        return self._hidden.sub(bare, code)

    def _defined(self, bare: str) -> set[str]:
        own = {name for match in _DEFINED.finditer(bare) for name in match.groups() if name}
        if self._language in _WITH_METHODS:
            own.update(_METHOD.findall(bare))
        for match in _PARAMETERS.finditer(bare):
            own.update(re.findall(r"\w+", match[1]))
        return own

    def _judge(self, path: str, before: str, after: str) -> str:
        """Return how a name is shown that is not known to be harmless; "" for others."""
        names = [name for name in self._joint.split(path) if name]
        shown = "".join(path.split())
        if names[-1] in _GIVEN_A_NAME and (given := _FIRST_NAME.match(after)) and self._known(given[1]):
            return ""
        if self._language == "perl" and any(name[:1].isupper() and not self._known(name) for name in names):
            return shown
        if shown == "constructor" and "." not in before[-2:] and after.lstrip().startswith("("):
            return ""
        if shown in self._reaching or any(self._reaches(name) for name in names):
            return "" if names[0] in self._own and len(names) == 1 else shown
        last, first = names[-1], names[0]
        called = bool(_GOES_ON.match(after)) or last.endswith("!")
        if before.rstrip().endswith((".", "->", "::", "&.", "?.")) and not before.rstrip().endswith(".."):
            # The method of a value that is computed.
            return "" if not self._is_call(called, after) or self._known(last) else f".{last}"
        if re.search(r"\bnew\s+$", before):
            return "" if self._known(last) else f"new {shown}"
        if called or (len(names) > 1 and self._is_call(called, after)):
            return "" if self._known(last) or (len(names) == 1 and last in KEYWORDS) else f"{shown}(…)"
        return shown if self._is_command(first, before, after) and not self._known(first) else ""

    def _reaches(self, name: str) -> bool:
        return name in self._reaching and name not in self._own

    def _known(self, name: str) -> bool:
        return (
            name in self._harmless
            or name in self._own
            or name.rstrip("!?") in KEYWORDS
            or (self._language == "rust" and name.rstrip("!") in self._harmless)
        )

    def _is_call(self, called: bool, after: str) -> bool:
        """Whether a member is called; in Ruby and with braces or texts behind it without a parenthesis."""
        return (
            called
            or self._language == "ruby"
            or bool(re.match(r"\s*(?:\"\"|\{)", after) and self._language == "lua")
        )

    def _is_command(self, name: str, before: str, after: str) -> bool:
        """Whether a word that stands alone calls something."""
        if name.startswith(("$", "@")) or before.rstrip().endswith(("$", "@", "%", "'")):
            return name.startswith("@")
        if self._language in _BARE_WORDS:
            plain = re.match(r"\s*(?:=>|\})", after) is None and not re.search(
                r"\b(?:use|package|sub|no)\s+$", before
            )
            return (plain and not before.endswith(("{", "'"))) or "use " in before
        if self._language == "ruby" and name[:1].isupper():
            return True
        if self._language in ("lua", "octave") and re.match(r"\s*\"\"|[ \t]+[\w./~*-]+\s*(?:\n|\Z|;)", after):
            return not before.strip()
        if self._command is None or not self._command.search(before):
            return False
        return re.match(r"\s*[-+*/]?=(?!=)|\s*,|\.|:", after) is None


class _Lines:
    """Finds the line of a place, from 1."""

    def __init__(self, text: str) -> None:
        self._text, self._line, self._at = text, 1, 0

    def of(self, at: int) -> int:
        """The line of this place; fast where places come in their order."""
        if at < self._at:
            self._line, self._at = 1, 0
        self._line += self._text.count("\n", self._at, at)
        self._at = at
        return self._line
