"""Mail, calendar and contacts against servers on a loopback address."""

import base64
import datetime
import time
from collections.abc import Callable, Iterator
from email import message_from_string
from email.policy import default
from pathlib import Path

import pytest

from oi_tui.computer import Computer, ComputerError
from oi_tui.computer.personal.html_text import read_html
from tests.servers import groupware

Write = Callable[..., None]
MESSAGE = "From: Ann <ann@example.com>\r\nTo: me@example.com\r\nSubject: {0}\r\n\r\nText of {0}.\r\n"
DAY = datetime.datetime(2026, 3, 4, 10, 0)


@pytest.fixture
def accounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a section of the file of accounts."""
    file = tmp_path / "accounts.ini"
    file.touch(0o600)
    monkeypatch.setenv("OI_TUI_ACCOUNTS", str(file))

    def write(section: str, **values: object) -> None:
        values = {"user": "me@example.com", "password_command": "echo secret", "tls": "off", **values}
        lines = [f"[{section}]", *(f"{key} = {value}" for key, value in values.items())]
        file.write_text("\n".join(lines))

    return write


def test_messages_are_read_the_newest_first_and_stay_unread(accounts: Write) -> None:
    texts = [(MESSAGE.format(name), name == "old") for name in ("old", "new", "newest")]
    with groupware.imap(texts, "secret") as port:
        accounts("mail", imap=f"127.0.0.1:{port}")
        mail = Computer().mail
        assert [item["subject"] for item in mail.get(2)] == ["newest", "new"]
        assert mail.get(1)[0]["body"].strip() == "Text of newest."
        assert [item["subject"] for item in mail.get(5, unread=True)] == ["newest", "new"]
        assert mail.unread_count() == 2


def test_a_message_is_sent_with_its_attachment(accounts: Write, tmp_path: Path) -> None:
    received: list[str] = []
    (tmp_path / "list.csv").write_text("a,b")
    with groupware.smtp(received) as port:
        accounts("mail", smtp=f"127.0.0.1:{port}")
        text = Computer().mail.send("bob@example.com", "Grüße", "Hi", [str(tmp_path / "list.csv")])
    assert text == "Sent “Grüße” to bob@example.com with 1 attachment."
    message = message_from_string(received[0])
    assert [part.get_filename() for part in message.walk()][-1] == "list.csv"


@pytest.mark.parametrize("password", ["secret", "geheimnisß"])
def test_a_server_on_this_machine_is_logged_in_to_where_it_wants_that(accounts: Write, password: str) -> None:
    received: list[str] = []
    with groupware.smtp(received, f"\0me@example.com\0{password}".encode()) as port:
        accounts("mail", smtp=f"127.0.0.1:{port}", password_command=f"echo {password}")
        Computer().mail.send("bob@example.com", "Hi", "Text")
        accounts("mail", smtp=f"127.0.0.1:{port}", password_command=f"echo {password}x")
        with pytest.raises(ComputerError, match="who is that"):
            Computer().mail.send("bob@example.com", "Hi", "Text")
    assert len(received) == 1
    texts = [(MESSAGE.format("old"), True)]
    with groupware.imap(texts, password) as port:
        accounts("mail", imap=f"127.0.0.1:{port}", password_command=f"echo {password}")
        assert Computer().mail.get(1)[0]["subject"] == "old"


def test_a_message_whose_letters_are_encoded_in_an_unknown_way_is_read(accounts: Write) -> None:
    text = "Subject: Hi\r\nContent-Type: text/plain; charset=x-unknown\r\n\r\nGrüße\r\n"
    with groupware.imap([(text, False)], "secret") as port:
        accounts("mail", imap=f"127.0.0.1:{port}")
        assert Computer().mail.get(1)[0]["body"].strip() == "Grüße"


@pytest.mark.parametrize(
    ("charset", "encoding", "words"),
    [
        ("", "utf-8", "Grüße €"),
        ("", "latin-1", "Grüße"),
        ("us-ascii", "utf-8", "Grüße €"),
        ("iso-8859-1", "cp1252", "“Grüße” €"),
        ("iso-8859-8-i", "iso-8859-8", "שלום"),
        ("windows-31j", "cp932", "日本①"),
        ("gb2312", "gbk", "朱镕基"),
        ("cp-850", "cp850", "Grüße"),
        ("koi8-r", "koi8-r", "Привет"),
    ],
)
def test_letters_are_read_where_the_encoding_is_missing_or_has_another_name(
    accounts: Write, charset: str, encoding: str, words: str
) -> None:
    kind = f"Content-Type: text/plain; charset={charset}\r\n" if charset else ""
    # The server sends a message as the bytes that these letters stand for.
    body = words.encode(encoding).decode("utf-8", "surrogateescape")
    with groupware.imap([(f"Subject: Hi\r\n{kind}\r\n{body}\r\n", False)], "secret") as port:
        accounts("mail", imap=f"127.0.0.1:{port}")
        assert Computer().mail.get(1)[0]["body"].strip() == words


def test_a_subject_with_bare_letters_is_read(accounts: Write) -> None:
    subjects = ["Gr\udcfc\udcdfe", "Größe", "=?koi8-r?B?8NLJ18XU?=", "long  and\r\n folded"]
    texts = [(MESSAGE.format(subject), False) for subject in subjects]
    with groupware.imap(texts, "secret") as port:
        accounts("mail", imap=f"127.0.0.1:{port}")
        found = [item["subject"] for item in Computer().mail.get(9)]
    assert found[::-1] == ["Grüße", "Größe", "Привет", "long  and folded"]


def test_the_page_is_read_where_the_plain_part_is_empty(accounts: Write) -> None:
    text = (
        "Subject: Hi\r\nContent-Type: multipart/alternative; boundary=q\r\n\r\n--q\r\n"
        "Content-Type: text/plain\r\n\r\n\r\n--q\r\nContent-Type: text/html\r\n\r\n"
        "<p>Only here</p>\r\n--q--\r\n"
    )
    with groupware.imap([(text, False)], "secret") as port:
        accounts("mail", imap=f"127.0.0.1:{port}")
        assert Computer().mail.get(1)[0]["body"].strip() == "Only here"


#: Headers that the library of mail fails to read, with an exception of its own for each.
ODD_HEADERS = (
    "From: g: Ann <ann@[, <\r\nSubject: Odd",
    "From: @\r\nTo: (\r\nSubject: Odd",
    "Date: 1 Jan 99999999999 10:00:00\r\nSubject: Odd",
    "To: a@[ \r\nSubject: Odd",
    'Subject: Odd\r\nContent-Type: text/plain; charset="utf-8\0"',
    "Subject: Odd\r\nContent-Type: text/plain; charset=idna",
    f"Subject: Odd\r\nContent-Type: {'(' * 3_000}",
    "Subject: Odd\r\nContent-Type: text/plain; charset*=a'b'%e9%00",
)


def test_a_message_that_is_written_wrongly_hides_no_other(accounts: Write) -> None:
    texts = [(f"{head}\r\n\r\nThe tex\udce9t..\r\n", False) for head in ODD_HEADERS]
    with groupware.imap(texts, "secret") as port:
        accounts("mail", imap=f"127.0.0.1:{port}")
        found = Computer().mail.get(20)
    assert [item["subject"] for item in found] == ["Odd"] * len(ODD_HEADERS)
    assert all(item["body"].startswith("The tex") for item in found)


@pytest.mark.parametrize(
    "rest",
    [
        "Content-Type: text/plain; charset=punycode\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        + base64.b64encode(b"a" * 300_000).decode(),
        f"To: {'a@example.com, ' * 5_000}\r\n\r\nText",
        f"Content-Type: {'a;' * 10_000}\r\n\r\nText",
        f"Content-Type: text/html\r\n\r\n{'<a b=' * 20_000}",
        f"Content-Type: text/html\r\n\r\n{'<head>' * 10_000}{'</b>' * 10_000}",
    ],
    ids=["letters of names", "receivers", "parameters", "tags", "ends"],
)
def test_no_message_keeps_the_mail_from_being_read(accounts: Write, rest: str) -> None:
    with groupware.imap([(f"Subject: Long\r\n{rest}\r\n", False)], "secret") as port:
        accounts("mail", imap=f"127.0.0.1:{port}")
        mail, before = Computer().mail, time.process_time()
        assert mail.get(1)[0]["subject"] == "Long"
    assert time.process_time() - before < 2


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<P CLASS='a>b'>One<br/>two</p>1 < 2<3", "One\ntwo\n1 < 2<3"),
        ("a<!-- > <b> -->b<![if !mso]>c<?xml ?>d</>e", "abcde"),
        ("<script>if (a < b) '</p>'</SCRIPT >a<style/>b", "ab"),
        (
            '<head><title>x</head>a <img alt = "A &amp; B" src=x><a href=y?a=1&amp;b=2>z</a>',
            "a [A & B]z (y?a=1&b=2)",
        ),
        ("a <b <!-- c", "a"),
        (f"&#{'9' * 5_000};a&copy;", "\ufffda©"),
    ],
)
def test_a_page_is_read_as_a_browser_does(page: str, text: str) -> None:
    assert read_html(page) == text


def test_a_message_that_is_a_page_is_read_as_text(accounts: Write) -> None:
    page = (
        "<html><head><style>p {color: red}</style></head><body><p>Dear Ann,<br>pay&nbsp;<b>9</b></p>"
        "<script>track()</script><a href='https://shop.example/?a=1&amp;b=2'>Pay now</a>"
        f"<table><tr><td>Sum</td><td>9</td></tr></table>{'x' * 20_000}</body></html>"
    )
    text = f"Subject: Bill\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{page}\r\n"
    with groupware.imap([(text, False)], "secret") as port:
        accounts("mail", imap=f"127.0.0.1:{port}")
        body = Computer().mail.get(1)[0]["body"]
    assert body.startswith("Dear Ann,\npay 9\nPay now (https://shop.example/?a=1&b=2)\nSum 9\n")
    assert body.endswith(" more characters]")
    assert "color" not in body
    assert "track" not in body


def test_a_receiver_that_the_server_refuses_is_named(accounts: Write) -> None:
    received: list[str] = []
    with groupware.smtp(received) as port:
        accounts("mail", smtp=f"127.0.0.1:{port}")
        text = Computer().mail.send(["bob@example.com", "nobody@example.com"], "Hi", "Text")
        assert text == (
            "Sent “Hi” to bob@example.com, nobody@example.com, but the server refused nobody@example.com."
        )
        with pytest.raises(ComputerError, match="not sent"):
            Computer().mail.send("nobody@example.com", "Hi", "Text")
        for to in ("bob@example.com; eve@example.com", "bob eve", "Lee, Bob <bob@example.com>", "bob"):
            with pytest.raises(ComputerError, match=r"cannot be read\. Write name@example\.com"):
                Computer().mail.send(to, "Hi", "Text")
        Computer().mail.send('"Lee, Bob" <bob@example.com>, "Ünny" <u@example.com> ', "Hi", "Text")
    assert len(received) == 2


def test_attachments_arrive_as_what_they_are(accounts: Write, tmp_path: Path) -> None:
    for name in ("old.eml", "all.tar.gz", 'a "b"; ü.txt'):
        (tmp_path / name).write_bytes(b"\xff\0")
    received: list[str] = []
    with groupware.smtp(received) as port:
        accounts("mail", smtp=f"127.0.0.1:{port}")
        mail = Computer().mail
        mail.send("bob@example.com", "Hi", "Text", [str(file) for file in sorted(tmp_path.iterdir())[:3]])
        mail.send("bob@example.com", "Hi", "Text", str(tmp_path / "old.eml"))
        with pytest.raises(ComputerError, match="is not a file"):
            mail.send("bob@example.com", "Hi", "Text", [str(tmp_path)])
        with pytest.raises(ComputerError, match="must be texts"):
            mail.send("bob@example.com", "Hi", None)
    parts = list(message_from_string(received[0], policy=default).walk())[2:]
    # The file of accounts is between them.
    assert [part.get_filename() for part in parts] == ['a "b"; ü.txt', "accounts.ini", "all.tar.gz"]
    assert parts[2].get_content_type() == "application/octet-stream"
    (_, _, old) = message_from_string(received[1], policy=default).walk()
    assert old.get_content() == b"\xff\0"


def test_a_subject_of_two_lines_cannot_add_a_receiver(accounts: Write) -> None:
    accounts("mail", smtp="127.0.0.1:1")
    with pytest.raises(ComputerError, match="cannot be sent"):
        Computer().mail.send("bob@example.com", "Hi\nBcc: eve@example.com", "x")
    for nobody in ("", [], [" "]):
        with pytest.raises(ComputerError, match="at least one address"):
            Computer().mail.send(nobody, "Hi", "x")


def test_what_is_wrong_with_an_account_is_named(accounts: Write, tmp_path: Path) -> None:
    mail = Computer().mail
    with groupware.imap([], "other") as port:
        accounts("mail", imap=f"127.0.0.1:{port}")
        with pytest.raises(ComputerError, match="wrong password"):
            mail.get()
    accounts("mail")
    with pytest.raises(ComputerError, match=r"no 'imap' in its section \[mail\]"):
        mail.get()
    accounts("mail", imap="imap.example.com")
    with pytest.raises(ComputerError, match=r"tls = off .* this machine only"):
        mail.get()
    with groupware.imap([], "secret") as port:
        accounts("mail", imap=f"127.0.0.1:{port}", password_command="false")
        with pytest.raises(ComputerError, match="printed no password"):
            mail.get()
        accounts("mail", imap=f"127.0.0.1:{port}", password_command="", password="secret")
        assert mail.get() == []
        (tmp_path / "accounts.ini").chmod(0o644)
        with pytest.raises(ComputerError, match="chmod 600"):
            mail.get()


def test_events_are_created_listed_and_deleted(accounts: Write) -> None:
    entries: dict[str, str] = {}
    with groupware.dav(entries, "calendar-data") as port:
        accounts("calendar", url=f"http://127.0.0.1:{port}/c")
        calendar = Computer().calendar
        end = DAY + datetime.timedelta(hours=1)
        calendar.create_event("Tea; with, Ann", DAY, end, location="Café\nRoom 2")
        calendar.create_event("Walk", DAY, end)
        found = calendar.get_events(DAY)
        assert [item["title"] for item in found] == ["Tea; with, Ann", "Walk"]
        assert found[0]["start"] == "2026-03-04 10:00"
        assert found[0]["location"] == "Café\nRoom 2"
        assert calendar.get_events(DAY - datetime.timedelta(days=9)) == []
        with pytest.raises(ComputerError, match=r"nothing was deleted\. That day: Tea"):
            calendar.delete_event("Talk", DAY)
        calendar.delete_event("Walk", DAY)
        assert [event["title"] for event in calendar.get_events(DAY)] == ["Tea; with, Ann"]
        calendar.create_event("Tea; with, Ann", DAY, end)
        with pytest.raises(ComputerError, match="2 events"):
            calendar.delete_event("Tea; with, Ann", DAY.date())
        with pytest.raises(ComputerError, match="before start_date"):
            calendar.create_event("x", end, DAY)


EVENT = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:{0}\r\n{1}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the zone of this machine."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("new_york")
def test_events_are_listed_on_their_days_with_times_of_this_zone(accounts: Write) -> None:
    outlook = "(UTC+01:00) Amsterdam, Berlin"
    times = {
        "utc": "DTSTART:20260305T030000Z\r\nDURATION:PT1H30M",
        "berlin": "DTSTART;TZID=Europe/Berlin:20260304T150000\r\nDTEND;TZID=Europe/Berlin:20260304T160000",
        "outlook": f'DTSTART;TZID="{outlook}":20260304T200000\r\nDTEND;TZID="{outlook}":20260304T210000',
        "day": "DTSTART;VALUE=DATE:20260304",
        "days": "DTSTART;VALUE=DATE:20260303\r\nDTEND;VALUE=DATE:20260306",
        "tomorrow": "DTSTART;VALUE=DATE:20260305\r\nDTEND;VALUE=DATE:20260306",
        "late": "DTSTART:20260305T053000Z",
        "broken": "DTSTART:20260304T999999Z",
        "weekly": "DTSTART:20260302T150000Z\r\nDTEND:20260302T160000Z\r\nRRULE:FREQ=DAILY",
    }
    entries = {f"/c/{name}.ics": EVENT.format(name, text) for name, text in times.items()}
    with groupware.dav(entries, "calendar-data") as port:
        accounts("calendar", url=f"http://127.0.0.1:{port}/c")
        found = {event["title"]: event for event in Computer().calendar.get_events(DAY)}
        assert Computer().calendar.get_events("2026-03-04") == list(found.values())
    assert {name: (event["start"], event["end"]) for name, event in found.items()} == {
        "weekly": ("2026-03-02 10:00", "2026-03-02 11:00"),
        "days": ("2026-03-03", "2026-03-05"),
        "day": ("2026-03-04", "2026-03-04"),
        "berlin": ("2026-03-04 09:00", "2026-03-04 10:00"),
        "outlook": (f"2026-03-04 20:00 {outlook}", f"2026-03-04 21:00 {outlook}"),
        "utc": ("2026-03-04 22:00", "2026-03-04 23:30"),
        "broken": ("20260304T999999Z", ""),
    }
    assert found["weekly"]["repeats"] == "FREQ=DAILY"


@pytest.mark.usefixtures("new_york")
def test_an_event_is_created_for_whole_days_and_for_times_of_other_zones(accounts: Write) -> None:
    entries: dict[str, str] = {}
    with groupware.dav(entries, "calendar-data") as port:
        accounts("calendar", url=f"http://127.0.0.1:{port}/c")
        calendar = Computer().calendar
        calendar.create_event("Trip", DAY.date(), DAY.date() + datetime.timedelta(days=1))
        assert "DTSTART;VALUE=DATE:20260304\r\nDTEND;VALUE=DATE:20260306\r\n" in "".join(entries.values())
        calendar.create_event("Call", "2026-03-04T10:00:00+01:00", "2026-03-04T11:00:00+01:00")
        found = calendar.get_events(DAY)
        assert [(event["title"], event["start"], event["end"]) for event in found] == [
            ("Trip", "2026-03-04", "2026-03-05"),
            ("Call", "2026-03-04 04:00", "2026-03-04 05:00"),
        ]
        for times, words in {
            (DAY.date(), DAY): "two times, or two dates",
            ("tomorrow", DAY): "start_date must be a time or a date",
            (DAY, datetime.date.max): "end_date must be a time or a date",
        }.items():
            with pytest.raises(ComputerError, match=words):
                calendar.create_event("x", *times)
        calendar.delete_event("Call", datetime.datetime.fromisoformat("2026-03-04T09:00:00+00:00"))
        calendar.delete_event("Trip", DAY.date())
    assert entries == {}


def test_a_password_follows_no_redirect(accounts: Write) -> None:
    entries = {"/c/1.ics": EVENT.format("Tea", "DTSTART:20260304T100000")}
    with groupware.dav(entries, "calendar-data", moved="http://127.0.0.1:9/else") as port:
        accounts("calendar", url=f"http://127.0.0.1:{port}/c")
        with pytest.raises(ComputerError, match=r"refused GET: 302 .* names another address: http://127"):
            Computer().calendar.delete_event("Tea", DAY)
    assert entries


def test_one_day_of_a_repeated_event_does_not_delete_all_of_them(accounts: Write) -> None:
    alarm = "BEGIN:VALARM\r\nDESCRIPTION:Alarm\r\nEND:VALARM\r\n"
    event = (
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20260304T100000\r\nDTEND:20260304T110000\r\n"
        f"{alarm}SUMMARY:Weekly\r\n{{}}END:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    for repeats in ("RRULE:FREQ=WEEKLY\r\n", "RECURRENCE-ID:20260304T100000\r\n", ""):
        entries = {"/c/1.ics": event.format(repeats)}
        with groupware.dav(entries, "calendar-data") as port:
            accounts("calendar", url=f"http://127.0.0.1:{port}/c")
            calendar = Computer().calendar
            (found,) = calendar.get_events(DAY)
            assert (found["title"], found["notes"]) == ("Weekly", "")
            if repeats:
                with pytest.raises(ComputerError, match=r"is repeated.*Nothing was deleted"):
                    calendar.delete_event("Weekly", DAY)
            else:
                calendar.delete_event("Weekly", DAY)
        assert bool(entries) == bool(repeats)


def test_contacts_are_looked_up(accounts: Write) -> None:
    card = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:{0}\r\n{1}END:VCARD\r\n"
    entries = {
        "/c/1": card.format("Ann Lee", "TEL;TYPE=cell:+1 2\r\nEMAIL:ann@exam\r\n ple.com\r\n"),
        "/c/2": card.format("Ann Ray", "item1.TEL:3\r\n"),
    }
    with groupware.dav(entries, "address-data") as port:
        accounts("contacts", url=f"http://127.0.0.1:{port}/c/")
        contacts = Computer().contacts
        assert contacts.get_phone_number("ann lee") == "+1 2"
        assert contacts.get_email_address("Lee") == "ann@example.com"
        assert contacts.get_phone_number("Ann Ray") == "3"
        assert contacts.get_full_names_from_first_name("ann") == ["Ann Lee", "Ann Ray"]
        for name, words in (
            ("Ann", "Several contacts fit 'Ann': Ann Lee, Ann Ray"),
            ("Bob", "no contact 'Bob'"),
        ):
            with pytest.raises(ComputerError, match=words):
                contacts.get_phone_number(name)
        with pytest.raises(ComputerError, match="Ann Ray has no e-mail address"):
            contacts.get_email_address("Ann Ray")


@pytest.mark.parametrize("url", ["http://dav.example.com/c/", "ftp://127.0.0.1/c/"])
def test_a_password_goes_only_over_an_encrypted_connection(accounts: Write, url: str) -> None:
    accounts("calendar", url=url)
    with pytest.raises(ComputerError, match=r"tls = off|must begin with https"):
        Computer().calendar.get_events()
