"""Docstrings of functions are imperative: ruff's D401 sees nouns, and this test questions."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[3] / "oi_tui"
#: With these a docstring describes a value, and leaves open what the function does with it.
QUESTIONS = {"Whether", "What", "Which", "How", "Why", "Where", "When"}


def test_no_docstring_of_a_function_begins_with_a_question() -> None:
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            # `%name?` shows the person what a magic does; a property is documented like an attribute.
            if node.name.startswith(("_line_", "_cell_")) or any(
                "property" in ast.unparse(decorator) for decorator in node.decorator_list
            ):
                continue
            words = (ast.get_docstring(node) or "").split()
            if words and words[0] in QUESTIONS:
                wrong.append(f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}: {' '.join(words)}")
    assert wrong == [], "say what it does: Return whether ..., Check whether ..., Find where ..."
