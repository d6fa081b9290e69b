"""Images that a registry gives only to people with an account: the person is asked, and signs in."""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.remote.registry import find_refusing_registry
from oi_tui.runtimes.remote.target import TargetError
from tests import processes
from tests.runtimes.playing import play
from tests.servers.sshd import choose_port

Make = Callable[..., Computer]
#: Stands for podman where its own would start a container: it gets the image, and runs the command here.
PROGRAM = """\
#!/bin/sh
case "$1" in
    container) [ "$5" = web ] && echo true && exit; exit 1 ;;
    image) [ "$5" = mine ] && echo 1 && exit; exit 1 ;;
    exec) echo "unauthorized: https://registry.example.com/" >&2; exit 1 ;;
    run) [ "$6" = mine ] && echo "unauthorized: https://registry.example.com/" >&2 && exit 1
        {podman} pull -q "$6" >/dev/null || exit 125; exec sh -c "$8" ;;
    *) exec {podman} "$@" ;;
esac
"""
#: Does what podman does with a registry: `login` takes one password, and an image needs it.
IMITATION = """\
#!/bin/sh
case "$1" in
    login) read -r word; echo "$*" >> {folder}/log
        [ "$2 $word" = "--username=ana secret" ] && exec touch {folder}/token
        echo "Error: invalid username/password" >&2; exit 125 ;;
    pull) [ -e {folder}/token ] && exit
        echo "Error: reading manifest latest in $3: unauthorized: authentication required" >&2; exit 125 ;;
esac
"""
REGISTRY = """\
version: 0.1
storage: {{filesystem: {{rootdirectory: {folder}/images}}}}
http: {{addr: "127.0.0.1:{port}"}}
auth: {{htpasswd: {{realm: test, path: {folder}/accounts}}}}
"""
#: The password is "secret".
ACCOUNT = "ana:$2y$05$8FMe7v2LIrXjdgmC7BEhyella50a2rop8MlcEqIvcojSiKPqkAneG\n"


@pytest.fixture
def podman(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose podman knows one image, behind an account."""
    folder = tmp_path / "podman"
    folder.mkdir()
    (folder / "real").write_text(IMITATION.format(folder=folder))
    (folder / "podman").write_text(PROGRAM.format(podman=folder / "real"))
    for name in ("docker", "nerdctl"):
        (folder / name).write_text("#!/bin/sh\nexit 1\n")
    for program in ("real", "podman", "docker", "nerdctl"):
        (folder / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return folder


class Person:
    """Answers questions one after another; None gives up."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.questions: list[tuple[str, str]] = []

    def __call__(self, question: str, wanted: str) -> str | None:
        self.questions.append((question, wanted))
        return self.answers.pop(0)


def test_a_person_signs_in_at_a_registry_that_wants_it(make: Make, podman: Path) -> None:
    person = Person("ana", "wrong", " ana ", "secret")
    computer = make(target="container:registry.example.com/team/tools", ask=person)
    assert play(computer, "python", "print(6 * 7)").text == "42\n"
    account = "The image does not exist, or registry.example.com gives it only to people with an account."
    stored = "podman stores it until you type: podman logout registry.example.com"
    refused = "Error: invalid username/password\nregistry.example.com did not accept the answers. Try again."
    assert person.questions == [
        (f"{account}\nUser name at registry.example.com: ", "answer"),
        (f"{stored}\nPassword or access token of ana: ", "secret"),
        (f"{refused}\nUser name at registry.example.com: ", "answer"),
        (f"{stored}\nPassword or access token of ana: ", "secret"),
    ]
    assert "secret" not in (podman / "log").read_text()


@pytest.mark.parametrize("answers", [(None,), (" ",), ("ana", None)])
def test_who_does_not_sign_in_is_told_how_to(
    make: Make, podman: Path, answers: tuple[str | None, ...]
) -> None:
    words = (
        r"^No connection to container .*unauthorized.*\. Sign in with: podman login registry\.example\.com$"
    )
    with pytest.raises(TargetError, match=words):
        make(target="container:registry.example.com/team/tools", ask=Person(*answers))
    with pytest.raises(TargetError, match=words):
        make(target="container:registry.example.com/team/tools")


def test_after_three_passwords_the_registry_is_asked_no_more(make: Make, podman: Path) -> None:
    with pytest.raises(TargetError, match="did not accept the password: Error: invalid username/password"):
        make(target="container:registry.example.com/x", ask=Person(*("ana", "wrong") * 3))


REFUSALS = """\
Error: initializing source docker://localhost:5055/a:1: reading manifest 1: unauthorized: no
Error: initializing source docker://quay.io/team/tools:latest: unauthorized: access is not authorized
Error: initializing source docker://registry.redhat.io/a: unauthorized: see https://access.redhat.com/Registry
Error: initializing source docker://alice/a:1: reading manifest 1 in docker.io/alice/a: unauthorized: no
docker: Error response from daemon: Head "https://ghcr.io/v2/a/b/manifests/latest": unauthorized.
Error response from daemon: Get "https://registry-1.docker.io/v2/": unauthorized: incorrect password
docker: Error: Head "https://1.dkr.ecr.eu-west-1.amazonaws.com/v2/a/manifests/1": no basic auth credentials.
unauthorized: authentication required
docker: pull access denied for tools, repository does not exist or may require 'docker login': denied: denied.
Error: reading manifest latest in docker.io/library/tools: manifest unknown
"""
REGISTRIES = (
    "localhost:5055",
    "quay.io",
    "registry.redhat.io",
    "docker.io",
    "ghcr.io",
    "docker.io",
    "1.dkr.ecr.eu-west-1.amazonaws.com",
)


@pytest.mark.parametrize(
    ("printed", "registry"), zip(REFUSALS.splitlines(), (*REGISTRIES, "docker.io", None, None), strict=True)
)
def test_the_registry_that_refuses_is_found_in_what_is_printed(printed: str, registry: str | None) -> None:
    assert find_refusing_registry(printed, "tools") == registry


def test_where_no_address_is_printed_the_image_names_the_registry() -> None:
    names = ("ghcr.io/a/b", "host:5000/a", "localhost/a", "team/tools", "tools")
    found = [find_refusing_registry("unauthorized", name) for name in names]
    assert found == ["ghcr.io", "host:5000", "localhost", "docker.io", "docker.io"]


def test_where_the_name_has_a_host_the_password_goes_to_no_other() -> None:
    printed = "unauthorized: see https://docker.io.evil.example/sign-in"
    assert find_refusing_registry(printed, "ghcr.io/a/b") == "ghcr.io"


@pytest.mark.parametrize("place", ["mine", "web"])
def test_what_a_container_prints_is_no_refusal_of_a_registry(make: Make, podman: Path, place: str) -> None:
    person = Person()
    with pytest.raises(TargetError, match="unauthorized"):
        make(target=f"container:{place}", ask=person)
    assert not person.questions


@pytest.fixture
def registry(podman: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A real registry that wants an account, and the real podman, which has signed out."""
    real = shutil.which("podman", path=os.pathsep.join(os.environ["PATH"].split(os.pathsep)[1:]))
    server = shutil.which("docker-registry")
    assert real
    assert server
    port = choose_port()
    (podman / "podman").write_text(PROGRAM.format(podman=real))
    (tmp_path / "accounts").write_text(ACCOUNT)
    (tmp_path / "config.yml").write_text(REGISTRY.format(folder=tmp_path, port=port))
    (tmp_path / "registries.conf").write_text(
        f'[[registry]]\nlocation = "localhost:{port}"\ninsecure = true\n'
    )
    (tmp_path / "storage.conf").write_text(
        f'[storage]\ndriver = "vfs"\nrunroot = "{tmp_path}/run"\ngraphroot = "{tmp_path}/graph"\n'
    )
    monkeypatch.setenv("CONTAINERS_REGISTRIES_CONF", str(tmp_path / "registries.conf"))
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(tmp_path / "storage.conf"))
    process = subprocess.Popen(
        [server, "serve", str(tmp_path / "config.yml")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    # The registry, too, would read this variable.
    monkeypatch.setenv("REGISTRY_AUTH_FILE", str(tmp_path / "auth.json"))
    try:
        assert processes.wait_until(lambda: is_listening(port), 20)
        image = f"localhost:{port}/tools"
        archive = tmp_path / "image.tar"
        (tmp_path / "hello").write_text("hello")
        subprocess.run(["tar", "cf", archive, "-C", tmp_path, "hello"], check=True)
        login = ["login", "--username=ana", "--password-stdin", f"localhost:{port}"]
        for words in (login, ["import", "-q", archive, image], ["push", "-q", image], ["rmi", image]):
            subprocess.run([real, *words], input=b"secret", capture_output=True, check=True)
        subprocess.run([real, "logout", f"localhost:{port}"], capture_output=True, check=True)
        yield image
    finally:
        process.terminate()
        process.wait(10)


def is_listening(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
@pytest.mark.needs("podman", "docker-registry")
def test_podman_gets_an_image_from_a_real_registry_after_the_question(make: Make, registry: str) -> None:
    person = Person("ana", "wrong", "ana", "secret")
    computer = make(target=f"container:{registry}", ask=person)
    assert play(computer, "python", "print(6 * 7)").text == "42\n"
    assert [wanted for _, wanted in person.questions] == ["answer", "secret"] * 2
    assert "invalid username/password" in person.questions[2][0]
