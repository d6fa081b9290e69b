"""What is asked of one page or frame of a browser: its text, its elements and its fields."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from oi_tui.computer.errors import ComputerError

#: How long something may take to appear on a page, and a page to answer, in seconds: a script on it may run
#: without end.
TIMEOUT, ANSWER_SECONDS = 3.0, 5.0
#: The most options of a list that an error names.
_MOST_OPTIONS = 20
HUNG = (
    "The page does not answer: a script on it may run without end. Wait and try again, or leave the page "
    "with go_to_url."
)
#: Fields that drop what is no date or time for them.
_IS_TIME = " or ".join(f"@type='{kind}'" for kind in ("date", "time", "datetime-local", "month", "week"))
_TIME_FORMS = (
    "A date is written as 2026-01-31, a time as 14:30, both as 2026-01-31T14:30, a week as 2026-W05."
)
#: All elements, also those in the open shadow trees of others.
_ALL = """const all = root => [...root.querySelectorAll('*')].flatMap(
  e => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);"""
#: The text of a page with its links, in the order of the page, and then that of shadow trees.
_TEXT = f"""() => {{ {_ALL}
  const inside = all(document).filter(e => e.shadowRoot).flatMap(e => [...e.shadowRoot.children]);
  return [document.body, ...inside.filter(e => e.getClientRects().length)]
    .map(e => e ? e.innerText || '' : '').filter(text => text.trim()).join('\\n') }}"""
#: The text of a label, without that of a list or a field in it.
_LABEL = """const label = e => {
    const copy = e.labels && e.labels[0] && e.labels[0].cloneNode(true)
    if (!copy) return ''
    copy.querySelectorAll('select,textarea,script,style').forEach(part => part.remove())
    return copy.textContent.trim() };"""
#: What can be clicked or filled, by role and name.
_ELEMENTS = f"""() => {{ {_ALL} {_LABEL} return all(document).filter(e => e.matches(
  'a[href],button,input:not([type=hidden]),select,textarea,[role=button],[role=link],[role=menuitem],[role=tab]'))
  .filter(e => e.getClientRects().length)
  .map(e => [e.getAttribute('role') || (e.tagName == 'INPUT' ? e.type :
      {{A: 'link', SELECT: 'combobox', TEXTAREA: 'textbox'}}[e.tagName] || e.tagName.toLowerCase()),
    (e.getAttribute('aria-label') || label(e) || e.innerText ||
     e.placeholder || e.name || '').trim().replace(/\\s+/g, ' ').slice(0, 80),
    e.type == 'password' ? '' : (e.value || '').slice(0, 80)]) }}"""
#: What is read from a page, by the name of the selector engine that reads it.
_READERS = {"oi-text": _TEXT, "oi-elements": _ELEMENTS}


def register_readers(playwright: Any) -> None:
    """Make each reader a selector engine: it "finds" one element, whose text is what it read.

    Playwright stops waiting for a selector engine when its time is up. `evaluate` has no time limit, and
    `wait_for_function` waits without one until the page has taken note that the time is up. The engines run
    beside the scripts of the page, which can neither change nor notice them.
    """
    for name, script in _READERS.items():
        engine = f"""{{
          query() {{ return this.queryAll()[0] }},
          queryAll() {{
            const answer = document.createElement('p');
            answer.textContent = JSON.stringify(({script})());
            return [answer];
          }} }}"""
        playwright.selectors.register(name, script=engine, content_script=True)


def read_frame(frame: Any, reader: str, seconds: float) -> Any:
    """Return what a reader finds in a page or a frame.

    Raises ComputerError where it does not answer in time.
    """
    try:
        text = frame.locator(f"{reader}=*").text_content(timeout=seconds * 1000)
    except Exception as error:
        if not says_late(error):
            raise
        raise ComputerError(HUNG) from None
    return json.loads(text)


def is_answering(place: Any, seconds: float) -> bool:
    """Return whether a page or a frame answers; not while a script on it runs."""
    try:
        place.locator(":root").wait_for(state="attached", timeout=seconds * 1000)
    except Exception as error:
        if not says_late(error):
            raise
        return False
    return True


def count(place: Any) -> int:
    """Return how many elements are there; none in a frame that has gone."""
    try:
        return int(place.count())
    except Exception as error:
        if says_closed(error):
            raise
        return 0


def choose(place: Any, name: str, text: str) -> None:
    """Choose an option of a list. Raises ComputerError if it is not there."""
    try:
        place.select_option(text, timeout=TIMEOUT * 1000)
    except Exception as error:
        if not says_late(error):
            raise
        options = ", ".join(map(repr, place.locator("option").all_inner_texts()[:_MOST_OPTIONS]))
        raise ComputerError(f"{text!r} cannot be chosen in {name!r}. Its options: {options}.") from None


def write(place: Any, name: str, text: str) -> None:
    """Write into a field. Raises ComputerError if it does not take the text."""
    try:
        place.fill(text, timeout=ANSWER_SECONDS * 1000)
    except Exception as error:
        if not says_late(error):
            raise
        raise ComputerError(
            f"{name!r} cannot be written into: it is read-only, disabled or hidden."
        ) from None
    if text and count(place.locator(f"xpath=self::input[{_IS_TIME}]")) and not place.input_value():
        raise ComputerError(f"{name!r} does not take {text!r}, and is empty now. {_TIME_FORMS}")


def find_frame(request: Any) -> Any:
    """Return the frame of a request; None for that of a page which is not there yet."""
    try:
        return request.frame
    except Exception:  # noqa: BLE001 -- Playwright need not be there to name its errors
        return None


def says_late(error: Exception) -> bool:
    """Return whether something took longer than it may."""
    return type(error).__name__ == "TimeoutError"


def says_closed(error: Exception) -> bool:
    """Return whether the browser or its page is gone: the person closed it, or it crashed."""
    return any(words in str(error).casefold() for words in ("been closed", "connection closed", "crashed"))


@contextlib.contextmanager
def translate_errors() -> Any:
    """Raise what a browser says as a sentence."""
    try:
        yield
    except ComputerError:
        raise
    except Exception as error:  # noqa: BLE001
        if says_closed(error):
            raise ComputerError("The browser was closed, or failed. go_to_url opens it again.") from None
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ComputerError(f"The browser failed: {first}") from None
