"""C++, by GCC or Clang."""

from oi_tui.runtimes.compiled import Compiled

LANGUAGE = Compiled(
    name="cpp",
    title="C++",
    aliases=("c++", "cxx", "cc", "g++", "clang++", "c++11", "c++17", "c++20"),
    compilers=("g++", "clang++", "c++"),
    hint="Install GCC or Clang; on macOS with: xcode-select --install.",
    packages={
        "apt": "g++",
        "dnf": "gcc-c++",
        "pacman": "gcc",
        "zypper": "gcc-c++",
        "apk": "build-base",
        "brew": "gcc",
    },
    note="Each C++ cell (C++20) is compiled and run as a program of its own: nothing is kept between cells "
    "but files. Write `main`, or only includes, functions, types and statements, which become `main`.",
).make_language()
