"""Finds functions that code reaches by names it computes, in the languages that have no reader of their own.

A name in quotes, or one that stands where a function is given, is judged as if it were called there.
Any other expression in such a place is listed.
"""

import re
from collections.abc import Callable, Iterator

from oi_tui.engine.review.call_arguments import LONGEST_CALL, read_arguments

#: R: functions that call what they are given, also by its name in a text, and their parameters up to it.
#: Names between `|` stand in the same place.
_R_CALLERS = {
    "lapply": "X FUN",
    "sapply": "X FUN",
    "vapply": "X FUN",
    "rapply": "object f",
    "eapply": "env FUN",
    "across": ".cols .fns",
    "tapply": "X INDEX FUN",
    "apply": "X MARGIN FUN",
    "outer": "X Y FUN",
    "aggregate": "x|formula by|data FUN",
    "combn": "x m FUN",
    "sweep": "x MARGIN STATS FUN",
    "mapply": "FUN",
    "Map": "f",
    "Filter": "f",
    "Reduce": "f",
    "Find": "f",
    "Position": "f",
    "Negate": "f",
    "Vectorize": "FUN",
    "integrate": "f",
    "do.call": "what",
    "match.fun": "FUN",
    "map": ".x .f",
    "map_chr": ".x .f",
    "map_dbl": ".x .f",
    "map_df": ".x .f",
    "map_int": ".x .f",
    "map2": ".x .y .f",
    "reduce": ".x .f",
}
#: R: functions that take the one that they call by the name of the argument only.
_R_CALLERS_BY_NAME = {
    "ave": "FUN",
    "acast": "fun.aggregate",
    "geom_smooth": "method",
    "pivot_wider": "values_fn",
    "stat_summary": "fun|fun.y|fun.data",
}
#: R: callers that always call a function. Without one among the arguments that were read, it was not seen.
_R_NEEDS_FUNCTION = frozenset(
    ("do.call", "match.fun", "lapply", "sapply", "vapply", "mapply", "Map", "Filter", "Reduce")
)
#: R: functions that have further functions as texts, which are harmless.
_R_WITH_OWN_TEXTS = frozenset(("acast", "geom_smooth", "stat_summary"))
#: R: functions for which a text or a number is the place of an element.
_R_WITH_PLACES = frozenset(("map", "map_chr", "map_dbl", "map_df", "map_int", "map2"))
#: R: functions that run a text which they take for a formula, or for an expression.
_R_FORMULA = re.compile(
    r"(?<![\w.])(lm|glm|nls|loess|aov|aggregate|boxplot|xtabs|t\.test|wilcox\.test|plot|pairs|aes_string)\s*\("
)
#: R: a call of one of these functions; or a text, a quoted name or an operator, which hold no calls.
_R_CALL = re.compile(
    rf"(?<![\w.])`?({'|'.join(map(re.escape, (*_R_CALLERS, *_R_CALLERS_BY_NAME)))})`?\s*\("
    r"|(?<!\\)(?:'(?:\\.|[^'\\])*+'|\"(?:\\.|[^\"\\])*+\")|`[^`\n]*`|%[^%\s]*%",
    re.DOTALL,
)
#: R: an argument with its name, and one whose name is written with escapes or as a raw text.
_R_NAMED = re.compile(r"""['"`]?([\w.]+)['"`]?\s*=(?!=)\s*(.*)""", re.DOTALL)
_R_ODDLY_NAMED = re.compile(
    r"""(?:[rR](?=['"])|(?=['"`][^'"`\\]*\\))(['"`])(?:\\.|(?!\1)[^\\])*+\1\s*+=(?!=)""", re.DOTALL
)
#: R: how many characters of calls are read, of all of them; of each at least as many as elsewhere.
_R_LONGEST_CALLS = 200_000
_R_TEXT = re.compile(r"(['\"`])([^'\"`]*)\1")
_R_NAME = re.compile(r"(?:[\w.]+(?:::|\$))*([\w.]+)")
_R_NUMBER = re.compile(r"-?\d+L?")
#: R: operators by their names. Not among them are `::`, which loads a package, and those that assign.
_R_OPERATOR = re.compile(r"[-+*/^<>!&|:($@]|%%|%/%|[=!<>]=|&&|\|\||\[\[?(?:<-)?")
#: A function as it is written, and functions that return one.
_R_FUNCTION = re.compile(r"function\b|\\\(|~|(?:Negate|Vectorize|ecdf|approxfun|splinefun)\s*\(")
#: R: functions that put texts together.
_R_BUILDERS = re.compile(
    r"\b(?:paste0?|sprintf|chartr|rev|substr|substring|g?sub|intToUtf8|rawToChar|tolower|toupper|format|c?map_chr"
    r"|str_\w+|strsplit|readline|scan|get\w*|readLines|trimws|switch)\s*\("
)
_R_ASSIGNED = re.compile(
    r"(?<![\w.$@])([\w.]+)[ \t]*<<?-(?![ \t]*(?:function\b|\\\())|->>?[ \t]*([\w.]+)"
    r"|^[ \t]*([\w.]+)[ \t]*=(?!=)(?![ \t]*(?:function\b|\\\())",
    re.MULTILINE,
)
_R_BUILT = re.compile(rf"(?<![\w.$@])([\w.]+)[ \t]*(?:<<?-|=)[ \t]*(?:{_R_BUILDERS.pattern})")
_R_DEFINED = re.compile(r"(?<![\w.$@])([\w.]+)[ \t]*(?:<<?-|=)[ \t]*(?:function\b|\\\()")
_R_PARAMETERS = re.compile(r"(?:\bfunction|\\)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_PIPES = ("|>", "%>%")

#: JavaScript: the object of all names, under another one.
_JAVASCRIPT_GLOBAL = re.compile(
    r"(?<![=!<>])=\s*this\b(?!\s*(?:\.|\?\.))"
    r"|(?<!\bcall)(?<!\bapply)(?<!\bbind)\(\s*this\s*[,)]"
    r"|\bfunction\b\s*+\w*+\s*+\([^()]*+\)\s*+\{\s*+return\s++this\s*+;?\s*+\}"
    r"|=>\s*this\b(?!\s*(?:\.|\?\.))"
)
#: JavaScript: how an arrow function begins, with types and defaults of its parameters.
ARROW = (
    r"(?:async\b\s*+)?(?:<[^<>\n]*+>\s*+)?"
    r"(?:\((?:[^()\n]|\([^()\n]*+\))*+\)(?:\s*+:[^=;\n]*+)?|[\w$]++)\s*+=>"
)
_FUNCTION = rf"(?:{ARROW}|(?:async\s++)?function\b)"
#: TypeScript: the type of a variable, and of what a function returns.
_TYPE = (
    r"(?:\s*+:(?:[\w$\s.\[\]|&\"]|=>|<[^<>=;\n]{0,60}+>|\([^()=;\n]{0,60}+\)|\{[^{}=\n]{0,60}+\})"
    r"{0,80}+)?"
)
_RETURNED = r"(?:\s*+:[^={}\n]{0,80}+)?"
#: JavaScript: the part of a value that is read. An operator at the end or beginning of a line continues it.
_VALUE = r"\s*+(?:[^;\n]|\n(?>(?<=[=(?:|&]\n)|(?=[ \t]{0,40}[?:|&]))){0,200}"
#: JavaScript: a computed member of a function, by which `Function` can be reached that runs text.
_JAVASCRIPT_MEMBER = re.compile(
    r"(?<![\w$\])])\(\s*(?:async\s*)?(?:\([^()\n]*\)|[\w$]+)\s*=>[^()\n;]*\)\s*\[(?!\s*\])"
    r"|\bfunction\b[^(){}\n]*+\([^()\n]*+\)\s*+\{[^{}\n]*+\}\s?\)?[ \t]*+\[(?!\s*\])"
    r"|\bclass\b[^(){}\n]*+\{[^{}\n]*+\}\)?[ \t]*+\[(?!\s*\])"
    r"|(?<![\w$.])(?:console|Math|JSON|Object|Array|String|Number|Date|Promise|Symbol|RegExp|Map|Set|Error|BigInt"
    r"|Boolean|Intl|performance)\b(?:\.\w+)*\[(?!\s*(?:\]|\d+\s*\]))"
    # A name that is put together, and two names after each other.
    r"|[\w$)\]]\[\s*(?:\[\s*)?\"\"\s*[.,][^\n]{0,40}"
    r"|(?<![\w$)\]\s])\s*\[[^\[\]\n]*\]\[[^\[\]\n\d]+\]\[[^\[\]\n\d]+\]"
    r"|[)\]]\s*\.\s*(?:call|apply|bind)\s*\("
)
_JAVASCRIPT_FUNCTION = re.compile(
    rf"\b(?:const|let|var)\s+([\w$]+)\s*=\s*{_FUNCTION}|\bfunction\b\*?\s*([\w$]+)\s*\("
)
#: JavaScript: a variable and its value. The value may go on with further variables, so it is not used up.
_JAVASCRIPT_LOOKED_UP = re.compile(
    rf"(?<![\w$.])([\w$]++)(?={_TYPE}\s*+(?:\?\?|\|\||&&)?=(?![=>])"
    rf"(?!\s*+{_FUNCTION}){_VALUE}[\w$)\]]\s*+(?:\?\.)?\[[^\[\]]{{0,100}}(?:[^\W\d]|[\"$]))"
)
#: JavaScript: functions that only return a computed member, and what they returned.
_JAVASCRIPT_GETTER = re.compile(
    rf"(?<![\w$])([\w$]++)(?={_TYPE}\s*+=\s*+(?:{ARROW}|(?:async\s++)?function\b\s*+\w*+\s*+\([^()\n]*+\){_RETURNED})\s*+"
    r"(?:\{\s*+return\s++)?[\w$.]++\[[^\[\]\n]*+\][^\S\n]*+(?:[,;\n}]|\Z))"
    rf"|\bfunction\s+([\w$]+)\s*\([^()\n]*+\){_RETURNED}\s*+\{{\s*+return\s+[\w$.]++\[[^\[\]\n]*+\]\s*+;?\s*+\}}"
)
_JAVASCRIPT_RESULT = re.compile(rf"(?<![\w$.])([\w$]++)(?={_TYPE}\s*+=\s*+(?:await\b\s*+)?([\w$]++)\s*+\()")
_JAVASCRIPT_GIVEN = re.compile(
    r"\.\s*(?:map|filter|forEach|find|findIndex|some|every|flatMap|reduce|reduceRight|sort|then|catch)"
    r"\s*\(\s*([\w$]+)\s*[,)]"
)
#: Ruby: how a function begins.
_RUBY_FUNCTION = r"(?:->|lambda\b|proc\b|Proc\.new\b|method\()"
#: Ruby: a block that is no block of the code, and a method by a name that is no symbol.
_RUBY_BLOCK = re.compile(
    r"(?:[(,]\s*+&\s*+|\.\s*+[A-Za-z_]\w*+[!?]?[ \t]++&)"
    r"(?!method\b|Proc\.new\b|(?:lambda|proc)\s*+(?:\{|do\b))([@$]{0,2}[A-Za-z_]\w*+)"
)
_RUBY_OWN_BLOCK = re.compile(
    # A parameter of a method or of a block.
    r"\bdef\b[^\n;&(=]*+(?:\((?:[^()&]|\([^()]*+\))*+)?&\s*+([a-z_]\w*+)"
    r"|(?:\{|\bdo)\s*+\|[^|\n]{0,200}&\s*+([a-z_]\w*+)\s*+\|"
    r"|->\s*+\([^()&\n]*+&\s*+([a-z_]\w*+)"
    # What holds a function.
    rf"|(?<![\w@$])([@$]{{0,2}}[A-Za-z_]\w*+)\s*+=\s*+{_RUBY_FUNCTION}"
)
#: Ruby: variables that are given something else, also several at once, and parameters.
_RUBY_OTHER_VALUE = re.compile(
    rf"(?<![\w@$])([@$]{{0,2}}[A-Za-z_]\w*+)(?:\s*+,[^\n;=()|]{{0,80}}|\s*+(?:\|\||&&)?)=(?![=~>])(?!\s*+{_RUBY_FUNCTION})"
    r"|\bfor\s++([a-z_]\w*+)"
)
_RUBY_PARAMETERS = re.compile(r"(?:\{|\bdo)\s*+\|([^|\n]{0,200})\||\bdef\b[^\n;(=]{0,80}\(([^\n]{0,200})")
_RUBY_FOLD = re.compile(r"(?:\.|::)\s*+(inject|reduce)\b(?![!?])")
#: The arguments of a call with parentheses, and of one without, which does not begin with an operator.
_RUBY_OPENS = re.compile(r"[ \t]*+\(")
_RUBY_BARE = re.compile(
    r"[ \t]++(?![-+*/%<>&|?:.,]\s|=|[!+*/-]=|&&|<<|>>|\*\*\s|[{})\]|;\n]"
    r"|(?:and|do|end|if|or|rescue|then|unless|until|while)\b|\Z)"
)
_RUBY_BLOCK_FOLLOWS = re.compile(r"\s*+\)[ \t]*+(?:\{|do\b)")
_RUBY_SYMBOL = re.compile(
    r"&?:(?:\w++[!?]?|[+*&|^<>=!?/%~\[\]-]++)|&\s*+(?:[@$]{0,2}\w++|(?:->|lambda\b|proc\b).*)", re.DOTALL
)
_RUBY_MODIFIER = re.compile(r"\s+(?:and|do|if|or|rescue|then|unless|until|while)\b.*", re.DOTALL)
#: Perl: what a name means is replaced, or a class is named by a text.
_PERL_NAMED = re.compile(
    r"\*\s*\{|(?<![\w$)\]}\s])[ \t]*\*[A-Za-z_][\w:]*\s*=(?!=)|^[ \t]*\*[A-Za-z_][\w:]*\s*=(?!=)"
    r"|%(?:\w+)?::(?!\w)|\"\"\s*->\s*\w+|\$(?!self\b|class\b|proto\b|this\b)\w+\s*->\s*new\b",
    re.MULTILINE,
)
#: PHP: variables, classes and methods by names that are computed, and the names of all variables in texts.
_PHP_NAMED = re.compile(
    r"\$\$\w+|\$\{|\bnew\s*\(|::\s*+[{$]\s*+\w*+\s*+(?=[\"({$])|\bcompact\s*\((?!\s*\"\"(?:\s*,\s*\"\")*\s*\))"
)
_PHP_TEXTS = re.compile(r"(['\"])(?:_(?:ENV|SERVER|GET|POST|COOKIE|FILES|REQUEST|SESSION)|GLOBALS)\1")
#: Octave: functions that call the one that they are given.
_OCTAVE_CALL = re.compile(r"(?<![\w.])(fzero|quad|integral)\s*\(([^,\n]{0,80})")
_OCTAVE_FUNCTION = re.compile(r"(?<![\w.])(\w+)\s*=\s*@")
#: Perl: a variable that holds a text, and a variable of which another one holds the name.
_PERL_TEXT = re.compile(
    r"\$(\w+)\s*\.?=\s*(?:[\"']|(?:join|sprintf|reverse|lc|uc|ucfirst|chr|substr|pack)\b)"
)
_PERL_REFERENCE = re.compile(r"[$%@*]\{?\$(\w+)\b\}?|\$(\w+)\s*->\s*[\[{@%]")


def find_indirect_calls(
    language: str, bare: str, code: str, is_harmless: Callable[[str], bool]
) -> Iterator[tuple[int, str]]:
    """Yield each function that is reached by a computed name: its line, and how it is shown.

    `bare` is the code without texts and comments, `code` the one without comments.
    """
    match language:
        case "r":
            yield from _R(code, is_harmless).find()
        case "javascript" | "typescript" | "react":
            yield from _list_matches(_JAVASCRIPT_GLOBAL, bare)
            yield from _list_matches(_JAVASCRIPT_MEMBER, bare)
            yield from _find_members_of_functions(bare)
        case "ruby":
            yield from _find_ruby(bare)
        case "php":
            yield from _list_matches(_PHP_NAMED, bare)
            yield from _list_matches(_PHP_TEXTS, code)
        case "octave":
            yield from _find_octave(bare)
        case "perl":
            yield from _list_matches(_PERL_NAMED, bare)
            yield from _find_perl(code)


def list_looked_up(bare: str) -> set[str]:
    """Return the variables of JavaScript code that hold what was looked up by a computed name."""
    values = set(_JAVASCRIPT_LOOKED_UP.findall(bare))
    getters = {name for match in _JAVASCRIPT_GETTER.finditer(bare) for name in match.groups() if name}
    return values | {match[1] for match in _JAVASCRIPT_RESULT.finditer(bare) if match[2] in getters}


def _find_members_of_functions(bare: str) -> Iterator[tuple[int, str]]:
    """Yield the computed members of functions that the code defines, and functions from such members."""
    functions = {name for match in _JAVASCRIPT_FUNCTION.finditer(bare) for name in match.groups() if name}
    for match in re.finditer(r"(?<![\w$.])([\w$]+)\[(?!\s*\])", bare):
        if match[1] in functions:
            yield _find_line(bare, match.start()), f"{match[1]}[…]"
    looked_up = list_looked_up(bare)
    for match in _JAVASCRIPT_GIVEN.finditer(bare):
        if match[1] in looked_up:
            yield _find_line(bare, match.start()), f"a call of {match[1]}"


def _list_matches(pattern: re.Pattern[str], bare: str) -> Iterator[tuple[int, str]]:
    for match in pattern.finditer(bare):
        shown = " ".join(match[0].replace('""', '"…"').split())
        yield _find_line(bare, match.end()), shown


def _find_perl(code: str) -> Iterator[tuple[int, str]]:
    """Yield the variables that are reached by a name in a text, also within texts."""
    texts = set(_PERL_TEXT.findall(code))
    for match in _PERL_REFERENCE.finditer(code):
        if texts & set(match.groups()):
            yield _find_line(code, match.start()), " ".join(match[0].split())


def _find_octave(bare: str) -> Iterator[tuple[int, str]]:
    """Yield the functions that are given by an expression which is no function."""
    functions = set(_OCTAVE_FUNCTION.findall(bare))
    for match in _OCTAVE_CALL.finditer(bare):
        given = match[2].strip()
        if given != '""' and not given.startswith("@") and given not in functions:
            yield _find_line(bare, match.start()), f"{match[1]}({given})"


def _find_ruby(bare: str) -> Iterator[tuple[int, str]]:
    own = {name for match in _RUBY_OWN_BLOCK.finditer(bare) for name in match.groups() if name}
    own.difference_update(*(filter(None, match.groups()) for match in _RUBY_OTHER_VALUE.finditer(bare)))
    for match in _RUBY_PARAMETERS.finditer(bare):
        names = match[1] or (match[2] or "").partition(")")[0]
        own.difference_update(re.findall(r"(?<![\w&.:@$])[a-z_]\w*+", names))
    for match in _RUBY_BLOCK.finditer(bare):
        if match[1] not in own:
            yield _find_line(bare, match.start(1)), f"&{match[1]}"
    for match in _RUBY_FOLD.finditer(bare):
        if operation := _find_operation(bare, match.end()):
            yield _find_line(bare, match.start()), f".{match[1]}({operation})"


def _find_operation(bare: str, at: int) -> str:
    """Return the arguments of a fold of Ruby whose operation is no block and no symbol; "" for others."""
    opens = _RUBY_OPENS.match(bare, at)
    begin = opens or _RUBY_BARE.match(bare, at)
    if begin is None:
        return ""
    arguments, is_whole = read_arguments(bare, begin.end(), bare=opens is None)
    if not is_whole:
        return "…"
    if not arguments:
        return ""
    operation = arguments[-1]
    if opens is None:
        has_block = re.search(r"\sdo\b", operation) is not None
        operation = _RUBY_MODIFIER.sub("", operation)
    else:
        behind = bare.index(operation, begin.end()) + len(operation)
        has_block = _RUBY_BLOCK_FOLLOWS.match(bare, behind) is not None
    # With two arguments Ruby ignores the block.
    if (has_block and len(arguments) == 1) or _RUBY_SYMBOL.fullmatch(operation):
        return ""
    return " ".join(", ".join(arguments).split())


class _R:
    """Judges the functions that functions of R are given."""

    def __init__(self, code: str, is_harmless: Callable[[str], bool]) -> None:
        self._code, self._is_harmless = code, is_harmless
        self._values = {name for match in _R_ASSIGNED.finditer(code) for name in match.groups() if name}
        self._functions = set(_R_DEFINED.findall(code)) - self._values
        parameters = " ".join(match[1] for match in _R_PARAMETERS.finditer(code))
        self._parameters = set(re.findall(r"[\w.]+", parameters))
        self._builds_texts = _R_BUILDERS.search(code) is not None

    def find(self) -> Iterator[tuple[int, str]]:
        calls = [match for match in _R_CALL.finditer(self._code) if match[1]]
        formulas = list(_R_FORMULA.finditer(self._code))
        longest = max(LONGEST_CALL, _R_LONGEST_CALLS // max(1, len(calls) + len(formulas)))
        for match in calls:
            arguments, is_whole = read_arguments(self._code, match.end(), longest=longest)
            functions = self._list_functions(match, arguments)
            if not is_whole or (not functions and match[1] in _R_NEEDS_FUNCTION):
                yield _find_line(self._code, match.start()), f"{match[1]}(…)"
            for argument in functions:
                if not (_is_own_value(match[1], argument.strip()) or self._is_known(argument)):
                    yield _find_line(self._code, match.start()), f"{match[1]}({' '.join(argument.split())})"
        built = set(_R_BUILT.findall(self._code))
        for match in formulas:
            arguments, is_whole = read_arguments(self._code, match.end(), longest=longest)
            if not is_whole:
                yield _find_line(self._code, match.start()), f"{match[1]}(…)"
            for argument in arguments:
                key = _R_NAMED.match(argument)
                value = key[2].strip() if key else argument.strip()
                is_label = key is not None and key[1] in (
                    "main",
                    "sub",
                    "xlab",
                    "ylab",
                    "names",
                    "labels",
                    "col",
                )
                if not is_label and (value in built or _R_BUILDERS.match(value)):
                    yield _find_line(self._code, match.start()), f"{match[1]}({' '.join(value.split())})"

    def _list_functions(self, match: re.Match[str], arguments: list[str]) -> list[str]:
        """Return the arguments of a call that are called themselves."""
        *earlier, own = _R_CALLERS.get(match[1], _R_CALLERS_BY_NAME.get(match[1], "")).split()
        plain, named, place = [], [], len(earlier)
        for argument in arguments:
            key = _R_NAMED.match(argument)
            if _R_ODDLY_NAMED.match(argument):
                named.append(argument)
            elif key is None:
                plain.append(argument)
            elif _is_short_for(key[1], own):
                named.append(key[2])
            else:
                place -= any(_is_short_for(key[1], name) for name in earlier)
        if named or match[1] in _R_CALLERS_BY_NAME:
            return named
        if self._code[: match.start()].rstrip().endswith(_PIPES):
            place -= 1
        return plain[max(place, 0) :][:1]

    def _is_known(self, argument: str) -> bool:
        argument = argument.strip()
        if _R_FUNCTION.match(argument):
            return True
        if text := _R_TEXT.fullmatch(argument):
            # Values have no part in this: R looks for a function of that name.
            name = text[2]
            if _R_OPERATOR.fullmatch(name):
                return True
            return name in self._functions or self._is_harmless_function(name)
        path = _R_NAME.fullmatch(argument)
        if path is None:
            return False
        name = path[1]
        if name == argument and name in self._parameters:
            return not self._builds_texts
        return name in self._functions or (self._is_harmless_function(name) and name not in self._values)

    def _is_harmless_function(self, name: str) -> bool:
        """Return whether a function is harmless with any arguments, so that it calls none of them."""
        return self._is_harmless(name) and name not in _R_CALLERS and name not in _R_CALLERS_BY_NAME


def _is_short_for(key: str, parameter: str) -> bool:
    """Return whether R takes this key for the parameter, or for one of several between `|`."""
    return any(name.startswith(key) for name in parameter.split("|"))


def _is_own_value(function: str, argument: str) -> bool:
    """Return whether an argument in the place of a function means something else to this caller."""
    is_text = _R_TEXT.fullmatch(argument) is not None and not argument.startswith("`")
    return (function in _R_WITH_OWN_TEXTS and is_text) or (
        function in _R_WITH_PLACES and (is_text or _R_NUMBER.fullmatch(argument) is not None)
    )


def _find_line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
