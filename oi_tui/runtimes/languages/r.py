"""R."""

from pathlib import Path

from oi_tui.runtimes.language import DRIVERS, Language, Start, find_first_program
from oi_tui.runtimes.versions import describe_version
from oi_tui.system import environment_names


def start(program: str, folder: Path) -> Start:
    """Return the driver in place of the person's profile, in an interactive session so
    that programs can ask.
    """
    return Start(
        (program, "--quiet", "--no-save", "--no-restore", "--no-readline", "--interactive"),
        {"R_PROFILE_USER": str(DRIVERS / "r_driver.R"), environment_names.FOLDER: str(folder)},
        typed=".First()\n",
    )


LANGUAGE = Language(
    name="r",
    title="R",
    aliases=("rlang", "rscript", "rlanguage", "gnu-r"),
    hint="Install R from r-project.org.",
    packages={
        "apt": "r-base-core",
        "dnf": "R-core",
        "pacman": "r",
        "zypper": "R-base",
        "apk": "R",
        "brew": "r",
    },
    keeps="variables, functions, attached packages, options",
    find=find_first_program("R"),
    describe=describe_version("R", "--version", "R version ([0-9.]+)"),
    start=start,
    active_line="cell",
    variables_request="variables {nonce}",
    variable_request="variable {nonce} {name}",
    table_request="table {nonce} {name}",
    completion_request="complete {nonce} {name}",
)
