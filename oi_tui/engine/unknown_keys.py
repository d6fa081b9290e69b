"""What to say of a key in a profile that no setting has."""

from collections.abc import Iterable

from oi_tui.engine.settings import nearest

#: Settings of Open Interpreter 0.4.3, or groups of them, that nothing here acts on.
_ORIGINALS = (
    "version",
    "conversation_filename",
    "plain_text_display",
    "import_skills",
    "skills_path",
    "sync_computer",
    "in_terminal_interface",
    "anonymous_telemetry",
    "computer",
    "wtf",
    "llm.vision_renderer",
)


def why_unknown(key: str, known: Iterable[str]) -> str:
    """What to say of a key that is not among the `known` ones, to go on after its name."""
    known = list(known)
    if "<<" in key.split("."):
        return "is a merge (<<), which is not read here; write its settings out"
    if any(key == each or key.startswith(f"{each}.") for each in _ORIGINALS):
        return "is a setting of Open Interpreter that has no effect here"
    # Where it stands under the wrong group, the last part of the name still tells.
    name = key.rpartition(".")[2]
    same = [each for each in known if each.rpartition(".")[2] == name]
    return f"is not a setting{f'; did you mean {same[0]}?' if same else nearest(key, known)}"
