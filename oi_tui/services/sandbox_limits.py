"""The limits of the sandbox that a profile sets."""

from oi_tui.engine.settings.profile import Profile
from oi_tui.runtimes.sandbox.limits import SandboxLimits


def read_limits(profile: Profile) -> SandboxLimits:
    """Return the limits of programs in the sandbox, from the settings of a profile."""
    return SandboxLimits(
        profile.sandbox_memory, profile.sandbox_processes, profile.sandbox_disk, profile.sandbox_time
    )
