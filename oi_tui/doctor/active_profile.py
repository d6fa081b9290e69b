"""The settings to check: those of this start, or of the conversation in progress."""

from dataclasses import dataclass
from pathlib import Path

from oi_tui import profiles
from oi_tui.engine.credentials.redaction import learn, learn_address
from oi_tui.engine.settings.profile import Profile, ProfileError


@dataclass(frozen=True, slots=True)
class ActiveProfile:
    """A profile, and where its file is, if it has one.

    `problem` says why it is not the one that was asked for, in which case the defaults are looked at;
    `fix` what to do about that.
    """

    profile: Profile
    path: Path | None = None
    problem: str = ""
    fix: str = ""

    def __post_init__(self) -> None:
        """Register its secrets, so that they are removed from the report."""
        learn(self.profile.api_key)
        learn_address(self.profile.api_base)


def load_default_settings() -> ActiveProfile:
    """Return the settings of a start without flags. Writes nothing. Raises ProfileError or OSError."""
    profile, path = profiles.open_profile(None, write=False)
    return ActiveProfile(profile.with_environment(), path)


def make_defaults(problem: ProfileError | OSError) -> ActiveProfile:
    """Return the defaults, instead of what cannot be used."""
    words = str(problem)
    if isinstance(problem, OSError):
        words = f"{problem.filename or ''}: {problem.strerror or problem}".removeprefix(": ")
        fix = f"Make sure that {problem.filename or 'it'} can be read, or choose another with --profile."
    elif isinstance(problem.path, Path):
        fix = f"Correct {problem.path}, or choose another with --profile."
    elif problem.path is None and problem.key is None:
        fix = "oi-tui --profiles lists the profiles."
    else:
        fix = "Correct it, or leave it out."
    place = getattr(problem, "path", None)
    return ActiveProfile(Profile(), place if isinstance(place, Path) else None, problem=words, fix=fix)
