"""C, by GCC or Clang."""

from oi_tui.runtimes.compiled import Compiled

LANGUAGE = Compiled(
    name="c",
    title="C",
    aliases=("gcc", "clang", "c11", "c17", "c99"),
    compilers=("gcc", "clang", "cc"),
    hint="Install GCC or Clang; on macOS with: xcode-select --install.",
    packages={**dict.fromkeys(("apt", "dnf", "pacman", "zypper", "brew"), "gcc"), "apk": "build-base"},
    note="Each C cell is compiled and run as a program of its own: nothing is kept between cells but files. "
    "Write `main`, or only includes, functions and statements, which become `main`. To link a library, set "
    "LDLIBS in the environment before the start.",
).make_language()
