"""Jobs that Open MPI's mpirun starts on several hosts, and what the environment of a launcher says without one."""

import json
import os
import re
import signal
import subprocess

import numpy as np
import pytest

import graphs
import job as jobs
import reference
from conftest import started_processes
from launchers import (ENDLESS, GRAPH, LAB, PATIENT, TIMEOUT_S, Ranks, ancestor, check_result, check_survivors, clean_up, lab,  # noqa: F401
                       lab_environment, large, lost_host, need, path)
from processes import PATIENCE_S, is_gone, wait_for

# Open MPI gives up a silent host after some 4 s, as docs/cluster.md says, instead of 480. Where Edgewire has to be the first to
# notice, after some 32.
FIRST, LATER = ({f"oob_tcp_keepalive_{name}": value for name, value in (("time", time), ("intvl", time // 2), ("probes", 2))}
                for time in (2, 16))


# ---- what the environment says; no launcher is needed for this ---------------------------------------------------------

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


# ---- mpirun ----------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def hosts(lab_environment):
    need("mpirun", "ip", "nsenter")
    try:
        lab(lab_environment, "hosts", "up", 3)
        yield lab_environment
    finally:
        lab(lab_environment, "hosts", "down")


@pytest.fixture
def mpirun(edgewire, hosts, tmp_path, clean_up):
    """mpirun(hosts, processes of each, arguments...); `first`: what the shell of each process does before,
    `wrapper`: a program that stays between, `keepalive`: when it gives up a silent host"""
    def start(count, each, *arguments, first="", wrapper=(), keepalive=LATER):
        slots = ",".join(f"10.79.{hosts['EDGEWIRE_LAB_NET']}.{10 + i}:{each}" for i in range(count))
        launch = [LAB / "hosts", "run", 0, "mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "plm_rsh_agent",
                  f"{LAB}/hosts agent", "--mca", "oob_tcp_if_include", "eth0",
                  *(word for name, value in keepalive.items() for word in ("--mca", name, value)),
                  "--host", slots, "-n", count * each, *wrapper]
        ranks = Ranks(edgewire, hosts, launch, tmp_path, ["pagerank", *arguments], first)
        clean_up(ranks)
        return ranks

    return start


@pytest.mark.slow
@pytest.mark.launcher
@pytest.mark.parametrize("count, each, transport", [(2, 2, "shm+tcp"), (3, 2, "shm+tcp"), (3, 1, "tcp"), (1, 3, "shm")])
def test_mpirun(mpirun, path, tmp_path, count, each, transport):
    ranks = mpirun(count, each, path, *PATIENT, "-o", tmp_path / "ranks.tsv", "--json", tmp_path / "report.json")
    status, output = ranks.end()
    assert status == 0, output + "\n".join(sum(map(ranks.stderr, range(count * each)), []))
    check_result(tmp_path, count * each, transport)


@pytest.mark.slow
@pytest.mark.launcher
def test_each_host_keeps_its_part_of_the_output(mpirun, path, tmp_path):
    """As on hosts with disks of their own: rank 0's folder is none of the others'."""
    for host in range(2):
        (tmp_path / f"host{host}").mkdir()
    ranks = mpirun(2, 2, path, *PATIENT, "-o", "ranks.tsv", "--output-parts", first=f"cd {tmp_path}/host$((PMIX_RANK / 2))")
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
@pytest.mark.launcher
@pytest.mark.parametrize("victim", [0, 1, 3])
@pytest.mark.parametrize("how, timeout_s, cause", [(signal.SIGKILL, PATIENCE_S, "was lost"), (signal.SIGSTOP, TIMEOUT_S, "(silent|stopped)")],
                         ids=["SIGKILL", "SIGSTOP"])
def test_mpirun_loses_a_rank(mpirun, large, tmp_path, how, timeout_s, cause, victim):
    ranks = mpirun(2, 2, large, *ENDLESS, "--peer-timeout", timeout_s, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    os.kill(pids[victim], how)
    check_survivors(ranks, pids, {victim}, str(victim), cause)
    status, output = ranks.end()
    assert status not in (0, None), output


@pytest.mark.slow
@pytest.mark.launcher
def test_mpirun_with_a_rank_that_is_stopped_at_the_start(mpirun, path):
    ranks = mpirun(1, 2, path, "--start-timeout", 3, first='[ "$PMIX_RANK" = 0 ] || kill -STOP $$')
    status, output = ranks.end()
    assert status not in (0, None), output
    lines = ranks.stderr(0)
    assert len(lines) == 1 and "not all processes have connected within 3 s: one is stopped" in lines[0], lines
    assert "PMIx" not in lines[0]


@pytest.mark.slow
@pytest.mark.launcher
def test_mpirun_loses_a_link(mpirun, hosts, large, tmp_path):
    ranks = mpirun(2, 2, large, *ENDLESS, "--peer-timeout", TIMEOUT_S, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    with lost_host(hosts, "cut"):
        check_survivors(ranks, pids, set(), "[0-3]")
        for rank in range(4):  # of the other side
            assert re.match(rf"edgewire: rank {rank}: rank {'[23]' if rank < 2 else '[01]'}\b", ranks.stderr(rank)[-1])
        wait_for(lambda: not started_processes(), "the end of mpirun and its daemons")
        assert ranks.end()[0] not in (0, None)


@pytest.mark.slow
@pytest.mark.launcher
def test_mpirun_notices_a_lost_link_first(mpirun, hosts, large, tmp_path):
    """With the peer timeout longer than its own, it ends all and names the host."""
    ranks = mpirun(2, 2, large, *ENDLESS, *PATIENT, "-o", tmp_path / "ranks.tsv", keepalive=FIRST)
    pids = ranks.iterate(4)
    with lost_host(hosts, "cut"):
        wait_for(lambda: not started_processes() and all(map(is_gone, pids)), "the end of all")
        status, output = ranks.end()
        assert status not in (0, None) and "lost communication" in output and f"10.79.{hosts['EDGEWIRE_LAB_NET']}.11" in output
        assert not (tmp_path / "ranks.tsv").exists()


@pytest.mark.slow
@pytest.mark.launcher
def test_mpirun_loses_a_host(mpirun, hosts, large, tmp_path):
    """All of it at once: nothing says farewell, as when the power fails."""
    ranks = mpirun(2, 2, large, *ENDLESS, "--peer-timeout", TIMEOUT_S, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    with lost_host(hosts, "vanish"):
        check_survivors(ranks, pids, {2, 3}, "[23]")
        wait_for(lambda: not started_processes(), "the end of mpirun")
        assert ranks.end()[0] not in (0, None)


@pytest.mark.slow
@pytest.mark.launcher
def test_mpirun_is_killed(mpirun, large, tmp_path):
    ranks = mpirun(2, 2, large, *ENDLESS, *PATIENT, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    os.kill(ranks.process.pid, signal.SIGKILL)  # the lab's script became mpirun
    ranks.process.wait(timeout=PATIENCE_S)
    wait_for(lambda: not started_processes() and all(map(is_gone, pids)), "the end of all")
    assert not (tmp_path / "ranks.tsv").exists()


@pytest.mark.slow
@pytest.mark.launcher
@pytest.mark.parametrize("wrapper", [(), ("sh", "-c", '"$@"; exit $?', "sh")], ids=["parent", "behind a shell"])
@pytest.mark.parametrize("victim", ["mpirun", "orted"])
def test_a_part_of_mpirun_is_killed(mpirun, large, tmp_path, victim, wrapper):
    """orted is mpirun's daemon on another host."""
    ranks = mpirun(2, 2, large, *ENDLESS, *PATIENT, "-o", tmp_path / "ranks.tsv", wrapper=wrapper)
    pids = ranks.iterate(4)
    os.kill(ancestor(pids[0 if victim == "mpirun" else 2], victim), signal.SIGKILL)
    wait_for(lambda: all(map(is_gone, pids)), "the end of all")
    assert ranks.end()[0] not in (0, None) and not (tmp_path / "ranks.tsv").exists()
    wait_for(lambda: not started_processes(), "the end of all that was started")


@pytest.mark.slow
@pytest.mark.launcher
@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_many_processes_on_one_host(edgewire, mpirun, path, tmp_path, transport):
    options = [path, "-w", 1, *PATIENT, "--transport", transport, "-o", tmp_path / "ranks.tsv", "--json", tmp_path / "report.json"]
    edgewire.ok("pagerank", *options, "-p", 32)
    check_result(tmp_path, 32, transport)
    ranks = mpirun(1, 32, *options)
    status, output = ranks.end()
    assert status == 0, output
    check_result(tmp_path, 32, transport)


@pytest.mark.slow
@pytest.mark.launcher
def test_an_interface_is_chosen(mpirun, hosts, path, tmp_path):
    network = f"10.79.{hosts['EDGEWIRE_LAB_NET']}.0/24"
    ranks = mpirun(2, 1, path, *PATIENT, "--interface", network, "-o", tmp_path / "ranks.tsv", "--json", tmp_path / "report.json")
    assert ranks.end()[0] == 0
    check_result(tmp_path, 2, "tcp")
    ranks = mpirun(2, 1, path, *PATIENT, "--interface", "eth7")
    assert ranks.end()[0] == 1
    assert ranks.stderr(0) == ["edgewire: --interface eth7: no interface of this host that is up and has an address"]


@pytest.mark.slow
@pytest.mark.launcher
def test_interfaces_are_shared_out(mpirun, hosts, large, tmp_path):
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
            ranks = mpirun(2, 2, large, *PATIENT, "--interface", interfaces, "--iterations", 200, "--json", tmp_path / "report.json")
            status, output = ranks.end()
            assert status == 0, output + "\n".join(sum(map(ranks.stderr, range(4)), []))
            sent = json.loads((tmp_path / "report.json").read_text())["iterations"]
            half = sum(one["payload_bytes_sent"] for one in sent) / 2
            # Rank 0's control plane and mpirun have eth0; a fifth of what one direction carries is more than those have in minutes.
            assert [received(name) - count > half / 5 for name, count in zip(("eth0", "eth1"), before)] == used
    finally:
        subprocess.run(["ip", "-n", names[0], "link", "del", "eth1"], check=True)
