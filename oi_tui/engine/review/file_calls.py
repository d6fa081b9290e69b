"""Finds the files that code writes, in the languages that have no reader of their own.

It reads calls by their names, and the names of files that are texts, variables with a text, or texts joined.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import PurePosixPath

from oi_tui.engine.review import powershell_files
from oi_tui.engine.review.call_arguments import (
    QUOTED,
    WITH_BARE_CALLS,
    evaluate,
    read_variables,
    split_arguments,
)
from oi_tui.engine.review.findings import Finding
from oi_tui.engine.review.quoting import remove_comments


@dataclass(frozen=True, slots=True)
class _Writer:
    """Functions that write a file."""

    #: A pattern of their names.
    function: str
    #: The place of the file among the arguments, from 0; -1 where it is always named.
    place: int = 0
    #: The names that the argument may have.
    keys: tuple[str, ...] = ()
    #: A pattern: what the arguments hold where the file is written at all, as `'w'` for one that opens files.
    needs: str = ""
    #: A pattern: what they hold where the file is added to, or left as it is.
    keeps: str = ""
    #: Whether the argument in front is copied, under its own name where the file is a folder.
    copies: bool = False
    #: The file where none is named.
    default: str = ""


_R_KEYS = ("file", "filename", "path", "con", "sink", "destfile", "to", "description")
_R_APPEND = r"\bappend\s*=\s*T"
_R_WRITING = r"""\bopen\s*=\s*["']w|,\s*["']w[bt+]?["']"""
_WRITE_MODE = r"""["'][rb]{0,2}w"""
_FLAGS = r"""\bflags?\s*:\s*["'](?:ax?|wx|r)\+?["']"""
_JAVASCRIPT = (
    _Writer(r"\b(?:writeFile|outputFile|writeJson|outputJson|createWriteStream)(?:Sync)?", keeps=_FLAGS),
    _Writer(r"\b(?:appendFile|mkdir|mkdtemp)(?:Sync)?", keeps=r"^"),
    _Writer(r"\b(?:fs|fsp|promises)\.truncate(?:Sync)?"),
    _Writer(r"\b(?:copyFile|cp)(?:Sync)?", 1, keeps=r"COPYFILE_EXCL|force\s*:\s*false", copies=True),
    _Writer(r"\b(?:rename|move)(?:Sync)?", 1),
    _Writer(r"(?<!\.)\bopen(?:Sync)?|\b(?:fs|fsp|promises)\.open(?:Sync)?", needs=r"""["']w\+?s?["']"""),
)
_WRITERS: dict[str, tuple[_Writer, ...]] = {
    "javascript": _JAVASCRIPT,
    "deno": (
        *_JAVASCRIPT,
        _Writer(r"\bDeno\.writeTextFile(?:Sync)?", keeps=r"append\s*:\s*true|createNew\s*:\s*true"),
        _Writer(r"\bDeno\.(?:create|truncate)(?:Sync)?"),
        _Writer(r"\bDeno\.open(?:Sync)?", needs=r"truncate\s*:\s*true"),
    ),
    "bun": (
        *_JAVASCRIPT,
        _Writer(r"\bBun\.write"),
        _Writer(r"\bBun\.file(?=\s*\([^()\n]*\)\s*\.(?:write|writer)\b)"),
    ),
    "ruby": (
        _Writer(r"\b(?:File|IO)\.(?:bin)?write", keeps=r"""\bmode:\s*["']a"""),
        _Writer(
            r"\b(?:(?:File|CSV|Zlib::GzipWriter)\.(?:open|new)|(?<![.\w])open)",
            needs=r"""["']w|\bFile::TRUNC""",
        ),
        _Writer(r"\b(?:File|CSV)\.open", needs=r"""^[^,]*,\s*(?:mode:\s*)?["']a""", keeps=r"^"),
        _Writer(r"\bFile\.truncate"),
        _Writer(r"\bFile\.rename", 1),
        _Writer(
            r"\bFileUtils\.(?:cp|copy|copy_file|mv|move|install)",
            1,
            keeps=r"\bnoop:\s*true",
            copies=True,
        ),
        _Writer(r"\bPathname(?:\.new)?(?=\s*\([^()\n]*\)\.(?:bin)?write\b)"),
        _Writer(r"""\bPathname(?:\.new)?(?=\s*\([^()\n]*\)\.open\s*\(?\s*["']w)"""),
    ),
    "r": (
        _Writer(
            r"(?<![\w.])(?:write\.(?:csv2?|table|xlsx|dta|arff)|fwrite|write|dput)",
            1,
            _R_KEYS,
            keeps=_R_APPEND,
        ),
        _Writer(
            r"(?<![\w.])(?:writeLines|saveRDS|saveWidget|save_html|write_(?!fst\b|xml_)\w+|write_fst|qsave)",
            1,
            _R_KEYS,
            keeps=_R_APPEND,
        ),
        _Writer(r"(?<![\w.])saveWorkbook", 1, _R_KEYS, needs=r"\boverwrite\s*=\s*T|,\s*T(?:RUE)?\s*$"),
        _Writer(
            r"(?<![\w.])(?:save|cat|capture\.output)", -1, ("file",), needs=r"\bfile\s*=", keeps=_R_APPEND
        ),
        _Writer(r"(?<![\w.])save\.image", 0, _R_KEYS, default=".RData"),
        _Writer(r"(?<![\w.])(?:ggsave|sink|file\.create)", 0, _R_KEYS, keeps=_R_APPEND),
        _Writer(
            r"(?<![\w.])(?:png|jpeg|bmp|tiff|svg|pdf|cairo_pdf|cairo_ps|postscript|xfig|agg_png)", 0, _R_KEYS
        ),
        _Writer(r"(?<![\w.])(?:file|gzfile|bzfile|xzfile)", 0, _R_KEYS, needs=_R_WRITING),
        _Writer(r"(?<![\w.])file\.copy", 1, _R_KEYS, needs=r"\boverwrite\s*=\s*T", copies=True),
        _Writer(r"(?<![\w.])file\.rename", 1, _R_KEYS),
        _Writer(r"(?<![\w.])file_move", 1, ("new_path",), copies=True),
        _Writer(r"(?<![\w.])file_copy", 1, ("new_path",), needs=r"\boverwrite\s*=\s*T", copies=True),
        _Writer(r"(?<![\w.])(?:download\.file|curl_download)", 1, _R_KEYS),
    ),
    "perl": (
        _Writer(r"\bopen", 2, needs=r"""["']\+?>(?!>)"""),
        _Writer(r"\brename", 1),
        _Writer(r"(?<![$@%\w])(?:copy|move|cp|mv)", 1, copies=True),
    ),
    "lua": (
        _Writer(r"\bio\.open", needs=_WRITE_MODE),
        _Writer(r"\bio\.output"),
        _Writer(r"\bos\.rename", 1),
    ),
    "php": (
        _Writer(r"\bfile_put_contents", keeps=r"\bFILE_APPEND\b"),
        _Writer(r"\bfopen", needs=_WRITE_MODE),
        _Writer(r"(?<![\w>:])(?:copy|rename)|\bimage(?:png|jpeg|gif|webp)", 1),
    ),
    "octave": (
        _Writer(r"\bfopen", needs=_WRITE_MODE),
        _Writer(r"\b(?:csvwrite|dlmwrite|save|print)", keeps=r"""["']-append["']"""),
        _Writer(r"\b(?:saveas|imwrite|rename)", 1),
        _Writer(r"\b(?:copyfile|movefile)", 1, copies=True),
    ),
    "go": (
        _Writer(r"\bos\.(?:Create|WriteFile|Truncate)|\bioutil\.WriteFile"),
        _Writer(r"\bos\.OpenFile", needs=r"\bO_TRUNC\b"),
        _Writer(r"\bos\.Rename", 1),
    ),
    "rust": (
        _Writer(r"\bFile::create|\bfs::write"),
        _Writer(r"\bfs::(?:copy|rename)", 1),
    ),
    "c": (
        _Writer(r"\bf(?:re)?open", needs=_WRITE_MODE),
        _Writer(r"\b(?:rename|copy_file)", 1),
        _Writer(r"\bofstream(?:\s+\w+)?", keeps=r"\b(?:app|ate)\b"),
    ),
    "java": (
        _Writer(
            r"\bFiles\.(?:write|writeString|newBufferedWriter|newOutputStream)",
            keeps=r"\b(?:APPEND|CREATE_NEW)\b",
        ),
        _Writer(r"\bnew (?:FileWriter|FileOutputStream|PrintWriter)", keeps=r",\s*true\s*$"),
        _Writer(r"\bFiles\.(?:copy|move)", 1, needs=r"\bREPLACE_EXISTING\b|\bATOMIC_MOVE\b"),
    ),
    "julia": (
        _Writer(r"(?<![\w.])write|\bCSV\.write", keeps=r"\bappend\s*=\s*true"),
        _Writer(r"(?<![\w.])open", needs=r'"w'),
        _Writer(r"(?<![\w.])(?:cp|mv)", 1, needs=r"\bforce\s*=\s*true"),
        _Writer(r"(?<![\w.])(?:savefig|jldsave|writedlm)"),
    ),
}
_WRITERS["cpp"] = _WRITERS["c"]
_WRITERS["react"] = _WRITERS["typescript"] = _WRITERS["javascript"]

_NAMED = re.compile(r"^\s*([\w.]+)\s*(?:=(?!=)|:(?!:))\s*(.*)$", re.DOTALL)
#: The mode in front of a name, as Perl has it: `'>prices.csv'`.
_REDIRECTION = re.compile(r"^\+?>{1,2}\s*")
#: The longest text that may be a mode or an option, and no data.
_LONGEST_OPTION = 8


def find_written(language: str, code: str) -> Iterator[Finding]:
    """Yield the files that calls write, and those that they replace if they are there.

    A file whose name is not known is called "".
    """
    if language == "powershell":
        yield from powershell_files.find_written(code)
    writers = _WRITERS.get(language, ())
    code = remove_comments(language, code) if writers else ""
    opens = r"[ \t]*\(" + (r"|[ \t]+(?=[\"'\w:$.-])" if language in WITH_BARE_CALLS else "")
    line_ends = [match.start() for match in re.finditer(r"\n", code)]
    variables: dict[str, list[str]] | None = None
    for writer in writers:
        for match in re.finditer(rf"(?:{writer.function})(?P<opens>{opens})", code):
            arguments = split_arguments(code, match.end(), bare="(" not in match["opens"])
            text = QUOTED.sub(_hide_data, ", ".join(arguments))
            if writer.needs and not re.search(writer.needs, text):
                continue
            if variables is None:
                variables = read_variables(code)
            line = bisect_left(line_ends, match.start()) + 1
            adds = bool(writer.keeps and re.search(writer.keeps, text))
            for name, is_whole in _find_names(writer, arguments, variables):
                if is_whole:
                    yield Finding("writes", name, line)
                if name and not adds:
                    yield Finding("overwrites", name, line)


def _hide_data(text: re.Match[str]) -> str:
    return text[0] if len(text[2]) <= _LONGEST_OPTION else '""'


def _find_names(
    writer: _Writer, arguments: list[str], variables: dict[str, list[str]]
) -> Iterator[tuple[str, bool]]:
    """Yield the names that the written file may have, and whether that is all that the code says.

    What is copied has its own name in a folder, which only the disk knows to be one.
    """
    named_arguments, plain = _sort_arguments(arguments)
    file = next((named_arguments[key] for key in writer.keys if key in named_arguments), None)
    if file is None and writer.place >= 0 and plain:
        # Another argument may be named, so that the file moves forward.
        file = plain[min(writer.place, len(plain) - 1)]
    if file is None:
        yield writer.default if not arguments else "", True
        return
    names = [_REDIRECTION.sub("", name) for name in evaluate(file, variables)]
    for name in names or [""]:
        yield name, True
    if writer.copies and len(plain) > 1:
        for name, copied in product(names, evaluate(plain[0], variables)):
            yield f"{name.rstrip('/')}/{PurePosixPath(copied).name}", False


def _sort_arguments(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the arguments with a name, and those without one."""
    named_arguments: dict[str, str] = {}
    plain: list[str] = []
    for argument in arguments:
        if match := _NAMED.match(argument):
            named_arguments[match[1]] = match[2]
        else:
            plain.append(argument)
    return named_arguments, plain
