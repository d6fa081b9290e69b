"""Finds out in which encoding a text is written, also a short one in an encoding from before UTF-8.

No library, because the usual one needs longer texts. Here the letters of languages decide, and where in a
word they can be: Czech "město" would be "mìsto" in Windows-1252, and no language has ì within a word.
"""

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: Bytes that are no UTF-8, as `surrogateescape` keeps them, and what they are in Windows-1252.
_ESCAPED = re.compile("[\udc80-\udcff]")
_WINDOWS = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(0x80, 0x100)
}
#: The name of `_replace` among the handlers of errors.
_REPLACE = "replace_or_cut_off"
#: What no text has, in four bytes a character either: space that was reserved and never filled.
_UNUSED = re.compile(rb"(?:\0{4}){2,}")
#: So many bytes of the lines that are no ASCII tell enough.
_ENOUGH = 4000
#: Half-width Katakana, and Hiragana with Katakana.
_HALF_WIDTH, _KANA = re.compile("[\uff61-\uff9f]"), re.compile("[\u3041-\u30fe]")
#: What stands in texts beside letters, and never within a word.
_SIGNS = frozenset("€£§°–—‘’“”„…«»•·®©™µ½¼²³±×№ºª¿¡¢¥\xa0")  # noqa: RUF001
_OPENING, _CLOSING, _DASHES = "“‘„«¿¡", "”’»", "–—"  # noqa: RUF001
_APOSTROPHE = "’"  # noqa: RUF001


@dataclass(frozen=True)
class _Language:
    """The letters that a language uses beside those of ASCII: those it uses most, and other ones."""

    common: str
    others: str = ""
    #: Where a letter never is, in small letters.
    never: str = ""
    weight: float = 1.0


@dataclass(frozen=True)
class _Characters:
    """An encoding of two bytes a character: the most used ones, and the first bytes of those in daily use.

    `daily` is the encoding to which these first bytes belong.
    """

    encoding: str
    common: str
    daily: str
    first: range
    has_kana: bool = False


_VOWEL = "[aeiouyáéíóúý]"
_WESTERN = (
    # French, German, Spanish, Catalan, Portuguese, Italian.
    _Language("éèàêçâîôûëïùœ", "æüÿ", f"\\b[èùû]|[èêîôûù]{_VOWEL}|[êû]\\b|œ(?![udst])"),
    _Language("äöüß", "éèàç"),
    _Language("áéíóúñ", "üç¿¡", f"ñ(?!{_VOWEL})"),
    _Language("àéíòóúçèïü", "", rf"\bè|[èò]{_VOWEL}"),
    _Language("ãáéíóúâêôçàõ", "ü", r"ã(?![oes]|\b)|õ(?!e)|\b[ãõê]|ê\b"),
    _Language("àèéìòù", "", r"[àèìòù]\B"),
    # Dutch, Swedish and Finnish, Danish and Norwegian, Icelandic, Estonian.
    _Language("éëïöü", "óèê", r"\bë"),
    _Language("åäö", "éü"),
    _Language("æøå", "éöäü", r"æ\b"),
    _Language("áðéíóúýþæö", "", r"\bð|þ\b", weight=0.85),
    _Language("äöõü", "", r"õ\b", weight=0.9),
    # Names from several countries.
    _Language("éèàüöäßçñáíóúåøæêôâã", "îïëœ", rf"\b[èê]|è{_VOWEL}|ê\b|æ\b|ñ(?!{_VOWEL})|ã(?![oes])", 0.75),
)
_CENTRAL = (
    # Czech, Slovak, Polish, Hungarian, Croatian and Slovene, Romanian.
    _Language("áčďéěíňóřšťúůýž"),
    _Language("áäčéíľňóôšťúýž", "ďĺŕ"),
    _Language("ąćęłńóśźż"),
    _Language("áéíóöőúüű", "", "őő|űű"),
    _Language("čćžšđ", "", r"ćć|čč"),
    _Language("ăâîşţ"),
)
_TURKISH = (_Language("çğıöşüİ", "âîû", r"\bğ"),)
_CYRILLIC = (_Language("оеаинтсрвлкмдпуя"),)
#: Encodings of one byte a letter, with the languages they are used for and how usual they are.
#: The first of two that fit equally well is taken.
_ONE_BYTE: tuple[tuple[str, tuple[_Language, ...], float], ...] = (
    ("cp1252", _WESTERN, 1.0),
    ("cp1250", _CENTRAL, 1.0),
    ("cp1254", _TURKISH, 1.0),
    ("iso8859-2", _CENTRAL, 0.9),
    ("mac-roman", _WESTERN, 0.85),
    ("cp850", _WESTERN, 0.85),
    ("cp852", _CENTRAL, 0.8),
    ("cp1251", (_Language("оеаинтсрвлкмдпуяіїєў"),), 1.0),
    ("koi8-r", _CYRILLIC, 1.0),
    ("cp866", _CYRILLIC, 1.0),
    # In the small letters it is like Windows-1251.
    ("mac-cyrillic", _CYRILLIC, 0.95),
    ("cp1253", (_Language("αοιετσνηυρπκμλςάίόέήύώ"),), 1.0),
    ("cp1255", (_Language("יוהלאמרתבשנם"),), 1.0),
    ("cp1256", (_Language("ايلمنورتبةعدسفهكقح"),), 1.0),
    ("cp874", (_Language("านรอกเงมยลวดทสตะปบคหแ่้ีิั์"),), 1.0),
)
_TWO_BYTES = (
    _Characters("cp932", "", "euc-jp", range(0xB0, 0xD0), has_kana=True),
    _Characters("euc-jp", "", "euc-jp", range(0xB0, 0xD0), has_kana=True),
    _Characters(
        "gb18030",
        "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就要下以生会自着去之过家学对可她里后小么心多"
        "天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外"
        "但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重走电"
        "四门相次东政海口使教西再平真听世气信北少关并内加化由代军产入山五水万市体别处总场书比住员九通目华报立马命张"
        "数量价格姓性日期城市区省县编号类型金额地址职务备注产品订单客户单价合计广州深圳京上南王李刘陈杨黄赵周吴",
        "gb2312",
        range(0xB0, 0xD8),
    ),
    _Characters(
        "cp949",
        "이다의는에가을한하고지를로사자은시기리도서인대그어나라아일제정주수전부상구조보장성국여해원경스마면과오동관공"
        "만비우신용무화선안세소모유연있들것으니었적년생내위때문중간음치학계분방물발업회민세반미거재당통강양교실개외영"
        "단금월름이격날짜울산남북광역별번호명코드합품목김박최순철희영준현민지",
        "euc-kr",
        range(0xB0, 0xC9),
    ),
    _Characters(
        "cp950",
        "的一是不了在人有我他這中大來上國個到說們為子和你地出道也時年得就要下以生會自著去之過家學對可她里後小麼心多"
        "天而能好都然沒日於起還發成事只作當想看文無開手十用主行方又如前所本見經頭面公同三已老從動兩長知民樣現分將外"
        "但身些與高意進把法此實回二理美點月明其種聲全工己話者向情部正名定女問力機給等幾很業最間新什打便位因重走電"
        "數量價格姓性日期城市區省縣編號類型金額地址備註產品訂單客戶合計臺灣北高雄台南王李劉陳楊黃趙周吳",
        "big5",
        range(0xA4, 0xC7),
    ),
)


def detect_encoding(sample: bytes) -> str:
    """Return the encoding of a text, by its beginning; "utf-8" also where single bytes of it are none."""
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding
    if 0 in sample and (wide := _detect_wide(_UNUSED.sub(b"", sample)[:2000])):
        return wide
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return _guess(sample)
    return "utf-8"


def _detect_wide(sample: bytes) -> str:
    """Return the encoding of a text without a mark of two or four bytes a character; "" for others."""
    whole = sample[: len(sample) // 4 * 4]
    if whole and not any(whole[2::4]) and not any(whole[3::4]):
        return "utf-32-le"
    if whole and not any(whole[::4]) and not any(whole[1::4]):
        return "utf-32-be"
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    if len(sample) > 3 and (even + odd) * 3 > len(sample):
        return encoding
    # Letters other than Latin ones have no zero, but what is between the lines and the cells has one.
    text = sample[: len(sample) // 2 * 2].decode(encoding, "replace").rstrip("\ufffd")
    lines = text.splitlines()
    return encoding if not min(even, odd) and len(lines) > 1 and all(map(str.isprintable, lines)) else ""


def _replace(error: UnicodeError) -> tuple[str, int]:
    """Mark what cannot be decoded; half of a character at the end of a file that is cut off is left out."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    is_cut_off = error.end >= len(error.object) and error.reason.startswith(("truncated", "unexpected end"))
    return "" if is_cut_off else "\ufffd", error.end


codecs.register_error(_REPLACE, _replace)


def find_error_handler(encoding: str) -> str:
    """Return how a text of this encoding is read where its bytes are none."""
    return _REPLACE if encoding.startswith(("utf-16", "utf-32")) else "strict"


def restore_letters(text: str) -> str:
    """Return text that was decoded with `surrogateescape`, with its odd bytes as letters of Windows-1252."""
    return text if text.isascii() or not _ESCAPED.search(text) else text.translate(_WINDOWS)


def _guess(sample: bytes) -> str:
    """Return the encoding whose letters make the most usual text; "utf-8" for Windows-1252,
    which is read so too.
    """
    lines = b"\n".join(line for line in sample.splitlines() if not line.isascii())[:_ENOUGH]
    escaped = len(_ESCAPED.findall(as_utf8 := lines.decode("utf-8", "surrogateescape")))
    if sum(not character.isascii() for character in as_utf8) - escaped > escaped:
        return "utf-8"
    scores = {
        encoding: weight * _score_languages(lines.decode(encoding, "replace"), languages)
        for encoding, languages, weight in _ONE_BYTE
    }
    scores |= {each.encoding: _score_characters(lines, each) for each in _TWO_BYTES}
    # One is by far the most frequent.
    scores["cp1252"] = scores["cp1252"] * 1.05 + 0.5
    best = max(scores, key=lambda encoding: scores[encoding])
    # Where the usual encoding gives the same text, nothing speaks for the other one.
    is_same = lines.decode(best, "replace") == lines.decode("cp1252", "replace")
    return "utf-8" if is_same or scores[best] <= 0 else best


def _score_languages(text: str, languages: Sequence[_Language]) -> float:
    """Return how usual the text is in the language it fits best: at most 1 for each character
    that is no ASCII.
    """
    sum_of_signs, letters = 0.0, Counter[str]()
    for at in _find_high(text):
        score = _score_place(text, at)
        if score is None:
            letters[text[at]] += 1
        else:
            sum_of_signs += score
    small = text.lower()
    return sum_of_signs + max(_score_language(letters, small, language) for language in languages)


def _score_language(letters: Mapping[str, int], text: str, language: _Language) -> float:
    score = sum(many * _score_letter(letter, language) for letter, many in letters.items())
    if language.never:
        score -= 1.5 * len(re.findall(language.never, text))
    return language.weight * score


def _score_letter(letter: str, language: _Language) -> float:
    if letter in language.common:
        return 1.0
    if letter.lower() in language.common:
        return 0.9
    return 0.6 if letter.lower() in language.others else 0.0


def _find_high(text: str) -> Iterator[int]:
    return (match.start() for match in re.finditer(r"[^\x00-\x7f]", text))


def _score_place(text: str, at: int) -> float | None:
    """Rate a sign, or a letter where none can be; None for a letter that its language decides about."""
    letter = text[at]
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if letter in _SIGNS:
        if letter in "©®" and after.isalpha():
            # In Latin-2 these are Š and Ž, at the beginning of a word.
            return -1.0
        within = before.isalpha() and after.isalpha()
        if within:
            return 1.0 if letter == _APOSTROPHE else -1.0
        is_mark = (letter in _OPENING and after.isalpha()) or (letter in _CLOSING and before.strip())
        if is_mark or (letter in _DASHES and before == after):
            return 1.0
        return 0.8 if before.isdigit() or after.isdigit() else 0.4
    if not (letter.isalpha() or "\u0e30" <= letter <= "\u0e4e"):
        return -1.0
    is_latin = letter < "\u0250"
    beside = [other for other in (before, after) if other.isalpha()]
    if any((other < "\u0250") != is_latin for other in beside):
        return -1.0
    if (letter.isupper() and before.islower()) or (before + after).isdigit():
        return -1.0
    if is_latin and not (before + letter + after).strip().isascii():
        # Few languages have three letters with accents in a row.
        if before > "\x7f" and after > "\x7f" and before.isalpha() and after.isalpha():
            return -1.0
    elif not is_latin and not beside:
        return 0.1
    return None


def _score_characters(text: bytes, form: _Characters) -> float:
    """Return how usual the text is, two bytes at a time: at most 2 for each character that is no ASCII."""
    decoded = text.decode(form.encoding, "replace")
    has_kana = form.has_kana and _KANA.search(decoded) is not None
    return sum(_score_character(decoded, at, form, has_kana=has_kana) for at in _find_high(decoded))


def _score_character(text: str, at: int, form: _Characters, *, has_kana: bool) -> float:
    # Within a word of Latin letters it is more likely a letter with an accent and the letter behind it.
    beside = text[at - 1 : at] + text[at + 1 : at + 2]
    share = 0.3 if re.search("[A-Za-z]", beside) else 1.0
    return share * _rate_character(text[at], form, has_kana=has_kana)


def _rate_character(character: str, form: _Characters, *, has_kana: bool) -> float:
    if character == "\ufffd" or "\ue000" <= character <= "\uf8ff":
        return -2.0
    if character in form.common:
        return 2.0
    if _KANA.match(character):
        return 2.0 if form.has_kana else 0.4
    if _HALF_WIDTH.match(character):
        return 0.5 if form.has_kana else 0.0
    if "\u3000" <= character <= "\u303f" or "\uff01" <= character <= "\uff60":
        return 1.0
    try:
        first = character.encode(form.daily)[0]
    except UnicodeEncodeError:
        return 0.1
    if first not in form.first:
        return 0.2
    return 1.0 if not form.has_kana else 1.4 if has_kana or form.encoding == "cp932" else 0.8
