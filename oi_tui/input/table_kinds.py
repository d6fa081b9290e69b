"""Finds out what a column of texts holds, and reads its numbers, times and dates as they are written."""

import math
import re
from collections.abc import Sequence, Set
from decimal import Decimal

from oi_tui.input.table_days import find_common_order, find_order, merge_orders, read_day
from oi_tui.input.table_records import MARKS
from oi_tui.runtimes.tables import find_number

# Digits of other scripts are texts, as for pandas: SQLite reads no numbers in them.
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$", re.ASCII)
_ZERO = re.compile(r"\s*[+-]?0(?:[.,]0*)?\s*")
_INFINITE = re.compile(r"[+-]?inf(inity)?$", re.IGNORECASE)
_INTEGER = re.compile(r"[+-]?\d+$", re.ASCII)
#: The digits of an integer that SQLite keeps as one; of longer ones it would keep a part.
_SHORT = r"0|[1-9]\d{0,17}|[1-8]\d{18}"
_SHORT_INTEGER = re.compile(rf"[+-]?0*(?:{_SHORT})$", re.ASCII)
#: What may stand between the thousands beside a comma or a point: spaces, also narrow ones, and apostrophes.
GAPS = " \u00a0\u202f'\u2019"
#: Numbers with something between the thousands, or with a decimal comma, which depends on the file. Without
#: decimals, three times three digits with spaces are a telephone number.
_GROUPED = re.compile(
    rf"[+-]?(?:\d{{1,3}}(,\d{{3}})+(?:\.\d*)?|\d{{1,3}}([{GAPS}])\d{{3}}(?:\2\d{{3}})*\.\d+"
    rf"|\d{{1,3}}[{GAPS}]\d{{3}}|\d{{1,2}}([{GAPS}])\d{{3}}(?:\3\d{{3}})+)$",
    re.ASCII,
)
_COMMA = re.compile(rf"[+-]?(?:\d{{1,3}}([.{GAPS}])\d{{3}}(?:\1\d{{3}})*|\d+)(?:,\d+)?$", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$", re.ASCII)
#: A negative amount as accountants write it, with its currency or % within the brackets or beside them.
_BRACKETED = re.compile(rf"([{MARKS[:-1]}]?)[{GAPS}]*\(([^()+-]+)\)[{GAPS}]*([{MARKS}]?)$")
#: A minus that is longer than the sign on a keyboard.
_MINUS = "\u2212"
#: What says in a column of numbers that one of them is negative, apart from a sign.
NEGATIVE = f"(){_MINUS}"
#: Hours, minutes and seconds, or minutes and seconds, perhaps after days as pandas and Python write them.
_TIME = re.compile(r"(?:([+-]?\d+) days?,? )?([+-])?(?:(\d+):)?(\d+):([0-5]\d(?:\.\d+)?)$", re.ASCII)
#: The spaces that SQLite skips before a number.
_SPACES = " \t\n\v\f\r"
_BOOLEANS = frozenset(("true", "false", "True", "False", "TRUE", "FALSE"))
#: Texts that stand for a missing value, as for pandas; but NA among texts is a text, such as a country.
MISSING_WORDS = frozenset(
    text
    for word in (
        *("NA", "N/A", "n/a", "<NA>", "#NA", "#N/A", "#N/A N/A", "NaN", "nan", "-NaN", "-nan"),
        *("null", "NULL", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
        # What a spreadsheet has where it cannot compute a value.
        *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!"),
    )
    for text in (word, f" {word}", f"{word} ", f" {word} ")
)
#: What ends each text where those of a column are looked at together, and columns in which all are of a kind.
_END = "\x1e"
#: What stands for the digits of a negative integer, so that the lowest sorts first.
_COMPLEMENTS = str.maketrans("0123456789", "9876543210")
_COLUMN_KINDS = {
    "int": re.compile(rf"(?:\s*[+-]?(?:{_SHORT})\s*{_END})+", re.ASCII),
    "long": re.compile(rf"(?:\s*[+-]?(?:0|[1-9]\d*)\s*{_END})+", re.ASCII),
    "float": re.compile(
        rf"(?:\s*[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*{_END})+", re.ASCII
    ),
    "date": re.compile(
        rf"(?:\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?{_END})+",
        re.ASCII,
    ),
}


def learn_kind(values: Sequence[object], missing: Set[object], kind: str, *, comma: bool) -> str:
    """Return the kind of a column with these values, of which some are texts that stand for a missing one."""
    there = [str(value) for value in values if value is not None and value not in missing]
    if kind.endswith("%") or any(value.strip().endswith("%") for value in there):
        # A plain number among percentages may be a share, except for zero.
        there = [value for value in there if not _ZERO.fullmatch(value)]
    if kind == "text" or not there:
        return kind
    text = _END.join(there) + _END
    for name, pattern in _COLUMN_KINDS.items():
        if pattern.fullmatch(text):
            return _merge(kind, name)
    if order := find_common_order(text, _END):
        return _merge(kind, f"day {order}")
    for value in set(there):
        kind = _merge(kind, _detect_in(value, comma=comma))
        if kind == "text":
            break
    return kind


def _detect_in(value: str, *, comma: bool) -> str:
    """Return the kind of a value with what stands around it."""
    text = value.strip()
    kind = _detect_kind(text, comma=comma)
    around = value.strip(_SPACES)
    if kind not in ("int", "long", "float") or around == text:
        return kind
    # SQLite reads no number behind a space of another kind: it is removed as one between digits is.
    return "grouped" if set(around.replace(text, "", 1)) <= set(GAPS) else "text"


#: The kinds of columns that hold numbers, the narrower before the wider.
NUMERIC = ("int", "long", "float", "infinite", "grouped", "comma")


def _merge(kind: str, found: str) -> str:
    """Return the kind of a column of one kind that also holds texts of another."""
    if not kind or kind == found:
        return found
    if "bracketed" in (kind, found):
        # Alone, whole numbers in brackets are labels; among numbers they are negative.
        return _merge("grouped", found if kind == "bracketed" else kind)
    one, other = kind.partition(" "), found.partition(" ")
    if "day" in (one[0], other[0]):
        # Dates of ISO 8601 go with those that lack a zero.
        orders = [order or "-ymd" for name, _, order in (one, other) if name in ("day", "date")]
        order = merge_orders(*orders) if len(orders) == 2 else ""
        return f"day {order}" if order else "text"
    mark = one[2] or other[2]
    if mark and (one[2] == other[2] or (mark != "%" and not (one[2] and other[2]))):
        # Plain numbers among amounts of one currency are amounts. Among percentages, 0.5 may be 50%.
        base = _merge(one[0], other[0])
        return f"{base} {mark}" if base in NUMERIC else "text"
    if kind in NUMERIC and found in NUMERIC:
        return max(kind, found, key=NUMERIC.index)
    return "text"


def _detect_kind(text: str, *, comma: bool) -> str:
    if "(" in text or text.startswith(_MINUS):
        return _detect_negative(text, comma=comma)
    if _INTEGER.match(text):
        # A number that begins with a zero is a label, as a postal code.
        label = len(text.lstrip("+-")) > 1 and text.lstrip("+-").startswith("0")
        return "text" if label else "int" if _SHORT_INTEGER.match(text) else "long"
    if not set(MARKS).isdisjoint(text[:2] + text[-1:]):
        return _detect_marked(text, comma=comma)
    if comma and "," in text:
        return "comma" if _COMMA.match(text) else "text"
    if _NUMBER.match(text):
        return "float"
    if _GROUPED.match(text):
        return "grouped"
    if _INFINITE.match(text):
        return "infinite"
    if text in _BOOLEANS:
        return "bool"
    if _TIME.match(text):
        return "time"
    if _DATE.match(text):
        return "date"
    order = find_order(text)
    return f"day {order}" if order else "text"


def _detect_negative(text: str, *, comma: bool) -> str:
    """Return the kind of a number in brackets, or with a long minus; "text" for other texts."""
    match = _BRACKETED.match(text)
    if match and (match[2][:1] in MARKS or match[2][-1:] in MARKS) and (match[1] or match[3]):
        return "text"
    number = f"{match[1]}{match[2].strip(GAPS)}{match[3]}" if match else text[1:]
    if number[:1] in f"+-({_MINUS}":
        return "text"
    kind = _detect_kind(number, comma=comma)
    if kind in ("int", "long"):
        return "bracketed" if match else "grouped"
    if kind == "float":
        return "grouped"
    return kind if kind.startswith(("grouped", "comma")) else "text"


def _detect_marked(text: str, *, comma: bool) -> str:
    """Return the kind of a number with a currency or %, as `grouped $`; "text" for other texts."""
    sign, body = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
    mark = body[:1] if body[:1] in MARKS[:-1] else body[-1:]
    number = (body[1:] if body.startswith(mark) else body[:-1]).strip(GAPS)
    if mark not in MARKS or (sign and not number[:1].isdigit()):
        return "text"
    kind = _detect_kind(sign + number, comma=comma) if number[-1:].isdigit() else "text"
    return dict.fromkeys(("int", "long", "float"), f"grouped {mark}").get(
        kind, f"{kind} {mark}" if kind in ("grouped", "comma") else "text"
    )


def find_written_number(text: str, written: str) -> float | str | None:
    """Return the number in a condition, which may be written as those of the column are.

    None for other texts. Dates and long integers are texts that sort as they do.
    """
    text = text.strip()
    if written.startswith("day"):
        return read_day(text, written.partition(" ")[2]) or read_day(text, "-ymd")
    if written == "long":
        return make_key(text) or _make_key_between(find_number(text))
    if _INTEGER.match(text) and len(text) < 20 and abs(int(text)) < 2**63:
        # A float would be another number than the longest ones in the file.
        return int(text)
    if written == "time":
        return count_seconds(text)
    digits = text
    for mark in (*GAPS, *MARKS, *NEGATIVE) if written else ():
        digits = digits.replace(mark, "")
    sign = -1 if written and not set(NEGATIVE).isdisjoint(text) else 1
    if written.startswith("comma") and _COMMA.match(digits):
        digits = digits.replace(".", "").replace(",", ".")
    elif written.startswith("grouped"):
        digits = digits.replace(",", "")
    number = find_number(digits)
    return None if number is None else sign * number


def is_certain(notation: str) -> bool:
    """Return whether a column with this notation has dates in an order that is known."""
    return notation.startswith("day ") and not notation.endswith("?")


def write_plainly(text: str, notation: str) -> str:
    """Return a number that is written as those of its column with digits alone, as 0.15 for 15%; or a date
    with the year first.
    """
    if notation.startswith("day "):
        return read_day(text, notation.partition(" ")[2]) or text
    number = find_written_number(text, notation)
    if not isinstance(number, int | float) or math.isinf(number):
        return text
    if notation.endswith("%"):
        # In floats, 12.345 / 100 may have more digits.
        number = float(Decimal(repr(number)) / 100)
    return repr(number).removesuffix(".0")


def make_key(text: object) -> str | None:
    """Return a text for an integer of any length that sorts as it does; None for what is no integer."""
    if not isinstance(text, str) or not _INTEGER.match(text.strip()):
        return None
    digits = text.strip().lstrip("+-").lstrip("0") or "0"
    if not text.strip().startswith("-") or digits == "0":
        return f"1{len(digits):09}{digits}"
    return f"0{10**9 - 1 - len(digits):09}{digits.translate(_COMPLEMENTS)}"


def _make_key_between(number: float | None) -> str | None:
    """Return a text that sorts behind the integers below a number, and before those above it."""
    if number is None:
        return None
    if math.isinf(number):
        return "2" if number > 0 else "-"
    return f"{make_key(str(math.floor(number)))}{'' if number == math.floor(number) else '~'}"


def count_seconds(text: object) -> float | None:
    """Return how many seconds a time is: hours, minutes and seconds, or minutes and seconds."""
    match = _TIME.match(text.strip()) if isinstance(text, str) else None
    if match is None:
        return None
    days, sign, hours, minutes, seconds = match.groups()
    time_of_day = int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds)
    return int(days or 0) * 86400 + (-time_of_day if sign == "-" else time_of_day)
