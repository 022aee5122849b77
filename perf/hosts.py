"""Two test hosts on one machine: network namespaces joined by a veth pair that tbf shapes. Needs root and iproute2."""

import contextlib
import os
import signal
import subprocess

from measure import Failed, run

# Bursts with which TCP reaches the rate of a token bucket.
BURSTS = {"1G": "256kb", "10G": "2mb"}
ADDRESSES = ("10.78.0.1", "10.78.0.2")


class Hosts:
    """Two namespaces and the link between them."""

    def __init__(self):
        self.names = [f"ewlink{os.getpid()}{side}" for side in "ab"]

    def __enter__(self):
        try:
            for name in self.names:
                run(["ip", "netns", "add", name])
            run(["ip", "link", "add", "eth0", "netns", self.names[0], "type", "veth", "peer", "name", "eth0", "netns",
                 self.names[1]])
            for name, address in zip(self.names, ADDRESSES):
                run(["ip", "-n", name, "addr", "add", f"{address}/24", "dev", "eth0"])
                run(["ip", "-n", name, "link", "set", "eth0", "up"])
                run(["ip", "-n", name, "link", "set", "lo", "up"])
                # As `edgewire --local-hosts` does, where the kernel has it.
                subprocess.run(["ip", "-n", name, "route", "change", "10.78.0.0/24", "dev", "eth0", "proto", "kernel",
                                "scope", "link", "src", address, "congctl", "cubic"], check=False)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)

    def shape(self, rate):
        for name in self.names:
            tc = ["ip", "netns", "exec", name, "tc", "qdisc"]
            subprocess.run([*tc, "del", "dev", "eth0", "root"], stderr=subprocess.DEVNULL, check=False)
            if rate != "none":
                run([*tc, "add", "dev", "eth0", "root", "tbf", "rate", f"{rate.lower()}bit", "burst",
                     BURSTS.get(rate, "2mb"), "latency", "50ms"])

    def on(self, side, *command):
        """The command as it runs on a host, on a core of its own."""
        cores = sorted(os.sched_getaffinity(0))
        return ["ip", "netns", "exec", self.names[side], "taskset", "-c", str(cores[-1 - side % len(cores)]),
                *map(str, command)]


def write_job(folder, addresses=ADDRESSES):
    """What a job over these hosts needs, as `hosts` and `secret` in the folder."""
    (folder / "hosts").write_text("".join(f"{address}\n" for address in addresses))
    (folder / "secret").touch(mode=0o600)
    (folder / "secret").write_bytes(os.urandom(32))


@contextlib.contextmanager
def beside(command, timeout_s=30):
    """A program that runs while another is looked at; it must end well, within `timeout_s` of the other."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                               text=True, start_new_session=True)
    try:
        yield process
        _, stderr = process.communicate(timeout=timeout_s)
        if process.returncode != 0:
            raise Failed((stderr.strip().splitlines() or [f"{command[0]} failed"])[-1])
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
