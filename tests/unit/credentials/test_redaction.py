"""Keys stay out of what is shown, logged and exported."""

import base64
import html
import json
import logging
import urllib.parse
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.engine.credentials import redaction
from oi_tui.engine.credentials.redaction import (
    RedactingFormatter,
    learn,
    learn_address,
    redact,
    remove_secrets,
)
from oi_tui.engine.export.formats import FORMATS, export
from oi_tui.messages import Message


@pytest.fixture(autouse=True)
def nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_learned", set())


def test_keys_are_taken_out_of_what_a_provider_says() -> None:
    text = "Wrong key sk-abcdef1234567890, Bearer abc.def-9 and my-own-key; ?key=AIzaXYZ12345678"
    shown = redact(text, "my-own-key", environment={"X_API_KEY": "12345678"})
    assert "sk-abc" not in shown
    assert "abc.def" not in shown
    assert "my-own-key" not in shown
    assert "AIza" not in shown
    assert redact("12345678", environment={"X_API_KEY": "12345678"}) == "[key]"


def test_a_secret_that_was_learned_is_taken_out_and_a_longer_one_first() -> None:
    learn("canary-1234")
    learn("canary-1234-and-more")
    assert remove_secrets("<canary-1234-and-more> <canary-1234>", {}) == "<[key]> <[key]>"


def test_what_merely_looks_like_a_key_stays_in_what_a_person_made() -> None:
    code = 'token = "sk-abcdef1234567890"'
    assert remove_secrets(code, {}) == code
    assert redact(code, environment={}) == 'token = "[key]"'


@pytest.mark.parametrize("short", ["", "abc", "1234567"])
def test_short_values_are_no_secrets(short: str) -> None:
    learn(short)
    assert redact(f"a{short}b", environment={"API_KEY": short}) == f"a{short}b"


def test_a_secret_is_found_as_json_writes_it_too() -> None:
    learn('quo"te\\d-secret')
    assert remove_secrets(json.dumps('quo"te\\d-secret'), {}) == '"[key]"'


def test_the_log_holds_no_key_not_even_in_a_traceback() -> None:
    learn("canary-in-a-traceback")
    try:
        raise ValueError("refused canary-in-a-traceback")
    except ValueError as error:
        record = logging.LogRecord(
            "x", logging.ERROR, "f", 1, "said %s", ("canary-in-a-traceback",), (ValueError, error, None)
        )
    written = RedactingFormatter("%(message)s").format(record)
    assert written == "said [key]\nValueError: refused [key]"


@pytest.mark.parametrize("name", FORMATS)
def test_no_export_holds_a_known_key(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "canary-from-environment")
    learn("canary-from-keyring")
    messages = [
        Message(role="user", type="message", content="use canary-from-keyring"),
        Message(
            role="assistant",
            type="code",
            format="python",
            content="print('canary-from-environment')",
            state="finished",
            seconds=0.1,
        ),
        Message(role="computer", type="console", format="output", content="canary-from-keyring"),
    ]
    path = tmp_path / "out"
    export(FORMATS[name], "canary-from-keyring", messages, path)
    text = path.read_text()
    assert "canary-from" not in text
    assert "[key]" in text


@pytest.mark.parametrize("name", FORMATS)
def test_no_export_holds_a_password_with_characters_that_the_format_writes_otherwise(
    name: str, tmp_path: Path
) -> None:
    password = "ab*cd*<&>\"'_canary_`x`"
    learn(password)
    messages = [
        Message(role="user", type="message", content=f"use {password}"),
        Message(role="assistant", type="message", content=f"I use {password} [here](https://a/?{password})"),
        Message(role="assistant", type="code", format="python", content=f"# {password}", state="finished"),
        Message(role="computer", type="console", format="output", content=json.dumps({"p": password})),
    ]
    path = tmp_path / "out"
    export(FORMATS[name], password, messages, path)
    text = path.read_text()
    assert "canary" not in text
    assert "[key]" in text


SECRET = "q7Rz/fW2+canary=Kx9;<\"'&Lm4 Tn8%Vb3"
DISGUISES = {
    "as it is": SECRET,
    "in JSON": json.dumps(SECRET),
    "in HTML": html.escape(SECRET),
    "between tags": html.escape(SECRET, quote=False),
    "in an address": urllib.parse.quote(SECRET, safe=""),
    "in a form": urllib.parse.quote_plus(SECRET),
    "in hexadecimal": SECRET.encode().hex(),
    "in Base64": base64.b64encode(SECRET.encode()).decode(),
    "with a name in Base64": base64.b64encode(f"me:{SECRET}".encode()).decode(),
    "between others in Base64": base64.b64encode(f"a{SECRET}-and-more".encode()).decode(),
    "in Base64 for addresses": base64.urlsafe_b64encode(f"x:{SECRET}".encode()).decode(),
}


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
@pytest.mark.parametrize("cut", [redact, remove_secrets])
def test_a_secret_is_found_in_disguise(cut: Callable[..., str], disguise: str) -> None:
    learn(SECRET)
    shown = cut(f"the server said {disguise} and no more", environment={})
    assert "[key]" in shown
    assert shown.startswith("the server said ")
    assert shown.endswith(" and no more")
    assert "canary" not in shown
    middle = len(disguise) // 2
    assert disguise[middle - 4 : middle + 4] not in shown


def test_the_pieces_of_a_secret_that_errors_show_are_taken_out() -> None:
    learn("my0wnverylongcanary4711")
    words = redact("Incorrect key: my0wnverylo*****nary4711. Then my0wnver / canary4711.", environment={})
    assert words == "Incorrect key: [key]*****[key]. Then [key] / [key]."


def test_the_parts_of_a_path_are_no_pieces_of_a_key() -> None:
    environment = {"SSH_KEY_FILE": "/usr/share/something/long"}
    assert redact("cd /usr/share/other", environment=environment) == "cd /usr/share/other"


@pytest.mark.parametrize(
    "text",
    [
        "cannot reach https://me:canary@host:1/v1/x?y=z",
        "cannot reach https://canary@host/v1",
        "GET /v1?key=canary&x=1",
        "GET /v1?x=1&access_token=canary",
        "GET /v1?api-key=canary",
        "x-api-key: canary",
        '{"X-Goog-Api-Key": "canary"}',
        "Authorization: Basic canary==",
        "{'authorization': 'Bearer canary'}",
        'request {"api_key": "canary", "model": "x"}',
        "api_key='canary'",
    ],
)
def test_what_stands_where_secrets_stand_is_taken_out(text: str) -> None:
    shown = redact(text, environment={})
    assert "canary" not in shown
    assert "[key]" in shown


@pytest.mark.parametrize(
    "text",
    [
        "llm.api_key: expected text, but it is empty",
        "http://localhost:8000/v1: no such page",
        "mail me@example.org, or see https://example.org/@me",
        "OPENAI_API_KEY is not set",
        "the token limit: 4096 tokens; monkey=business",
    ],
)
def test_words_about_keys_stay(text: str) -> None:
    assert redact(text, environment={}) == text


def test_the_secrets_in_the_address_of_a_server_are_learned() -> None:
    learn_address("https://me:pass-canary@host/v1?key=query-canary&x=harmless-words")
    learn_address("https://only-canary@host")
    learn_address("http://[broken")
    learn_address(None)
    words = "pass-canary query-canary only-canary harmless-words host"
    assert remove_secrets(words, {}) == "[key] [key] [key] harmless-words host"
