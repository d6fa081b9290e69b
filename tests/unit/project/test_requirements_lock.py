"""The lock file has what pyproject.toml asks for, with hashes, and says nothing of where it came from."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[3]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
#: One entry: a requirement, and the lines with its hashes.
ENTRIES = [entry for entry in re.split(r"\n(?=\S)", LOCK.strip()) if not entry.startswith("#")]


def pinned() -> list[Requirement]:
    return [Requirement(entry.partition("\\")[0].strip()) for entry in ENTRIES]


def test_every_entry_is_one_version_with_hashes() -> None:
    for entry, requirement in zip(ENTRIES, pinned(), strict=True):
        assert re.fullmatch(r"==[^,*]+", str(requirement.specifier)), entry
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry


def test_every_dependency_is_pinned_to_a_version_that_is_allowed() -> None:
    versions = {canonicalize_name(item.name): str(item.specifier).removeprefix("==") for item in pinned()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for wanted in map(Requirement, project["dependencies"]):
        version = versions.get(canonicalize_name(wanted.name))
        assert version, f"{wanted.name} is not in requirements.lock: make lock"
        assert wanted.specifier.contains(version), f"{wanted} is {version} in requirements.lock: make lock"


def test_no_address_and_no_path_is_in_it() -> None:
    assert not re.search(r"://|--(extra-)?index-url|file:|(^|\s)/", LOCK)
