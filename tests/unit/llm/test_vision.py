"""Images on their way to a model: named by a person, shown by a program, seen or described."""

import base64
import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from PIL import Image

from oi_tui.engine.events import Noticed
from oi_tui.engine.llm import images, request
from oi_tui.engine.llm.base import Text
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Message
from tests.fakes import call
from tests.servers.openai_server import ModelServer
from tests.unit.engine.test_session import make, run_turn, select
from tests.unit.llm.test_provider_formats import WIRES

SEES = ModelInfo(supports_vision=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("chart.png", "a b.png", "photo.JPG", "résumé.png"):
        image = Image.new("RGB", (4, 3), "red")
        image.save(tmp_path / name, "JPEG" if name.endswith("JPG") else "PNG")
    (tmp_path / "fake.png").write_text("no image at all")
    (tmp_path / "folder.png").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What is in chart.png?", ["chart.png"]),
        ("Look at @chart.png, please", ["chart.png"]),
        ("Compare ./chart.png with 'a b.png'.", ["chart.png", "a b.png"]),
        (r"a\ b.png", ["a b.png"]),
        (r"chart.p\ng", ["chart.png"]),
        ("file://{folder}/chart%2E%70%6E%67", ["chart.png"]),
        ('@"a b.png" (and photo.JPG)', ["a b.png", "photo.JPG"]),
        ("résumé.png chart.png chart.png", ["résumé.png", "chart.png"]),
        ("Make a missing.png for me", []),
        ("folder.png and chart.pngx and png", []),
        ("{folder}/chart.png", ["chart.png"]),
        ("file://{folder}/chart.png", ["chart.png"]),
        ("file://{folder}/a%20b.png and file://{folder}/r%C3%A9sum%C3%A9.png", ["a b.png", "résumé.png"]),
        ("{folder}/a b.png", ["a b.png"]),
        ("What is this?\n@a b.png \n", ["a b.png"]),
        ("`chart.png`, <a b.png> and `a b.png`", ["chart.png", "a b.png"]),
        ("![A chart]({folder}/chart.png) and [chart](chart.png).", ["chart.png"]),
        ("\0.png \n@ '' \"\" ~nobody-at-all/x.png", []),
        ("x" * 100_000 + ".png", []),
    ],
)
def test_image_files_that_a_message_names_are_found(folder: Path, text: str, names: list[str]) -> None:
    assert images.find_named_images(text.replace("{folder}", str(folder)), folder) == [
        folder / name for name in names
    ]


def test_lines_that_name_no_image_are_not_taken_apart(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    class Words:
        def finditer(self, line: str) -> Iterator[re.Match[str]]:
            taken.append(line)
            return names.finditer(line)

    names = images._NAMED
    monkeypatch.setattr(images, "_NAMED", Words())
    text = "words " * 500_000 + "\nLook at chart.png\n" + "words " * 10
    assert images.find_named_images(text, folder) == [folder / "chart.png"]
    assert taken == ["Look at chart.png"]


def test_not_more_images_come_along_than_a_request_takes(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.png").touch()
    assert len(images.find_named_images(" ".join(f"{n}.png" for n in range(30)), tmp_path)) == 10


def test_a_named_image_is_sent_to_a_model_that_sees(folder: Path) -> None:
    session = make([Text("A red one.")], facts=SEES)
    session.computer.cwd = folder
    run_turn(session, "What is in chart.png?")
    assert [(m.type, m.format) for m in session.messages[:2]] == [("message", None), ("image", "path")]
    asked = session.llm.requests[0].messages[-1]
    assert asked["role"] == "user"
    words, name, image = asked["content"]
    assert words == {"type": "text", "text": "What is in chart.png?"}
    assert str(folder / "chart.png") in name["text"]
    data = base64.b64decode(image["image_url"]["url"].partition(",")[2])
    assert data == (folder / "chart.png").read_bytes()
    session.rewind(session.messages[0].id)
    assert session.messages == ()


def test_a_link_that_leads_out_of_the_folder_sends_nothing(folder: Path) -> None:
    inside, private = folder / "work", folder / "photo.JPG"
    (inside / "sub").mkdir(parents=True)
    (folder / "chart.png").rename(inside / "chart.png")
    (inside / "same.png").symlink_to("chart.png")
    (inside / "chart2.png").symlink_to(private)
    (inside / "away").symlink_to(folder)
    session = make([Text("Hm.")], [Text("Hm.")], [Text("Hm.")], facts=SEES)
    session.computer.cwd = inside
    told = select(run_turn(session, "Compare chart2.png, @away/photo.JPG and same.png"), Noticed)
    assert [notice.text for notice in told] == [
        f"{name} was not sent: it is a link out of the folder, to {private}. "
        "To send that file, name it by this path."
        for name in ("chart2.png", "away/photo.JPG")
    ]
    assert [m.content for m in session.messages if m.type == "image"] == [str(inside / "same.png")]
    # What was sent once is read for each request; by then it may be another file.
    (inside / "same.png").unlink()
    (inside / "same.png").symlink_to(private)
    run_turn(session, "And now?")
    assert "image_url" not in str(session.llm.requests[1].messages)
    run_turn(session, f"Then {private}")
    assert base64.b64encode(private.read_bytes()).decode() in str(session.llm.requests[2].messages)


def test_only_what_a_person_typed_attaches_images(folder: Path) -> None:
    session = make([Text("Hm.")], [Text("Hm.")], facts=SEES)
    session.computer.cwd = folder
    said = Message(role="assistant", type="message", content="I made chart.png")
    printed = Message(role="computer", type="message", content="photo.JPG")
    list(session.turn([said, printed, Message(role="user", type="message", content="Thanks")]))
    list(session.turn("What is this?\nerror in chart.png, photo.JPG", typed="What is photo.JPG?"))
    assert [m.content for m in session.messages if m.type == "image"] == [str(folder / "photo.JPG")]


def test_a_model_that_does_not_see_is_reported_the_path(folder: Path) -> None:
    session = make([Text("I cannot see it.")])
    session.computer.cwd = folder
    run_turn(session, "What is in @chart.png?")
    asked = session.llm.requests[0].messages[-1]["content"]
    assert isinstance(asked, str)
    assert f"[an image file: {folder / 'chart.png'}]" in asked


def test_vision_of_the_profile_counts_more_than_what_is_known(folder: Path) -> None:
    for vision, sent in ((True, True), (False, False)):
        session = make([Text("Hm.")], facts=ModelInfo(supports_vision=not vision), supports_vision=vision)
        session.computer.cwd = folder
        run_turn(session, "chart.png")
        assert ("image_url" in str(session.llm.requests[0].messages)) is sent


def test_a_file_that_only_pretends_to_be_an_image_is_named_and_not_sent(folder: Path) -> None:
    session = make([Text("Hm.")], facts=SEES)
    session.computer.cwd = folder
    run_turn(session, "fake.png")
    assert "image_url" not in str(session.llm.requests[0].messages)
    assert "fake.png" in str(session.llm.requests[0].messages)


def test_an_image_that_is_a_program_for_ghostscript_is_not_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from PIL import EpsImagePlugin

    programs = folder / "bin"
    programs.mkdir()
    (programs / "gs").write_text(f"#!/bin/sh\n: > '{folder}/ran'\n")
    (programs / "gs").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    monkeypatch.setattr(EpsImagePlugin, "gs_binary", None)
    lines = ("%!PS-Adobe-3.0 EPSF-3.0", "%%BoundingBox: 0 0 10 10", "%%EndComments", "showpage", "")
    (folder / "fake.png").write_text("\n".join(lines))
    assert images.make_data_url("path", str(folder / "fake.png")) is None
    assert not (folder / "ran").exists()


def test_an_image_is_left_out_that_would_unpack_to_too_many_pixels_or_is_damaged(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "chart.png"
    Image.new("RGB", (40, 30), "red").save(path, "TIFF")
    assert images.make_data_url("path", str(path))
    whole = path.read_bytes()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        images.make_data_url("path", str(path))
    path.write_bytes(whole)
    monkeypatch.setattr(images, "MOST_PIXELS", 1000)
    assert images.make_data_url("path", str(path)) is None
    for fault in (struct.error("x"), OverflowError("x"), MemoryError()):
        monkeypatch.setattr(Image, "open", Mock(side_effect=fault))
        assert images.make_data_url("path", str(path)) is None


def test_the_kind_is_that_of_the_data_and_not_of_the_name(folder: Path) -> None:
    (folder / "photo.JPG").rename(folder / "photo.png")
    url = images.make_data_url("path", str(folder / "photo.png"))
    assert url is not None
    assert url.startswith("data:image/jpeg;")


def test_an_image_of_a_program_is_seen_or_described_by_its_path(tmp_path: Path) -> None:
    for facts in (SEES, ModelInfo()):
        session = make([call("image")], [Text("Hm.")], auto_run=True, facts=facts, outputs=tmp_path / "out")
        run_turn(session)
        sent = str(session.llm.requests[1].messages)
        [image] = [m for m in session.messages if m.type == "image"]
        kept = tmp_path / "out" / f"{image.id}.png"
        assert kept.read_bytes() == b"hi"
        assert kept.stat().st_mode & 0o077 == 0
        assert ("image_url" in sent) is bool(facts.supports_vision)
        assert (f"saved as {kept}" in sent) is not bool(facts.supports_vision)


def test_the_newest_images_are_sent_and_the_others_described() -> None:
    shown = [
        Message(role="user", type="image", format="base64.png", content=f"aGk{n:02d}" * 10) for n in range(30)
    ]
    large = [m.replace(content="A" * 3_000_000, id=f"large{n}") for n, m in enumerate(shown[:8])]
    for messages, sent in ((shown, 20), (large, 5)):
        written = request.write(messages, Profile(), [], tools=True, vision=True)
        parts = [part for m in written.request.messages if m["role"] == "user" for part in m["content"]]
        assert sum(part["type"] == "image_url" for part in parts) == sent
        assert parts[-1]["type"] == "image_url", "the newest one is among them"


@pytest.mark.parametrize("name", sorted(WIRES.keys() - {"deepseek"}))
def test_a_named_image_reaches_every_provider(
    models: ModelProcess, served: ModelServer, folder: Path, name: str
) -> None:
    model, path = WIRES[name]
    session = make(model=model, api_base=served.root + path, api_key="k-12345678", supports_vision=True)
    session.computer.cwd = folder
    session._exchange._llm = models
    run_turn(session, "What is in chart.png?")
    data = base64.b64encode((folder / "chart.png").read_bytes()).decode()
    assert data in str(served.requests[0])
