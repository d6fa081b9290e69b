"""Go."""

from oi_tui.runtimes.compiled import Compiled

LANGUAGE = Compiled(
    name="go",
    title="Go",
    aliases=("golang",),
    compilers=("go",),
    hint="Install Go from go.dev.",
    packages={
        **dict.fromkeys(("pacman", "zypper", "apk", "brew"), "go"),
        "apt": "golang-go",
        "dnf": "golang",
    },
    note="Each Go cell is a program of its own, compiled and run in the working directory, whose go.mod "
    "counts: nothing is kept between cells but files. `package main`, `func main()` and imports of the "
    "standard library may be left out.",
    option="version",
).make_language()
