"""Which system calls a process may make that reads a source: a filter for seccomp, in the kernel's own small language.

Landlock knows files, and the ports of TCP where it connects by connect(). What reaches other processes, programs and
services, or files and hosts in other ways, is refused here (Linux manual pages seccomp(2), bpf(2); numbers as in the
kernel's tables): so no other protocol than TCP, and no message that connects by itself. Names of hosts are asked for by
TCP, too, see `PROCESS_ENVIRONMENT`: a datagram to any address would carry records out.
"""

import os
import platform
import struct
from collections.abc import Sequence

_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # as the kernel calls them, in the order of the columns below

# Name -> number on x86_64 and on aarch64; None where there is no such call.
_CALLS: dict[str, tuple[int, int | None]] = {
    # other programs, and other processes: their memory, signals, limits, priorities and descriptors
    "execve": (59, 221), "execveat": (322, 281), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    "pidfd_send_signal": (424, 424), "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "prlimit64": (302, 261), "setpriority": (141, 140),
    "ioprio_set": (251, 30), "migrate_pages": (256, 238), "move_pages": (279, 239), "process_madvise": (440, 440),
    "process_mrelease": (448, 448), "unshare": (272, 97), "setns": (308, 268),
    # memory, queues and semaphores that processes share by a number or a name
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193),
    "semctl": (66, 191), "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "mq_open": (240, 180), "mq_unlink": (241, 181), "add_key": (248, 217),
    "request_key": (249, 218), "keyctl": (250, 219),
    # files in ways that Landlock does not know
    "open_by_handle_at": (304, 265), "io_uring_setup": (425, 425), "chmod": (90, None), "fchmod": (91, 52),
    "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None), "fchown": (93, 55), "lchown": (94, None),
    "fchownat": (260, 54), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "inotify_add_watch": (254, 27), "fanotify_mark": (301, 263), "chroot": (161, 51),
    # the kernel
    "bpf": (321, 280), "userfaultfd": (323, 282), "perf_event_open": (298, 241),
    # the network
    "socket": (41, 198), "socketpair": (53, 199), "listen": (50, 201), "sendto": (44, 206), "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
}  # fmt: skip

_INTERNET, _KERNEL_S = (2, 10), 16  # AF_INET and AF_INET6; AF_NETLINK, by which addresses are asked for
_STREAMS = tuple(1 | flags for flags in (0, 0o4000, 0o2000000, 0o2004000))  # SOCK_STREAM
_LOCAL = 1  # AF_UNIX
_PROTOCOLS = (0, 6)  # the family's own, TCP; MPTCP and SCTP connect where Landlock does not look
_FAST_OPEN = 0x20000000  # the flag by which a message connects

_LOAD, _EQUAL, _HAS_BITS, _AT_LEAST, _END = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _REFUSE = (_END, 0, 0, 0x7FFF0000), (_END, 0, 0, 0x00050000 | 1)  # SECCOMP_RET_ALLOW, .._ERRNO with EPERM
_X32 = 0x40000000  # system calls of x86_64's other numbering begin here
_Instruction = tuple[int, int, int, int]  # operation, how many to skip if so, and if not, operand


def system_call_filter(ports: Sequence[int] | None) -> bytes | None:
    """The program of the filter, 8 bytes an instruction; None on a machine whose numbers are not known.

    ports : TCP ports that are connected to: () no sockets at all; None any, local ones too
    """
    if (machine := platform.machine()) not in _MACHINES:
        return None
    column = [*_MACHINES].index(machine)
    code: list[_Instruction] = [
        (_LOAD, 0, 0, 4), (_EQUAL, 1, 0, _MACHINES[machine]), _REFUSE,
        (_LOAD, 0, 0, 0), (_AT_LEAST, 0, 1, _X32), _REFUSE,
    ]  # fmt: skip
    allowed = _allowed(ports)
    for name, numbers in _CALLS.items():
        if (number := numbers[column]) is not None:
            end = allowed.get(name, [_REFUSE])
            code += [(_EQUAL, 0, len(end), number), *end]
    return b"".join(struct.pack("=HBBI", *each) for each in [*code, _ALLOW])


def _allowed(ports: Sequence[int] | None) -> dict[str, list[_Instruction]]:
    """What else is looked at before a call is refused: its arguments."""
    own = {"prlimit64": [*_one_of(0, (0,)), _ALLOW], "tgkill": [*_one_of(0, (os.getpid(),)), _ALLOW]}
    messages = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}  # which argument has the flags
    by_tcp = [*_one_of(1, _STREAMS), *_one_of(2, _PROTOCOLS), _ALLOW]
    if ports is None:
        any_but_udp = [*_if_one_of(0, _INTERNET, by_tcp), _ALLOW]
        return own | {"socket": any_but_udp} | {name: [_ALLOW] for name in ("socketpair", *messages)}
    slow = {name: [*_without(argument, _FAST_OPEN), _ALLOW] for name, argument in messages.items()}
    by_ip = [*_if_one_of(0, _INTERNET, by_tcp), *_one_of(0, (_KERNEL_S,)), *_one_of(2, (0,)), _ALLOW]
    # Drivers in Rust wake themselves by a pair of streams, which is connected for good and to nothing but itself.
    pair = [*_one_of(0, (_LOCAL,)), *_one_of(1, _STREAMS), *_one_of(2, (0,)), _ALLOW]
    return own | slow | ({"socket": by_ip, "socketpair": pair} if ports else {})


def _one_of(argument: int, values: Sequence[int]) -> list[_Instruction]:
    """Refuse unless the argument, as far as it fits into 32 bits, is one of these. Numbers begin with the last byte."""
    tests = [(_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [(_LOAD, 0, 0, 16 + 8 * argument), *tests, _REFUSE]


def _if_one_of(argument: int, values: Sequence[int], then: Sequence[_Instruction]) -> list[_Instruction]:
    """What is looked at where the argument is one of these, and ends; else what follows it."""
    last = len(values) - 1
    tests = [(_EQUAL, last - place, len(then) if place == last else 0, value) for place, value in enumerate(values)]
    return [(_LOAD, 0, 0, 16 + 8 * argument), *tests, *then]


def _without(argument: int, bits: int) -> list[_Instruction]:
    """Refuse if the argument has one of these bits."""
    return [(_LOAD, 0, 0, 16 + 8 * argument), (_HAS_BITS, 0, 1, bits), _REFUSE]
