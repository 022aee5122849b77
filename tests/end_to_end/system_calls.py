"""System calls that a sandbox refuses."""

import ctypes
import errno
import functools
import os
import re
import struct
import subprocess

ALLOW, FAIL, KILL = 0x7fff0000, 0x00050000, 0x80000000  # what a filter does with a call


@functools.cache
def numbers():
    """The number of each system call on this machine, by its name."""
    said = subprocess.run([os.environ.get("CC", "cc"), "-dM", "-E", "-include", "sys/syscall.h", "-xc", os.devnull], capture_output=True,
                          text=True, check=True)
    return {name: int(number) for name, number in re.findall(r"^#define __NR_(\w+) (\d+)$", said.stdout, re.M)}


def program(names, then, otherwise=ALLOW):
    """A filter that does `then` with these calls, as BPF. This machine may lack some of them."""
    load, equal, answer = 0x20, 0x15, 0x06  # load a word, jump if equal, return
    steps = [(load, 0, 0, 0)]  # of seccomp_data: nr
    for name in names:
        if name in numbers():
            steps += [(equal, 0, 1, numbers()[name]), (answer, 0, 0, then)]
    steps.append((answer, 0, 0, otherwise))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def installer(filter, flags=0):
    """Gives a function that installs a filter in its process, and returns what the system does."""
    steps = ctypes.create_string_buffer(filter)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong]
    libc.syscall.argtypes = [ctypes.c_long, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_void_p]
    number = numbers()["seccomp"]

    def install():
        head = ctypes.create_string_buffer(struct.pack("@HP", len(filter) // 8, ctypes.addressof(steps)))
        assert libc.prctl(38, 1, None, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
        result = libc.syscall(number, 1, flags, ctypes.addressof(head))  # SECCOMP_SET_MODE_FILTER
        assert result >= 0, os.strerror(ctypes.get_errno())
        return result

    return install


def refusing(*names, error=errno.EPERM):
    """A preexec_fn: these system calls fail with this error, as container engines let them (seccomp)."""
    return installer(program(names, FAIL | error))


def allowing(names):
    """A preexec_fn: any other system call kills the process."""
    return installer(program(names, ALLOW, KILL))
