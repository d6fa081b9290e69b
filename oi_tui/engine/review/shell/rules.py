"""Rules for shell commands."""

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise

from oi_tui.engine.review import sql_rules
from oi_tui.engine.review.findings import Finding, Kind, find_hosts, find_private, split_line
from oi_tui.engine.review.shell.expansion import expand, find_here_strings, list_commands_in_texts
from oi_tui.engine.review.shell.written_files import find_replaced, find_written

_COMMANDS: dict[str, Kind] = {
    **dict.fromkeys(("rm", "rmdir", "unlink", "shred", "srm", "trash", "wipe"), "deletes"),
    **dict.fromkeys(("mv", "rename"), "moves"),
    **dict.fromkeys(
        ("curl", "wget", "ssh", "scp", "sftp", "rsync", "ftp", "telnet", "nc", "ncat"), "network"
    ),
    **dict.fromkeys(("ping", "dig", "nslookup", "host", "whois", "nmap", "aria2c", "http", "gh"), "network"),
    **dict.fromkeys(("kill", "pkill", "killall"), "processes"),
    **dict.fromkeys(
        ("chmod", "chown", "chgrp", "mount", "umount", "systemctl", "service", "crontab"), "system"
    ),
    **dict.fromkeys(("shutdown", "reboot", "poweroff", "halt", "launchctl", "useradd", "passwd"), "system"),
    **dict.fromkeys(("mkfs", "fdisk", "parted", "diskutil", "iptables", "sysctl", "defaults"), "system"),
    **dict.fromkeys(("userdel", "groupdel"), "deletes"),
    **dict.fromkeys(
        ("socat", "lynx", "w3m", "mosh", "sshfs", "smbclient", "rclone", "lftp", "axel"), "network"
    ),
    **dict.fromkeys(("sendmail", "mutt", "finger"), "network"),
    "skill": "processes",
    **dict.fromkeys(("chattr", "setfacl", "ssh-copy-id", "modprobe", "insmod", "rmmod", "swapoff"), "system"),
    **dict.fromkeys(("usermod", "visudo", "chsh", "nixos-rebuild"), "system"),
    "secret-tool": "secrets",
    **dict.fromkeys(("split", "csplit", "patch"), "writes"),
    **dict.fromkeys(("eval", "source", "."), "runs text"),
    **dict.fromkeys(("touch", "mkdir", "truncate", "ln", "install"), "writes"),
}
_RIGHTS = ("sudo", "doas", "pkexec", "su", "run0")
_SHELLS = ("sh", "bash", "zsh", "dash", "fish", "ksh", "python", "python3", "node", "perl", "ruby")
#: Words in front of the command that runs.
_BEFORE = frozenset(
    (
        *("env", "nohup", "time", "command", "exec", "nice", "ionice", "xargs", "builtin", "setsid"),
        *("chrt", "taskset", "flock", "chroot", "unshare", "nsenter", "fakeroot", "systemd-run", "coproc"),
        *("timeout", "watch", "strace", "ltrace", "stdbuf", "unbuffer", "busybox", "toybox", "parallel"),
    )
)
#: Those of them with one more word before the command.
_TAKES_ONE = frozenset(("timeout", "chrt", "taskset", "flock", "chroot"))
_INSTALL = re.compile(
    r"^(?:(?:pip3?|pipx|uv pip|python3? -m pip|npm|pnpm|yarn|brew|apt|apt-get|dnf|yum|apk|conda|mamba|gem"
    r"|cargo|go|snap|port|flatpak|zypper) (?:-\S+ )*"
    r"(?:install|add|i|get|upgrade|update|remove|uninstall|dist-upgrade)|pacman -\w*[SRU])\b"
)
#: Programs that manage things elsewhere, and the words by which they delete them.
_MANAGERS = frozenset(
    (
        *("docker", "podman", "kubectl", "helm", "aws", "gcloud", "az", "gsutil", "terraform", "tofu"),
        *("pulumi", "heroku", "flyctl", "redis-cli", "vagrant", "virsh", "zfs", "lvm"),
    )
)
_DELETING = re.compile(
    r"rmi?|rb|del|delete(?:-\S+)?|destroy|prune|terminate(?:-\S+)?|purge|flushall|flushdb|uninstall|drain",
    re.IGNORECASE,
)
#: Programs that are given statements of SQL.
_DATABASES = frozenset(("psql", "mysql", "mariadb", "sqlite3", "duckdb", "clickhouse-client", "sqlcmd"))
#: Settings of git by which it runs a program.
_RUN_BY_GIT = re.compile(
    r"^alias\.|pager|hookspath|fsmonitor|sshcommand|editor|askpass|^credential\.|^filter\.|textconv|\.cmd$",
    re.IGNORECASE,
)
_WEB_GIT = ("clone", "fetch", "pull", "push", "ls-remote", "submodule")
_KEYWORDS = frozenset(("if", "then", "else", "elif", "do", "while", "until", "!", "fi", "done"))
_SUBSTITUTED = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
#: What a comment may begin in; in quotations and behind a backslash none does.
_QUOTED = re.compile(r"""\\.|'[^']*'?|"(?:\\.|[^"\\])*"?|#""")
#: A line that continues in the next one; a backslash behind a backslash is only a backslash.
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\$")
#: What a comment may come right behind.
_BETWEEN = " \t;&|()"
#: Longer lines are read in pieces of this many characters: the work for a line grows faster than its length.
_LONGEST = 20_000
#: Options of `sudo` and its like that take a word.
_WITH_WORD = ("-k", "-u", "-g", "-n", "-I", "-L", "-P", "-d")


def scan(code: str) -> list[Finding]:
    """Find what the commands do, as far as it shows.

    "overwrites" is what they replace if it is there.
    """
    findings: list[Finding] = []
    variables: dict[str, str] = {}
    for number, line in _split_lines(code):
        for piece in split_line(line, _LONGEST):
            findings += [Finding(kind, what, number) for kind, what in _scan_line(piece)]
            if (expanded := expand(piece, variables)) != piece:
                findings += [Finding(kind, what, number) for kind, what in _scan_line(expanded)]
            for text in find_here_strings(piece):
                findings += [Finding(kind, what, number) for kind, what in _scan_line(text)]
            if "/dev/tcp/" in piece or "/dev/udp/" in piece:
                findings.append(Finding("network", "/dev/tcp", number))
    return list(dict.fromkeys(findings))


def find_program(command: str) -> str:
    """Return the name of the program that a command starts."""
    words = _split(command[:_LONGEST])
    return words[0].rpartition("/")[2] if words else ""


def _split_lines(code: str) -> Iterator[tuple[int, str]]:
    """Yield lines without comments, with their numbers; those that go on behind a backslash as one."""
    pieces: list[str] = []
    start = 1
    for number, whole in enumerate(code.split("\n"), 1):
        line = _cut_comment(whole)
        if _CONTINUED.search(line):
            pieces.append(line[:-1])
            continue
        yield start, "".join([*pieces, line])
        pieces, start = [], number + 1
    if pieces:
        yield start, "".join(pieces)


def _cut_comment(line: str) -> str:
    """Cut the comment off a line, unless a quotation that began in an earlier line may end in it."""
    for part in _QUOTED.finditer(line):
        at = part.start()
        if part.group() == "#" and (at == 0 or line[at - 1] in _BETWEEN):
            comment = line[at:]
            return line if "'" in comment or '"' in comment else line[:at]
    return line


def _split(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""  # to this module "#" begins a comment within a word too
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:  # a quotation that continues in the next line
        words = re.sub(r"([;&|()<>]+)", r" \1 ", line.replace('"', " ").replace("'", " ")).split()
    return words


def _scan_line(line: str) -> Iterator[tuple[Kind, str]]:
    yield from (("network", host) for host in find_hosts(line))
    if which := find_private(line):
        yield "secrets", which
    command: list[str] = []
    piped = False
    for word in [*_split(line), ";"]:
        if word and not word.strip(";&|(){}"):
            yield from _scan_command(command, piped=piped)
            command, piped = [], word in ("|", "|&")
        else:
            command.append(word)
    for inner in _SUBSTITUTED.findall(line):
        yield from _scan_line("".join(inner))


def _scan_command(words: list[str], *, piped: bool) -> Iterator[tuple[Kind, str]]:
    plain = list[str]()
    redirection = ""
    for word in words:
        if word and not word.strip("<>&|"):
            redirection = word
        elif redirection:
            if ">" in redirection and not word.isdigit() and word != "-":
                yield "writes", word
                if ">>" not in redirection and redirection != "<>":
                    yield "overwrites", word
            redirection = ""
        else:
            plain.append(word)
    while plain:
        name = plain[0].rpartition("/")[2]
        if re.fullmatch(r"\w+\+?=.*", plain[0], re.DOTALL) or name in _KEYWORDS:
            plain = plain[1:]
        elif name in _RIGHTS:
            yield "rights", name
            plain = _skip_options(plain[1:])
        elif name in _BEFORE:
            for text in list_commands_in_texts(name, plain[1:]):
                yield from _scan_quoted(text)
            plain = _skip_options(plain[1:])
            if name in _TAKES_ONE:
                plain = plain[1:]
        else:
            break
    if plain:
        yield from _scan_program(plain, piped=piped)


def _skip_options(words: list[str]) -> list[str]:
    while words and (words[0].startswith("-") or re.fullmatch(r"\w+=.*", words[0], re.DOTALL)):
        words = words[2:] if words[0] in _WITH_WORD else words[1:]
    return words


def _scan_program(words: list[str], *, piped: bool) -> Iterator[tuple[Kind, str]]:
    name, arguments = words[0].rpartition("/")[2], words[1:]
    files = [word for word in arguments if not word.startswith("-")]
    if _INSTALL.match(" ".join([name, *arguments])[:400]):
        yield "installs", name
    yield from _scan_by_name(name, arguments, files)
    for text in list_commands_in_texts(name, arguments):
        yield from _scan_quoted(text)
    if name in _SHELLS:
        yield from _list_interpreter_code(name, arguments, files, piped=piped)
    elif name == "find":
        yield from _find(arguments)
    elif name == "git":
        yield from _scan_git(arguments, files)
    elif name in _MANAGERS:
        if deleting := next(filter(_DELETING.fullmatch, files[:4]), ""):
            yield "deletes", f"{name} {deleting}"
    elif name in _DATABASES:
        for word in arguments:
            if " " in word:
                yield from ((item.kind, item.what) for item in sql_rules.scan(word)[0])
    else:
        for line in _list_lines_in_arguments(name, arguments, files):
            yield from _scan_line(line)
        yield from (("writes", file) for file in find_written(name, arguments, files))
        yield from (("overwrites", file) for file in find_replaced(name, arguments, files))


def _scan_by_name(name: str, arguments: list[str], files: list[str]) -> Iterator[tuple[Kind, str]]:
    """Yield what a program does with any arguments."""
    kind = _COMMANDS.get(name) or ("system" if name.startswith("mkfs") else None)
    if kind in ("deletes", "writes"):
        yield from ((kind, file) for file in (files[-1:] if name in ("ln", "install") else files) or [""])
    elif kind == "network":
        if not any(find_hosts(word) for word in arguments):
            yield kind, name
    elif kind:
        yield kind, name if kind != "moves" else ""


def _list_interpreter_code(
    name: str, arguments: list[str], files: list[str], *, piped: bool
) -> Iterator[tuple[Kind, str]]:
    """Yield what a shell or another interpreter is given as code."""
    if piped and not files:
        yield "runs text", f"what is piped into {name}"
    if "-e" in arguments[:-1] and name in ("perl", "ruby", "node"):
        yield "runs text", f"{name} -e"
    if flag := next((item for item in arguments[:-1] if re.fullmatch(r"-[a-z]*c", item)), ""):
        inner = arguments[arguments.index(flag) + 1]
        if name in ("sh", "bash", "zsh", "dash", "ksh", "fish"):
            for line in inner.split("\n"):
                yield from _scan_line(line)
        else:
            yield "runs text", f"{name} -c"


def _find(arguments: list[str]) -> Iterator[tuple[Kind, str]]:
    if "-delete" in arguments:
        yield "deletes", ""
    yield from (("writes", after) for flag, after in pairwise(arguments) if flag.startswith("-fprint"))
    for flag in ("-exec", "-execdir", "-ok", "-okdir"):
        if flag in arguments:
            yield from _scan_command(arguments[arguments.index(flag) + 1 :], piped=False)


def _scan_git(arguments: list[str], files: list[str]) -> Iterator[tuple[Kind, str]]:
    step = next(iter(files), "")
    removes = step in ("worktree", "remote", "tag") and {"remove", "rm", "-d"} & set(arguments)
    if step == "rm" or removes:
        yield "deletes", f"git {step}"
    if step == "config" and len(files) > 2 and _RUN_BY_GIT.search(files[1]):
        yield "system", f"git config {files[1]}"
    if step in _WEB_GIT:
        yield "network", f"git {step}"
    if _loses_work(step, arguments):
        yield "deletes", f"git {step}"


def _list_lines_in_arguments(name: str, arguments: list[str], files: list[str]) -> list[str]:
    """Return the command lines that a program gets as arguments."""
    if name == "ssh":
        return [" ".join(files[1:])]
    if name == "script" and "-c" in arguments[:-1]:
        return [arguments[arguments.index("-c") + 1]]
    if name == "trap":
        return files[:1]
    if name == "alias":
        return [word.partition("=")[2] for word in files]
    return []


def _scan_quoted(text: str) -> Iterator[tuple[Kind, str]]:
    """Yield what a text does if it is a command, without what a name in a sentence may only seem to be."""
    words = _split(text)
    name = words[0] if words else ""
    if name.startswith(("/", "./")):
        name = name.rpartition("/")[2]
    if len(words) > 1 and (
        _COMMANDS.get(name) == "deletes" or name in (*_RIGHTS, "sh", "bash", "curl", "wget")
    ):
        yield from _scan_line(text)


def _loses_work(step: str, arguments: list[str]) -> bool:
    """Return whether a command of git throws away what is not committed, or commits."""
    return (
        step == "clean"
        or (step == "reset" and "--hard" in arguments)
        or (step == "checkout" and bool({".", "--", "-f", "--force"}.intersection(arguments)))
        or (step == "restore" and "--staged" not in arguments)
        or (step == "stash" and bool({"drop", "clear"}.intersection(arguments)))
        or (step == "branch" and bool({"-D", "-d", "--delete"}.intersection(arguments)))
        or (step == "push" and bool({"--force", "-f", "--delete", "--mirror"}.intersection(arguments)))
    )
