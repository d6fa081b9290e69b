"""Removes marks that are not for people: tags of reasoning, tokens of chat templates."""

import re

from oi_tui.engine.reply.tool_call_formats import LONGEST_OPENING, OPENING, OPENING_PERHAPS

_THINK = r"(?:[a-z]{2,8}:)?(?i:think|thinking|antthinking|thoughts?|reasoning|scratchpad|inner_monologue)"
_OPEN_THINK = (
    rf"<{_THINK}(?: [^<>\n]{{1,40}})?>|\[THINK\]|<\|START_THINKING\|>|<\|begin_of_thought\|>"
    r"|\u25c1think\u25b7|<\|channel>thought\b|<unused94>thought\b|<\|inner_prefix\|>"
)
_CLOSE_THINK = (
    rf"</{_THINK} ?>|<channel\|>|\[/THINK\]|<\|END_THINKING\|>|<\|end_of_thought\|>"
    r"|\u25c1/think\u25b7|<unused95>|<\|inner_suffix\|>"
)
_ROLE = r"(?:assistant|user|system|model|tool)?"
#: Chat templates write some of theirs with a wide bar (U+FF5C).
_TOKENS = (
    r"<\|(?:im_start|start_header_id|start)\|>"
    + _ROLE
    + r"|<\|/?[a-z_]{2,30}\|>|<\|(?:START|END)_[A-Z_]{3,20}\|>"
    r"|<\uff5c[^\uff5c>\n]{1,30}\uff5c>"
    r"|<start_of_turn>" + _ROLE + r"|<end_of_turn>|\[/?INST\]|\[TOOL_CALLS\]"
    r"|</tool_calls?>|</function_call>"
)
_PREFIX = (
    r"\b(?:functions\.)?(?:execute|run|run_code|execute_code|python)\(\s{0,20}(?=\{)"
    r"|\[TOOL_CALLS\]\s{0,5}[\w.-]{1,40}(?:\[CALL_ID\]\w{1,40})?(?:\[ARGS\])?\s{0,5}(?=\{)"
)
#: What ends a stretch of plain prose. The name of the group that matched says what it is: a form of
#: `call_forms`, or one of these.
MARK = re.compile(
    r"(?=[<\[`~{\u25c1Adefrt])(?:"
    rf"(?P<think>{_OPEN_THINK})|(?P<close>{_CLOSE_THINK})|{OPENING}|(?P<call>{_PREFIX})|(?P<token>{_TOKENS})"
    r"|(?P<ticks>`+)|(?P<tildes>~~~+)|(?P<brace>\{)|(?P<bracket>\[(?=\s{0,20}\{)))"
)
#: A line that can only be the end of a thought, and what may be the beginning of one.
CLOSING_LINE = re.compile(rf"[ \t]*(?:{_CLOSE_THINK})[ \t]*\r?\n?")
CLOSING_LINE_PERHAPS = re.compile(rf"[ \t]*(?:[<\[\u25c1][^>\]\u25b7\n]{{0,25}}|(?:{_CLOSE_THINK})[ \t]*\r?)")
THOUGHT_BEGIN = re.compile(_OPEN_THINK)
#: The end of a thought, what may be the beginning of it, and how long that can be.
THOUGHT_END = re.compile(_CLOSE_THINK)
CHANNEL_END = re.compile(r"<\|(?:call|end|return)\|>|(?=<\|(?:start|channel)\|>)")
THOUGHT_END_PERHAPS = re.compile(r"[<\[\u25c1][^>\]\u25b7\n]{0,25}\Z")
LONGEST_END = 26
#: What may be the beginning of a mark, at the end of what has arrived, and how long that can be.
PERHAPS = re.compile(
    r"(?:</?[A-Za-z=_.:\d-]{0,50}|</[A-Za-z:]{5,20} |<channel\||<\|channel>[a-z]{0,7}"
    r"|<(?:[a-z]{2,8}:)?[A-Za-z_]{5,15} [^<>\n]{0,40}|<unused94>[a-z]{0,7}|\u25c1/?[a-z]{0,5}"
    r"|<[|\uff5c][^|\uff5c>\n<]{0,31}[|\uff5c]?[a-z]{0,9}"
    r"|<start_of_turn>[a-z]{0,9}|<\|\w+\|>[a-z]{0,9}|\[[/A-Z_]{0,12}|\[\s{0,20}|~+|`+"
    rf"|{OPENING_PERHAPS}"
    r"|\b(?:f[a-z.]{0,12}|[erp][a-z_]{0,13}|functions\.[a-z_]{0,13})(?:\(\s{0,20})?)\Z"
)
LONGEST = LONGEST_OPENING
#: A name may follow Mistral's token, and an object after that.
CALLS_PERHAPS = re.compile(
    r"\[TOOL_CALLS\]\s{0,5}[\w.-]{0,40}(?:\[[A-Z_]{0,7}\]?\w{0,40}(?:\[[ARGS]{0,4}\]?)?)?\s{0,5}\Z"
)
#: The name of a role may follow a token that has just arrived.
ROLE_PERHAPS = re.compile(r"[a-z]{0,9}\Z")
#: A line of code that is a token, and tokens at the end of code.
STRAY = re.compile(rf"[ \t]*(?:{_TOKENS}|</s>)[ \t]*")
_LAST = re.compile(rf"(?:{_TOKENS}|</s>)\Z")
_LONGEST_TOKEN = 64


def remove_last_tokens(text: str) -> str:
    """Return the text without the tokens at its end, and without the space around these."""
    kept = end = len(text)
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        if (match := _LAST.search(text, max(0, end - _LONGEST_TOKEN), end)) is None:
            return text if kept == len(text) else text[:end]
        kept = end = match.start()
