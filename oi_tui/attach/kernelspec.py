"""Tells Jupyter's programs about `oi-tui --kernel`: writes the kernel.json that they start it by."""

import json
import logging
import sys
import tempfile
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager

from oi_tui import paths
from oi_tui.attach.address import AddressError, SessionAddress
from oi_tui.plain.run import say, write_error
from oi_tui.text import clean_line

#: The kernel of the server that is used without a name, which needs no part in the name for Jupyter.
_DEFAULT = "python3"
#: Languages by the names of their kernels, where these are different.
_LANGUAGES = {_DEFAULT: "python", "ir": "R"}


def install(address: SessionAddress, name: str, prefix: str) -> int:
    """Write a kernel.json for a kernel of the server, without its token. Returns the exit code.

    It is written for this user, or below the folder `prefix`. Raises AddressError or OSError.
    """
    spec_name = "oi-tui" if name == _DEFAULT else f"oi-tui-{name}"
    below = str(paths.expand_typed(prefix).absolute()) if prefix else None
    # What it would warn of is said below.
    specs = KernelSpecManager(log=logging.Logger("kernelspec", logging.ERROR))
    with tempfile.TemporaryDirectory() as folder:
        # The temporary folder is for this user only, and its copy would be so, too.
        source = Path(folder) / "kernel"
        source.mkdir()
        (source / "kernel.json").write_text(json.dumps(_describe(address, name), indent=2) + "\n")
        try:
            destination = specs.install_kernel_spec(str(source), spec_name, user=not below, prefix=below)
        except ValueError:
            clean_name = clean_line(name, 60)
            raise AddressError(f"--kernel-name must be the name of a kernel, not {clean_name}") from None
    say(f"{destination}/kernel.json was written. jupyter kernelspec remove {spec_name} removes it.\n")
    say(f"The kernel needs the server at {address.shown}, and its token in INTERPRETER_API_KEY.\n")
    if str(Path(destination).parent) not in specs.kernel_dirs:
        write_error(f"The Jupyter of {sys.prefix} does not look there; jupyter --paths lists its folders.\n")
    return 0


def _describe(address: SessionAddress, name: str) -> dict[str, object]:
    """Return what is in the kernel.json."""
    language = _LANGUAGES.get(name, name)
    command = [sys.executable, "-m", "oi_tui", "--kernel", "{connection_file}", "--attach", address.shown]
    return {
        "argv": command if name == _DEFAULT else [*command, "--kernel-name", name],
        "display_name": f"{language} (oi-tui)",
        "language": language,
        # A signal would end this process, and not the code at the server.
        "interrupt_mode": "message",
    }
