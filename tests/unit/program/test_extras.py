"""The extras of the package, where their packages are missing."""

import sys

import pytest

from oi_tui.system.extras import MissingExtraError, need_extra


@pytest.mark.parametrize("name", ["zmq", "zmq.asyncio"])
def test_a_missing_package_of_an_extra_is_named_with_its_extra(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError) as error, need_extra("kernel", "--kernel", ("zmq",)):
        __import__(name)
    assert str(error.value) == (
        f'--kernel needs more packages: pip install "oi-tui[kernel]" ({name} is missing)'
    )


def test_a_missing_part_of_ours_is_not_taken_for_an_extra() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_part"), need_extra("acp", "--acp", ("acp",)):
        import oi_tui.acp.no_such_part  # type: ignore[import-not-found]  # noqa: F401
