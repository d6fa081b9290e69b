"""Signing in at a container registry that gives an image only to people with an account."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from oi_tui.runtimes.remote.askpass import Ask, compose_question
from oi_tui.runtimes.remote.target import TargetError

#: What podman, docker and nerdctl print where a registry refuses somebody who has not signed in; podman also
#: for an image of Docker Hub that does not exist.
_REFUSAL = re.compile(r"unauthorized|authentication required|no basic auth credentials", re.IGNORECASE)
#: Addresses that the container program itself writes; what a registry says may name others.
_ADDRESS = re.compile(r'docker://([^/\s"]+)/|https?://([^/\s"]+)/(?:v2/|token\b)')
_DOCKER_HUB = "docker.io"
#: How long the registry may take to check a password, in seconds.
_TIMEOUT = 60.0
_MOST_ATTEMPTS = 3


class SignInNeededError(TargetError):
    """A registry gives the image only to people who have signed in."""

    def __init__(self, message: str, program: str, registry: str) -> None:
        super().__init__(f"{message} Sign in with: {Path(program).name} login {registry}")
        self.program = program
        self.registry = registry


def find_refusing_registry(printed: str, image: str) -> str | None:
    """Return the registry that wants somebody to sign in, from what the container program printed.

    The password goes there, so the name of the image decides. Only a name without a host may come from
    another registry, by the settings of podman.
    """
    if not _REFUSAL.search(printed):
        return None
    host, slash, _ = image.partition("/")
    if slash and _is_host(host):
        return host
    hosts = [match[1] or match[2] for match in _ADDRESS.finditer(printed)]
    host = next(filter(_is_host, hosts), _DOCKER_HUB)
    return _DOCKER_HUB if host.endswith((".docker.io", ".docker.com")) else host


def _is_host(word: str) -> bool:
    """Return whether that is a host, and no user of Docker Hub, as the container programs read it."""
    return "." in word or ":" in word or word == "localhost"


def sign_in(refusal: SignInNeededError, ask: Ask, environment: Mapping[str, str], cwd: Path) -> None:
    """Ask for a user name and a password, and have the container program sign in with them.

    The program stores them as it always does, so it gets the same `environment` and `cwd` as the one that
    connects. Raises `refusal` where the person gives up, TargetError where the registry accepts none of three
    answers.
    """
    name, registry = Path(refusal.program).name, refusal.registry
    notes = [f"The image does not exist, or {registry} gives it only to people with an account."]
    for _ in range(_MOST_ATTEMPTS):
        user = (ask(compose_question(f"User name at {registry}: ", said=notes), "answer") or "").strip()
        if not user:
            raise refusal
        notes = [f"{name} stores it until you type: {name} logout {registry}"]
        password = ask(compose_question(f"Password or access token of {user}: ", said=notes), "secret")
        if not password:
            raise refusal
        problem = _log_in(refusal, user, password, environment, cwd)
        if not problem:
            return
        notes = [problem, f"{registry} did not accept the answers. Try again."]
    raise TargetError(f"{registry} did not accept the password: {problem}")


def _log_in(
    refusal: SignInNeededError, user: str, password: str, environment: Mapping[str, str], cwd: Path
) -> str:
    """Sign in; return what the program says where it fails, "" where it does not. Raises TargetError."""
    program, registry = refusal.program, refusal.registry
    command = (program, "login", f"--username={user}", "--password-stdin", registry)
    try:
        process = subprocess.run(
            command,
            input=password,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            check=False,
            env=environment,
            cwd=cwd,
            # Without a terminal it can ask nothing on the screen.
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise TargetError(f"{registry} did not answer within {_TIMEOUT:.0f} seconds.") from None
    except OSError as error:
        raise TargetError(f"{program} could not be started: {error.strerror or error}.") from None
    lines = process.stderr.strip().splitlines() or [f"exit status {process.returncode}"]
    return lines[-1] if process.returncode else ""
