"""Reading the line of a shell believes nothing that code in the shell can make up."""

import os
import shutil
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from oi_tui.runtimes.runs import shell_line
from oi_tui.runtimes.runs.shell_line import ShellLine

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows a program's memory"),
    pytest.mark.needs("bash"),
]


def _bash() -> Path:
    return Path(os.path.realpath(shutil.which("bash") or ""))


def test_a_pipe_by_the_name_of_a_deleted_program_holds_nobody_up(tmp_path: Path) -> None:
    program = tmp_path / "x"
    shutil.copy(_bash(), program)
    with subprocess.Popen([program, "-c", "read"], stdin=subprocess.PIPE) as process:
        program.unlink()
        os.mkfifo(tmp_path / "x (deleted)")
        problems: list[ValueError] = []

        def look() -> None:
            try:
                ShellLine(process.pid, "true").close()
            except ValueError as error:
                problems.append(error)

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        thread.join(5)
        assert process.stdin
        process.stdin.close()
        assert "tells no line" in str(problems)


def test_a_program_in_the_place_of_a_shell_is_read_within_bounds(tmp_path: Path) -> None:
    large = tmp_path / "bash"
    with large.open("wb") as file:
        file.truncate(20 << 30)
    with pytest.raises(ValueError, match="too large"):
        shell_line._find_symbols(large)
    os.mkfifo(tmp_path / "zsh")
    with pytest.raises(ValueError, match="too large"):
        shell_line._find_symbols(tmp_path / "zsh")


def test_a_shell_has_few_sections_and_symbols() -> None:
    data = bytearray(_bash().read_bytes())
    assert set(shell_line._SYMBOLS["bash"]) <= shell_line._read_symbols(bytes(data)).keys()
    (table,) = struct.unpack_from("=Q", data, 0x28)
    size, count = struct.unpack_from("=HH", data, 0x3A)
    kinds = [struct.unpack_from("=I", data, table + size * n + 4)[0] for n in range(count)]
    struct.pack_into("=Q", data, table + size * kinds.index(11) + 32, 1 << 40)
    with pytest.raises(ValueError, match="no symbols"):
        shell_line._read_symbols(bytes(data))
    struct.pack_into("=H", data, 0x3C, 65_535)
    with pytest.raises(ValueError, match="too many sections"):
        shell_line._read_symbols(bytes(data))


def _run_as_bash(folder: Path, data: bytes) -> subprocess.Popen[bytes]:
    program = folder / "bash"
    program.write_bytes(data)
    program.chmod(0o700)
    return subprocess.Popen([program, "-c", "read"], stdin=subprocess.PIPE)


def test_a_table_beyond_every_file_tells_no_line(tmp_path: Path) -> None:
    data = bytearray(_bash().read_bytes())
    struct.pack_into("=Q", data, 0x28, 1 << 63)
    with _run_as_bash(tmp_path, data) as process:
        try:
            with pytest.raises(ValueError, match="tells no line"):
                ShellLine(process.pid, "true")
        finally:
            process.kill()


def test_a_variable_beyond_the_memory_tells_no_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = _bash().read_bytes()
    monkeypatch.setattr(
        shell_line, "_read_symbols", lambda _: dict.fromkeys(shell_line._SYMBOLS["bash"], (1 << 64) - 1)
    )
    with _run_as_bash(tmp_path, data) as process:
        try:
            line = ShellLine(process.pid, "true")
            assert line.read() is None
            line.close()
        finally:
            process.kill()
