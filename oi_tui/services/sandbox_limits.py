"""The limits of the sandbox that a profile sets."""

from oi_tui.engine.settings.profile import Profile
from oi_tui.runtimes.sandbox.limits import Limits


def read_limits(profile: Profile) -> Limits:
    """The limits of programs in the sandbox, from the settings of a profile."""
    return Limits(
        profile.sandbox_memory, profile.sandbox_processes, profile.sandbox_disk, profile.sandbox_time
    )
