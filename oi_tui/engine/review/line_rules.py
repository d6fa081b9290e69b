"""Rules for other languages, applied line by line."""

import re
from collections import Counter
from collections.abc import Iterator

from oi_tui.engine.review.file_calls import find_written
from oi_tui.engine.review.findings import WORDS, Finding, Kind, find_hosts, find_private, split_line

#: Longer lines are read in pieces of this many characters: the time for a pattern grows faster than the text.
_LONGEST = 4_000
Table = tuple[tuple[Kind, re.Pattern[str]], ...]


def _read_table(caseless: bool = False, **kinds: str) -> Table:
    """Read for each kind (with "_" for a space) what lines look like that do it."""
    flags = re.IGNORECASE if caseless else 0
    kinds_by_name = {kind.replace(" ", "_"): kind for kind in WORDS}
    return tuple((kinds_by_name[kind], re.compile(words, flags)) for kind, words in kinds.items())


#: For languages without a reader of their own: what lines look like. A language's table is searched after
#: the common one.
_COMMON = _read_table(rights=r"\b(?:sudo|doas|pkexec)\b")
PATTERNS: dict[str, Table] = {
    "python": _read_table(
        deletes=r"\brmtree\(|\.unlink\(|\bos\.(?:remove|rmdir)\(",
        network=r"\b(?:requests|httpx|urllib|socket|aiohttp)\b",
        programs=r"\bsubprocess\b|\bos\.(?:system|popen)\(",
        runs_text=r"\b(?:eval|exec)\(",
    ),
    "javascript": _read_table(
        deletes=r"\b(?:unlink|rm|rmdir)(?:Sync)?\(|\bDeno\.remove",
        network=r"""\bfetch\(|['"](?:node:)?(?:https?|net|dgram|tls|axios|ws)['"]""",
        programs=r"child_process|\b(?:execSync|spawnSync|execFile|spawn)\(",
        runs_text=r"\beval\(|\bnew Function\(|\bvm\.run",
        writes=r"\b(?:writeFile|appendFile|createWriteStream|copyFile|mkdir)(?:Sync)?\(",
        moves=r"\brename(?:Sync)?\(",
        processes=r"\bprocess\.kill\(",
    ),
    "ruby": _read_table(
        deletes=r"\bFile\.(?:delete|unlink)|\bFileUtils\.(?:rm|remove)|\bDir\.(?:rm|un)|\bPathname\b.*\.(?:delete|unlink)\b",
        network=r"\bNet::|\bopen-uri\b|\b(?:TCP|UDP)?Socket\b|\bFaraday\b",
        programs=r"\b(?:system|exec|spawn)[ (]|`[^`]+`|%x[({\[]|\bIO\.popen",
        runs_text=r"\b(?:instance_|class_)?eval[ (]",
        writes=r"""\bFile\.write|\bFile\.open\([^)]*['"][wa]|\bIO\.write""",
        moves=r"\bFile\.rename|\bFileUtils\.m(?:v|ove)",
        processes=r"\bProcess\.kill",
    ),
    "perl": _read_table(
        deletes=r"\b(?:unlink|rmdir)\b|\b(?:remove_tree|rmtree)\b",
        network=r"\b(?:LWP|HTTP::Tiny|IO::Socket|Socket)\b",
        programs=r"\b(?:system|exec)\b|`[^`]+`|\bqx\b",
        runs_text=r"""\b(?:eval|do)\s*[('"$]""",
        writes=r"""\bopen\b[^;]*['"]\s*\+?>""",
        moves=r"\brename\b",
        processes=r"\bkill\b",
    ),
    "lua": _read_table(
        deletes=r"\bos\.remove\b",
        network=r"\bsocket\b",
        programs=r"\bos\.execute\b|\bio\.popen\b",
        runs_text=r"\bload(?:string)?\s*\(|\bdofile\b",
        writes=r"""\bio\.open\([^)]*['"][wa]""",
        moves=r"\bos\.rename\b",
    ),
    "r": _read_table(
        deletes=r"\b(?:unlink|file\.remove|(?:file|dir|link)_delete)\(",
        installs=r"\binstall\.packages\(|\binstall_github\(",
        network=r"\b(?:download\.file|url|GET|POST|curl_download)\(",
        programs=r"\bsystem2?\(",
        runs_text=r"\beval\(\s*parse\(|\bsource\(",
        writes=r"\b(?:write\.\w+|writeLines|saveRDS|save\.image|ggsave|png|jpeg|tiff|bmp|svg|pdf|sink|save|fwrite|dput)\(",
        moves=r"\bfile\.rename\(",
    ),
    "powershell": _read_table(
        caseless=True,
        rights=r"-Verb\s+RunAs",
        deletes=r"\b(?:Remove-Item|rm|del|rmdir|rd|Clear-Content)\b",
        network=r"\b(?:Invoke-WebRequest|Invoke-RestMethod|iwr|irm|curl|wget|Net\.WebClient)\b",
        installs=r"\b(?:Install-Module|Install-Package|winget|choco)\b",
        programs=r"\bStart-Process\b",
        runs_text=r"\b(?:Invoke-Expression|iex)\b",
        writes=(
            r"\b(?:(?:Set|Add)-Content|(?:Out|-Out)File|Out-File|Export-\w+|New-Item|Tee-Object|Copy-Item"
            r"|(?:Compress|Expand)-Archive|Start-Transcript)\b|\]::(?:WriteAll|AppendAll|Create\b|OpenWrite)"
            r"|\bStreamWriter\b|(?<![-=<>])>{1,2}(?![>&=]|[ \t]*\$null)"
        ),
        moves=r"\b(?:Move-Item|Rename-Item|mi|mv|rni|ren)\b",
        processes=r"\bStop-Process\b",
    ),
    "c": _read_table(
        deletes=r"\b(?:unlink|unlinkat|remove|rmdir|remove_all)\s*\(",
        network=r"\b(?:socket|connect|getaddrinfo|curl_easy_\w+)\s*\(|\basio\b",
        programs=r"\b(?:system|popen|fork|vfork|execl[pe]?|execv[pe]*|posix_spawnp?)\s*\(",
        writes=r"""\bfopen\s*\([^;]*,\s*"[wa]|\bO_(?:WRONLY|RDWR|CREAT)\b|\bo?fstream\b""",
        moves=r"\brename(?:at)?\s*\(",
        processes=r"\b(?:kill|killpg)\s*\(",
    ),
    "rust": _read_table(
        deletes=r"\bremove_(?:file|dir|dir_all)\b",
        network=r"\b(?:TcpStream|TcpListener|UdpSocket|reqwest|hyper)\b",
        programs=r"\bCommand::new\b|\bstd::process::Command\b",
        writes=r"\bFile::create\b|\bfs::(?:write|copy|create_dir\w*)\b|\bOpenOptions\b",
        moves=r"\bfs::rename\b",
        processes=r"\b(?:libc::)?kill\s*\(",
    ),
    "go": _read_table(
        deletes=r"\bos\.Remove(?:All)?\b",
        network=r"\"net(?:/[\w/]+)?\"|\b(?:http|net)\.\w+\(",
        programs=r"\bexec\.Command|\bos\.StartProcess\b|\bsyscall\.Exec\b",
        writes=r"\bos\.(?:Create|WriteFile|OpenFile|Mkdir\w*)\b|\bioutil\.WriteFile\b",
        moves=r"\bos\.Rename\b",
        processes=r"\.Kill\(|\bsyscall\.Kill\b",
    ),
    "php": _read_table(
        deletes=r"\b(?:unlink|rmdir)\s*\(",
        network=r"\b(?:curl_\w+|fsockopen|stream_socket_\w+|socket_\w+|file_get_contents\s*\(\s*['\"]https?)",
        programs=r"\b(?:exec|shell_exec|system|passthru|proc_open|popen|pcntl_\w+)\s*\(|`[^`]+`",
        runs_text=r"\b(?:eval|assert|create_function)\s*\(|\b(?:include|require)(?:_once)?\b",
        writes=r"""\b(?:file_put_contents|fwrite|copy|mkdir|touch)\s*\(|\bfopen\s*\([^;]*['"][waxc]""",
        moves=r"\brename\s*\(",
        processes=r"\bposix_kill\s*\(",
    ),
    "octave": _read_table(
        deletes=r"\b(?:delete|unlink|rmdir|confirm_recursive_rmdir)\b",
        network=r"\b(?:urlread|urlwrite|webread|webwrite|ftp)\b",
        installs=r"\bpkg\s+install\b",
        programs=r"\b(?:system|shell_cmd|unix|dos|popen2?|exec|fork)\s*\(|^[^\S\n]*!",
        runs_text=r"\b(?:eval|evalc|evalin|feval|source|run)\s*\(",
        writes=r"\b(?:fopen|save|csvwrite|dlmwrite|print|saveas|imwrite|fwrite|mkdir|copyfile)\b",
        moves=r"\b(?:rename|movefile)\b",
        processes=r"\bkill\s*\(",
    ),
    "java": _read_table(
        deletes=r"\bFiles(?:\.|::)delete|\.delete(?:OnExit)?\(\)|\bdelete(?:Directory|Quietly)\(",
        network=r"\bjava\.net\b|\bnew (?:URL|URI|(?:Server|Datagram)?Socket)\(|\bURI\.create\b|\bHttpClient",
        programs=r"\bRuntime\.getRuntime\(\)\.exec\b|\bProcessBuilder\b",
        runs_text=r"\bScriptEngine|\bgetSystemJavaCompiler\b|\bJShell\.",
        writes=(
            r"\bFiles\.(?:write\w*|newBufferedWriter|newOutputStream|copy|create\w+)\b"
            r"|\bnew (?:File(?:Writer|OutputStream)|PrintWriter|RandomAccessFile)\("
        ),
        moves=r"\bFiles\.move\b|\.renameTo\(",
        processes=r"\.destroy(?:Forcibly)?\(|\bProcessHandle\b",
    ),
    "julia": _read_table(
        deletes=r"(?<![.\w])rm\(",
        network=r"(?<![.\w])(?:download|connect|listen)\(|\b(?:HTTP|Downloads|Sockets)\b",
        installs=r"\bPkg\.(?:add|develop|rm|update|instantiate)\b",
        programs=r"(?<![.\w])(?:run|pipeline|read|readchomp|eachline)\(\s*`|\bccall\(",
        runs_text=r"(?<![.\w])(?:eval|include|include_string)\(|\bMeta\.parse\(|@eval\b",
        writes=r"""(?<![.\w])(?:write|mkpath|mkdir|touch|cp)\(|(?<![.\w])open\([^)]*,\s*"[wa]|\bCSV\.write\b""",
        moves=r"(?<![.\w])mv\(",
        processes=r"(?<![.\w])kill\(",
    ),
    "applescript": _read_table(
        caseless=True,
        rights=r"with administrator privileges",
        deletes=r"\bdelete\b|\bempty\b.*\btrash\b",
        programs=r"do shell script|\blaunch\b",
        sends=r"\bsend\b",
        clipboard=r"\bset the clipboard\b",
        runs_text=r"run script",
        processes=r"\bquit\b",
        moves=r"\bmove\b",
    ),
}
PATTERNS["cpp"] = PATTERNS["c"]
PATTERNS["react"] = PATTERNS["typescript"] = PATTERNS["javascript"]
PATTERNS["deno"] = (
    *PATTERNS["javascript"],
    *_read_table(
        network=r"\bDeno\.(?:connect|listen|serve)|\bimport\b.*['\"](?:https?|npm|jsr):",
        programs=r"\bDeno\.Command\b",
        writes=r"\bDeno\.(?:write|create|mkdir|truncate|copyFile|make)",
        moves=r"\bDeno\.rename",
        processes=r"\bDeno\.kill\b",
    ),
)
PATTERNS["bun"] = (
    *PATTERNS["javascript"],
    *_read_table(
        network=r"\bBun\.(?:connect|listen|serve|sql|redis|s3)\b",
        programs=r"\bBun\.\$|\$`",
        writes=r"\bBun\.write\b|\.writer\(",
        deletes=r"\.delete\(\)",
    ),
)


def find_patterns(language: str, code: str) -> list[Finding]:
    """Read code line by line, by what such lines look like.

    "overwrites" is what it replaces if it is there.
    """
    lines = code.split("\n")
    findings: list[Finding] = []
    for number, line in enumerate(lines, 1):
        for piece in split_line(line, _LONGEST):
            findings += [Finding(kind, what, number) for kind, what in _match_line(language, piece)]
    writes = list(find_written(language, code))
    counts = Counter(item.line for item in writes if item.what and item.kind == "writes")
    unnamed = [
        item
        for item in findings
        if item.kind != "writes" or counts[item.line] < _count_writing(language, lines[item.line - 1])
    ]
    return [*unnamed, *writes]


def _count_writing(language: str, line: str) -> int:
    """Return how many calls in a line look as if they write."""
    patterns = [pattern for kind, pattern in PATTERNS[language] if kind == "writes"]
    return max(len(pattern.findall(line[:_LONGEST])) for pattern in patterns) or 1


def _match_line(language: str, text: str) -> Iterator[tuple[Kind, str]]:
    for kind, pattern in (*_COMMON, *PATTERNS[language]):
        if pattern.search(text):
            yield kind, ""
    yield from (("network", host) for host in find_hosts(text))
    if which := find_private(text):
        yield "secrets", which
