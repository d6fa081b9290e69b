"""Measure the code, for the table in ARCHITECTURE.md: `python -m tests.code_figures [FOLDER ...]`.

Without a folder, oi_tui is measured. Every folder is measured in the same way, to compare projects.
"""

import ast
import io
import statistics
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
Function = ast.FunctionDef | ast.AsyncFunctionDef
HEADS = (
    "",
    "files",
    "lines",
    "lines per file",
    "functions",
    "median",
    "p95",
    "longest",
    "documented",
    "annotated",
    "comment lines per 1000",
    "largest folder",
    "largest class",
)


@dataclass
class Figures:
    """What was counted in one project. Lengths are in lines, from `def` to the last line of the body."""

    name: str
    files: int = 0
    lines: int = 0
    comments: int = 0
    documented: int = 0
    annotated: int = 0
    lengths: list[int] = field(default_factory=list)
    methods: dict[str, int] = field(default_factory=dict)
    folders: Counter[str] = field(default_factory=Counter)

    def row(self) -> list[str]:
        """Return the row of the table."""
        largest_class = max(self.methods, key=self.methods.__getitem__, default="")
        folder, modules = self.folders.most_common(1)[0]
        return [
            self.name,
            f"{self.files}",
            f"{self.lines:,}",
            f"{round(self.lines / self.files)}",
            f"{len(self.lengths):,}",
            f"{statistics.median(self.lengths):.0f}",
            f"{_percentile(self.lengths, 0.95)}",
            f"{max(self.lengths)}",
            f"{self.documented / len(self.lengths):.0%}",
            f"{self.annotated / len(self.lengths):.0%}",
            f"{1000 * self.comments / self.lines:.0f}",
            f"{folder}, {modules} modules",
            f"{largest_class}, {self.methods.get(largest_class, 0)} methods",
        ]


def measure(folder: Path) -> Figures:
    """Count files, functions and classes of all Python files in the folder."""
    figures = Figures(folder.name)
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        figures.files += 1
        figures.lines += len(text.splitlines())
        figures.comments += _comment_lines(text)
        if path.name != "__init__.py":
            figures.folders[path.parent.relative_to(folder.parent).as_posix()] += 1
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, Function):
                _count_function(figures, node)
            elif isinstance(node, ast.ClassDef):
                methods = sum(isinstance(child, Function) for child in node.body)
                figures.methods[node.name] = max(methods, figures.methods.get(node.name, 0))
    return figures


def _count_function(figures: Figures, node: Function) -> None:
    figures.lengths.append((node.end_lineno or node.lineno) - node.lineno + 1)
    figures.documented += ast.get_docstring(node) is not None
    figures.annotated += node.returns is not None and all(
        argument.annotation or argument.arg in ("self", "cls") for argument in _arguments(node)
    )


def _arguments(node: Function) -> Iterator[ast.arg]:
    yield from (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)


def _comment_lines(text: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.COMMENT for token in tokens)


def _percentile(values: Sequence[int], share: float) -> int:
    return sorted(values)[int(share * (len(values) - 1))]


def table(folders: Sequence[Path]) -> str:
    """Return the figures as a Markdown table."""
    rows = [HEADS, ["---"] * len(HEADS), *(measure(folder).row() for folder in folders)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    print(table([Path(name) for name in sys.argv[1:]] or [ROOT / "oi_tui"]))  # noqa: T201
