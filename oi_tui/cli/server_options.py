"""The flags of the server."""

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oi_tui.engine.settings.profile import Profile
from oi_tui.system.extras import need_extra

if TYPE_CHECKING:
    from oi_tui.runtimes.remote.left_targets import LeftTarget

#: The flags that only mean something beside --server: name, metavar (None for a switch) and help.
_FLAGS: tuple[tuple[str, str | None, str], ...] = (
    ("--open", None, "open the server's page in the browser"),
    ("--host", "ADDRESS", "listen on this address (default: 127.0.0.1)"),
    ("--port", "NUMBER", "listen on this port (default: 8000; 0 for any)"),
    ("--socket", "PATH", "listen on a Unix socket instead"),
    ("--allow-host", "NAME", "accept this host name in requests; can be repeated"),
    ("--allow-origin", "ORIGIN", "accept web pages from this origin; can be repeated"),
    ("--allow-settings", None, "let clients change settings, including auto_run, and approve later code"),
    ("--tls-cert", "FILE", "serve HTTPS with this certificate"),
    ("--tls-key", "FILE", "the certificate's private key"),
)
#: Where a server is that was started without --host, --port and --socket.
DEFAULT_ADDRESS = "http://127.0.0.1:8000"
#: Flags that only mean something for a network address.
_NOT_AT_SOCKET = ("--host", "--port", "--open")
_REPEATED = ("--allow-host", "--allow-origin")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the server."""
    group = parser.add_argument_group("Server")
    group.add_argument(
        "--server", action="store_true", help="serve HTTP and WebSocket clients and a web page"
    )
    group.add_argument(
        "--attach",
        nargs="?",
        const=DEFAULT_ADDRESS,
        metavar="ADDRESS",
        help="join a session of a running --server from this terminal: an address, or the path of a socket; "
        "or come back to what %%detach left running on a target: ssh:HOST",
    )
    group.add_argument(
        "--kernel",
        metavar="FILE",
        help="be the Jupyter kernel of this connection file, with the languages of the server at --attach",
    )
    group.add_argument(
        "--kernel-name", metavar="NAME", help="which kernel of the server it is (default: python3)"
    )
    group.add_argument(
        "--install-kernel",
        nargs="?",
        const="",
        metavar="PREFIX",
        help="tell Jupyter's programs of this user about --kernel, or those below the folder PREFIX",
    )
    for flag, metavar, help_text in _FLAGS:
        if metavar is None:
            group.add_argument(flag, action="store_true", help=help_text)
        elif flag in _REPEATED:
            group.add_argument(flag, action="append", metavar=metavar, help=help_text)
        else:
            group.add_argument(flag, metavar=metavar, help=help_text)


def describe_misplaced(given: argparse.Namespace) -> str:
    """Return what is wrong with flags of the server: without it, or beside a socket; "" for nothing."""
    flags = [flag for flag, _, _ in _FLAGS if _make_name(flag) in given]
    if "kernel_name" in given and not {"kernel", "install_kernel"} & vars(given).keys():
        return "--kernel-name needs --kernel or --install-kernel"
    if "server" not in given:
        return f"{flags[0]} needs --server" if flags else ""
    unused = [flag for flag in flags if flag in _NOT_AT_SOCKET] if "socket" in given else []
    return f"--socket and {unused[0]} cannot be used together" if unused else ""


def serve(given: argparse.Namespace, profile: Profile, path: Path | None) -> int:
    """Run the server. Raises ValueError for flags that cannot be used, or MissingExtraError."""
    from oi_tui.server.options import ServerOptions, read_environment

    options = ServerOptions(**{**read_environment(), **_choose(given)})
    with need_extra("server", "the server", ("starlette", "uvicorn", "websockets", "h11")):
        from oi_tui.server import serve as server
    return server.run(profile, path, options, open_page="open" in given)


def attaches_to_target(given: argparse.Namespace) -> bool:
    """Return whether --attach names a target, and not the address of a server."""
    place = getattr(given, "attach", "")
    return bool(re.match(r"(?:ssh|container|command):", place)) and not re.fullmatch(r"\w+:\d+", place)


def find_left(given: argparse.Namespace) -> "LeftTarget | None":
    """Return what was left running on the target that --attach names; None for the address of a server.

    Raises ValueError where nothing was left there.
    """
    if not attaches_to_target(given):
        return None
    from oi_tui.runtimes.remote import left_targets

    left_target = left_targets.choose(given.attach)
    if isinstance(left_target, str):
        raise ValueError(left_target)
    return left_target


def attach(given: argparse.Namespace) -> int:
    """Join a session of a running server. Raises ValueError for a wrong address, or MissingExtraError."""
    from oi_tui.attach import address

    where = address.parse(given.attach)
    with need_extra("server", "--attach", ("websockets", "httpx")):
        from oi_tui.attach.run import run
    return run(where)


def run_kernel(given: argparse.Namespace) -> int:
    """Run as a Jupyter kernel. Raises ValueError for a wrong address or file, or MissingExtraError."""
    from oi_tui.attach import address

    where = address.parse(getattr(given, "attach", DEFAULT_ADDRESS))
    with need_extra("kernel", "--kernel", ("websockets", "httpx", "zmq", "jupyter_client")):
        from oi_tui.attach.jupyter_kernel import run
    return run(where, Path(given.kernel), getattr(given, "kernel_name", "python3"))


def install_kernel(given: argparse.Namespace) -> int:
    """Tell Jupyter's programs about --kernel.

    Raises ValueError for a wrong address or name, or MissingExtraError.
    """
    from oi_tui.attach import address

    where = address.parse(getattr(given, "attach", DEFAULT_ADDRESS))
    with need_extra("kernel", "--install-kernel", ("zmq", "jupyter_client")):
        from oi_tui.attach.kernelspec import install
    return install(where, getattr(given, "kernel_name", "python3"), given.install_kernel)


def _choose(given: argparse.Namespace) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if "host" in given:
        options["host"] = given.host
    if "port" in given:
        if not (given.port.isascii() and given.port.isdigit()):
            raise ValueError(f"--port must be a number, not {given.port}")
        options["port"] = int(given.port)
    paths = {"socket": "socket", "tls_cert": "certificate", "tls_key": "key"}
    options |= {name: Path(getattr(given, flag)) for flag, name in paths.items() if flag in given}
    several = {"allow_host": "hosts", "allow_origin": "origins"}
    options |= {name: tuple(getattr(given, flag)) for flag, name in several.items() if flag in given}
    return options | ({"allow_settings": True} if "allow_settings" in given else {})


def _make_name(flag: str) -> str:
    return flag[2:].replace("-", "_")
