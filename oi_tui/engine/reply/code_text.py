"""Removes what models put around the code in a tool call."""

import re


class CodeText:
    """The code without what models put around it: a fence, or the "`" and newline left over from one."""

    def __init__(self) -> None:
        self._head: str | None = ""
        self._fenced = False
        self._tail = ""

    def feed(self, text: str) -> str:
        """Take the next piece; returns what certainly is code."""
        if self._head is not None:
            self._head += text
            text = self._open()
        if not self._fenced:
            return text
        text = self._tail + text
        at = len(text.rstrip().rstrip("`").rstrip())
        at = at if len(text) - at < 200 else len(text)
        self._tail = text[at:]
        return text[:at]

    def finish(self) -> str:
        """Return the rest of the code."""
        head, self._head = self._head or "", None
        tail, self._tail = self._tail, ""
        if self._fenced:
            return head + re.sub(r"\s*`{3}\s*\Z", "", tail)
        return head

    def _open(self) -> str:
        head = self._head or ""
        start = head.lstrip(" \n")
        if not start and len(head) < 100:
            return ""
        if start in ("`", "``", "```"):
            return ""
        if start.startswith("```"):
            line, newline, rest = start.partition("\n")
            if not newline and len(line) < 60:
                return ""
            if re.fullmatch(r"```[\w+#.-]*\s*", line) and newline:
                self._fenced = True
                head = rest
        elif start.startswith("`\n"):
            head = start[2:]
        self._head = None
        return head
