"""Every way out of the sandbox that we know of, tried by one program in one sandbox."""

import contextlib
import ctypes
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui import paths
from oi_tui.runtimes import Computer
from oi_tui.runtimes.sandbox import sandbox
from tests.runtimes.playing import play

pytestmark = [
    pytest.mark.skipif((why := sandbox.explain_unavailable()) is not None, reason=str(why)),
    pytest.mark.skipif(sys.platform != "linux", reason="these are ways out of Linux"),
]
#: Each function is an attempt; one that returns without an error has got out.
PROBES = r'''
import ctypes, fcntl, mmap, os, signal, socket, struct, subprocess, termios

LIBC = ctypes.CDLL(None, use_errno=True)

def checked(result):
    if result == -1 or result is None:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result

def call(number, *arguments):
    return checked(LIBC.syscall(ctypes.c_long(number), *[ctypes.c_long(item) for item in arguments]))

ARM = os.uname().machine == "aarch64"

def number(intel, arm):
    return arm if ARM else intel

def read(path):
    with open(path, "rb") as file:
        return file.read(1)

def write(path):
    with open(path, "ab") as file:
        file.write(b"x")

def connected(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)

def some(paths, act):
    """One of those that are there is enough."""
    there = [item for item in paths if os.path.exists(item)]
    if not there:
        raise OSError("none is there")
    for item in there:
        act(item)

# -- files
def a_file_of_the_person(): read(SECRET)
def a_file_of_the_person_written(): write(SECRET)
def a_new_file_outside(): write(OUTSIDE + "/new")
def a_link_to_a_file_outside():
    os.symlink(SECRET, "link"); read("link")
def a_hard_link_to_a_file_outside(): os.link(SECRET, "hard")
def a_file_by_the_root_of_a_process(): read("/proc/1/root" + SECRET)
def a_file_by_the_folder_of_a_process(): read(f"/proc/{os.getppid()}/cwd/../outside/secret")
def a_file_by_its_handle(): call(number(304, 265), -100, 0, 0)
def a_file_above_by_its_folder():
    folder = os.open("..", os.O_RDONLY); os.stat("outside/secret", dir_fd=folder)
def our_settings(): write(CONFIG + "/default.yaml")
def our_settings_that_are_not_there_yet():
    os.makedirs(CONFIG + "/profiles"); write(CONFIG + "/profiles/x.yaml")
    raise OSError("whether they got out is seen from outside")
def our_programs(): write(PACKAGE)
def the_interpreter(): write(os.path.join(sys.prefix, "new.pth"))
def a_program_of_the_system(): write("/usr/bin/new")
def passwords_of_the_system(): read("/etc/shadow")
def users_of_the_system(): write("/etc/passwd")
def a_start_file_of_shells():
    write(os.path.expanduser("~/.bashrc"))
    raise OSError("whether it got out is seen from outside")
def a_table_of_tasks(): write("/etc/cron.d/x")
def a_new_device():
    os.mknod("disk", 0o60600, os.makedev(254, 0)); read("disk")
def a_disk(): some(["/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/loop0", "/dev/mem", "/dev/kmsg"], read)

def a_folder_that_was_left_open():
    for name in os.listdir("/proc/self/fd"):
        try:
            folder = os.open("..", os.O_PATH | os.O_DIRECTORY, dir_fd=int(name))
        except OSError:
            continue
        for step in range(20):
            if os.path.exists(f"/proc/self/fd/{folder}{SECRET}"): return
            folder = os.open("..", os.O_PATH | os.O_DIRECTORY, dir_fd=folder)
    raise OSError("none was")

# -- the kernel
def a_setting_of_the_kernel(): write("/proc/sys/kernel/hostname")
def a_helper_of_the_kernel(): write("/proc/sys/kernel/core_pattern")
def the_trigger_of_the_kernel(): write("/proc/sysrq-trigger")
def the_system_of_devices(): write("/sys/kernel/uevent_helper")
def control_groups():
    some(["/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/notify_on_release"], write)
def a_mount(): checked(LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, None))
def a_mount_made_writable(): checked(LIBC.mount(None, b"/usr", None, 32 | 4096, None))
def an_unmount(): checked(LIBC.umount2(b"/etc/passwd", 2))
def a_newer_mount(): call(428, -100, 0, 1)
def another_root(): call(number(155, 41), 0, 0)
def a_user_namespace(): checked(LIBC.unshare(0x10000000))
def a_user_namespace_by_clone(): call(number(56, 220), 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
def a_namespace_of_mounts(): checked(LIBC.unshare(0x00020000))
def the_namespace_of_another():
    handle = os.open("/proc/1/ns/net", os.O_RDONLY); call(number(308, 268), handle, 0)
def a_newer_clone(): call(435, 0, 0)
def rings_of_io(): call(425, 1, 0)
def faults_of_pages(): call(number(323, 282), 0)
def keys_of_the_session(): call(number(250, 219), 0, -3, 0)
def a_program_in_the_kernel(): call(number(321, 280), 0, 0, 0)
def events_of_performance(): call(number(298, 241), 0, 0, -1, -1, 0)
def a_module(): call(number(175, 105), 0, 0, 0)
def another_kernel(): call(number(246, 104), 0, 0, 0, 0, 0)
def a_reboot(): call(number(169, 142), 0xFEE1DEAD, 672274793, 0, 0)
def another_clock():
    import time; time.clock_settime(time.CLOCK_REALTIME, time.time())
def another_name_of_the_machine_outside(): socket.sethostname("x")
def becoming_somebody_else(): os.setuid(12345)
def a_program_with_more_rights():
    if os.path.exists("/usr/bin/su") or os.path.exists("/bin/su"):
        status = open("/proc/self/status").read()
        assert "NoNewPrivs:\t1" not in status
    raise OSError("there are none")
def a_capability():
    told = open("/proc/self/status").read()
    sets = [line.split()[1] for line in told.splitlines() if line.startswith(("CapEff", "CapBnd"))]
    assert any(item.strip("0") for item in sets)

# -- processes
def the_process_outside(): os.kill(OUTSIDE_PID, 0)
def the_memory_of_the_process_outside(): read(f"/proc/{OUTSIDE_PID}/mem")
def the_environment_of_the_process_outside(): read(f"/proc/{OUTSIDE_PID}/environ")
def tracing_the_process_outside(): call(number(101, 117), 16, OUTSIDE_PID, 0, 0)
def a_better_place_for_processors(): os.nice(-5)

# -- sockets
def a_socket_outside(): connected(SOCKET)
def an_abstract_socket(): connected("\0" + ABSTRACT)
def a_server_on_this_machine(): socket.create_connection(("127.0.0.1", PORT), 2).close()
def a_server_elsewhere(): socket.create_connection(("192.0.2.1", 80), 2).close()
def names_of_hosts(): socket.getaddrinfo("example.com", 80)
def raw_packets(): socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
def packets_of_devices(): socket.socket(17, socket.SOCK_RAW)
def the_machine_below(): socket.socket(40, socket.SOCK_STREAM)
def the_radio(): socket.socket(31, socket.SOCK_RAW, 1)
def the_kernels_ciphers(): socket.socket(38, socket.SOCK_SEQPACKET)
def services_of_the_system():
    some(["/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/podman/podman",
          f"/run/user/{os.getuid()}/bus", "/tmp/.X11-unix/X0", "/run/systemd/private"], connected)
def an_agent_of_keys(): connected(os.environ["SSH_AUTH_SOCK"])
def a_display(): os.environ["DISPLAY"]
def a_bus(): os.environ["DBUS_SESSION_BUS_ADDRESS"]
def a_key(): os.environ["OPENAI_API_KEY"]

# -- the machine
def the_environment_of_the_first_process():
    bad = []
    for pid in [p for p in os.listdir("/proc") if p.isdigit()]:
        try: data = open(f"/proc/{pid}/environ", "rb").read()
        except OSError: continue
        if b"canary" in data or b"OPENAI" in data or b"SSH_AUTH" in data: bad.append(pid)
    assert bad
def namespaces_of_the_machine():
    ours = {name: f"/proc/self/ns/{name}" for name in NS if not name.startswith("time")}
    same = [n for n, path in ours.items() if os.path.exists(path) and os.readlink(path) == NS[n]]
    assert same
def kernel_core(): read("/proc/kcore")
def kernel_firmware():
    some(["/sys/firmware/efi", "/sys/firmware/acpi/tables/DSDT", "/sys/kernel/debug/x"], read)
def a_format_of_programs(): write("/proc/sys/fs/binfmt_misc/register")
def the_next_process(): write("/proc/sys/kernel/ns_last_pid")
def a_loader_of_modules(): write("/proc/sys/kernel/modprobe")
def the_layout_of_memory(): write("/proc/sys/kernel/randomize_va_space")
def a_map_of_users(): write("/proc/self/uid_map")
def another_login():
    open("/proc/self/loginuid", "w").write("0")
def a_better_place_for_memory():
    with open("/proc/self/oom_score_adj", "w") as f: f.write("-1000")
def hard_link_to_our_program():
    os.link(PACKAGE, "hard2"); write("hard2")
def hard_link_to_system():
    os.link("/usr/bin/env", "hard3"); write("hard3")
def devices_of_io():
    names = ("fuse kvm net/tun uinput input/event0 dri/card0 snd/timer vhost-net userfaultfd autofs hidraw0 "
             "btrfs-control loop-control mapper/control cuse")
    some([f"/dev/{name}" for name in names.split()], read)
def raw_ports(): call(number(172, 1000), 3)
def port_range(): call(number(173, 1000), 0, 1, 1)
def system_log(): call(number(103, 116), 10, 0, 0)
def the_accounting(): call(number(163, 89), 0)
def the_swap(): call(number(167, 224), 0, 0)
def the_quotas(): call(number(179, 60), 0, 0, 0, 0)
def another_time(): call(number(164, 170), 0, 0)
def hang_up_everything(): call(number(153, 58))
def watch_everything(): call(number(300, 262), 0x4, 0)
def newest_kernel(): call(number(320, 294), -1, -1, 0, 0, 0)
def new_module(): call(number(313, 273), -1, 0, 0)
def delete_module(): call(number(176, 106), _address(b"x"), 0)
def handle_of_outside(): call(434, OUTSIDE_PID, 0)
def limits_of_outside(): call(number(302, 261), OUTSIDE_PID, 7, 0, 0)
def affinity_of_outside(): os.sched_setaffinity(OUTSIDE_PID, {0})
def priority_of_outside(): os.setpriority(os.PRIO_PROCESS, OUTSIDE_PID, 19)
def session_of_outside(): os.getsid(OUTSIDE_PID)
def compare_outside(): call(number(312, 272), OUTSIDE_PID, OUTSIDE_PID, 0, 0, 0)
def futexes_of_outside(): call(number(274, 100), OUTSIDE_PID, 0, 0)
def pages_of_outside(): call(number(279, 239), OUTSIDE_PID, 0, 0, 0, 0, 0)
def higher_limits():
    import resource
    for which in (resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE, resource.RLIMIT_AS, resource.RLIMIT_CORE):
        soft, hard = resource.getrlimit(which)
        if hard == resource.RLIM_INFINITY: continue
        resource.setrlimit(which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)); return
    raise OSError("none")
def core_dumps():
    import resource
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard)); assert hard
def the_best_place_for_processors(): os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
def message_queue():
    checked(LIBC.mq_open(b"/oi-tui-probe", os.O_RDONLY))
def shared_memory_of_machine(): checked(LIBC.shmget(KEY, 0, 0))
def a_server_over_ip6(): socket.create_connection(("::1", PORT), 2).close()
def a_server_by_name(): socket.create_connection(("localhost", PORT), 2).close()
def a_server_by_zero(): socket.create_connection(("0.0.0.0", PORT), 2).close()
def a_server_by_mapped(): socket.create_connection(("::ffff:127.0.0.1", PORT), 2).close()
def packets_to_the_machine():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect(("192.0.2.1", 9)); s.send(b"x")
def devices_of_the_network(): assert [n for _, n in socket.if_nameindex() if n != "lo"]
def netlink_generic(): socket.socket(16, socket.SOCK_RAW, 16)
def netlink_audit(): socket.socket(16, socket.SOCK_RAW, 9)
def netlink_uevent(): socket.socket(16, socket.SOCK_RAW, 15)
def netlink_diag(): socket.socket(16, socket.SOCK_RAW, 4)
def another_protocol(): socket.socket(socket.AF_INET, socket.SOCK_SEQPACKET, 132)
def several_paths():
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); s.connect(("127.0.0.1", PORT))
def a_cluster(): socket.socket(30, socket.SOCK_SEQPACKET)
def reliable_packets(): socket.socket(21, socket.SOCK_SEQPACKET)
def the_fast_path(): socket.socket(44, socket.SOCK_RAW)
def shared_memory_sockets(): socket.socket(43, socket.SOCK_STREAM)
def line_discipline(): fcntl.ioctl(0, termios.TIOCSETD, struct.pack("i", 15))
def console_output(): fcntl.ioctl(0, 0x541D, 0)
def nested_sandbox(): subprocess.run(["bwrap", "--ro-bind", "/", "/", "true"], check=True, stderr=-3)
def unshare_program(): subprocess.run(["unshare", "-Ur", "true"], check=True, stderr=-3)
def file_capability(): os.setxattr("probes.py", "security.capability", b"\1\0\0\2" + b"\xff" * 16)
def trusted_attribute(): os.setxattr("probes.py", "trusted.x", b"1")
def a_file_for_ever():
    f = os.open("probes.py", os.O_RDONLY); fcntl.ioctl(f, 0x40086602, struct.pack("l", 0x10))
def the_memory_of_the_process_outside_by_a_call():
    data = ctypes.create_string_buffer(8)
    part = struct.pack("QQ", ctypes.addressof(data), 8)
    call(number(310, 270), OUTSIDE_PID, _address(part), 1, _address(part), 1, 0)
def a_group_of_another_terminal(): fcntl.ioctl(0, termios.TIOCSCTTY, 1); assert os.getpid() == 1

# -- the terminal
def typing_for_somebody(): fcntl.ioctl(0, termios.TIOCSTI, b"x")
def typing_for_somebody_by_a_longer_number():
    checked(LIBC.ioctl(0, ctypes.c_ulong(0x1_0000_5412), ctypes.c_char_p(b"x")))
def pasting_for_somebody(): fcntl.ioctl(0, 0x541C, b"\3")
def the_terminal_outside():
    # What has that name here is the program's own terminal.
    assert os.stat("/dev/console").st_rdev != os.fstat(0).st_rdev
    os.open("/dev/console", os.O_RDWR)
def terminals_of_others():
    some([f"/dev/pts/{item}" for item in range(1, 64)], lambda path: os.open(path, os.O_RDWR | os.O_NOCTTY))

# -- a program that acts as its owner when others start it
def made_its_owner(): _left(os.open("suid1", os.O_CREAT | os.O_WRONLY, 0o4755))
def made_its_owner_by_a_nameless_file(): _left(os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o4755))
def made_its_owner_by_the_oldest_call(): _left(call(number(85, 1000), _address(b"suid2"), 0o4755))
def made_its_owner_by_mknod(): os.mknod("suid3", 0o104755)
def made_its_owner_later(): write("suid4"); os.chmod("suid4", 0o4755)
def made_its_owner_by_a_descriptor(): write("suid5"); os.chmod(os.open("suid5", os.O_RDONLY), 0o6755)
def made_its_owner_by_the_newest_call():
    write("suid6")
    call(452, -100, _address(b"suid6"), 0o4755, 0)
def made_its_owner_by_a_struct():
    how = struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o4755, 0)
    _left(call(437, -100, _address(b"suid7"), _address(how), len(how)))
def _address(data): return ctypes.cast(data, ctypes.c_void_p).value
def _left(descriptor): assert os.stat(descriptor).st_mode & 0o4000

def try_all(known):
    found, names = [], []
    for name, probe in list(known.items()):
        code = getattr(probe, "__code__", None)
        if code is None or code.co_argcount or name in ("try_all",) or name.startswith("_"):
            continue
        names.append(name)
        try:
            probe()
            found.append(name)
        except (OSError, KeyError, AssertionError, ValueError, OverflowError, subprocess.SubprocessError):
            pass
    return found, names
'''


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """What code could reach outside, if it could."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text("s3cret")
    abstract = f"oi-tui-{os.getpid()}"
    with contextlib.ExitStack() as stack:
        servers = []
        for address in (str(folder / "socket"), f"\0{abstract}", str(folder / "agent")):
            server = stack.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(address)
            server.listen()
            servers.append(server)
        web = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        process = subprocess.Popen(["sleep", "100"])
        stack.callback(process.wait)
        stack.callback(process.kill)
        # A part of memory that any process of this machine may use.
        key = 0x01000000 | os.getpid()
        libc = ctypes.CDLL(None)
        memory = libc.shmget(key, 4096, 0o1666)
        stack.callback(libc.shmctl, memory, 0, None)
        monkeypatch.setenv("SSH_AUTH_SOCK", str(folder / "agent"))
        monkeypatch.setenv("DISPLAY", ":0")
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/x")
        monkeypatch.setenv("OPENAI_API_KEY", "canary")
        yield {
            "SECRET": str(folder / "secret"),
            "OUTSIDE": str(folder),
            "SOCKET": str(folder / "socket"),
            "ABSTRACT": abstract,
            "PORT": web.getsockname()[1],
            # No process inside has so large a number.
            "OUTSIDE_PID": process.pid,
            "CONFIG": str(paths.config()),
            "PACKAGE": str(Path(paths.__file__)),
            "NS": {name: os.readlink(f"/proc/self/ns/{name}") for name in os.listdir("/proc/self/ns")},
            "KEY": key,
        }


def test_no_way_out_is_open(
    make: Callable[..., Computer], tmp_path: Path, outside: dict[str, object]
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "probes.py").write_text(PROBES)
    # A folder is opened to be mounted, for what is protected in it.
    (project / "sub").mkdir()
    (project / "sub" / ".envrc").write_text("")
    walled = make(cwd=project, sandbox=True)
    before = Path(paths.__file__).read_bytes()
    code = (
        f"import json, sys\nknown = json.loads({json.dumps(json.dumps(outside))})\n"
        "known['sys'] = sys\nexec(open('probes.py').read(), known)\n"
        "print('RESULT' + json.dumps(known['try_all'](known)))"
    )
    played = play(walled, "python", code)
    found, names = json.loads(played.text.partition("RESULT")[2].splitlines()[0])
    assert found == [], found
    assert not (paths.profiles() / "x.yaml").exists()
    assert not (Path.home() / ".bashrc").exists()
    assert len(names) >= 130, names
    assert not [path for path in project.iterdir() if path.stat().st_mode & 0o4000]
    assert Path(paths.__file__).read_bytes() == before
    assert Path(str(outside["SECRET"])).read_text() == "s3cret"
