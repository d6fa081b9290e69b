"""The profiles that come with the program."""

from pathlib import Path

from oi_tui.engine.settings import yaml_file

_FOLDER = Path(__file__).parent / "preset_profiles"


def names() -> list[str]:
    """The names of the ready-made profiles, in alphabetical order."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def text(name: str) -> str | None:
    """The YAML text of a ready-made profile; None where there is none of that name."""
    return (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8") if name in names() else None


def summary(name: str) -> str:
    """The summary of a preset: its first comment, up to the first full stop or colon."""
    first = (text(name) or "").partition("\n")[0].removeprefix("# ")
    return first.split(". ")[0].split(": ")[0].removesuffix(".")


def model(name: str) -> str:
    """The model that it sets."""
    return str(yaml_file.parse(text(name) or "")["llm.model"].value)
