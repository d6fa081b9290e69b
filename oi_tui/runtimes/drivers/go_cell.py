"""Makes a program of a Go cell that has no package: declarations stay outside, statements become `main`.

Well-known packages that the cell uses are imported, and the value of its last line is shown where it is no
call. All lines keep their numbers.
"""

# mypy: ignore-errors

from __future__ import annotations

import re

#: Comments, texts and letters, which hold no structure.
_OPAQUE = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|`[^`]*`?|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?""", re.S
)
_PACKAGE = re.compile(r"^[ \t]*package[ \t]+(\w+)", re.M)
_MAIN = re.compile(r"^[ \t]*func[ \t]+main[ \t]*\(\s*\)", re.M)
#: Declarations; a function without a name is a value.
_OUTSIDE = re.compile(r"(?:import|type|const)\b|func\s+\w|func\s*\([^()]*\)\s*\w+\s*[(\[]")
_FUNCTION = re.compile(r"func\b")
_VARIABLE = re.compile(r"var\s+(?:\(|([\w, \t]+))")
_IMPORT = re.compile(r'(?:([\w.]+)[ \t]+)?["`]([^"`\n]+)["`]')
#: A line that ends here ends its statement.
_ENDS = re.compile(r"(?:[\w)\]}]|\+\+|--)\Z")
_STATEMENT = re.compile(
    r"(?:if|for|switch|select|go|defer|return|break|continue|goto|fallthrough|var|const|type|import|func)\b|[{}]|\w+:\s"
)
_ASSIGNS = re.compile(r"(?<![=!<>])=(?!=)|\+\+\s*\Z|--\s*\Z|<-(?=.*[\w\"])")
_CALLED = re.compile(r"([\w.]+)\s*\(")
#: Functions that give a value and do nothing else.
_WITH_VALUE = re.compile(
    r"(?:len|cap|min|max|append|make|new|real|imag|complex|string|bool|u?int(?:8|16|32|64)?|float(?:32|64)|byte|rune)"
    r"|(?:math|strings|strconv|unicode|utf8|filepath|path|slices|maps|bits|cmplx)\.[A-Z]\w*"
    r"|(?:fmt\.(?:Sprint\w*|Errorf)|errors\.\w+|time\.(?:Now|Since|Date|Unix)|regexp\.MustCompile|reflect\.\w+)"
)
#: The packages of Go by the name that code calls them.
_PACKAGES = {
    path.rpartition("/")[2]: path
    for path in """
    bufio bytes cmp context errors fmt io iter log maps math os reflect regexp runtime slices sort
    strconv strings sync time unicode archive/zip compress/gzip container/heap container/list
    crypto/md5 crypto/rand crypto/sha1 crypto/sha256 crypto/sha512 database/sql encoding/base64
    encoding/binary encoding/csv encoding/hex encoding/json encoding/xml html/template io/fs
    math/big math/bits math/cmplx math/rand net/http net/url os/exec os/signal path/filepath
    runtime/debug sync/atomic text/tabwriter unicode/utf8
    """.split()
}
_PACKAGES["rand"] = "math/rand"
_SHOW = """//line oi.go:1:1
func oiShow(values ...any) {
	for at, value := range values {
		if at > 0 {
			oiFmt.Print(" ")
		}
		oiFmt.Printf("%+v", value)
	}
	oiFmt.Println()
}
"""


def has_package(code):
    """Return the name of the package of a cell; "" for none."""
    match = _PACKAGE.search(_blank_out_details(code))
    return match.group(1) if match else ""


def has_main(code):
    """Return whether the cell defines `main`."""
    return bool(_MAIN.search(_blank_out_details(code)))


def make_program(code, name):
    """Return a program of a cell without a package; errors call the file by the name."""
    plain = _blank_out_details(code)
    outside, inside = list(_replace_with_spaces(code)), list(code)
    pieces = list(_find_statements(plain))
    functions = " ".join(plain[a:b] for a, b in pieces if _FUNCTION.match(plain[a:b].lstrip()))
    last = None
    for begin, end in pieces:
        text = plain[begin:end].strip()
        if _OUTSIDE.match(text) or _is_shared(text, functions):
            outside[begin:end] = code[begin:end]
            inside[begin:end] = _replace_with_spaces(code[begin:end])
        elif text:
            last = begin, end
    shows = bool(last) and _has_value(plain[last[0] : last[1]].strip(), _find_functions_with_results(plain))
    if shows:
        begin = last[1] - len(plain[last[0] : last[1]].lstrip())
        stop = begin + len(plain[begin : last[1]].rstrip("; \t\n"))
        number, column = code.count("\n", 0, begin) + 1, len(code[:begin].rpartition("\n")[2].encode()) + 1
        inside[begin] = "oiShow(/*line {}:{}:{}*/{}".format(name, number, column, inside[begin])
        inside[stop - 1] += ")"
    missing = ['import "{}"\n'.format(path) for path in _find_missing(plain, code)]
    if shows:
        missing.append('import oiFmt "fmt"\n')
    line = "//line {}:1:1\n".format(name)
    main = "" if has_main(code) else "func main() {{\n{}{}\n}}".format(line, "".join(inside))
    show = _SHOW if shows else ""
    return "package main\n{}{}{}\n{}{}".format("".join(missing), line, "".join(outside), show, main)


def add_line_directive(code, name):
    """Return a whole program whose errors call the file by the name."""
    return "//line {}:1:1\n{}".format(name, code)


def _blank_out_details(code):
    """Return the code with nothing in its comments and texts; no place in it moves."""
    return _OPAQUE.sub(lambda match: _hide(match.group()), code)


def _hide(text):
    filler = " " if text.startswith(("//", "/*")) else "0"
    return re.sub(r"[^\n]", filler, text)


def _replace_with_spaces(text):
    return re.sub(r"[^\n]", " ", text)


def _find_statements(plain):
    """Yield where each statement begins and ends, with what stands before it."""
    begin = depth = 0
    for place, letter in enumerate(plain):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif depth <= 0 and (
            letter == ";" or (letter == "\n" and _ENDS.search(plain[begin:place].rstrip(" \t")))
        ):
            yield begin, place + 1
            begin = place + 1
    yield begin, len(plain)


def _is_shared(text, functions):
    """Return whether a variable is one that functions of the cell use, so that it stands outside as well."""
    match = _VARIABLE.match(text)
    if not match or not functions:
        return False
    names = re.findall(r"\w+", match.group(1) or text)
    return any(re.search(r"\b{}\b".format(name), functions) for name in names if name != "var")


def _find_functions_with_results(plain):
    """Return the functions of the cell that return something."""
    names = set()
    for match in re.finditer(r"\bfunc\s+(\w+)\s*(?:\[[^\]]*\])?\s*\(", plain):
        closing = _find_closing(plain, match.end() - 1)
        if closing > 0 and re.match(r"[ \t]*[^\s{]", plain[closing + 1 :]):
            names.add(match.group(1))
    return names


def _has_value(text, functions):
    """Return whether a statement is an expression whose value can be shown."""
    text = text.rstrip("; \t\n")
    if not text or _STATEMENT.match(text) or _ASSIGNS.search(re.sub(r"[({\[].*[)}\]]", "", text, flags=re.S)):
        return False
    match = _CALLED.match(text)
    if match is None or not text.endswith(")"):
        return True
    return match.group(1) in functions or bool(_WITH_VALUE.fullmatch(match.group(1)))


def _find_closing(text, opening):
    """Return where the parenthesis closes; -1 where it does not."""
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if not depth:
            return place
    return -1


def _find_missing(plain, code):
    """Return the packages that the cell uses and does not import."""
    imported = set()
    for begin, end in _find_statements(plain):
        if plain[begin:end].lstrip().startswith("import"):
            imports = _IMPORT.findall(
                _OPAQUE.sub(_replace_comment, code[begin:end]).lstrip()[len("import") :]
            )
            imported.update(alias or path.rpartition("/")[2] for alias, path in imports)
    packages = set(re.findall(r"(?<![\w.)\]])([a-z]\w*)\.[A-Z]", plain))
    defined = set(
        re.findall(r"\b([a-z]\w*)\s*(?:,[\w\s,]*)?:=|\b(?:var|func|type|const)\s+([a-z]\w*)", plain)
    )
    names = packages - imported - {name for pair in defined for name in pair}
    return sorted(_PACKAGES[name] for name in names if name in _PACKAGES)


def _replace_comment(found):
    return " " if found.group().startswith(("//", "/*")) else found.group()
