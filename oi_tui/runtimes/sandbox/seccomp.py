"""The system calls that programs in the sandbox cannot make, as a filter for the Linux kernel.

Namespaces hold back what has a name: files, processes, network devices. Some ways out have none, and are
closed here: typing on a terminal for somebody else (TIOCSTI), sockets of families that no network namespace
holds (vsock reaches the machine below a virtual one), the session's keys in the kernel, io_uring, which does
the work of other calls past any filter, and new namespaces, in which a program would be all-powerful. No file
gets the bit by which whoever starts it acts as its owner: it would be left outside for others to start.
"""

import errno
import platform
import struct
import typing
from collections.abc import Sequence

#: The kernel's name for the machine (linux/audit.h), and the numbers of its calls, from the kernel's tables.
_MACHINES: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "open": 2,
            "ioctl": 16,
            "socket": 41,
            "socketpair": 53,
            "clone": 56,
            "creat": 85,
            "chmod": 90,
            "fchmod": 91,
            "mknod": 133,
            "pivot_root": 155,
            "mount": 165,
            "umount2": 166,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "openat": 257,
            "mknodat": 259,
            "fchmodat": 268,
            "unshare": 272,
            "perf_event_open": 298,
            "open_by_handle_at": 304,
            "setns": 308,
            "bpf": 321,
            "userfaultfd": 323,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "ioctl": 29,
            "mknodat": 33,
            "umount2": 39,
            "mount": 40,
            "pivot_root": 41,
            "fchmod": 52,
            "fchmodat": 53,
            "openat": 56,
            "unshare": 97,
            "socket": 198,
            "socketpair": 199,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "clone": 220,
            "perf_event_open": 241,
            "open_by_handle_at": 265,
            "setns": 268,
            "bpf": 280,
            "userfaultfd": 282,
        },
    ),
}
#: These have the same number everywhere: io_uring, and the newer ways to mount, to clone, to open files.
_NEWER = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "openat2": 437,
    "mount_setattr": 442,
    "fchmodat2": 452,
}
#: These are answered as by a kernel that does not have them, for which everybody has another way.
_UNKNOWN = ("io_uring_setup", "io_uring_enter", "io_uring_register", "clone3", "openat2")
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_CLONE_NEWUSER = 0x10000000
#: S_ISUID, and what makes `open` take a mode: O_CREAT and O_TMPFILE.
_SET_USER_ID = 0o4000
_CREATES = 0o100 | 0o20000000
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16

# linux/bpf_common.h and linux/seccomp.h
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_CALL, _MACHINE, _ARGUMENTS = 0, 4, 16

_Step = typing.Tuple[int, int, int, int]  # noqa: UP006 -- evaluated by Python 3.8


def is_supported() -> bool:
    """Return whether the calls of this machine are known."""
    return platform.machine() in _MACHINES


# No library: pyseccomp needs the system's libseccomp, which is not in its wheel. This filter has 145 steps
# and is made in less than a millisecond.
def filter_program() -> bytes:
    """Return the filter, as the kernel reads it. Raises KeyError on a machine whose calls are not known."""
    machine, calls = _MACHINES[platform.machine()]
    calls = {**calls, **_NEWER}
    refused = _refuse(errno.ENOSYS)
    # Programs for another machine, as 32-bit ones are, would make their calls by other numbers.
    steps = [(_LOAD, 0, 0, _MACHINE), (_IF_EQUAL, 1, 0, machine), refused]
    steps += [(_LOAD, 0, 0, _CALL), (_IF_AT_LEAST, 0, 1, 0x40000000), refused]
    special: dict[str, Sequence[_Step]] = {
        "socket": _filter_socket(),
        "socketpair": _filter_socket(),
        "ioctl": _refuse_if(1, _IF_EQUAL, (_TIOCSTI, _TIOCLINUX)),
        "clone": _refuse_if(0, _IF_ANY_BIT, (_CLONE_NEWUSER,)),
        "unshare": _refuse_if(0, _IF_ANY_BIT, (_CLONE_NEWUSER,)),
        "open": _refuse_creation(1),
        "openat": _refuse_creation(2),
    }
    for name, mode in (("creat", 1), ("chmod", 1), ("fchmod", 1), ("mknod", 1)):
        special[name] = _refuse_if(mode, _IF_ANY_BIT, (_SET_USER_ID,))
    for name in ("mknodat", "fchmodat", "fchmodat2"):
        special[name] = _refuse_if(2, _IF_ANY_BIT, (_SET_USER_ID,))
    for name, number in calls.items():
        usual = [_refuse(errno.ENOSYS if name in _UNKNOWN else errno.EPERM)]
        body = special.get(name, usual)
        steps += [(_IF_EQUAL, 0, len(body), number), *body]
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _refuse(reason: int) -> _Step:
    return (_RETURN, 0, 0, _REFUSE | reason)


def _load_argument(number: int) -> _Step:
    """Load the lower half of an argument, which is all that the kernel looks at in those below."""
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * number)


def _refuse_if(argument: int, test: int, values: Sequence[int]) -> list[_Step]:
    steps = [_load_argument(argument)]
    for value in values:
        steps += [(test, 0, 1, value), _refuse(errno.EPERM)]
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


def _refuse_creation(flags: int) -> list[_Step]:
    """Refuse to create a file with the bit; the mode follows the flags, and counts only for a new file."""
    return [
        _load_argument(flags),
        (_IF_ANY_BIT, 0, 3, _CREATES),
        _load_argument(flags + 1),
        (_IF_ANY_BIT, 0, 1, _SET_USER_ID),
        _refuse(errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _filter_socket() -> list[_Step]:
    """Sockets that the namespaces hold: files', the internet's, and the kernel's own about the network."""
    steps = [_load_argument(0)]
    for family in (_UNIX, _INET, _INET6):
        steps += [(_IF_EQUAL, 0, 1, family), (_RETURN, 0, 0, _ALLOW)]
    steps += [(_IF_EQUAL, 0, 3, _NETLINK), _load_argument(2), (_IF_EQUAL, 0, 1, 0), (_RETURN, 0, 0, _ALLOW)]
    return [*steps, _refuse(errno.EAFNOSUPPORT)]
