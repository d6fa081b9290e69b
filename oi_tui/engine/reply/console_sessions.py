"""Takes the commands out of a console session that a model wrote: prompts, commands and output."""

import re

#: A prompt of a shell: `$ `, `% `, `user@host:~$ `, each perhaps with an environment before it.
_SHELL = re.compile(
    r"\s{0,20}(?:\([\w.-]{1,60}\) ?)?"
    r"(?:\[?[\w.-]{1,60}@[\w.-]{1,60}[: ]?[^\s$#%]{0,200}\]? ?[$#%]|[$%])"
    r"(?: (?=\S)|[ ]?$)"
)
#: What no prompt begins with, and words that none goes on from as these do.
_NO_PROMPT = re.compile(r"\s*(?:[^\w\s$%>(\[#.-]|(?!In (?:\[|$))[A-Za-z_][\w.-]*[ =(\[;|&])")
_PYTHON = re.compile(r"\s{0,20}(?:>>>(?: |$)|In \[\d{1,9}\]: ?)")
_FURTHER = re.compile(r"\s{0,20}(?:\.\.\.(?: |$)|\.\.\.: ?)")
_DOCUMENT = re.compile(r"(?<!<)<<(-?)[ \t]*(['\"]?)([A-Za-z_]\w*)\2")
_OPENING = {"if": "fi", "case": "esac", "for": "done", "while": "done", "until": "done", "select": "done"}
_CLOSING = frozenset(_OPENING.values())
#: After these a command begins.
_BEFORE = frozenset(
    (";", "|", "&", "(", "{", "\n", "then", "do", "else", "elif", "if", "while", "until", "!")
)
_TOKEN = re.compile(
    r"'[^']*'?|\"(?:\\.|[^\"\\])*\"?|\\.|\\\Z|[;|&(){}\n]|#[^\n]*|[^\s;|&(){}'\"\\]+|[ \t]+", re.DOTALL
)
#: The first lines are held no longer than until this many characters say nothing.
_LONGEST_HEAD = 2000


class ConsoleSession:
    """Takes prompts, and what is printed between them, out of code in the shell or in Python as it comes."""

    def __init__(self, language: str | None) -> None:
        self._python = language == "python"
        #: None until it is known; then whether there are prompts.
        self._session: bool | None = None if language in ("shell", "zsh", "python") else False
        self._held = ""
        #: How much of that is whole lines that say nothing.
        self._silent = 0
        self._command = ""
        self._begun = False

    def feed(self, text: str) -> str:
        """Take the next piece; returns the code that is certain."""
        if self._session is False:
            return text
        self._held += text
        return self._pop_certain(self._session if self._session is not None else self._decide(last=False))

    def _pop_certain(self, session: bool | None) -> str:
        """Return the part of the held text that is now certain."""
        self._session = session
        if session is None:
            return ""
        if session:
            return self._read_lines()
        text, self._held = self._held, ""
        return text

    def finish(self) -> str:
        """Return the rest of the code."""
        out = self._pop_certain(self._session if self._session is not None else self._decide(last=True))
        text, self._held = self._held, ""
        return out + (self._read_line(text) if text else "")

    def _decide(self, *, last: bool) -> bool | None:
        """Return whether the first line that says something begins with a prompt.

        None while that is not known.
        """
        for line in self._held[self._silent :].splitlines(True):
            bare, is_whole = line.strip(), line.endswith("\n")
            if not (is_whole or last) and len(line) < 300:
                # Most code shows with its first word that it begins with no prompt.
                if _NO_PROMPT.match(line):
                    return False
                break
            if bare and (not bare.startswith("#") or bare.startswith("#!")):
                return (_PYTHON if self._python else _SHELL).match(line.rstrip("\n")) is not None
            if not (is_whole or last):
                break
            self._silent += len(line)
        return False if last or len(self._held) > _LONGEST_HEAD else None

    def _read_lines(self) -> str:
        *whole, self._held = self._held.split("\n")
        return "".join(self._read_line(line) for line in whole)

    def _read_line(self, line: str) -> str:
        """Return the code of a line, on a new line after the first; "" for what was printed."""
        code = self._read_python(line) if self._python else self._read_shell(line)
        if code is None:
            return ""
        has_begun, self._begun = self._begun, True
        return "\n" + code if has_begun else code

    def _read_python(self, line: str) -> str | None:
        match = _PYTHON.match(line) or _FURTHER.match(line)
        if match:
            return line[match.end() :]
        return line if line.startswith("#") else None

    def _read_shell(self, line: str) -> str | None:
        bare = line.rstrip("\r")
        if self._command and is_open(self._command):
            match = re.match(r"\s{0,20}> ?", bare)
            more = bare[match.end() :] if match else bare
            self._command += "\n" + more
            return more
        prompt = _SHELL.match(bare)
        if prompt:
            self._command = bare[prompt.end() :]
            return self._command or None
        return bare if bare.lstrip().startswith("# ") and not self._command else None


def extract_commands(language: str | None, code: str) -> str | None:
    """Return the commands of a session that is complete; None where no prompt is in it."""
    reader = ConsoleSession(language)
    text = reader.feed(code) + reader.finish()
    return None if text == code else text


def is_open(command: str) -> bool:
    """Return whether a shell would wait for more lines of the command."""
    for document in _DOCUMENT.finditer(command):
        rest = command[document.end() :].split("\n")[1:]
        if not any((line.lstrip("\t") if document[1] else line) == document[3] for line in rest):
            return True
    if _DOCUMENT.search(command):
        return False
    expected: list[str] = []
    before = "\n"
    last = ""
    for token in _TOKEN.findall(command):
        if not token.strip(" \t") or (token.startswith("#") and last.isspace()):
            last = token
            continue
        last = token
        if token[0] in "'\"" and (len(token) == 1 or token[-1] != token[0]):
            return True
        if before in _BEFORE:
            if token in _OPENING:
                expected.append(_OPENING[token])
            elif token in _CLOSING and token in expected:
                expected.remove(token)
        if token == "{" and (before in _BEFORE or before == ")"):
            expected.append("}")
        elif token == "(":
            expected.append(")")
        elif token in ")}" and token in expected:
            expected.remove(token)
        before = token
    return bool(expected) or before == "|" or command.endswith("\\") or command.rstrip().endswith("&&")
