"""Every kernel, sort and tasks over RDMA and DPDK: several processes on a host, and two hosts; convert on a host."""

import json

import pytest

import every_command
import lab
from every_command import COMMANDS, ON_A_HOST
from processes import PATIENCE_S
from test_dpdk import missing, network, ports  # noqa: F401, a fixture


@pytest.fixture(scope="module")
def graph(kronecker):
    return kronecker(10)


def compare_with_shm(edgewire, program, folder, command, graph, processes, transport, *options):
    """A job over `transport` by `program` has the result of the same job over shared memory."""
    (folder / "one").mkdir()
    (folder / "other").mkdir()
    shared = ["-p", processes, "-w", 1]
    report = every_command.run(program, folder / "one", command, graph, *shared, "--transport", transport, *options)
    every_command.check(command, report, transport, processes)
    every_command.same_result(command, report, every_command.run(edgewire, folder / "other", command, graph, *shared,
                                                                 "--transport", "shm"))


@pytest.mark.slow
@pytest.mark.machine
@pytest.mark.parametrize("command", ON_A_HOST)
def test_three_processes_of_a_host_over_verbs(edgewire, graph, tmp_path, command):
    compare_with_shm(edgewire, edgewire, tmp_path, command, graph, 3, "verbs")


@pytest.mark.dpdk
@pytest.mark.parametrize("hosts, command", [*((1, command) for command in ON_A_HOST), *((2, command) for command in COMMANDS)])
def test_over_dpdk(edgewire, network, graph, tmp_path, hosts, command):  # noqa: F811
    if missing():
        pytest.skip(missing())
    if hosts == 1:
        compare_with_shm(edgewire, network(3), tmp_path, command, graph, 3, "dpdk", "--dpdk-port", ports(3))
    else:
        compare_with_shm(edgewire, edgewire, tmp_path, command, graph, 2, "dpdk", "--local-hosts", "--dpdk-port", "net_af_packet0,iface=eth0")


@pytest.fixture(scope="module")
def two_machines(edgewire, graph, tmp_path_factory):
    """The folder with the reports of jobs of two processes on each of two machines, over verbs; sorted.N and so on are rank N's."""
    folder = tmp_path_factory.mktemp("machines")
    lab.write_job(folder, ("g.ew", graph))
    (folder / "four").write_text("10.8.0.1:7001\n10.8.0.1:7002\n10.8.0.2:7001\n10.8.0.2:7002\n")
    edgewire.ok("generate", "records", "--bytes", "200k", "-o", folder / "records")
    records = [f"records/{path.name}" for path in sorted((folder / "records").iterdir())]
    jobs = "\n".join(" ".join(map(str, ["four", command, *every_command.words(command, "g.ew", records, "sorted")])) for command in COMMANDS)
    lab.run(f"""
        cd {folder}
        one() {{ # RANK REPORT COMMAND...
          local rank=$1 report=$2
          shift 2
          {edgewire.program} "$@" --hosts four --rank $rank -w 1 --transport verbs --secret-file secret --json $report.$rank \\
            --peer-timeout {PATIENCE_S} --start-timeout {PATIENCE_S}
        }}
        four() {{ one $((2 * MACHINE)) "$@" & one $((2 * MACHINE + 1)) "$@" && wait $!; }}
        set -e
        {jobs}
        """, "-c", "2", machines=2, share=folder)
    return folder


@pytest.mark.slow
@pytest.mark.machine(own=True)
@pytest.mark.parametrize("command", COMMANDS)
def test_two_machines_with_two_processes_each(edgewire, graph, two_machines, tmp_path, command):
    report = json.loads((two_machines / f"{command}.0").read_text())
    every_command.check(command, report, "verbs", 4)
    every_command.same_result(command, report, every_command.run(edgewire, tmp_path, command, graph, "-p", 4, "-w", 1, "--transport", "shm"))
