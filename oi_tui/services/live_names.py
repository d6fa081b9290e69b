"""Describes the variables of all languages for the model, which has not seen how they were made."""

from collections.abc import Sequence

from oi_tui.runtimes.variables import Memory, Variable
from oi_tui.text import clean_line

#: The most variables of a language that are described, and the most characters of a description.
_DESCRIBED, _WORDS = 60, 40


def describe_memories(memories: Sequence[Memory]) -> str:
    """Describe the variables of all languages for the model; "" where there are none."""
    lines = []
    for memory in memories:
        if not memory.variables or memory.is_over:
            continue
        newest = memory.variables[-_DESCRIBED:]
        words = ", ".join(f"{item.name} ({_describe_type(item)})" for item in newest)
        more = memory.total - len(newest)
        lines.append(f"- {memory.language}: {words}{f', and {more:,} earlier ones' if more > 0 else ''}")
    if not lines:
        return ""
    return "Variables in memory when this summary was written:\n\n" + "\n".join(lines)


def _describe_type(variable: Variable) -> str:
    """Return the type and, where the summary has it, the shape; no value, which may be secret."""
    shape = variable.summary if variable.summary.startswith(variable.type + " ") else variable.type
    return clean_line(shape, _WORDS)
