"""The website of the documentation builds."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.project.test_readme import DOCS, ROOT

pytestmark = pytest.mark.slow


def broken_anchors(site: Path) -> list[str]:
    """Return the links of the pages that name a place which their page does not have."""
    texts = {path.resolve(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    places = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in texts.items()}
    broken = []
    for path, text in texts.items():
        for page, place in re.findall(r'href="([^":#]*)#([^"]+)"', text):
            target = (path.parent / page).resolve() if page else path
            if place not in places.get(target, ()):
                broken.append(f"{path.name}: {page}#{place}")
    return broken


@pytest.mark.slow
@pytest.mark.needs("mkdocs")
def test_the_website_builds_without_warnings(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(site)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert all((site / path.relative_to(DOCS)).with_suffix(".html").is_file() for path in DOCS.rglob("*.md"))
    assert broken_anchors(site) == []
    pages = [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]
    assert not any("fonts.googleapis" in page for page in pages)
    assert not any(r"\|" in page for page in pages), "a bar in a table that is not shown as it is"
