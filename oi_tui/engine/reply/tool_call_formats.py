"""The formats in which chat templates write a tool call as text: their opening and closing marks.

A server that does not know the template of its model passes the model's calls on as text. The forms are those
of the templates that are published with the models.
"""

import re
from dataclasses import dataclass

#: Bars and low lines of DeepSeek's tokens, also as people type them.
_BAR, _LOW = "[|\uff5c]", "[_\u2581 ]"
_TOOLS = r"(?:functions\.|default_api\.|tools\.)?(?:execute|run|run_code|execute_code)"
_CALL_WRITTEN = (
    r"(?=\s{0,20}(?:(?:language|lang|code|command|cmd)\s?=\s?[\"']|[\"'][A-Za-z\d+#]{1,12}[\"']\s?,))"
)


@dataclass(frozen=True, slots=True)
class CallFormat:
    """One form. In `closes`, names in braces stand for what the groups of `opens` matched.

    `soft`: what cannot be read in between is prose after all. `line`: it begins a line. `open`: the end of
    the reply closes it, too. `ahead`: so many characters after the end may decide whether it is the end.
    """

    opens: str
    closes: str
    soft: bool = False
    line: bool = False
    open: bool = False
    ahead: int = 0


FORMS = {
    "tags": CallFormat(
        r"<(?P<tag>(?:[a-z]{2,12}:|longcat_)?(?:tool_calls?|function_calls?|tool_use)|TOOLCALL)>",
        r"</{tag}>",
        ahead=1,
    ),
    "function": CallFormat(r"<function=(?P<named>[\w.-]{1,40})>", r"</function>"),
    "invoke": CallFormat(
        # Grok closes its tag with a quotation mark.
        r"<(?:[a-z]{2,12}:)?(?:invoke|function_call) name=[\"']?(?P<invoked>[\w.-]{1,40})[\"']?>",
        r"</(?:[a-z]{2,12}:)?(?:invoke|function_call)\"?>",
    ),
    "deepseek": CallFormat(
        rf"<{_BAR}tool{_LOW}calls?{_LOW}begin{_BAR}>",
        rf"<{_BAR}tool{_LOW}calls{_LOW}end{_BAR}>|<{_BAR}end{_LOW}of{_LOW}sentence{_BAR}>",
    ),
    "dsml": CallFormat(
        "<\uff5cDSML\uff5c(?:function|tool)_calls>", "</\uff5cDSML\uff5c(?:function|tool)_calls>"
    ),
    "section": CallFormat(
        r"<\|tool_calls_section_begin\|>|<\|tool_call_(?:begin|start)\|>|<\|START_ACTION\|>"
        r"|<\|tools_prefix\|>|<start_function_call>|<\|tool_call>(?=call:)|<\|tool_call:begin\|>",
        r"<\|tool_calls_section_end\|>|<\|tool_call_end\|>(?!\s{0,20}<\|tool_call)|<\|END_ACTION\|>"
        r"|<\|tools_suffix\|>|<end_function_call>|<tool_call\|>|<\|tool_call:end\|>",
        ahead=40,
    ),
    "python": CallFormat(
        r"<\|python_tag\|>", r"<\|(?:eom_id|eot_id|im_end|end_of_text|endoftext)\|>", open=True
    ),
    "channel": CallFormat(
        r"(?:<\|start\|>(?:assistant)?)?(?P<recipient> ?to=[\w.]{1,40} ?)?"
        r"<\|channel\|>(?P<way>[a-z]{1,20})"
        r"(?: to=(?P<to>[\w.]{1,40}))?[^<\n]{0,20}(?:<\|constrain\|>[^<\n]{0,20})?<\|message\|>",
        r"<\|(?:call|end|return)\|>|(?=<\|(?:start|channel)\|>)",
        open=True,
    ),
    "execute": CallFormat(
        r"<(?P<run>execute(?:_[a-z]{2,12})?|run_code|code_execution|code_interpreter|tool_code|bash|python|shell)"
        r"(?P<attributes>\s[^<>\n]{1,60})?>",
        r"</{run}>",
        soft=True,
        line=True,
    ),
    "react": CallFormat(
        r"Action:[ \t]{0,5}(?P<action>[\w.]{1,40})[ \t]{0,5}\n[ \t]{0,5}Action Input:",
        r"(?=\n[ \t]{0,5}(?:Observation|Thought|Final Answer|Action)\b)",
        soft=True,
        line=True,
        open=True,
        ahead=30,
    ),
    "written": CallFormat(rf"(?:\[\s{{0,5}})?{_TOOLS}\({_CALL_WRITTEN}", "", soft=True, line=True),
}
#: Those that are calls in a fence as well; the other tags may be what a fence shows.
FENCED_FORMS = frozenset({"tags", "function", "invoke", "deepseek", "dsml", "section"})
#: Any of them; the outermost group that matched has the name of the form.
OPENING = "|".join(f"(?P<{name}>{form.opens})" for name, form in FORMS.items())
#: What may become one of them, at the end of what has arrived.
OPENING_PERHAPS = (
    r"<\uff5cDSML\uff5c[a-z_]{0,16}"
    r"|<(?:[a-z]{2,12}:)?(?:invoke|function_call) [^>\n]{0,50}|<\|tool_call>[cal]{0,4}"
    r"|<(?:execute|run_code|code_execution|code_interpreter|tool_code|bash|python|shell)\w{0,12}\s[^<>\n]{0,60}"
    r"|(?m:^)(?:A[a-z]{0,5}|Action:[ \t]{0,5}[\w.]{0,40}[ \t]{0,5}(?:\n[ \t]{0,5}[A-Za-z ]{0,12})?)"
    # Also behind a token of a chat template.
    r"|(?:(?m:^)[ \t]{0,20}|(?<=>))(?:\[\s{0,5})?[a-z][a-z_.]{0,25}"
    r"(?:\(\s{0,20}[\"']?[\w+#]{0,14}[\"']?\s?[=,]?\s?)?"
)
#: The longest of these, and the tokens that may begin a header.
LONGEST_OPENING = 130
HEADERS = ("<|start|>", "<|channel|>")
LONGEST_HEADER = 240


def find_closing(form: CallFormat, match: re.Match[str]) -> re.Pattern[str]:
    """Return the closing marker of the format that a match began."""
    groups = {name: re.escape(text or "") for name, text in match.groupdict().items()}
    pattern = re.sub(r"\{([a-z]+)\}", lambda name: groups[name[1]], form.closes)
    return re.compile(pattern)


def find_closing_with_fence(
    form: CallFormat, match: re.Match[str], character: str, length: int
) -> re.Pattern[str]:
    """Return the closing marker with the closing fence right behind it: what ends a fence
    of nothing but calls.
    """
    fence = re.escape(character) + f"{{{length},100}}"
    mark = find_closing(form, match).pattern
    return re.compile(rf"(?:{mark})\s{{0,100}}?\n[ \t]{{0,20}}{fence}[ \t]{{0,20}}(?=\r?\n|\Z)")


class Brackets:
    """Finds where a call ends that is written as Python does: at the bracket that closes its first one."""

    def __init__(self) -> None:
        self._depth = 0
        self._until = ""

    def end(self, text: str, final: bool) -> tuple[int, bool]:
        """Return how far the text is read, and whether the call ends there."""
        at = 0
        while at < len(text):
            if self._until:
                match = _IN_STRING[self._until[0]].search(text, at)
                if not match:
                    return len(text), False
                at = match.start()
                if text[at] == "\\":
                    if at + 1 >= len(text):
                        return (len(text), False) if final else (at, False)
                    at += 2
                elif text.startswith(self._until, at):
                    at += len(self._until)
                    self._until = ""
                elif len(text) - at < 3 and not final:
                    return at, False
                else:
                    at += 1
                continue
            match = _IN_CALL.search(text, at)
            if not match:
                return len(text), False
            at = match.start()
            if text[at] in "\"'":
                if len(text) - at < 3 and not final:
                    return at, False
                self._until = text[at] * 3 if text.startswith(text[at] * 3, at) else text[at]
                at += len(self._until)
                continue
            self._depth += 1 if text[at] in "([{" else -1
            at += 1
            if self._depth <= 0:
                return at, True
        return at, False


_IN_STRING = {quote: re.compile(rf"[{quote}\\]") for quote in "\"'"}
_IN_CALL = re.compile(r"[\"'()\[\]{}]")
