"""What code in the sandbox tries to reach and cannot, and what it does as anywhere else."""

import contextlib
import inspect
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from oi_tui import paths
from oi_tui.messages import RunEnded
from oi_tui.runtimes import Computer
from oi_tui.runtimes.sandbox import bubblewrap, seatbelt, seccomp
from oi_tui.runtimes.sandbox.base import Mechanism
from oi_tui.runtimes.sandbox.confinement import SandboxRules
from tests.runtimes.playing import alive, marked, play, until

Make = Callable[..., Computer]
pytestmark = pytest.mark.needs("sandbox", "sh", "sleep")
#: Reading a file, writing one, connecting, by each language; each prints `yes` or `no`.
READ = {
    "python": "try:\n    open({path!r}).read(); print('yes')\nexcept OSError: print('no')",
    "shell": "if cat {path!r} >/dev/null 2>&1; then echo yes; else echo no; fi",
    "javascript": (
        "try {{ require('fs').readFileSync({path!r}); console.log('yes') }} catch {{ console.log('no') }}"
    ),
}
WRITE = {
    "python": "try:\n    open({path!r}, 'a').write('x'); print('yes')\nexcept OSError: print('no')",
    "shell": "if (printf x >>{path!r}) 2>/dev/null; then echo yes; else echo no; fi",
    "javascript": (
        "try {{ require('fs').appendFileSync({path!r}, 'x'); console.log('yes') }} "
        "catch {{ console.log('no') }}"
    ),
}
CONNECT = {
    "python": (
        "import socket\ntry:\n    socket.create_connection(('127.0.0.1', {port}), 2); print('yes')\n"
        "except OSError: print('no')"
    ),
    "shell": "if (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null; then echo yes; else echo no; fi",
    "javascript": (
        "await new Promise(done => {{ const s = require('net').connect({port}, '127.0.0.1'); "
        "s.on('connect', () => {{ console.log('yes'); s.destroy(); done() }}); "
        "s.on('error', () => {{ console.log('no'); done() }}) }});"
    ),
}
PRINT = {"python": "print({!r})", "shell": "echo {!r}", "javascript": "console.log({!r})"}
every_language = pytest.mark.parametrize("language", READ)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A working directory of a test's own."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def walled(make: Make, project: Path) -> Computer:
    """A computer whose programs are in the sandbox."""
    return make(cwd=project, sandbox=True)


def read_last_word(computer: Computer, language: str, code: str) -> str:
    """The last word that the code prints; it may come coloured."""
    played = play(computer, language, code)
    assert played.state == "finished", (played.reason, played.text)
    return played.text.strip().rpartition("\n")[2]


def python(computer: Computer, code: str) -> str:
    return read_last_word(computer, "python", code)


# -- files


@every_language
def test_files_outside_can_neither_be_read_nor_written(
    walled: Computer, tmp_path: Path, language: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    home = Path.home() / "notes"
    home.write_text("mine")
    for path in (secret, home, Path("/etc/shadow"), Path("/etc/hostname"), paths.data() / "x"):
        assert read_last_word(walled, language, READ[language].format(path=str(path))) == "no", path
    for path in (secret, home, tmp_path / "new", Path.home() / "new", Path("/usr/new"), Path("/new")):
        play(walled, language, WRITE[language].format(path=str(path)))
        assert path in (secret, home) or not path.exists(), path
    assert (secret.read_text(), home.read_text()) == ("s3cret", "mine")


@every_language
def test_the_working_directory_is_as_anywhere(walled: Computer, project: Path, language: str) -> None:
    (project / "in").write_text("x")
    assert read_last_word(walled, language, READ[language].format(path=str(project / "in"))) == "yes"
    assert read_last_word(walled, language, WRITE[language].format(path=str(project / "out"))) == "yes"
    assert (project / "out").read_text() == "x"


def keep_ours_below(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have our own folders in a folder that is no home."""
    monkeypatch.delenv("OI_TUI_HOME")
    for name, place in (("CONFIG", ".config"), ("DATA", ".local/share"), ("STATE", ".local/state")):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / place))


@pytest.mark.parametrize("holds", ["home", "above"])
def test_what_is_ours_is_out_of_reach_also_where_it_lies_in_the_working_directory(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, holds: str
) -> None:
    home = tmp_path / "person"
    home.mkdir()
    keep_ours_below(home, monkeypatch)
    ours = (paths.config() / "profiles" / "default.yaml", paths.data() / "keys", paths.state() / "log")
    if holds == "home":
        ours[0].parent.mkdir(parents=True)
        ours[0].write_text("auto_run: false\n")
    walled = make(cwd=home, sandbox=True)
    for path in ours:
        assert python(walled, READ["python"].format(path=str(path))) == "no"
    for path in ours:
        # What it makes there is its own, and nobody else's.
        python(walled, f"import os\nos.makedirs({str(path.parent)!r}, exist_ok=True)\nprint('made')")
        python(walled, WRITE["python"].format(path=str(path)))
        assert not path.exists() or path.read_text() == "auto_run: false\n"
    # A file that comes into being later is not seen either.
    later = paths.config() / "later.yaml"
    later.parent.mkdir(parents=True, exist_ok=True)
    later.write_text("x: 1\n")
    assert python(walled, READ["python"].format(path=str(later))) == "no"
    assert read_last_word(walled, "shell", READ["shell"].format(path=str(later))) == "no"


def test_the_folders_above_what_is_ours_stay_where_they_are(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "person"
    (home / ".config").mkdir(parents=True)
    keep_ours_below(home, monkeypatch)
    walled = make(cwd=home, sandbox=True)
    code = (
        "mv .config .moved; mkdir -p .config/oi-tui/profiles; "
        "echo 'auto_run: true' >.config/oi-tui/profiles/default.yaml; echo over"
    )
    assert read_last_word(walled, "shell", code) == "over"
    assert not (paths.profiles() / "default.yaml").exists()
    assert not (home / ".moved").exists()


def test_the_working_directory_can_be_no_folder_of_ours(make: Make) -> None:
    inside = paths.make_private(paths.config() / "profiles")
    link = inside.parents[3] / "link"
    link.symlink_to(inside)
    for folder in (paths.config(), inside, link):
        played = play(make(cwd=folder, sandbox=True), "python", "print(1)")
        assert played.state == "failed"
        assert "belongs to oi-tui" in played.reason
        assert played.text == ""


@pytest.mark.parametrize("folder", ["/", "/proc", "/dev", "/sys", "/run"])
def test_a_working_directory_that_holds_the_system_is_refused(make: Make, folder: str) -> None:
    played = play(make(cwd=Path(folder), sandbox=True), "shell", "echo ran")
    assert (played.state, played.text) == ("failed", "")
    assert folder in played.reason
    assert "nothing runs" in played.reason


def test_a_home_folder_is_refused_with_a_way_out(make: Make, tmp_path: Path) -> None:
    home = make(cwd=Path.home(), sandbox=True)
    played = play(home, "shell", "echo ran")
    assert (played.state, played.text) == ("failed", "")
    assert "is your home folder" in played.reason
    assert "mkdir -p ~/oi-tui-work && cd ~/oi-tui-work" in played.reason
    # Not switched on yet, the same is known before anything ends.
    reported = make(cwd=Path.home()).explain_no_sandbox()
    assert reported
    assert "is your home folder" in reported
    assert "nothing runs" not in reported
    assert make(cwd=tmp_path).explain_no_sandbox() is None


def test_a_profile_in_the_working_directory_is_refused(make: Make, project: Path) -> None:
    profile = project / "mine.yaml"
    played = play(
        make(cwd=project, sandbox=True, sandbox_rules=SandboxRules(private=[profile])), "python", "print(1)"
    )
    assert played.state == "failed"
    assert "mine.yaml" in played.reason
    assert "Move it" in played.reason


def test_links_out_of_the_working_directory_lead_nowhere(
    walled: Computer, project: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    (project / "link").symlink_to(secret)
    (project / "up").symlink_to("..")
    for path in (project / "link", project / "up" / "secret", project / ".." / "secret"):
        assert python(walled, READ["python"].format(path=str(path))) == "no"
    code = f"import os\ntry:\n    os.link({str(secret)!r}, 'hard'); print('yes')\nexcept OSError: print('no')"
    assert python(walled, code) == "no"


def test_the_kernels_files_lead_nowhere(walled: Computer, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret")
    code = f"""
import os
found = []
for name in os.listdir('/proc'):
    if name.isdigit():
        for way in ('root', 'cwd'):
            try:
                open(f'/proc/{{name}}/{{way}}' + {str(tmp_path / "secret")!r}); found.append((name, way))
            except OSError: pass
for path in ('/proc/sys/kernel/core_pattern', '/proc/sys/kernel/hostname', '/proc/sysrq-trigger'):
    try:
        os.close(os.open(path, os.O_WRONLY)); found.append(path)
    except OSError: pass
print(found)
"""
    assert python(walled, code) == "[]"


# -- other processes, rights, devices


def test_nobody_outside_is_seen_or_reached(walled: Computer) -> None:
    word = f"{time.time_ns()}"
    with subprocess.Popen(["sleep", word]) as other:
        try:
            everybody = play(walled, "shell", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '; echo; echo $$").text
            assert word not in everybody
            assert int(everybody.split()[-1]) < 100
            assert play(walled, "shell", "kill -9 -1; kill -9 $$").state == "lost"
            assert other.poll() is None
        finally:
            other.kill()


def test_there_are_no_rights_to_win(walled: Computer) -> None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
told = dict(line.split(':', 1) for line in open('/proc/self/status') if ':' in line)
print(int(told['CapEff'], 16), int(told['CapBnd'], 16), told['NoNewPrivs'].strip(), told['Seccomp'].strip(),
      libc.mount(b'none', b'/tmp', b'tmpfs', 0, None), libc.unshare(0x10000000), libc.unshare(0x20000),
      libc.umount2(b'/tmp', 2), libc.syscall(250 if os.uname().machine == 'x86_64' else 219, 0, -3, 0))
"""
    assert python(walled, code) == "0 0 1 2 -1 -1 -1 -1 -1"


def test_the_terminal_takes_no_words_from_others(walled: Computer) -> None:
    code = "import fcntl\ntry:\n    fcntl.ioctl(0, 0x5412, b'x'); print('yes')\nexcept OSError: print('no')"
    assert python(walled, code) == "no"


def test_devices_are_only_the_harmless_ones(walled: Computer) -> None:
    code = (
        "import os, stat\n"
        "try:\n    os.mknod('sda', stat.S_IFBLK | 0o600, os.makedev(8, 0)); print('made')\n"
        "except OSError: pass\n"
        "print(sorted(n for n in os.listdir('/dev') if stat.S_ISBLK(os.lstat('/dev/' + n).st_mode)))"
    )
    assert python(walled, code) == "[]"


def test_nobody_else_is_in_the_list_of_users(walled: Computer) -> None:
    assert python(walled, "import pwd, os; print(len(pwd.getpwall()), pwd.getpwuid(os.getuid()).pw_dir)") == (
        f"2 {Path.home()}"
    )


# -- the network, and sockets


@every_language
def test_no_server_is_reached(walled: Computer, language: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert (
            read_last_word(walled, language, CONNECT[language].format(port=server.getsockname()[1])) == "no"
        )


def test_its_own_servers_are_reached(walled: Computer) -> None:
    code = (
        "import socket\ns = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(s.getsockname(), 5); print('yes')"
    )
    assert python(walled, code) == "yes"


def test_no_socket_of_others_is_reached(make: Make, project: Path, tmp_path: Path) -> None:
    """Neither by a name in the file system, in the working directory or not, nor by one of the kernel's."""
    named = {"outside": str(tmp_path / "s"), "inside": str(project / "s"), "abstract": f"\0oi-{os.getpid()}"}
    with contextlib.ExitStack() as stack:
        for name in named.values():
            server = stack.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(name)
            server.listen()
        walled = make(cwd=project, sandbox=True)
        for name in named.values():
            code = (
                f"import socket\ntry:\n    socket.socket(socket.AF_UNIX).connect({name!r}); print('yes')\n"
                "except OSError: print('no')"
            )
            assert python(walled, code) == "no", name


def test_sockets_that_no_network_holds_cannot_be_made(walled: Computer) -> None:
    code = (
        "import socket\nmade = []\n"
        "for family in range(1, 46):\n"
        "    for kind in (1, 2, 3, 5):\n"
        "        try: socket.socket(family, kind).close(); made.append(family)\n"
        "        except OSError: pass\n"
        "print(sorted(set(made)))"
    )
    assert set(json.loads(python(walled, code))) <= {1, 2, 10, 16}


def test_variables_that_lead_out_and_keys_are_not_there(
    make: Make, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("DISPLAY", "WAYLAND_DISPLAY", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST")
    for name in (*names, "XDG_RUNTIME_DIR", "OPENAI_API_KEY", "TMUX", "OI_TUI_HOME"):
        monkeypatch.setenv(name, "canary")
    walled = make(cwd=project, sandbox=True)
    variables = play(walled, "shell", "env").text
    assert "PATH=" in variables
    assert "canary" not in variables
    first = python(walled, "import json; print(json.dumps(open('/proc/1/environ').read()))")
    assert "canary" not in json.loads(first)


# -- what is run and written outside


def test_a_link_in_the_channels_folder_changes_and_shows_no_file(walled: Computer, tmp_path: Path) -> None:
    victim, secret = tmp_path / "victim", tmp_path / "secret"
    victim.write_text("as it was")
    secret.write_text("memory=s3cret\n")
    plant = (
        f"cd /dev/shm/oi-tui-*; for n in 2 3 4 5 6 7 8 9; do ln -sf {victim} cell-$n; done; "
        f"ln -sf {victim} size; rm -f state; ln -sf {secret} state; echo planted"
    )
    assert read_last_word(walled, "shell", plant) == "planted"
    walled.resize(70, 20)
    assert read_last_word(walled, "shell", "echo next") == "next"
    assert victim.read_text() == "as it was"
    play(walled, "shell", "kill -9 $$")
    assert "s3cret" not in play(walled, "shell", "echo got:$memory").text
    assert victim.read_text() == "as it was"


def test_a_display_names_no_file_outside(walled: Computer, tmp_path: Path) -> None:
    code = """
import glob, json
with open(glob.glob('/dev/shm/oi-tui-*/events')[0], 'w') as events:
    for form in ('path', 'page'):
        events.write(json.dumps({'event': 'display', 'format': form, 'content': '/etc/hostname'}) + '\\n')
print('sent')
"""
    played = play(walled, "python", code)
    assert played.text == "sent\n"
    assert played.shown == []


def test_programs_that_run_outside_cannot_be_changed(
    make: Make, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = project / "tools"
    tools.mkdir()
    (tools / "git").write_text("#!/bin/sh\n")
    missing = project / "not" / "yet"
    monkeypatch.setenv("PATH", f"{tools}:{missing}:{os.environ['PATH']}")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", project / ".venv"], check=True)
    walled = make(cwd=project, sandbox=True, python=str(project / ".venv" / "bin" / "python"))
    for path in (tools / "git", missing / "wl-copy", project / ".venv" / "bin" / "python"):
        assert read_last_word(walled, "shell", WRITE["shell"].format(path=str(path))) == "no"
    assert (
        read_last_word(
            walled, "shell", "mv tools moved 2>/dev/null; mv not moved 2>/dev/null; ls -d moved || echo no"
        )
        == "no"
    )
    assert python(walled, "import sys; print(sys.prefix)") == str(project / ".venv")


def test_an_interpreter_in_the_working_directory_is_not_asked_for_its_version(
    make: Make, project: Path
) -> None:
    program = project / "python"
    ran = project / "ran"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    walled = make(cwd=project, sandbox=True, python=str(program))
    assert str(program) in walled.describe("python")
    assert walled.check_availability()
    assert not ran.exists()


def test_a_link_in_place_of_an_interpreter_shows_no_folder(make: Make, project: Path, tmp_path: Path) -> None:
    private = tmp_path / "private" / "bin"
    private.mkdir(parents=True)
    (private.parent / "lib").mkdir()
    (private / "run").write_text('#!/bin/sh\nexec python3 "$@"\n')
    (private / "run").chmod(0o755)
    (private.parent / "diary").write_text("dear")
    (project / "python").symlink_to(private / "run")
    walled = make(cwd=project, sandbox=True, python=str(project / "python"))
    assert play(walled, "python", "print(1)").state != "finished"
    assert read_last_word(walled, "shell", READ["shell"].format(path=str(private.parent / "diary"))) == "no"


# -- switching


def test_switching_it_on_ends_what_began_outside(make: Make, project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret")
    computer = make(cwd=project)
    play(computer, "python", "memory = 41")
    outside = int(play(computer, "shell", "sleep 1000 & echo $!").text)
    assert alive(outside)
    computer.use_sandbox(True)
    until(lambda: not alive(outside))
    played = play(computer, "python", "print('memory' in globals())")
    assert played.text == "False\n"
    assert "restarted in the sandbox; its variables are lost" in played.reason
    assert python(computer, READ["python"].format(path=str(tmp_path / "secret"))) == "no"


@pytest.mark.slow
def test_what_a_shell_saved_in_the_sandbox_does_not_run_outside_of_it(make: Make, project: Path) -> None:
    computer = make(cwd=project, sandbox=True)
    play(computer, "shell", "x=1")
    for report in computer.run("shell", "x=2; exit"):
        if isinstance(report, RunEnded):
            computer.use_sandbox(False)
    played = play(computer, "shell", "echo [$x]")
    assert (played.text, played.reason) == (
        "[]\n",
        "Shell restarted outside the sandbox; its variables are lost",
    )


def test_switching_it_on_during_a_run_holds_from_the_next_run_on(
    make: Make, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("s3cret")
    computer = make(cwd=project)
    played = play(
        computer,
        "python",
        "print('go')\ninput()\nprint('end')",
        on=lambda _, text: (
            (computer.use_sandbox(True), computer.send_input("\n")) if text == "go\r\n" else None
        ),
    )
    assert "end" in played.text
    assert python(computer, READ["python"].format(path=str(tmp_path / "secret"))) == "no"


def test_a_shell_takes_nothing_through_the_walls(make: Make, project: Path) -> None:
    computer = make(cwd=project, sandbox=True)
    play(computer, "shell", "evil() { echo evil; }; memory=41; exit 0")
    computer.use_sandbox(False)
    assert play(computer, "shell", "echo got:$memory; type evil >/dev/null 2>&1 || echo none").text == (
        "got:\nnone\n"
    )


# -- where there is none


@every_language
def test_without_bubblewrap_nothing_runs(
    make: Make, project: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setattr(bubblewrap, "FOLDERS", (str(project),))
    computer = make(cwd=project, sandbox=True)
    played = play(computer, language, WRITE[language].format(path=str(project / "ran")))
    assert played.state == "failed"
    assert played.text == ""
    assert "bwrap" in played.reason
    assert "nothing runs" in played.reason
    assert "Or turn the sandbox off" in played.reason
    assert computer.explain_missing(language) == played.reason
    assert not (project / "ran").exists()


def test_a_bubblewrap_that_does_not_hold_is_not_believed(
    make: Make, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is tried: one that only starts the program, and one that the kernel does not let work."""
    monkeypatch.setattr(bubblewrap, "FOLDERS", (str(tmp_path),))
    program = tmp_path / "bwrap"
    for script, words in (
        ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "it can see files outside"),
        ("echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1", "uid map"),
        ("exit 0", "exit status 0"),
    ):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        played = play(make(cwd=project, sandbox=True), "python", "open('ran', 'w')")
        assert played.state == "failed"
        assert words in played.reason, played.reason
        assert not (project / "ran").exists()


def test_a_machine_whose_calls_are_not_known_runs_nothing(
    make: Make, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seccomp.platform, "machine", lambda: "pdp11")
    played = play(make(cwd=project, sandbox=True), "shell", "echo ran")
    assert (played.state, played.text) == ("failed", "")
    assert "processor architecture" in played.reason


def test_a_language_that_would_run_outside_is_refused(make: Make, project: Path) -> None:
    computer = make(cwd=project, sandbox=True)
    for language in ("html", "react"):
        played = play(computer, language, "<p>hello</p>")
        assert played.state == "failed"
        assert "browser" in played.reason
        assert computer.explain_missing(language) == played.reason
        assert language not in computer.languages


def test_a_working_directory_that_is_gone_is_reported(make: Make, project: Path) -> None:
    computer = make(cwd=project, sandbox=True)
    project.rmdir()
    played = play(computer, "shell", "echo ran")
    assert (played.state, played.text) == ("failed", "")
    assert "no longer exists" in played.reason


# -- what goes on as usual


@pytest.mark.parametrize("name", ["-n", "a b", "ü\nx", "'\"$(touch x)`", "--"])
def test_the_working_directory_may_have_odd_names(make: Make, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    computer = make(cwd=folder, sandbox=True)
    assert python(computer, "import os; open('made', 'w').close(); print(ascii(os.getcwd()))") == ascii(
        str(folder)
    )
    assert (folder / "made").exists()


def test_a_working_directory_may_be_a_link_and_may_be_closed_to_writers(make: Make, tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    assert python(make(cwd=link, sandbox=True), "import os; print(os.getcwd())") == str(real)


def test_temporary_files_are_its_own(walled: Computer) -> None:
    code = "import tempfile\nwith tempfile.NamedTemporaryFile(delete=False) as f: print(f.name)"
    name = python(walled, code)
    assert name.startswith("/tmp/")
    assert not Path(name).exists()


def test_what_is_left_behind_ends_with_it(make: Make, project: Path) -> None:
    computer = make(cwd=project, sandbox=True)
    word = f"{time.time_ns()}"
    play(
        computer, "shell", f"setsid sh -c 'exec -a s sleep {word}' & (sleep {word} &) ; nohup sleep {word} &"
    )
    until(lambda: len(marked(word)) >= 2)
    computer.close()
    until(lambda: not marked(word))


def test_an_interrupt_is_as_quick_as_outside(walled: Computer) -> None:
    for language, code in (
        ("python", "print('go')\nimport time\ntime.sleep(60)"),
        ("shell", "echo go\nsleep 60"),
    ):
        play(walled, language, PRINT[language].format("ready"))
        played = play(walled, language, code, stop_at="go\r\n")
        assert played.state == "interrupted"
        assert played.steps == ["interrupt"]
    assert python(walled, "print('still here')") == "still here"


def test_the_program_in_front_asks_and_is_seen_to(walled: Computer) -> None:
    played = play(walled, "shell", "head -1; echo done", answers=("word\n",))
    assert played.asked
    assert "word" in played.text
    assert "done" in played.text
    masked = play(walled, "shell", "read -s -p 'Password: ' word; echo; echo got:$word", answers=("x\n",))
    assert masked.asked[0].masked
    assert masked.text.endswith("got:x\n")


def test_pip_says_that_there_is_no_network(walled: Computer) -> None:
    for command in ("%pip install", "!pip download"):
        code = f"{command} --retries 0 --timeout 2 no-such-package-as-this"
        played = play(walled, "python", code)
        assert (
            "only allowed hosts can be reached.\nThe user can allow one: %sandbox allow HOST" in played.text
        )


@pytest.mark.parametrize("mechanism", [bubblewrap, seatbelt], ids=["bubblewrap", "seatbelt"])
def test_each_mechanism_has_the_functions_of_the_interface(mechanism: ModuleType) -> None:
    expected = {
        name: list(inspect.signature(function).parameters)[1:]
        for name, function in vars(Mechanism).items()
        if inspect.isfunction(function) and not name.startswith("_")
    }
    assert "enclose" in expected
    actual = {name: list(inspect.signature(getattr(mechanism, name)).parameters) for name in expected}
    assert actual == expected
