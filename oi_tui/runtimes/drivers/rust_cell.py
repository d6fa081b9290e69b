"""Makes the value of a Rust cell's last expression shown, as a REPL shows it.

It finds where the last statement of the cell begins, and whether that is an expression.
"""

# mypy: ignore-errors

from __future__ import annotations

import re

#: Comments, texts and letters, which hold no structure.
_OPAQUE = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|\b(?:br|cr|r)(#*)".*?"\1"""
    r"""|"(?:\\.|[^"\\])*"?|'(?:\\(?:[^u]|u\{[^}]*\})[^']*|[^\\'\n])'""",
    re.S,
)
_COMMENT = re.compile(r"//|/\*")
#: What has no value: definitions, loops, and what leaves the cell.
_NO_VALUE = re.compile(
    r"(?:(?:pub|fn|struct|enum|impl|trait|mod|use|type|static|const|let|extern|macro_rules|for|while|return)\b"
    r"|union\s+\w|(?:unsafe|async)\s+(?:fn|impl|trait|extern)\b|'\w+\s*:|#|\w+!\s*\w*\s*\{)"
)
#: What needs no semicolon behind its braces, beside definitions and loops.
_BLOCK = re.compile(r"(?:if|match|loop|unsafe)\b|\{")
#: What continues a statement after its closing brace.
_GOES_ON = re.compile(r"\s*(?:else\b|\.|\?)")
#: Shows a value by `Debug`; nothing is shown of `()`. The method that needs the fewest references is taken.
_SHOWS = """#[allow(unused)]
mod oi_tui {
    pub struct Value<'a, T>(pub &'a T);
    pub trait Nothing { fn show(&self); }
    impl Nothing for &&Value<'_, ()> { fn show(&self) {} }
    pub trait Debug { fn show(&self); }
    impl<T: std::fmt::Debug> Debug for &Value<'_, T> {
        fn show(&self) { println!("{:?}", self.0); }
    }
    pub trait Other { fn show(&self); }
    impl<T> Other for Value<'_, T> {
        fn show(&self) { println!("(a value of type {}, without Debug)", std::any::type_name::<T>()); }
    }
    macro_rules! show {
        ($value:expr) => {
            #[allow(unreachable_code)]
            match &$value {
                value => {
                    #[allow(unused_imports)]
                    use oi_tui::{Debug as _, Nothing as _, Other as _};
                    (&&&oi_tui::Value(value)).show()
                }
            }
        };
    }
    pub(crate) use show;
}
"""


def show_value(code):
    """Return the cell with its last expression shown, and what that needs outside of `main`.

    Every line stays the line that it was. The cell itself and "" are returned where it ends with no value.
    """
    plain = _OPAQUE.sub(lambda match: _replace_with_spaces(match.group()), code)
    begin = _find_last_statement(plain)
    last = plain[begin:]
    if not last.strip() or _NO_VALUE.match(last.lstrip()):
        return code, ""
    return "{}oi_tui::show!({}\n);".format(code[:begin], code[begin:]), _SHOWS


def _replace_with_spaces(text):
    """Return what replaces a comment, a text or a letter: as many characters, none of them syntax."""
    return re.sub(r"[^\n]", " " if _COMMENT.match(text) else "0", text)


def _find_last_statement(plain):
    """Return where the last statement begins, with the space before it."""
    begin = depth = 0
    for place, letter in enumerate(plain):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        if depth:
            continue
        if letter == ";" or (letter == "}" and _ends_at_brace(plain, begin, place)):
            begin = place + 1
    return begin


def _ends_at_brace(plain, begin, place):
    head = plain[begin:place].lstrip()
    if head.startswith(("let", "return", "use", "type")) or _GOES_ON.match(plain, place + 1):
        return False
    return bool(_BLOCK.match(head) or _NO_VALUE.match(head)) and bool(plain[place + 1 :].strip())
