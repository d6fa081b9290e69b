"""The profiles that come with the program."""

from pathlib import Path

from oi_tui.engine.settings import yaml_file

_FOLDER = Path(__file__).parent / "preset_profiles"
#: Counterparts of further profiles of Open Interpreter 0.4.3. They work by name and are not listed.
_PACKAGED = Path(__file__).parent / "packaged_profiles"
#: Earlier names of profiles.
_FORMER = {"01": "the01"}
#: Those that have no counterpart, and why.
_GONE = {
    "e2b": "ran code on the servers of E2B. Declare its class as a language instead "
    "(see the page about cloud sandboxes in the documentation)",
    "template_profile": "was a template to copy. The settings (f2) and --profiles make and list profiles",
}


def list_names() -> list[str]:
    """Return the names of the ready-made profiles, in alphabetical order."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def read_text(name: str) -> str | None:
    """Return the YAML text of a ready-made profile; None where there is none of that name."""
    folder = _FOLDER if name in list_names() else _PACKAGED if name in list_packaged() else None
    return (folder / f"{name}.yaml").read_text(encoding="utf-8") if folder else None


def list_packaged() -> list[str]:
    """Return the names of further profiles of Open Interpreter 0.4.3 that work here."""
    return sorted(path.stem for path in _PACKAGED.glob("*.yaml"))


def find_present_name(name: str) -> str:
    """Return the name that a profile of Open Interpreter has today."""
    return _FORMER.get(name, name)


def explain_gone(name: str) -> str | None:
    """Return what a profile of Open Interpreter's did that has no counterpart; None for another."""
    return _GONE.get(name)


def read_summary(name: str) -> str:
    """Return the summary of a preset: its first comment, up to the first full stop or colon."""
    first = (read_text(name) or "").partition("\n")[0].removeprefix("# ")
    return first.split(". ")[0].split(": ")[0].removesuffix(".")


def find_model(name: str) -> str:
    """Return the model that it sets."""
    return str(yaml_file.parse(read_text(name) or "")["llm.model"].value)
