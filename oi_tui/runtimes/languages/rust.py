"""Rust, by rustc."""

from oi_tui.runtimes.compiled import Compiled

LANGUAGE = Compiled(
    name="rust",
    title="Rust",
    aliases=("rs", "rustc"),
    compilers=("rustc",),
    hint="Install Rust from rustup.rs.",
    packages={**dict.fromkeys(("dnf", "pacman", "zypper", "apk", "brew"), "rust"), "apt": "rustc"},
    note="Each Rust cell (edition 2021, standard library only) is compiled and run as a program of its own: "
    "nothing is kept between cells but files. Without `fn main` it becomes the body of one, and the "
    "value of its last expression is shown.",
).make_language()
