"""The extras of the package, where their packages are missing."""

import sys
from pathlib import Path

import pytest

from oi_tui.system import extras
from oi_tui.system.extras import MissingExtraError, make_install_command, need_extra


@pytest.mark.parametrize("name", ["zmq", "zmq.asyncio"])
def test_a_missing_package_of_an_extra_is_named_with_its_extra(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError) as error, need_extra("kernel", "--kernel", ("zmq",)):
        __import__(name)
    assert str(error.value) == (
        f"--kernel needs more packages: {make_install_command('oi-tui[kernel]')} ({name} is missing)"
    )


@pytest.mark.parametrize(
    ("maker", "command"),
    [
        ("venv", "'{bin}/python' -m pip install"),
        ("active venv", "pip install"),
        ("uv", "uv pip install --python '{bin}/python'"),
        ("pipx", "pipx runpip oi-tui install"),
    ],
)
def test_a_package_is_installed_into_the_environment_of_the_program(
    maker: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = tmp_path / "with spaces" / "oi-tui"
    programs = environment / "bin"
    programs.mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(environment))
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    monkeypatch.setattr(extras, "find_spec", lambda name: None if maker in ("uv", "pipx") else name)
    if maker == "pipx":
        (environment / "pipx_metadata.json").touch()
    if maker == "active venv":
        (programs / "pip").touch(0o755)
        monkeypatch.setenv("PATH", str(programs))
    assert make_install_command("boto3", "--upgrade") == f"{command} --upgrade boto3".format(bin=programs)
    assert make_install_command("oi-tui[mcp]").endswith(' "oi-tui[mcp]"')


def test_a_missing_part_of_ours_is_not_taken_for_an_extra() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_part"), need_extra("acp", "--acp", ("acp",)):
        import oi_tui.acp.no_such_part  # type: ignore[import-not-found]  # noqa: F401
