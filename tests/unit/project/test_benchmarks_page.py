"""The page of `make bench` shows what the benchmarks said, and names what could not be tried."""

import json
from pathlib import Path

import pytest

from tests.benchmarks import page, peers
from tests.benchmarks.patient import Patient
from tests.processes import wait_until


def test_the_page_has_a_table_for_each_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "FOLDER", tmp_path)
    why = {"versions": {"codex": "1.2"}, "not tried": {"Toad": "it needs Python 3.14"}}
    (tmp_path / "found.json").write_text(json.dumps(why), encoding="utf-8")
    results = {
        "peer_start": page.Result(
            {"oi-tui": {"start, s": 0.512}, "codex": {"start, s": 1.2, "note": "a|b"}}, "2026-11-02"
        ),
        "stopping": page.Result({"turn": {"p50": 3.25, "all": [1, 2]}}, "2026-11-03"),
    }
    page.write(results, "a machine", tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "a machine" in text
    assert "codex 1.2" in text
    assert "Not tried: Toad: it needs Python 3.14." in text
    assert (
        "| Program | start, s | note |\n|"
        " --- | --- | --- |\n| oi-tui | 0.512 |  |\n| codex | 1.2 | a\\|b |" in text
    )
    assert "| turn, p50 | 3.25 |\n| turn, all | 1, 2 |" in text
    assert "`python -m tests.benchmarks.stopping`, 2026-11-03." in text
    assert "`python -m tests.benchmarks.startup`: not measured yet." in text


def test_a_benchmark_that_fails_is_named_and_the_next_one_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "FOLDER", tmp_path)
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(page, "BESIDE", {})
    own = {"missing": page.Benchmark("Missing"), "peers": page.Benchmark("Silent")}
    monkeypatch.setattr(page, "OWN", own)
    page.measure(list(own), "a machine")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "No module named tests.benchmarks.missing." in text
    assert "Not measured: its figures cannot be read:" in text


def test_a_benchmark_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    result = page.run("runtimes", page.Benchmark("Code"), 0.1)
    assert result.failure == "it took more than 0 seconds"


def test_a_peer_that_cannot_be_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "PYPI", {})
    monkeypatch.setenv("PATH", str(tmp_path))
    peers.install(tmp_path)
    assert peers.installed(tmp_path)["not tried"] == {"codex": "npm is not installed"}


def test_a_program_that_shows_no_prompt_is_named_and_the_next_one_is_measured(tmp_path: Path) -> None:
    def measure(program: peers.Program) -> peers.Figures:
        with Patient(*program.command, folder=program.folder) as patient:
            patient.wait_for(program.ready, 30)
        return {"ready": "yes"}

    silent = peers.Program("silent", ["-c", "pass"], b"READY", tmp_path)
    ready = peers.Program("ready", ["-c", "print('READY')"], b"READY", tmp_path)
    figures = peers.measure_each([silent, ready], measure)
    assert figures == {"silent": {"not measured": "READY did not appear"}, "ready": {"ready": "yes"}}


def test_what_a_program_left_behind_is_measured_and_ended(tmp_path: Path) -> None:
    held = "data = b'x' * 30_000_000; print('READY', flush=True); import time; time.sleep(60)"
    leave = (
        f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {held!r}], start_new_session=True)"
    )
    with Patient("-c", leave, folder=tmp_path) as patient:
        patient.wait_for(b"READY", 30)
        assert patient.family_megabytes() > 30
        assert list(patient._processes())
    assert wait_until(lambda: not list(patient._processes()), 10)
