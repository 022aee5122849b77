"""What only some users may do on some machines. A test that needs such a right asks by trying it, not by who runs the test, and is
skipped with the reason where it has none."""

import functools
import os
import subprocess
import tempfile

import pytest

ANOTHER = 65534  # a user and a group that own nothing
HOSTS = "ip link set lo up && ip link add eth0 type veth peer name eth1 && ip link add switch type bridge"


@functools.cache
def refusal(*command):
    """Why a command fails here, in a line; empty when it succeeds."""
    try:
        tried = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as error:
        return str(error)
    return "" if tried.returncode == 0 else (tried.stderr.strip() or f"exit status {tried.returncode}").splitlines()[0]


def no_hosts():
    """Why there can be no network namespaces with links between them; empty where there can."""
    why = refusal("unshare", "--net", "--mount", "sh", "-c", HOSTS)
    return f"no hosts as network namespaces here ({why})" if why else ""


def need_hosts():
    if why := no_hosts():
        pytest.skip(why)


@functools.cache
def no_gifts():
    """Why files cannot be given to another user; empty where they can."""
    with tempfile.NamedTemporaryFile() as file:
        try:
            os.chown(file.name, ANOTHER, ANOTHER)
        except OSError as error:
            return f"files cannot be given to another user here ({error.strerror})"
    return ""


def through_user(user):
    """What runs a command as a user without rights."""
    return ["env", "-u", "XDG_RUNTIME_DIR", "setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"]


def need_user(user, program):
    """Skips the test where this user cannot run the program."""
    if why := refusal(*through_user(user), str(program), "--version"):
        pytest.skip(f"another user cannot run the program here ({why.rpartition(': ')[2]})")
