"""Ruby."""

from oi_tui.runtimes.language import Language, find_first_program, start_driver
from oi_tui.runtimes.versions import describe_version

LANGUAGE = Language(
    name="ruby",
    title="Ruby",
    aliases=("rb", "irb"),
    hint="Install Ruby from ruby-lang.org.",
    packages=dict.fromkeys(("apt", "dnf", "pacman", "zypper", "apk", "brew"), "ruby"),
    keeps="variables, methods, classes",
    find=find_first_program("ruby"),
    describe=describe_version("Ruby", "--version", "ruby ([0-9.]+)"),
    start=start_driver("ruby_driver.rb"),
    active_line="cell",
    variables_request="variables {nonce}",
    variable_request="variable {nonce} {name}",
    completion_request="completions {nonce} {name}",
)
