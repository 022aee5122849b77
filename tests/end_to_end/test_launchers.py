"""Jobs that Open MPI's mpirun and Slurm start on several hosts: network namespaces of this machine, see tests/lab."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

import graphs
import job as jobs
import reference
from conftest import MARK, heed_signals, started_processes
from processes import cpu_seconds, is_gone, status_fields, wait_for

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LAB = ROOT / "tests/lab"
GRAPH = "self loops"
TIMEOUT_S = 3
# Open MPI gives up a silent host after some 4 s, as docs/cluster.md says, instead of 480.
KEEPALIVE = {"oob_tcp_keepalive_time": 2, "oob_tcp_keepalive_intvl": 1, "oob_tcp_keepalive_probes": 2}


# ---- what the environment says; no launcher is needed for this ---------------------------------------------------------

@pytest.fixture
def path(tmp_path):
    return reference.write_graph(tmp_path / "g.ew", graphs.make(GRAPH))


@pytest.mark.parametrize("variables, remedy", [
    ({"SLURM_NTASKS": "4", "SLURM_PROCID": "1", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4"}, "srun --mpi=pmix"),
    ({"OMPI_COMM_WORLD_SIZE": "2"}, "PMIx"),
    ({"PMI_SIZE": "3", "PMI_RANK": "0"}, "srun --mpi=pmix"),
    ({"PMIX_RANK": "0", "PMIX_NAMESPACE": "nobody"}, "no answer"),
], ids=["srun", "mpirun", "pmi", "pmix"])
def test_lonely_copies_are_refused(edgewire, path, variables, remedy):
    line = edgewire.refused("pagerank", path, "-o", path.parent / "ranks.tsv", env=variables)
    assert "cannot find each other" in line and remedy in line
    assert not (path.parent / "ranks.tsv").exists()
    edgewire.ok("pagerank", path, "--launcher", "none", env=variables)


@pytest.mark.parametrize("variables, launcher", [
    ({"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4", "PMIX_RANK": "1"}, "srun"),
    ({"OMPI_COMM_WORLD_SIZE": "2", "PMIX_RANK": "1"}, "mpirun"),
], ids=["srun", "mpirun"])
def test_a_comparison_is_refused(edgewire, path, variables, launcher):
    line = edgewire.refused("compare", path, "-o", path.parent / "page.html", status=2, env=variables)
    assert line == f"compare cannot run under {launcher}: start it once, or on every host with --hosts and --rank"
    assert not (path.parent / "page.html").exists()


@pytest.mark.parametrize("variables", [
    {"SLURM_NTASKS": "4", "SLURM_NPROCS": "4", "SLURM_PROCID": "0", "SLURM_JOB_ID": "7"},  # a batch script
    {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"},
    {"OMPI_COMM_WORLD_SIZE": "1", "PMIX_RANK": "0"},
], ids=["batch script", "srun of one", "mpirun of one"])
def test_a_single_process_is_a_local_job(edgewire, path, variables):
    for processes in (1, 2):
        report = json.loads(edgewire.ok("pagerank", path, "-p", processes, "-w", 1, "--json", "-", env=variables))
        assert report["processes"] == processes


# ---- hosts -----------------------------------------------------------------------------------------------------------

def need(*programs):
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    for program in programs:
        if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            pytest.skip(f"{program} is not installed (tools/install-packages)")
    trial = subprocess.run(["unshare", "--net", "true"], capture_output=True)
    if trial.returncode != 0:
        pytest.skip("this machine gives no network namespaces")


@pytest.fixture(scope="module")
def lab_environment():
    """Names of their own for the hosts of this test run."""
    number = os.getpid()
    return {**os.environ, "EDGEWIRE_LAB": f"ew{number}n", "EDGEWIRE_LAB_NET": str(number % 200),
            "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}


def lab(environment, script, *arguments, timeout=60):
    done = subprocess.run([LAB / script, *map(str, arguments)], env=environment, capture_output=True, text=True,
                          timeout=timeout, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def large(edgewire, tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", 10, "-o", path)
    return path


class Ranks:
    """A job under a launcher. Each process leaves its number and its stderr in a file of `folder`."""

    def __init__(self, edgewire, environment, launch, folder, arguments, first=""):
        self.folder = folder
        each = folder / "each"
        each.write_text(f'#!/bin/sh\necho $$ >{folder}/pid.$PMIX_RANK\n{first}\nexec {edgewire.program} "$@" 2>{folder}/stderr.$PMIX_RANK\n')
        each.chmod(0o755)
        self.process = subprocess.Popen([*map(str, launch), str(each), *map(str, arguments)], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                                        start_new_session=True, cwd=folder, preexec_fn=heed_signals,
                                        env={**environment, "TMPDIR": str(folder), **dict([MARK.split("=")])})

    def end(self, timeout=60):
        output, _ = self.process.communicate(timeout=timeout)
        return self.process.returncode, output

    def pids(self, count):
        files = [self.folder / f"pid.{rank}" for rank in range(count)]
        return [int(wait_for(lambda: file.exists() and file.read_text(), file)) for file in files]

    def iterate(self, count):
        pids = self.pids(count)
        wait_for(lambda: min(map(cpu_seconds, pids)) > 0.1, "iterations")
        return pids

    def stderr(self, rank):
        return (self.folder / f"stderr.{rank}").read_text().splitlines()


@pytest.fixture
def clean_up():
    """Launchers have to end by themselves, with all that they have started."""
    started = []
    yield started.append
    try:
        for ranks in started:
            ranks.process.communicate(timeout=120)
        wait_for(lambda: not started_processes(), "the end of all that was started")
    finally:
        for ranks in started:
            if ranks.process.poll() is None:
                os.killpg(ranks.process.pid, signal.SIGKILL)
                ranks.process.communicate()


def check_result(folder, processes, transport):
    report = json.loads((folder / "report.json").read_text())
    jobs.check_schema(report)
    assert report["processes"] == processes and report["transport"] == transport
    ids, ranks = jobs.read_ranks((folder / "ranks.tsv").read_text())
    expected, _ = reference.pagerank(graphs.make(GRAPH))
    assert ids.tolist() == graphs.make(GRAPH).ids().tolist()
    np.testing.assert_allclose(ranks, expected, rtol=1e-6)


def ancestor(pid, name):
    """The process of this name above `pid`."""
    while pid > 1:
        pid = int(status_fields(pid)[1])
        if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == name:
            return pid
    raise AssertionError(f"no {name} above")


def check_survivors(ranks, pids, victims, names, timeout):
    """Every other process ends in time, with one line that names one of the victims."""
    others = [rank for rank in range(len(pids)) if rank not in victims]
    start = time.monotonic()
    wait_for(lambda: all(is_gone(pids[rank]) for rank in others), "the end of the others")
    assert time.monotonic() - start < timeout
    for rank in others:
        lines = [line for line in ranks.stderr(rank) if "warning" not in line]
        assert len(lines) == 1 and re.match(rf"edgewire: rank {rank}: rank ({names})\b", lines[0]), (rank, lines)
    assert not (ranks.folder / "ranks.tsv").exists()


# ---- mpirun ----------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def hosts(lab_environment):
    need("mpirun", "ip", "nsenter")
    lab(lab_environment, "hosts", "up", 3)
    yield lab_environment
    lab(lab_environment, "hosts", "down")


@pytest.fixture
def mpirun(edgewire, hosts, tmp_path, clean_up):
    """mpirun(hosts, processes of each, arguments...); `first`: what the shell of each process does before,
    `wrapper`: a program that stays between"""
    def start(count, each, *arguments, first="", wrapper=()):
        slots = ",".join(f"10.79.{hosts['EDGEWIRE_LAB_NET']}.{10 + i}:{each}" for i in range(count))
        launch = [LAB / "hosts", "run", 0, "mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "plm_rsh_agent",
                  f"{LAB}/hosts agent", "--mca", "oob_tcp_if_include", "eth0",
                  *(word for name, value in KEEPALIVE.items() for word in ("--mca", name, value)),
                  "--host", slots, "-n", count * each, *wrapper]
        ranks = Ranks(edgewire, hosts, launch, tmp_path, ["pagerank", *arguments], first)
        clean_up(ranks)
        return ranks

    return start


@pytest.mark.slow
@pytest.mark.parametrize("count, each, transport", [(2, 2, "shm+tcp"), (3, 2, "shm+tcp"), (3, 1, "tcp"), (1, 3, "shm")])
def test_mpirun(mpirun, path, tmp_path, count, each, transport):
    ranks = mpirun(count, each, path, "-o", tmp_path / "ranks.tsv", "--json", tmp_path / "report.json")
    status, output = ranks.end()
    assert status == 0, output + "\n".join(sum(map(ranks.stderr, range(count * each)), []))
    check_result(tmp_path, count * each, transport)


@pytest.mark.slow
def test_each_host_keeps_its_part_of_the_output(mpirun, path, tmp_path):
    """As on hosts with disks of their own: rank 0's folder is none of the others'."""
    for host in range(2):
        (tmp_path / f"host{host}").mkdir()
    ranks = mpirun(2, 2, path, "-o", "ranks.tsv", "--output-parts", first=f"cd {tmp_path}/host$((PMIX_RANK / 2))")
    status, output = ranks.end()
    assert status == 0, output + "\n".join(sum(map(ranks.stderr, range(4)), []))
    lines = []
    for rank in range(4):
        lines += (tmp_path / f"host{rank // 2}" / f"ranks.tsv.{rank:04}-of-0004").read_text().splitlines()
    assert len(list(tmp_path.glob("host*/*"))) == 4
    ids, values = jobs.read_ranks("\n".join(sorted(lines, key=lambda line: int(line.split()[0]))))
    assert ids.tolist() == graphs.make(GRAPH).ids().tolist()
    np.testing.assert_allclose(values, reference.pagerank(graphs.make(GRAPH))[0], rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1, 3])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=lambda number: number.name)
def test_mpirun_loses_a_rank(mpirun, large, tmp_path, how, victim):
    ranks = mpirun(2, 2, large, "--iterations", 1000000, "--peer-timeout", TIMEOUT_S, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    os.kill(pids[victim], how)
    check_survivors(ranks, pids, {victim}, str(victim), TIMEOUT_S)
    status, output = ranks.end()
    assert status not in (0, None), output


@pytest.mark.slow
def test_mpirun_with_a_rank_that_is_stopped_at_the_start(mpirun, path):
    ranks = mpirun(1, 2, path, "--start-timeout", 3, first='[ "$PMIX_RANK" = 0 ] || kill -STOP $$')
    status, output = ranks.end()
    assert status not in (0, None), output
    lines = ranks.stderr(0)
    assert len(lines) == 1 and "not all processes have connected within 3 s: one is stopped" in lines[0], lines
    assert "PMIx" not in lines[0]


@contextlib.contextmanager
def lost_host(environment, how, *back):
    """Host 1 is not there: `hosts cut` or `hosts vanish`, and what brings it back."""
    lab(environment, "hosts", how, 1)
    try:
        yield
    finally:
        lab(environment, *(back or ("hosts", "mend", 1)))


@pytest.mark.slow
def test_mpirun_loses_a_link(mpirun, hosts, large, tmp_path):
    ranks = mpirun(2, 2, large, "--iterations", 1000000, "--peer-timeout", TIMEOUT_S, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    with lost_host(hosts, "cut"):
        check_survivors(ranks, pids, set(), "[0-3]", TIMEOUT_S + 1)
        for rank in range(4):  # of the other side
            assert re.match(rf"edgewire: rank {rank}: rank {'[23]' if rank < 2 else '[01]'}\b", ranks.stderr(rank)[-1])
        wait_for(lambda: not started_processes(), "the end of mpirun and its daemons", 40)
        assert ranks.end()[0] not in (0, None)


@pytest.mark.slow
def test_mpirun_notices_a_lost_link_first(mpirun, hosts, large, tmp_path):
    """With the peer timeout longer than its own, it ends all and names the host."""
    ranks = mpirun(2, 2, large, "--iterations", 1000000, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    with lost_host(hosts, "cut"):
        wait_for(lambda: not started_processes() and all(map(is_gone, pids)), "the end of all", 10)
        status, output = ranks.end()
        assert status not in (0, None) and "lost communication" in output and f"10.79.{hosts['EDGEWIRE_LAB_NET']}.11" in output
        assert not (tmp_path / "ranks.tsv").exists()


@pytest.mark.slow
def test_mpirun_loses_a_host(mpirun, hosts, large, tmp_path):
    """All of it at once: nothing says farewell, as when the power fails."""
    ranks = mpirun(2, 2, large, "--iterations", 1000000, "--peer-timeout", TIMEOUT_S, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    with lost_host(hosts, "vanish"):
        check_survivors(ranks, pids, {2, 3}, "[23]", TIMEOUT_S + 1)
        wait_for(lambda: not started_processes(), "the end of mpirun", 40)
        assert ranks.end()[0] not in (0, None)


@pytest.mark.slow
def test_mpirun_is_killed(mpirun, large, tmp_path):
    ranks = mpirun(2, 2, large, "--iterations", 1000000, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    os.kill(ranks.process.pid, signal.SIGKILL)  # the lab's script became mpirun
    ranks.process.wait(timeout=10)
    wait_for(lambda: not started_processes() and all(map(is_gone, pids)), "the end of all")
    assert not (tmp_path / "ranks.tsv").exists()


@pytest.mark.slow
@pytest.mark.parametrize("wrapper", [(), ("sh", "-c", '"$@"; exit $?', "sh")], ids=["parent", "behind a shell"])
@pytest.mark.parametrize("victim", ["mpirun", "orted"])
def test_a_part_of_mpirun_is_killed(mpirun, large, tmp_path, victim, wrapper):
    """orted is mpirun's daemon on another host."""
    ranks = mpirun(2, 2, large, "--iterations", 1000000, "-o", tmp_path / "ranks.tsv", wrapper=wrapper)
    pids = ranks.iterate(4)
    os.kill(ancestor(pids[0 if victim == "mpirun" else 2], victim), signal.SIGKILL)
    wait_for(lambda: all(map(is_gone, pids)), "the end of all")
    assert ranks.end()[0] not in (0, None) and not (tmp_path / "ranks.tsv").exists()
    wait_for(lambda: not started_processes(), "the end of all that was started")


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_many_processes_on_one_host(edgewire, mpirun, path, tmp_path, transport):
    options = [path, "-w", 1, "--transport", transport, "-o", tmp_path / "ranks.tsv", "--json", tmp_path / "report.json"]
    edgewire.ok("pagerank", *options, "-p", 32)
    check_result(tmp_path, 32, transport)
    ranks = mpirun(1, 32, *options)
    status, output = ranks.end()
    assert status == 0, output
    check_result(tmp_path, 32, transport)


@pytest.mark.slow
def test_an_interface_is_chosen(mpirun, hosts, path, tmp_path):
    network = f"10.79.{hosts['EDGEWIRE_LAB_NET']}.0/24"
    ranks = mpirun(2, 1, path, "--interface", network, "-o", tmp_path / "ranks.tsv", "--json", tmp_path / "report.json")
    assert ranks.end()[0] == 0
    check_result(tmp_path, 2, "tcp")
    ranks = mpirun(2, 1, path, "--interface", "eth7", "--start-timeout", 3)
    assert ranks.end()[0] == 1
    assert ranks.stderr(0) == ["edgewire: --interface eth7: no interface of this host that is up and has an address"]


@pytest.mark.slow
def test_interfaces_are_shared_out(mpirun, hosts, path, tmp_path):
    """Two links between two hosts, two processes on each: each process takes a link, and both carry values."""
    names = [f"{hosts['EDGEWIRE_LAB']}{host}" for host in range(2)]
    net = f"10.80.{hosts['EDGEWIRE_LAB_NET']}"
    subprocess.run(["ip", "link", "add", "eth1", "netns", names[0], "type", "veth", "peer", "name", "eth1", "netns", names[1]],
                   check=True)
    try:
        for host, name in enumerate(names):
            subprocess.run(["ip", "-n", name, "addr", "add", f"{net}.{10 + host}/24", "dev", "eth1"], check=True)
            subprocess.run(["ip", "-n", name, "link", "set", "eth1", "up"], check=True)

        def received(interface):
            table = subprocess.run(["ip", "netns", "exec", names[1], "cat", "/proc/net/dev"], capture_output=True, text=True)
            return int(re.search(rf"{interface}:\s*(\d+)", table.stdout)[1])

        for interfaces, used in (("eth0", [True, False]), ("eth1", [False, True]), ("eth0,eth1", [True, True])):
            before = [received("eth0"), received("eth1")]
            ranks = mpirun(2, 2, path, "--interface", interfaces, "--iterations", 500, "--json", tmp_path / "report.json")
            status, output = ranks.end()
            assert status == 0, output + "\n".join(sum(map(ranks.stderr, range(4)), []))
            sent = json.loads((tmp_path / "report.json").read_text())["iterations"]
            half = sum(one["payload_bytes_sent"] for one in sent) / 2
            # Rank 0's control plane and mpirun have eth0; a fifth of what one direction carries is more than those.
            assert [received(name) - count > half / 5 for name, count in zip(("eth0", "eth1"), before)] == used
    finally:
        subprocess.run(["ip", "-n", names[0], "link", "del", "eth1"], check=True)


# ---- Slurm -----------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def slurm(lab_environment, tmp_path_factory):
    need("slurmctld", "slurmd", "srun", "munged", "ip", "nsenter")
    environment = {**lab_environment, "EDGEWIRE_LAB": lab_environment["EDGEWIRE_LAB"][:-1] + "s"}
    folder = tmp_path_factory.mktemp("slurm")
    try:
        lab(environment, "slurm", "up", folder)
        yield environment, folder
    finally:
        lab(environment, "slurm", "down", folder)


@pytest.fixture
def srun(edgewire, slurm, tmp_path, clean_up):
    """srun(options, arguments...)"""
    environment, folder = slurm

    def start(options, *arguments):
        launch = [LAB / "slurm", "run", folder, "srun", "--kill-on-bad-exit=1", *options]
        ranks = Ranks(edgewire, environment, launch, tmp_path, ["pagerank", *arguments])
        clean_up(ranks)
        return ranks

    yield start
    lab(environment, "slurm", "run", folder, "scancel", "--user", "root")


@pytest.mark.slow
@pytest.mark.parametrize("nodes, tasks, transport", [(3, 3, "tcp"), (3, 6, "shm+tcp"), (1, 2, "shm")])
def test_srun(srun, path, tmp_path, nodes, tasks, transport):
    ranks = srun(["--mpi=pmix", "-N", nodes, "-n", tasks], path, "-o", tmp_path / "ranks.tsv", "--json",
                 tmp_path / "report.json")
    status, output = ranks.end()
    assert status == 0, output
    check_result(tmp_path, tasks, transport)


@pytest.mark.slow
def test_srun_without_pmix(edgewire, slurm, path):
    environment, folder = slurm
    done = subprocess.run([LAB / "slurm", "run", folder, "srun", "-N2", "-n2", edgewire.program, "pagerank", path],
                          env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.count("edgewire: srun started 2 processes, but they cannot find each other") == 2, done.stderr
    assert "srun --mpi=pmix" in done.stderr


@pytest.mark.slow
def test_a_batch_script(edgewire, slurm, path, tmp_path):
    environment, folder = slurm
    lab({**environment, "EDGEWIRE": edgewire.program}, "slurm", "run", folder, "sbatch", "--wait", "--output",
        tmp_path / "log", "--nodes", 3, "--ntasks-per-node", 1, ROOT / "examples/pagerank.sbatch", path,
        tmp_path / "ranks.tsv")
    (tmp_path / "ranks.json").rename(tmp_path / "report.json")
    check_result(tmp_path, 3, "tcp")
    # The script's own process is alone, whatever the allocation holds.
    script = tmp_path / "alone"
    script.write_text(f"#!/bin/sh\n{edgewire.program} pagerank {path} -o {tmp_path}/alone.tsv\n")
    lab(environment, "slurm", "run", folder, "sbatch", "--wait", "--output", tmp_path / "log", "-N2", "-n4", script)
    assert (tmp_path / "alone.tsv").exists()


@pytest.mark.slow
@pytest.mark.parametrize("victim, how", [(0, signal.SIGKILL), (3, signal.SIGKILL), (2, signal.SIGSTOP)])
def test_srun_loses_a_rank(srun, large, tmp_path, victim, how):
    ranks = srun(["--mpi=pmix", "-N2", "-n4"], large, "--iterations", 1000000, "--peer-timeout", TIMEOUT_S, "-o",
                 tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    os.kill(pids[victim], how)
    check_survivors(ranks, pids, {victim}, str(victim), TIMEOUT_S)
    status, output = ranks.end()
    assert status not in (0, None), output


@pytest.mark.slow
@pytest.mark.parametrize("how", ["scancel", "SIGKILL"])
def test_srun_is_ended(srun, slurm, large, tmp_path, how):
    ranks = srun(["--mpi=pmix", "-N2", "-n4"], large, "--iterations", 1000000, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    if how == "scancel":
        lab(slurm[0], "slurm", "run", slurm[1], "scancel", "--user", "root")
    else:
        os.kill(ranks.process.pid, signal.SIGKILL)
    wait_for(lambda: all(map(is_gone, pids)), "the end of all")
    assert ranks.end()[0] not in (0, None) and not (tmp_path / "ranks.tsv").exists()


@pytest.mark.slow
@pytest.mark.parametrize("wrapper", [(), ("sh", "-c", '"$@"; exit $?', "sh")], ids=["parent", "behind a shell"])
def test_a_step_daemon_is_killed(srun, large, tmp_path, wrapper):
    """slurmstepd is the parent of a step's processes on a host."""
    ranks = srun(["--mpi=pmix", "-N2", "-n4", *wrapper], large, "--iterations", 1000000, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    os.kill(ancestor(pids[3], "slurmstepd"), signal.SIGKILL)
    wait_for(lambda: all(map(is_gone, pids)), "the end of all")
    assert not (tmp_path / "ranks.tsv").exists()


@pytest.mark.slow
def test_srun_loses_a_host(srun, slurm, large, tmp_path):
    """All of it at once, with Slurm's own daemon."""
    ranks = srun(["--mpi=pmix", "-N2", "-n4"], large, "--iterations", 1000000, "--peer-timeout", TIMEOUT_S, "-o",
                 tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    environment, folder = slurm
    with lost_host(environment, "vanish", "slurm", "back", folder, 1):
        check_survivors(ranks, pids, {2, 3}, "[23]", TIMEOUT_S + 1)
        assert ranks.end()[0] not in (0, None)
        wait_for(lambda: not started_processes(), "the end of all that was started")
