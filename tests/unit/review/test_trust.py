"""What was shown and trusted, by content."""

import json
import os
import stat
from pathlib import Path

import pytest

from oi_tui import paths
from oi_tui.engine.credentials.trust import ExternalContent, Trust

HERE = ExternalContent("project profile", "/work/.oi-tui.yaml", "auto_run: true\n")


def test_exactly_what_was_trusted_is_trusted_and_nothing_else() -> None:
    trust = Trust()
    assert not trust.accepts(HERE)
    trust.accept(HERE)
    assert Trust().accepts(HERE)
    for other in (
        ExternalContent("project profile", "/work/.oi-tui.yaml", "auto_run: true"),
        ExternalContent("project profile", "/work/.oi-tui.yaml", ""),
        ExternalContent("project profile", "/other/.oi-tui.yaml", HERE.text),
        ExternalContent("python profile", "/work/.oi-tui.yaml", HERE.text),
    ):
        assert not trust.accepts(other)


def test_another_content_at_the_same_place_replaces_the_one_before() -> None:
    trust = Trust()
    trust.accept(HERE)
    other = ExternalContent(HERE.kind, HERE.place, "loop: true\n")
    trust.accept(other)
    assert trust.accepts(other)
    assert not trust.accepts(HERE)
    assert [(entry.kind, entry.place, entry.digest) for entry in trust.list_entries()] == [
        (other.kind, other.place, other.digest)
    ]


def test_trust_is_revoked() -> None:
    trust = Trust()
    trust.accept(HERE)
    assert trust.revoke(HERE.kind, HERE.place)
    assert not trust.revoke(HERE.kind, HERE.place)
    assert not trust.accepts(HERE)


def test_the_record_is_for_its_owner_only_and_holds_no_content() -> None:
    Trust().accept(ExternalContent("python profile", "/p.py", "canary = 1"))
    path = paths.config() / "trusted.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "canary" not in path.read_text()


@pytest.mark.parametrize("spoil", ["damaged", "writable", "folder", "link", "pipe", "odd"])
def test_a_record_that_cannot_be_believed_trusts_nothing(spoil: str, tmp_path: Path) -> None:
    trust = Trust()
    trust.accept(HERE)
    good = trust.path.read_text()
    match spoil:
        case "damaged":
            trust.path.write_text(good[:-5])
        case "writable":
            trust.path.chmod(0o622)
        case "folder":
            trust.path.parent.chmod(0o777)
        case "link":
            (tmp_path / "theirs").write_text(good)
            trust.path.unlink()
            trust.path.symlink_to(tmp_path / "theirs")
        case "pipe":
            trust.path.unlink()
            os.mkfifo(trust.path)
        case "odd":
            trust.path.write_text(json.dumps({"trusted": [1, {"digest": HERE.digest}, None]}))
    assert not trust.accepts(HERE)


def test_any_text_has_its_digest() -> None:
    digests = {
        ExternalContent("language", "/x.py", text).digest for text in ("", "\ud800", "\ufffd", "a\r\n", "a\n")
    }
    assert len(digests) == 5
