"""Finds what is not known to be harmless in the languages that have no reader of their own.

It reads words and not syntax: a name that is called, or that reaches out of the language, is listed unless it
is known or the code defines it. So nothing of this makes code harmless; it says what nobody looked at.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from oi_tui.engine.review.findings import Finding, shorten_part
from oi_tui.engine.review.harmless_names import (
    HARMLESS,
    JAVASCRIPT_FUNCTIONS,
    KEYWORDS,
    R_PACKAGES,
    REACHING,
)
from oi_tui.engine.review.indirect_calls import ARROW, find_indirect_calls, list_looked_up
from oi_tui.engine.review.quoting import remove_comments, strip

#: Longer code is not read, and no more than this many parts are listed.
_LONGEST = 20_000
_MOST = 40


@dataclass(frozen=True, slots=True)
class _Syntax:
    """How a language writes names and calls."""

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
        name=r"[A-Za-z_$][\w$]*",
        computed=r"\]\s*\(|(?<!\})\)\s*\(|[\])]\s*\"\"|\bset(?:Timeout|Interval)\s*\(\s*\"\"|\bthis\s*\[",
    ),
    "ruby": _Syntax(
        name=r"[A-Za-z_]\w*[!?]?",
        command=r"[;{|=(]|\b(?:do|then|else)\b",
        # Where `require` looks for files, and commands between signs of any kind.
        computed=(
            r"\$(?::|LOAD_PATH\b|LOADED_FEATURES\b)\s*(?:<<|=(?![=~])|\.)|(?<![\w)\]}\"])%x[^\w\s),.;\]}]"
        ),
    ),
    "perl": _Syntax(computed=r"->\s*(?:\(|\$(?=\w))|&\s*[{$]|\$\{|<\s*>|[$%@](?:ENV|SIG|ARGV|INC)\b"),
    "lua": _Syntax(joint=r"[.:]", computed=r"\]\s*\(|\)\s*\("),
    "r": _Syntax(
        joint=r"(?:::?:?|\$|@)",
        name=r"\.?[A-Za-z_][\w.]*",
        computed=(
            r"\]\s*\(|\)\s*\(|\"\"\s*\(|\bfile\s*=(?!=)|\bcharacter\.only\b"
            # A function whose name is put together, as `paste0("un", "link")`.
            r"|\b(?:[lstvm]?apply|Map|Reduce|Filter|outer|aggregate)\s*\((?:(?!\bfunction\b|\\\()[^\n]){0,200}\bpaste0?\s*\("
        ),
    ),
    "c": _Syntax(computed=r"\(\s*\*\s*\w+\s*\)\s*\(|\]\s*\("),
    "rust": _Syntax(name=r"[A-Za-z_]\w*!?"),
    "go": _Syntax(joint=r"\."),
    "php": _Syntax(
        computed=(
            r"\$\w+\s*\(|\]\s*\(|\)\s*\(|\"\"\s*\(|->\s*[${]|\bnew\s+\$"
            r"|\$_(?:ENV|SERVER|GET|POST|FILES|COOKIE)\b|\$GLOBALS\b"
        ),
    ),
    "octave": _Syntax(joint=r"\.", computed=r"\)\s*\(|\)\s*\{|\}\s*\("),
    "java": _Syntax(),
    "julia": _Syntax(name=r"@?[A-Za-z_]\w*!?", computed=r"\)\s*\(|\]\s*\(|`|^[ \t]*\][ \t]*\w+"),
    "powershell": _Syntax(
        joint=r"(?:\.|::)",
        name=r"[$]?[A-Za-z_][\w-]*",
        command=r"[|;{(=]",
        computed=(
            r"(?:^|[|;{(=])[^\S\n]*[&.]\s*(?=[({$'\"\w.~/\\])|\]::"
            # A program or script by its path, and what brings one in.
            r"|(?:^|[|;{(=])[^\S\n]*(?:\.\.?|~)?[/\\][^\s;|)}]+|^[ \t]*using[ \t]+(?:module|assembly)\b[^\n]*"
        ),
        caseless=True,
    ),
    "fish": _Syntax(
        command=r"[|;(]|\b(?:and|or|not|begin|if|while|else)\b",
        computed=r"(?:^|[|;(&]|\b(?:and|or|not|begin|if|while|else)\b)[^\S\n]*(?:\.\.?|~)?/[^\s;|)]+"
        r"|(?:^|[|;(])[^\S\n]*\$|\bset(?:[ \t]+-\w*)?[ \t]*(?=$|[;|)])|\bset[ \t]+-\w*[xUe]\w*"
        # Variables by which programs and functions are found, and those that programs inherit.
        r"|\b(?:set(?:[ \t]+-[\w-]+)*|for)[ \t]+(?:fish_\w+|[A-Z_][A-Z0-9_]*\b)",
    ),
}
_SYNTAX["cpp"] = _SYNTAX["c"]
_SYNTAX["typescript"] = _SYNTAX["react"] = _SYNTAX["javascript"]
#: Languages in which a bare word is a call.
_BARE_WORDS = frozenset(("perl",))
#: Languages in which a capital letter begins the name of a class or a module, whose methods may do anything.
_WITH_CAPITALS = frozenset(("perl", "ruby"))
#: PowerShell: a method or a property by its name, of each object that comes.
_EACH_MEMBER = re.compile(
    r"(?:\bforeach(?:-object)?|(?:^|\|)[^\S\n]*%)[^\S\n]+(?:-m\w*[^\S\n]+)?([a-z_]\w{0,80})", re.MULTILINE
)
#: Ruby: lines that only bring in libraries which it comes with, and which do nothing by themselves.
_RUBY_REQUIRE = re.compile(
    r"^[ \t]*require[ \t]*\(?[ \t]*(['\"])(?:benchmark|bigdecimal(?:/util)?|date|json|matrix|pp|prime|set"
    r"|stringio|time)\1[ \t]*\)?[ \t]*;?[ \t]*$",
    re.MULTILINE,
)
#: R: a name in marks. One with other signs than letters is a text here, whose call is listed.
_R_QUOTED_NAME = re.compile(r"`([^`\n]*)`")
#: Ruby: what the code puts its own classes into.
_RUBY_MODULE = re.compile(r"\bmodule[ \t]+([A-Z]\w{0,80})")
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
#: The functions of objects that code defines.
_MEMBERS = re.compile(
    r"\b(?:def|fn|func|sub|function)\s+(?:\([^()\n]*\)\s*)?(?:[\w$]{1,80}[.:]){0,8}([\w$]{1,80}[!?]?)"
    r"|(?<![\w$])([\w$]{1,80})\s{0,8}[:=]\s*(?:async\s*)?(?:function\b|\([^()\n]*\)\s*=>|\w+\s*=>|\\)"
)
#: JavaScript: what is taken out of an object by a computed name. Further variables may
#: follow, so the value is not used up.
_LOOKED_UP = re.compile(
    rf"(?<![\w$])([\w$]{{1,80}})\s{{0,8}}=(?![=>]|\s*+{ARROW})"
    r"(?=\s*+[^;\n]{0,120}[\w$)\]]\s*+(?:\?\.)?\[[^;\n]{0,120}\][^\S\n]*+(?:[;,\n]|\Z))"
    r"|\{[^{}\n]{0,300}\]\s{0,8}:\s{0,8}([\w$]{1,80})[^{}\n]{0,300}\}\s*="
)
#: JavaScript: what stays defined for the whole cell. Ruby, Perl, PHP and R still call what they come with
#: where a variable has the same name, and variables of blocks and parameters end with these.
_STAYS_DEFINED = re.compile(r"^(?:const|let|class|(?:async\s+)?function\*?)\s+([\w$]+)", re.MULTILINE)
_WITH_OPEN_LIBRARY = frozenset(("javascript", "typescript", "react", "lua", "ruby"))
#: Methods that are harmless for the collections of a language, and not for other objects.
_HARMLESS_FOR_KNOWN = frozenset(("get", "delete", "call", "apply", "bind", "truncate"))
_JAVASCRIPT = frozenset(("javascript", "typescript", "react"))
#: Texts, also put together, that name something.
_PIECE = r"(?:'[\w.]+'|\"[\w.]+\"|`[\w.]+`)"
_PIECES = re.compile(rf"{_PIECE}(?:\s*\+\s*{_PIECE})*")
_PARAMETERS = re.compile(r"\b(?:function|fn|func|sub|def)\b[^(\n]{0,80}\(([^)]{0,300})\)")
#: R: functions that are given the name of a package, or a function that they call.
_GIVEN_A_PACKAGE = frozenset(("library", "require"))
_GIVEN_A_FUNCTION = frozenset(("do.call", "match.fun"))
_FIRST_NAME = re.compile(r"\s*\(\s*([\w.]+)\s*[,)]")
#: What is brought in, by the text of the code itself: names of modules, separated by commas.
_IMPORTS = {
    "go": re.compile(
        r"(?:^|;|^[ \t]*import[ \t]*\()[ \t]*(?:import[ \t]*\(?[ \t]*)?(?:[\w.]+[ \t]+)?"
        r'["`]([\w./-]+)["`][ \t]*(?=$|;|\))',
        re.MULTILINE,
    ),
    "julia": re.compile(
        r"(?:^|[;(]|\b(?:begin|do|else|let|try)\b)[ \t]*(?:using|import)[ \t]+([\w., ]+)", re.MULTILINE
    ),
    "javascript": re.compile(r"""\b(?:from|import)\s*['"]([^'"\n]+)"""),
    # A file of the folder, or one that a macro names. What a backslash splits is not read.
    "c": re.compile(
        r"^[ \t]*(?:#|%:|\?\?=)(?:[ \t]|/\*[^\n]*?\*/){0,20}"
        r"(?:(?:include|include_next|import|embed)\b(?![ \t]*<\w[\w/+-]*(?:\.\w+)?>)[ \t]*([^\n]{1,80})"
        r"|(\w{0,12}\\)$)",
        re.MULTILINE,
    ),
    # These bring in the modules that they are given.
    "perl": re.compile(r"\b(?:use|no)\s+((?:parent|base|if)\b[^;\n]{0,80})"),
    # A module without a body is a file.
    "rust": re.compile(r"\bmod\s+((?:r#)?\w+)\s*;"),
    "powershell": re.compile(
        r"^[ \t]*#requires[ \t]+-((?:modules|assembly|pssnapin)[^\n]{0,80})", re.MULTILINE | re.IGNORECASE
    ),
}
_IMPORTS["cpp"] = _IMPORTS["c"]
_IMPORTS["typescript"] = _IMPORTS["react"] = _IMPORTS["javascript"]
#: What is brought in there is a file, whatever its name.
_WITH_FILES = frozenset(("c", "cpp", "rust", "powershell", "perl"))
_COMPUTED = "a call of a computed function"
_GOES_ON = re.compile(r"\s*(?:\(|!\(|\?\.\s*\()")
#: Where a function is called with each element, as `f.(xs)` of Julia, or as `f.(x)` of Ruby.
_GOES_ON_WITH_DOT = re.compile(r"\.\(")
_WITH_DOT_CALLS = frozenset(("julia", "ruby"))
#: A function behind one of them is called with what stands before.
_PIPES = ("|>", "%>%")
#: Languages in which functions can be reached by their names in texts.
_CALLING_BY_TEXT = frozenset(("r", "octave"))
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


def find_unknown_calls(language: str, code: str) -> list[Finding]:
    """List the calls in the code that are not known to be harmless, each once for a line."""
    if len(code) > _LONGEST:
        return [Finding("not understood", "code of this length", 0)]
    if language == "applescript":
        parts = _list_script_lines(code)
    elif language in _SYNTAX:
        parts = _Search(language).scan(code)
    else:
        return [Finding("not understood", f"all of the {language}", 0)]
    findings = [
        Finding("not understood", shorten_part(what), line) for line, what in sorted(dict.fromkeys(parts))
    ]
    return findings[:_MOST]


def _list_script_lines(code: str) -> Iterator[tuple[int, str]]:
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
        self._computed = re.compile(syntax.computed, flags)
        # Octave writes a function that is not called yet with this sign.
        signs = "$%" if language == "octave" else "$@%"
        self._path = re.compile(rf"(?<![\w{signs}]){syntax.name}(?:\s*{syntax.joint}\s*{syntax.name})*")
        self._joint = re.compile(rf"\s*{syntax.joint}\s*")
        self._command = re.compile(rf"(?:^|{syntax.command})\s*$") if syntax.command else None
        self._own: set[str] = set()
        self._own_members: set[str] = set()
        self._member_signs = (".", "->", "::", "&.", "?.", *((":",) if language == "lua" else ()))
        #: JavaScript: what may be any function, because the code looked it up by a computed name.
        self._looked_up: set[str] = set()
        #: What the language comes with under these names is out of reach.
        self._replaced: set[str] = set()

    def scan(self, code: str) -> Iterator[tuple[int, str]]:
        """Yield each part with its line."""
        if self._language == "ruby":
            code = _RUBY_REQUIRE.sub("", code)
        stripped = strip(self._language, code)
        yield from stripped.doubts
        bare = stripped.code
        if self._syntax.caseless:
            bare = bare.lower()
        if self._language == "r":
            bare = _R_QUOTED_NAME.sub(lambda match: match[1] if match[1].isidentifier() else '""', bare)
        self._define(bare)
        yield from self._find_imports(code)
        yield from self._find_names_in_texts(code)
        uncommented = remove_comments(self._language, code)
        yield from find_indirect_calls(self._language, bare, uncommented, self._harmless.__contains__)
        lines = _Lines(bare)
        for match in self._computed.finditer(bare):
            part = match[0].strip()
            yield lines.of(match.start()), part if re.search(r"\w\w", part) else _COMPUTED
        if self._language == "powershell":
            for match in _EACH_MEMBER.finditer(bare):
                if not self._known_member(match[1]):
                    yield lines.of(match.start()), f".{match[1]} of each"
        for match in self._path.finditer(bare):
            before = bare[max(0, match.start() - 80) : match.start()].rpartition("\n")[2]
            if part := self._judge(match[0], before, bare[match.end() : match.end() + 40]):
                yield lines.of(match.start()), part

    def _find_imports(self, code: str) -> Iterator[tuple[int, str]]:
        pattern = _IMPORTS.get(self._language)
        for match in pattern.finditer(code) if pattern else ():
            for name in (match[1] or match[match.lastindex or 0]).split(","):
                if self._language in _WITH_FILES or not all(
                    self._known(part) for part in re.split(r"[./ ]+", name.strip())
                ):
                    yield code.count("\n", 0, match.start()) + 1, f"import {name.strip()}"

    def _find_names_in_texts(self, code: str) -> Iterator[tuple[int, str]]:
        """Yield names in texts, by which functions can be reached."""
        by_text = self._language in _CALLING_BY_TEXT
        if not by_text and self._language not in _JAVASCRIPT:
            return
        for match in _PIECES.finditer(code):
            name = re.sub(r"[^\w.]", "", match[0])
            whole = len(name) == len(match[0]) - 2
            if name in ("constructor", "__proto__") or (name in self._reaching and (not whole or by_text)):
                yield code.count("\n", 0, match.start()) + 1, f"the text {name}"

    def _define(self, bare: str) -> None:
        """Note what the code defines."""
        own = {name for match in _DEFINED.finditer(bare) for name in match.groups() if name}
        self._own_members = {name for match in _MEMBERS.finditer(bare) for name in match.groups() if name}
        if self._language in _WITH_METHODS:
            methods = _METHOD.findall(bare)
            own.update(methods)
            self._own_members.update(methods)
        if self._language == "ruby":
            own.update(_RUBY_MODULE.findall(bare))
        for match in _PARAMETERS.finditer(bare):
            own.update(re.findall(r"\w+", match[1]))
        if self._language in _JAVASCRIPT:
            own.difference_update(*(filter(None, match.groups()) for match in _LOOKED_UP.finditer(bare)))
            self._looked_up = list_looked_up(bare)
            self._replaced = set(_STAYS_DEFINED.findall(bare))
        self._own = own

    def _judge(self, path: str, before: str, after: str) -> str:
        """Return how a name is shown that is not known to be harmless; "" for others."""
        names = [name for name in self._joint.split(path) if name]
        full_name = "".join(path.split())
        if self._language == "r" and self._is_judged_by_its_argument(names, after):
            return ""
        if self._language in _WITH_CAPITALS and any(
            name[:1].isupper() and not self._known(name) for name in names
        ):
            return full_name
        if self._language == "r" and "::" in path and names[0] not in self._harmless:
            # The package is loaded, which may run any code.
            return full_name
        if full_name == "constructor" and "." not in before[-2:] and after.lstrip().startswith("("):
            return ""
        if (len(names) > 1 and full_name in self._reaching) or any(map(self._reaches, names)):
            return full_name
        last, first = names[-1], names[0]
        is_called = last.endswith("!") or self._is_called(before, after)
        if len(names) > 1 and self._changes_library(first, after):
            return f"{full_name} = …"
        if before.rstrip().endswith(self._member_signs) and not before.rstrip().endswith(".."):
            # The method of a value that is computed.
            return "" if not self._is_call(is_called, after) or self._known_member(last) else f".{last}"
        if re.search(r"\bnew\s+$", before):
            return "" if self._known(last) and last not in self._looked_up else f"new {full_name}"
        if is_called or (len(names) > 1 and self._is_call(is_called, after)):
            return "" if self._known_call(names) else f"{full_name}(…)"
        return full_name if self._is_command(first, before, after) and not self._known(first) else ""

    def _is_judged_by_its_argument(self, names: list[str], after: str) -> bool:
        """Return whether a function of R brings in a package that is known, or what it is given is judged."""
        *packages, name = names
        if not R_PACKAGES.issuperset(packages):
            return False
        if name in _GIVEN_A_PACKAGE:
            given = _FIRST_NAME.match(after)
            return given is not None and given[1] in R_PACKAGES
        return name in _GIVEN_A_FUNCTION and after.lstrip().startswith("(")

    def _is_called(self, before: str, after: str) -> bool:
        """Return whether a name is called, by what stands on both sides of it."""
        if self._language == "fish":
            # A parenthesis is an argument, and commands stand in front.
            return False
        return (
            bool(_GOES_ON.match(after))
            or self._is_tag(after)
            or before.rstrip().endswith(_PIPES)
            or (self._language in _WITH_DOT_CALLS and bool(_GOES_ON_WITH_DOT.match(after)))
            or (self._language == "lua" and bool(re.match(r"\s*\{", after)))
            or (self._language == "octave" and before.endswith("@"))
        )

    def _reaches(self, name: str) -> bool:
        return name in self._reaching and name not in self._replaced

    def _is_tag(self, after: str) -> bool:
        """Return whether a template follows, which calls what stands in front of it."""
        return self._language in _JAVASCRIPT and bool(re.match(r"\s*\"\"", after))

    def _changes_library(self, first: str, after: str) -> bool:
        """Return whether a member of what the language comes with is replaced."""
        return (
            self._language in _WITH_OPEN_LIBRARY
            and first in self._harmless
            and first not in self._own
            and re.match(r"\s*=(?![=>~])", after) is not None
        )

    def _known_call(self, names: list[str]) -> bool:
        """Return whether the function of this path is known to be harmless."""
        if len(names) == 1:
            return self._known_function(names[0])
        if (
            (self._language in _JAVASCRIPT or self._language == "ruby")
            and names[-1] in _HARMLESS_FOR_KNOWN
            and not self._known(names[0])
        ):
            return False
        return self._known_member(names[-1])

    def _known_function(self, name: str) -> bool:
        """Return whether a function that is called by its name alone is known."""
        if self._language in _JAVASCRIPT:
            return name not in self._looked_up and (name in JAVASCRIPT_FUNCTIONS or name in self._own)
        return self._known(name)

    def _known_member(self, name: str) -> bool:
        return (
            name in self._harmless
            or name in self._own_members
            or (self._language == "rust" and name.rstrip("!") in self._harmless)
        )

    def _known(self, name: str) -> bool:
        return (
            name in self._harmless
            or name in self._own
            or name.rstrip("!?") in KEYWORDS
            or (self._language == "rust" and name.rstrip("!") in self._harmless)
        )

    def _is_call(self, called: bool, after: str) -> bool:
        """Return whether a member is called; in Ruby, in Perl, and with texts behind it
        without a parenthesis.
        """
        return (
            called
            or self._language in ("ruby", "perl")
            or bool(re.match(r"\s*\"\"", after) and self._language == "lua")
        )

    def _is_command(self, name: str, before: str, after: str) -> bool:
        """Return whether a word that stands alone calls something."""
        if name.startswith(("$", "@")) or before.rstrip().endswith(("$", "@", "%", "'")):
            return name.startswith("@")
        if self._language in _BARE_WORDS:
            if re.search(r"\b(?:use|no)\s", before):
                return True
            plain = re.match(r"\s*(?:=>|\})", after) is None and not re.search(
                r"\b(?:package|sub)\s+$", before
            )
            return plain and not before.endswith(("{", "'"))
        if self._language == "ruby" and name[:1].isupper():
            return True
        if self._language in ("lua", "octave") and re.match(
            r"\s*\"\"|[ \t]+(?=\S*\w)[\w./~*-]+(?:[ \t]+[\w./~*-]+)*\s*(?:\n|\Z|;)", after
        ):
            return not before.strip()
        if self._command is None or not self._command.search(before):
            return False
        return re.match(r"\s*[-+*/]?=(?!=)|\s*,|\.|:", after) is None


class _Lines:
    """Finds the line of a place, from 1."""

    def __init__(self, text: str) -> None:
        self._text, self._line, self._at = text, 1, 0

    def of(self, at: int) -> int:
        """Return the line of this place; fast where places come in their order."""
        if at < self._at:
            self._line, self._at = 1, 0
        self._line += self._text.count("\n", self._at, at)
        self._at = at
        return self._line
