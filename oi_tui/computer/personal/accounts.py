"""The accounts that mail, calendar and contacts use: a file of the person's, such as

[mail]
imap = imap.example.com
smtp = smtp.example.com
user = name@example.com
password_command = pass show mail

[calendar]
url = https://dav.example.com/calendars/name/home/
user = name
password_command = pass show dav
"""

from __future__ import annotations

import configparser
import os
import shlex
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from oi_tui.computer.errors import ComputerError

#: The environment variable with the path of the file.
VARIABLE = "OI_TUI_ACCOUNTS"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Account:
    """One section of the file."""

    name: str
    file: Path
    values: dict[str, str]

    def value(self, key: str) -> str:
        """Return what stands for a key. Raises ComputerError where nothing does."""
        if not (value := self.values.get(key, "").strip()):
            raise ComputerError(f"{self.file} has no {key!r} in its section [{self.name}].")
        return value

    @property
    def user(self) -> str:
        """The name to log in with."""
        return self.value("user")

    @property
    def password(self) -> str:
        """The password: the first line that `password_command` prints, or `password`."""
        if command := self.values.get("password_command"):
            try:
                done = subprocess.run(shlex.split(command), capture_output=True, text=True, check=False)
            except (OSError, ValueError) as error:
                raise ComputerError(
                    f"The password_command of [{self.name}] in {self.file} cannot be run: {error}."
                ) from None
            lines = done.stdout.splitlines()
            if done.returncode or not lines:
                raise ComputerError(
                    f"The password_command of [{self.name}] in {self.file} printed no password."
                )
            return lines[0]
        password = self.value("password")
        if self.file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ComputerError(
                f"{self.file} has a password and others can read it: run chmod 600 {self.file}."
            )
        return password

    @property
    def has_password(self) -> bool:
        """Whether there is a password, which a server of this machine may not need."""
        return any(self.values.get(key) for key in ("password", "password_command"))

    def server(self, key: str, port: int) -> tuple[str, int]:
        """Return host and port of a server, such as `imap.example.com:993`."""
        host, colon, number = self.value(key).rpartition(":")
        if not colon:
            return number, port
        if not number.isdigit():
            raise ComputerError(f"{key} of [{self.name}] in {self.file} must be a host, or host:port.")
        return host.strip("[]"), int(number)

    def is_plain(self, host: str) -> bool:
        """Return whether the connection is not encrypted. Only this machine may be reached like that."""
        if self.values.get("tls", "on") != "off":
            return False
        if host not in _LOOPBACK:
            raise ComputerError(f"tls = off in [{self.name}] works for this machine only, not for {host}.")
        return True


def read_account(name: str, purpose: str) -> Account:
    """Return a section of the file. Raises ComputerError that says how to write it."""
    file = Path(os.environ.get(VARIABLE) or Path.home() / ".config" / "oi-tui" / "accounts.ini")
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read(file, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError, OSError) as error:
        raise ComputerError(f"{file} cannot be read: {error}") from None
    if not parser.has_section(name):
        raise ComputerError(
            f"No {purpose} account is set up. Ask the user to write a section [{name}] into {file}; "
            "the documentation of the computer API has an example."
        )
    return Account(name, file, dict(parser[name]))


def is_set_up(name: str) -> bool:
    """Return whether the file has this section."""
    try:
        read_account(name, name)
    except ComputerError:
        return False
    return True
