"""What TypeScript has of its own; all else it promises with the other languages."""

from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.languages import typescript
from tests.runtimes.playing import play
from tests.runtimes.stand_ins import stand_in

Make = Callable[..., Computer]


@pytest.mark.parametrize(
    ("version", "here"), [("v22.13.0", True), ("v24.1.0", True), ("v22.12.9", False), ("v20.20.2", False)]
)
def test_typescript_is_here_where_node_can_take_types_away(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, here: bool
) -> None:
    monkeypatch.setenv("PATH", "")
    stand_in(tmp_path, "node", f"echo {version}", monkeypatch)
    assert ("typescript" in make().languages) == here
    if not here:
        assert "needs Node.js 22.13" in play(make(), "ts", "1").reason
    assert typescript.LANGUAGE.hint


def test_typescript_runs_in_a_newer_node_behind_one_that_is_too_old(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, "node", "echo v20.1.0", monkeypatch)
    assert play(make(), "ts", "const n: number = 41; console.log(`${n + 1}`)").text == "42\n"


def test_what_is_more_than_a_type_keeps_its_lines(make: Make) -> None:
    code = (
        "enum Size { Small,\n  Large }\n\n"
        "function fail(why: string): never {\n  throw new Error(why)\n}\nfail('oops')"
    )
    played = play(make(), "ts", code)
    assert (played.state, played.reason) == ("failed", "Error: oops")
    assert "cell-1.ts:5:" in played.text
    assert "cell-1.ts:7:" in played.text


def test_what_is_no_typescript_is_reported_with_its_line(make: Make) -> None:
    played = play(make(), "ts", "\nconst n: number = ;")
    assert played.reason == "SyntaxError: Expression expected"
    assert played.text == "Uncaught SyntaxError: Expression expected\n    at cell-1.ts:2\n"


def test_what_was_stopped_while_it_waited_may_be_collected_later(make: Make) -> None:
    computer = make()
    waiting = "console.log('go'); setInterval(() => {}, 60000); await new Promise(() => {})"
    assert play(computer, "ts", waiting, stop_at="go\r\n").state == "interrupted"
    much = "let kept: unknown[] = []\nfor (let n = 0; n < 3e6; n++) kept = [n, kept.length]\nkept.length"
    assert play(computer, "ts", much).state == "finished"


def test_a_loop_that_is_stopped_ends_without_a_word(make: Make) -> None:
    played = play(make(), "ts", "console.log('go')\nwhile (true) {}", stop_at="go\r\n")
    assert (played.state, played.text) == ("interrupted", "go\n")


@pytest.mark.parametrize(
    "language",
    [
        "typescript",
        pytest.param("deno", marks=pytest.mark.needs("deno")),
        pytest.param("bun", marks=pytest.mark.needs("bun")),
    ],
)
def test_types_are_removed_and_not_checked(make: Make, language: str) -> None:
    code = "const n: number = 'a'\nfunction same(x: number): number { return x }\nconsole.log(typeof same(n))"
    played = play(make(), language, code)
    assert (played.state, played.text) == ("finished", "string\n")
