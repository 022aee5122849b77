"""System calls that a sandbox refuses."""

import ctypes
import struct


def refuse(calls):
    """Lets these system calls fail with EPERM from now on, as container engines do (seccomp)."""
    load, equal, answer = 0x20, 0x15, 0x06  # BPF: load a word, jump if equal, return
    steps = [(load, 0, 0, 0)]  # of seccomp_data: nr
    for left, call in zip(range(len(calls), 0, -1), calls):
        steps.append((equal, left, 0, call))
    steps += [(answer, 0, 0, 0x7fff0000), (answer, 0, 0, 0x00050001)]  # allow; EPERM
    program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    filters = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(program)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong]
    assert prctl(38, 1, None, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert prctl(22, 2, ctypes.addressof(filters), 0, 0) == 0  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
