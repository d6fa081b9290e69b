"""PHP, by its command-line program."""

from oi_tui.runtimes.compiled import Compiled

LANGUAGE = Compiled(
    name="php",
    title="PHP",
    aliases=("php8", "php7"),
    compilers=("php",),
    hint="Install PHP from php.net.",
    packages={
        "apt": "php-cli",
        "dnf": "php-cli",
        "pacman": "php",
        "zypper": "php-cli",
        "apk": "php",
        "brew": "php",
    },
    remembers=True,
    note="Each PHP cell is run as a script of its own, because PHP cannot define a function twice: nothing "
    "is kept between cells but files. The tag <?php may be left out.",
).make_language()
