"""PowerShell 7."""

from pathlib import Path

from oi_tui.runtimes.language import DRIVERS, Language, Start, find_first_program
from oi_tui.runtimes.versions import describe_version


def start(program: str, folder: Path) -> Start:
    """Return the driver as a script; PowerShell itself reports nothing to anybody and looks
    for no newer version.
    """
    return Start(
        (program, "-NoLogo", "-NoProfile", "-File", str(DRIVERS / "powershell_driver.ps1"), str(folder)),
        {"POWERSHELL_TELEMETRY_OPTOUT": "1", "POWERSHELL_UPDATECHECK": "Off"},
    )


LANGUAGE = Language(
    name="powershell",
    title="PowerShell",
    aliases=("pwsh", "ps", "ps1", "posh"),
    hint="Install PowerShell 7: see learn.microsoft.com/powershell.",
    packages={"brew": "powershell"},
    keeps="variables, functions, modules, working directory",
    find=find_first_program("pwsh", "pwsh-preview", "powershell"),
    describe=describe_version("PowerShell", "--version", r"PowerShell ([0-9.]+)"),
    start=start,
    interrupt_request="interrupt",
    timeout=60.0,
)
