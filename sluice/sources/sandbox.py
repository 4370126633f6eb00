"""What a process gives up for good before it reads a source: files, network, other processes, other programs.

By Linux's Landlock and seccomp, both without privileges (Linux manual pages landlock(7), seccomp(2)). They bind the
thread that asks and those that it starts: call `confine` before any library is loaded that starts threads. This module
and that of the system calls need nothing but the standard library.
"""

import ctypes
import os
import resource
import stat
import struct
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from sluice.sources.system_calls import system_call_filter

NOT_CONFINED = "this system has no Landlock (Linux 5.13 or newer): the process that reads sources could read the vault"

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_PATH_BENEATH, _NET_PORT = 1, 2
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_CONNECT_TCP = 1 << 1
# Rights to files that a kernel knows, by the version of Landlock in which they were added: their number.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
_NET_SINCE, _SCOPES_SINCE = 4, 6

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_SIGKILL = 9


def landlock_version() -> int:
    """The version of Landlock that this system offers; 0 where it has none: macOS, old kernels, some containers."""
    if not sys.platform.startswith("linux"):
        return 0
    with suppress(OSError):
        return _syscall(_CREATE_RULESET, None, 0, 1)
    return 0


def confine(files: Iterable[Path], folders: Iterable[Path], ports: Sequence[int] | None) -> None:
    """Give up all but to read these files and what is below these folders, and to connect to these TCP ports.

    files  : absolute and without a link in them; each as it is now: a file that comes in its place is another one
    ports  : () no network at all; None any network, and local sockets
    raises : OSError when a file is absent, is not a plain file or is reached by a link, or the system refuses
    On a system without Landlock other files can still be read; on macOS the network can be used, too.
    """
    for limit in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE):  # no image of the memory, no file written
        resource.setrlimit(limit, (0, 0))
    opened = [_open_plainly(path) for path in files]
    if sys.platform.startswith("linux"):
        _prctl(_PR_SET_DUMPABLE, 0)
        _prctl(_PR_SET_PDEATHSIG, _SIGKILL)  # when the process that asked for the records ends
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        if version := landlock_version():
            _restrict_files_and_ports(version, opened, folders, ports)
        _refuse_system_calls(ports)
    for descriptor in opened:
        os.close(descriptor)


def _restrict_files_and_ports(
    version: int, files: Sequence[int], folders: Iterable[Path], ports: Sequence[int] | None
) -> None:
    rights = _FILE_RIGHTS[max(known for known in _FILE_RIGHTS if known <= version)]
    ruled = [(1 << rights) - 1]
    if version >= _NET_SINCE:
        ruled.append(0 if ports is None else 0b11)  # to be called, and to call
    if version >= _SCOPES_SINCE:
        ruled.append(0b11)  # no abstract socket of others, and no signal to them
    attributes = struct.pack(f"={len(ruled)}Q", *ruled)
    ruleset = _syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    for file in files:
        _syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", _READ_FILE, file), 0)
    for folder in folders:
        try:
            descriptor = os.open(folder, os.O_PATH)
        except FileNotFoundError:
            continue
        beneath = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        allowed = _READ_FILE | _EXECUTE | (_READ_DIR if beneath else 0)  # a library is mapped to be executed
        _syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", allowed, descriptor), 0)
        os.close(descriptor)
    for port in ports or () if version >= _NET_SINCE else ():
        _syscall(_ADD_RULE, ruleset, _NET_PORT, struct.pack("=QQ", _CONNECT_TCP, port), 0)
    _syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _open_plainly(path: Path) -> int:
    """A plain file, opened from the root on by names that are no links: nobody can have put one in since `path` was
    looked at. Without O_PATH (macOS) it is opened to be read."""
    here = getattr(os, "O_PATH", os.O_RDONLY) | os.O_NOFOLLOW | os.O_NONBLOCK
    folder = os.open(path.anchor, here | os.O_DIRECTORY)
    for name in path.parts[1:-1]:
        outer = folder
        try:
            folder = os.open(name, here | os.O_DIRECTORY, dir_fd=outer)
        finally:
            os.close(outer)
    try:
        file = os.open(path.name, here, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError("is not a plain file")
    return file


def _refuse_system_calls(ports: Sequence[int] | None) -> None:
    if (code := system_call_filter(ports)) is None:
        return
    program = ctypes.create_string_buffer(code, len(code))
    filter_ = ctypes.create_string_buffer(struct.pack("@HP", len(code) // 8, ctypes.addressof(program)))
    _prctl(_PR_SET_SECCOMP, 2, ctypes.addressof(filter_))


def _syscall(number: int, *arguments: int | bytes | None) -> int:
    found = _libc().syscall(ctypes.c_long(number), *map(_passed, arguments))
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(found)


def _prctl(option: int, *arguments: int) -> None:
    values = [*arguments, 0, 0, 0, 0][:4]
    if _libc().prctl(ctypes.c_int(option), *map(ctypes.c_ulong, values)):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _passed(argument: int | bytes | None) -> ctypes.c_long | bytes | None:
    return ctypes.c_long(argument) if isinstance(argument, int) else argument


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc
