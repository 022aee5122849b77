"""Disks that fail at one call: whoever runs a command answers its system calls (seccomp_unotify(2)), and spoils one of those about files
in a folder. All other calls go to the system. A short transfer is done as far as it is told. A request to io_uring is changed before the
system sees it. No right of root's is needed, and nothing of the command is replaced."""

import collections
import contextlib
import ctypes
import dataclasses
import errno
import fcntl
import functools
import mmap
import os
import pathlib
import re
import select
import socket
import struct
import subprocess
import threading

from system_calls import installer, numbers, program

NOTIFY = 0x7fc00000  # what the filter does with a call
LISTENER, NO_REPEAT = 8, 32  # flags: gives a descriptor by which calls are answered; signals wait for the answer (Linux 5.19)
RECEIVE, SEND, CONTINUE = 0xc0502100, 0xc0182101, 1
PAGE = 4096

# The argument that has the descriptor, or the path (behind the folder's descriptor where that comes first).
BY_DESCRIPTOR = {**dict.fromkeys("""close fallocate fchmod fchown fdatasync fstat fsync ftruncate getdents64 pread64 preadv pwrite64 pwritev
    read readv write writev""".split(), 0), "mmap": 4}
BY_PATH = {**dict.fromkeys("access chmod lstat mkdir open readlink rmdir stat truncate unlink".split(), (None, 0)),
           **dict.fromkeys("faccessat faccessat2 mkdirat newfstatat openat readlinkat statx unlinkat".split(), (0, 1)),
           "rename": (None, 1), "link": (None, 1), **dict.fromkeys("linkat renameat renameat2".split(), (2, 3))}
RING = "io_uring_enter"
CREATE = "openat to write"
READS = ("read", "pread64", "ring read")
WRITES = ("write", "pwrite64", "ring write")
OPCODES = {4: "ring read", 22: "ring read", 23: "ring write"}  # IORING_OP_READ_FIXED, _READ, _WRITE
SHORT, CUT = "short", "cut"  # half of it, by whole pages where the page cache is passed by; the file ends in its middle when it is mapped


@dataclasses.dataclass(frozen=True)
class Call:
    """A kind of system call and the file, from the folder on. What has no name of its own is `#`."""
    name: str
    file: str

    def __str__(self):
        return f"{self.name} {self.file}"


@dataclasses.dataclass(frozen=True)
class Fault:
    """The call is spoilt when it is made for the n-th time: by an error number, SHORT or CUT. `lasting`: so are all of these kinds from
    then on, of whatever file."""
    call: Call
    number: int
    how: object
    lasting: tuple = ()

    def __str__(self):
        how = errno.errorcode.get(self.how, self.how)
        return f"{how} in {self.call} number {self.number}" + (" and from then on" if self.lasting else "")


def without_chance(path):
    """A path without what is drawn by chance."""
    path = re.sub(r"#\d+( \(deleted\))?$", "#", path)
    path = re.sub(r"edgewire\.tmp\.\w+|\.edgewire-\w{6}", "#", path)
    return re.sub(r"/ids\.\w{16}\.", "/ids.RUN.", path)


class Tracee:
    """A thread that waits for the answer to a call."""

    def __init__(self, thread):
        self.thread = thread

    @functools.cached_property
    def memory(self):
        return open(f"/proc/{self.thread}/mem", "r+b", buffering=0)

    def read(self, address, size):
        return os.pread(self.memory.fileno(), size, address)

    def text(self, address):
        """The string there."""
        text = b""
        while b"\0" not in text:
            at = address + len(text)
            text += self.read(at, PAGE - at % PAGE)  # no further than memory goes
        return os.fsdecode(text.partition(b"\0")[0])

    def named(self, descriptor):
        """The path of an open file; "" where there is none."""
        try:
            return os.readlink(f"/proc/{self.thread}/fd/{descriptor & 0xffffffff}")
        except FileNotFoundError:
            return ""

    def path(self, descriptor, name):
        """The whole path of a name, from a folder on."""
        if os.path.isabs(name):
            return os.path.normpath(name)
        folder = "cwd" if descriptor in (None, 0xffffff9c) else f"fd/{descriptor}"  # AT_FDCWD
        return os.path.normpath(f"{os.readlink(f'/proc/{self.thread}/{folder}')}/{name}")

    def descriptor(self, number):
        """Its open file, as our own descriptor."""
        status = pathlib.Path(f"/proc/{self.thread}/status").read_text()
        process = os.pidfd_open(int(re.search(r"^Tgid:\s*(\d+)", status, re.M)[1]))
        try:
            return get_descriptor(process, number)
        finally:
            os.close(process)

    def requests(self, ring, count):
        """The name of each request that is handed to the ring, where it is in memory, and its bytes."""
        while "SqMask" not in (told := pathlib.Path(f"/proc/{self.thread}/fdinfo/{ring}").read_text()):
            pass  # the kernel is at work on the ring, and then does not wait
        mask, tail = (int(re.search(rf"^{name}:\s*(\w+)", told, re.M)[1], 0) for name in ("SqMask", "SqTail"))
        maps = pathlib.Path(f"/proc/{self.thread}/maps").read_text()
        table = int(re.search(r"^(\w+)-\S+ \S+ 10000000 .*\[io_uring\]", maps, re.M)[1], 16)  # IORING_OFF_SQES
        for entry in range(tail - count, tail):
            at = table + 64 * (entry & mask)
            request = self.read(at, 64)
            yield OPCODES.get(request[0], RING), at, request

    def change(self, at, request):
        os.pwrite(self.memory.fileno(), bytes(request), at)

    def close(self):
        if "memory" in self.__dict__:
            self.memory.close()


def get_descriptor(process, number):
    libc = ctypes.CDLL(None, use_errno=True)
    found = libc.syscall(numbers()["pidfd_getfd"], process, number, 0)
    if found < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    return found


class FaultyDisk:
    """Watches what a command and its children do in a folder, and spoils one call. It lives until all of them have ended."""

    def __init__(self, folder, fault=None):
        self.folder, self.fault = str(folder), fault
        self.calls = collections.Counter()  # how often each one was made
        self.spoilt = False
        self.trouble = None  # of our own
        self.names = {numbers()[name]: name for name in [*BY_DESCRIPTOR, *BY_PATH, RING] if name in numbers()}
        self.install = installer(program(self.names.values(), NOTIFY), LISTENER | NO_REPEAT)
        self.ours, self.theirs = socket.socketpair()
        self.thread = threading.Thread(target=self.answer_all)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.theirs.close()
        self.thread.join()
        self.ours.close()
        if self.trouble is not None:
            raise self.trouble

    def prepare(self):
        """The preexec_fn of the command."""
        socket.send_fds(self.theirs, [b"."], [self.install()])

    def answer_all(self):
        _, (listener, *_), _, _ = socket.recv_fds(self.ours, 1, 1)
        waiting = select.poll()
        waiting.register(listener, select.POLLIN)
        while waiting.poll()[0][1] & select.POLLIN:
            call = bytearray(80)
            with contextlib.suppress(OSError):  # the thread may be killed meanwhile
                fcntl.ioctl(listener, RECEIVE, call)
                number, thread, _, name, _, _, *arguments = struct.unpack("=QIIiIQ6Q", call)
                answer = self.answer_safely(Tracee(thread), self.names[name], arguments)
                value, error = answer or (0, 0)
                fcntl.ioctl(listener, SEND, struct.pack("=QqiI", number, value, -error, 0 if answer else CONTINUE))
        os.close(listener)

    def answer_safely(self, tracee, name, arguments):
        try:
            return self.answer(tracee, name, arguments)
        except Exception as error:
            if os.path.exists(f"/proc/{tracee.thread}"):
                self.trouble = self.trouble or error
        finally:
            tracee.close()

    def answer(self, tracee, name, arguments):
        """The result of a call and its error number; None: the system knows."""
        if name == RING:
            return self.change_requests(tracee, *arguments[:2])
        path = path_of(tracee, name, arguments)
        if (path != self.folder and not path.startswith(f"{self.folder}/")) or ".so" in path:  # of the loader, before the command begins
            return None
        if name == "openat" and arguments[2] & os.O_ACCMODE:
            name = CREATE
            path += "/#" if arguments[2] & os.O_TMPFILE == os.O_TMPFILE else ""
        if not self.spoils(Call(name, without_chance(path[len(self.folder) + 1:]))):
            return None
        if self.fault.how == CUT:
            opened = f"/proc/{tracee.thread}/fd/{arguments[BY_DESCRIPTOR[name]]}"  # also of a file without a name
            os.truncate(opened, os.path.getsize(opened) // 2)
        elif self.fault.how == SHORT:
            return shortened(tracee, name, *arguments[:4])
        return None if self.fault.how == CUT else (0, self.fault.how)

    def spoils(self, call):
        self.calls[call] += 1
        fault = self.fault
        if fault is None:
            return False
        first = call == fault.call and self.calls[call] == fault.number
        self.spoilt = self.spoilt or first
        return first or (self.spoilt and call.name in fault.lasting)

    def change_requests(self, tracee, ring, count):
        for name, at, request in tracee.requests(ring, count) if count > 0 else ():
            if name != RING and self.spoils(Call(name, "")):
                tracee.change(at, changed(request, self.fault.how))


def path_of(tracee, name, arguments):
    """The path of the file that a call is about; "" where it is none."""
    if name in BY_DESCRIPTOR:
        anonymous = name == "mmap" and arguments[3] & mmap.MAP_ANONYMOUS
        return "" if anonymous else tracee.named(arguments[BY_DESCRIPTOR[name]])
    folder, at = BY_PATH[name]
    folder = None if folder is None else arguments[folder] & 0xffffffff
    text = tracee.text(arguments[at])
    return tracee.path(folder, text) if text else tracee.named(folder)


def shortened(tracee, name, descriptor, address, size, offset):
    """Does the first half of a transfer, and gives the result; None where it cannot be cut."""
    ours = tracee.descriptor(descriptor)
    try:
        part = size // 2
        if fcntl.fcntl(ours, fcntl.F_GETFL) & os.O_DIRECT:
            part = part // PAGE * PAGE
        if part == 0:
            return None
        with mmap.mmap(-1, part) as block, memoryview(block) as view:  # at a page
            if name in WRITES:
                view[:] = tracee.read(address, part)
                return (os.pwrite(ours, view, offset) if name == "pwrite64" else os.write(ours, view)), 0
            done = os.preadv(ours, [view], offset) if name == "pread64" else os.readv(ours, [view])
            tracee.change(address, view[:done])
            return done, 0
    finally:
        os.close(ours)


def changed(request, how):
    """A request of which the system does half, or which does nothing and ends with the error (IORING_NOP_INJECT_RESULT)."""
    if how == SHORT:
        size = struct.unpack_from("=I", request, 24)[0]
        part = size // 2 // PAGE * PAGE
        return request if part == 0 else request[:24] + struct.pack("=I", part) + request[28:]
    return struct.pack("=BBHiQQiI", 0, 0, 0, -1, 0, 0, -how, 1) + request[32:40] + bytes(24)


@functools.cache
def why_not():
    """Why calls cannot be answered here; "" where they can."""
    with FaultyDisk("/nowhere") as disk:
        try:
            subprocess.run(["true"], preexec_fn=disk.prepare, check=True)
        except (OSError, subprocess.SubprocessError):
            return "the calls of a command cannot be answered here: this needs Linux 5.19, and a container that allows it"
    return ""
