"""Local hosts (network namespaces of this machine, made by the program) and comparisons over them."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import xml.etree.ElementTree as ET

import pytest

import rights
import viewer
from job import check_schema
from processes import LIMIT_S, PATIENCE_S, children, wait_for
from units import readable_bytes

needs_hosts = pytest.mark.skipif(bool(rights.no_hosts()), reason=rights.no_hosts())

APART = """mount -t tmpfs none /run && ip link set lo up && ip link add ew0 type veth peer name ew1 &&
  ip link set ew0 up && ip link set ew1 up && ip addr add 10.78.0.1/24 dev ew0 && echo ready && exec cat"""


@pytest.fixture(scope="module")
def apart():
    """What runs the command that follows where only these tests make names: in a network namespace with an interface that
    has an address, and a mount namespace. Nothing for users who may not have them."""
    if rights.no_hosts():
        yield []
        return
    with subprocess.Popen(["unshare", "--net", "--mount", "sh", "-c", APART], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as keeper:
        made = keeper.stdout.readline() == "ready\n"
        yield ["nsenter", f"--target={keeper.pid}", "--net", "--mount", "--"] if made else []
        keeper.stdin.close()


@pytest.fixture(scope="module")
def edgewire(edgewire, apart):
    return type(edgewire)(edgewire.program, apart)


def namespace_of(pid):
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/ns/net")


def named_things(apart):
    """What a user would see of namespaces and devices."""
    return {words: subprocess.run([*apart, "ip", *words.split()], capture_output=True, text=True, check=True).stdout
            for words in ("netns", "-brief link show type veth", "-brief link show type bridge")}


@pytest.fixture(scope="module")
def graph(edgewire, tmp_path_factory):
    path = tmp_path_factory.mktemp("compare") / "k12 <&\">.ew"
    edgewire.ok("generate", "kronecker", "--scale", 12, "-o", path)
    return path


@pytest.fixture
def nothing_remains(apart):
    """No test leaves a name in the system; what has no name goes with its processes, and these are checked."""
    before = named_things(apart)
    yield
    assert named_things(apart) == before


@needs_hosts
def test_a_file_in_another_format_is_converted_once(edgewire, tmp_path, nothing_remains, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "g.wel").write_text("".join(f"{v} {v * 7 % 100} 1\n" for v in range(100)))
    done = edgewire("compare", tmp_path / "g.wel", "-p", 2, "--rate", "1G", "--strategy", "process", "--repeat", 1, "--iterations", 3,
                    "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("converted for this run") == 1 and list((tmp_path / "tmp").iterdir()) == []
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["graph"] == str(tmp_path / "g.wel") and report["edges"] == 100
    assert f"{tmp_path}/g.wel has weights, which are ignored: --weighted uses them" in report["notes"]


def pagerank(edgewire, graph, folder, *options):
    report = folder / "report.json"
    edgewire.ok("pagerank", graph, "-w", 1, "--json", report, "--deterministic", *options)
    return json.loads(report.read_text())


@needs_hosts
@pytest.mark.parametrize("processes", [2, 3])
def test_local_hosts_compute_the_same(edgewire, graph, tmp_path, nothing_remains, processes):
    here = pagerank(edgewire, graph, tmp_path, "-p", processes, "--transport", "shm", "--strategy", "slots")
    there = pagerank(edgewire, graph, tmp_path, "-p", processes, "--local-hosts", "--rate", "1G", "--strategy", "slots")
    assert there["checksum"] == here["checksum"]
    assert (here["transport"], there["transport"]) == ("shm", "tcp")
    assert there["bound"]["wire_bytes"] > there["bound"]["payload_bytes"]


@needs_hosts
def test_the_link_is_as_slow_as_it_should_be(edgewire, graph, tmp_path, nothing_remains):
    """A link of 10 Mbit/s carries no more from the first byte on, but for two frames that it passes at once in each direction."""
    report = pagerank(edgewire, graph, tmp_path, "-p", 2, "--local-hosts", "--rate", "10M", "--strategy", "process")
    wire_s = report["bound"]["seconds_at"]["1G"] * 100
    whole = sum(one["seconds"] for one in report["iterations"])
    burst_s = 2 * 2 * 1538 * 8 / 10e6
    assert whole > len(report["iterations"]) * wire_s - burst_s


@needs_hosts
def test_no_row_is_above_what_its_link_allows(edgewire, graph, tmp_path, nothing_remains):
    """Runs so short that an idle link's first burst would be a large part of them are made longer."""
    edgewire.ok("compare", graph, "-p", 2, "--rate", "10M,100M", "--strategy", "process,cover", "--repeat", 1, "--iterations",
                2, "--json", tmp_path / "rows.json")
    found = json.loads((tmp_path / "rows.json").read_text())
    check_schema(found, "compare_report")
    for row in found["rows"][1:]:
        assert row["seconds_per_iteration"] > 0.98 * row["bound_seconds"] > 0
        assert "above_limit" not in row


class Endless:
    """A run on two local hosts that would take hours."""

    def __init__(self, edgewire, graph):
        self.process = edgewire.start("pagerank", graph, "-p", 2, "-w", 1, "--local-hosts", "--rate", "1G", "--iterations",
                                      1000000)
        wait_for(self.has_hosts, "the hosts")

    def has_hosts(self):
        self.pids = children(self.process.pid)
        namespaces = {namespace_of(pid) for pid in [self.process.pid, *self.pids]}
        return len(self.pids) == 2 and len(namespaces) == 3 and not {namespace_of(os.getpid()), None} & namespaces

    def check_gone(self, status):
        """With its processes, and with these their namespaces."""
        _, stderr = self.process.communicate(timeout=PATIENCE_S)
        assert self.process.returncode == status, stderr
        wait_for(lambda: not any(map(namespace_of, self.pids)), "the end of its processes")
        return stderr.splitlines()


@needs_hosts
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing(edgewire, graph, nothing_remains, number):
    run = Endless(edgewire, graph)
    os.kill(run.process.pid, number)
    run.check_gone(128 + number)


@needs_hosts
@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_process_is_named_and_leaves_nothing(edgewire, graph, nothing_remains, victim):
    run = Endless(edgewire, graph)
    os.kill(run.pids[victim], signal.SIGKILL)
    lines = run.check_gone(1)
    assert any(f"rank {victim} (10.77.0.{victim + 1})" in line for line in lines), lines


@needs_hosts
def test_killing_the_parent_leaves_nothing(edgewire, graph, nothing_remains):
    run = Endless(edgewire, graph)
    os.kill(run.process.pid, signal.SIGKILL)
    run.check_gone(-signal.SIGKILL)


@needs_hosts
@pytest.mark.parametrize("options, status, text", [
    (["-p", 1, "--local-hosts"], 2, "--local-hosts needs --processes from 2"),
    (["-p", 2, "--local-hosts", "--rate", "fast"], 2, "'fast' is not a line rate"),
    (["-p", 2, "--rate", "1G"], 2, "--rate shapes the links of --local-hosts"),
])
def test_bad_options_of_local_hosts(edgewire, graph, options, status, text):
    assert text in edgewire.refused("pagerank", graph, *options, status=status)


@needs_hosts
def test_without_iproute2(edgewire, graph, tmp_path):
    """PATH is empty and /usr/sbin hidden, in a mount namespace of its own."""
    result = subprocess.run(["unshare", "--mount", "sh", "-c",
                             'mount -t tmpfs none /usr/sbin && [ ! -e /sbin/ip ] && PATH=/nowhere exec "$@"', "sh",
                             edgewire.program, "pagerank", graph, "-p", "2", "--local-hosts"],
                            capture_output=True, text=True)
    if result.returncode != 1 or "edgewire" not in result.stderr:
        pytest.skip(f"cannot hide /usr/sbin here: {result.stderr}")
    assert result.stderr == ("edgewire: --local-hosts: cannot start ip: No such file or directory "
                             "(apt-get install iproute2)\n")


@needs_hosts
@pytest.mark.parametrize("tool, options", [("ip", []), ("tc", ["--rate", "1G"])])
def test_a_tool_that_is_stopped_is_killed_and_named(edgewire, graph, nothing_remains, tmp_path, tool, options):
    """The parent has no rank yet that could notice it."""
    stub = tmp_path / tool
    stub.write_text("#!/bin/sh\nkill -STOP $$\n")
    stub.chmod(0o755)
    line = edgewire.refused("pagerank", graph, "-p", 2, "--local-hosts", *options, "--peer-timeout", 1,
                            env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert re.fullmatch(rf"--local-hosts: {tool} \(process \d+\) was stopped for [\d.]+ s, so it is killed", line), line
    pid = int(re.search(r"\d+", line)[0])
    assert not os.path.exists(f"/proc/{pid}")


@pytest.mark.parametrize("command", [["pagerank", "-p", 2, "--local-hosts"], ["compare", "-p", 2]])
def test_without_root(rightless, graph, open_folder, command):
    shutil.copy(graph, open_folder / "g.ew")
    result = rightless(command[0], "g.ew", *command[1:], cwd=open_folder)
    assert result.returncode == 1
    assert re.fullmatch(r"edgewire: .* needs root .*\n", result.stderr)


@pytest.fixture(scope="module")
def compared(edgewire, graph, tmp_path_factory):
    """The files of one comparison, and what it printed."""
    folder = tmp_path_factory.mktemp("compared")
    result = edgewire("compare", graph, "-p", 2, "--rate", "1G,10G", "--strategy", "worker,cover", "--repeat", 2,
                      "--iterations", 10, "-o", folder / "report.html", "--json", folder / "rows.json", "--csv",
                      folder / "rows.csv")
    assert result.returncode == 0, result.stderr
    return folder, result


@needs_hosts
def test_rows_of_a_comparison(compared, nothing_remains):
    folder, result = compared
    found = json.loads((folder / "rows.json").read_text())
    check_schema(found, "compare_report")
    rows = found["rows"]
    assert [(row["processes"], row["strategy"], row["rate"]) for row in rows] == [
        (1, "none", "none"), (2, "worker", "1G"), (2, "worker", "10G"), (2, "cover", "1G"), (2, "cover", "10G")]
    for row in rows:
        assert row["workers"] == 1 and row["runs"] == 2
        assert 0 < row["seconds_per_iteration_min"] <= row["seconds_per_iteration"] <= row["seconds_per_iteration_max"]
        assert row["seconds_total"] > 0
    for slow, fast in (rows[1:3], rows[3:5]):
        assert slow["bound_seconds"] == pytest.approx(10 * fast["bound_seconds"])
        assert slow["payload_bytes"] == fast["payload_bytes"] > 0
        assert slow["predicted_seconds"] >= slow["bound_seconds"] > 0
        assert slow["limited_by"] in ("wire", "cores") and slow["transport"] == "tcp"
        error = (slow["predicted_seconds"] - slow["seconds_per_iteration"]) / slow["seconds_per_iteration"]
        assert slow["prediction_error"] == pytest.approx(error)
    assert rows[3]["payload_bytes"] < rows[1]["payload_bytes"] / 2
    assert any("one process was added" in note for note in found["notes"])
    assert len((folder / "rows.csv").read_text().splitlines()) == 6
    assert "prediction error: " in result.stdout and len(result.stderr.splitlines()) == 14


@needs_hosts
def test_the_page_is_well_formed_and_complete(compared, graph):
    text = (compared[0] / "report.html").read_text()
    page = ET.fromstring(text)  # strict: expat
    assert page.find("head/meta[@name='viewport']") is not None
    assert page.findtext("head/title") == "PageRank: 1G against 10G"
    assert str(graph) in page.findtext(".//p[@class='subtitle']")
    assert len(page.findall(".//svg")) == 3
    assert len(page.findall(".//tbody/tr")) == 5
    assert not re.search(r"https?:|<script|nan|\binf\b", text)


@needs_hosts
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_the_page(compared, tmp_path, width):
    """As a person sees it: nothing is wider than the window, and the browser has nothing to say on its console."""
    page = compared[0] / "report.html"
    frame = tmp_path / "frame.html"
    # Chromium's windows are never narrower than 500 pixels; a frame is.
    frame.write_text(f"""<!DOCTYPE html><iframe id="f" style="width:{width}px;height:900px;border:0" src="{page.as_uri().replace('"', '%22')}"></iframe>
      <script>onload = () => {{ const d = document.getElementById("f").contentDocument.documentElement;
        document.body.dataset.found = [d.clientWidth, d.scrollWidth, d.querySelectorAll("svg rect").length,
          getComputedStyle(d.querySelector("table")).borderCollapse].join(" "); }}</script>""")
    result = subprocess.run([viewer.find_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                             f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr", "--v=0",
                             f"--window-size={width + 100},1000", "--dump-dom", frame.as_uri()],
                            capture_output=True, text=True, timeout=LIMIT_S)
    assert "CONSOLE" not in result.stderr, result.stderr
    found = re.search(r'data-found="([^"]*)"', result.stdout)
    assert found, result.stdout[:2000] + result.stderr[-2000:]
    client, scroll, bars, collapse = found[1].split()
    assert width - 20 <= int(client) and int(scroll) <= int(client)  # a scroll bar may take some
    assert int(bars) == 6 and collapse == "collapse"  # drawn and styled


@needs_hosts
def test_ownerships_side_by_side(edgewire, graph, tmp_path, nothing_remains):
    """Strategies that do not go with an ownership are left out, and {} stands for the number of processes."""
    vertices = json.loads(edgewire.ok("info", graph, "--json", "-"))["vertices"]
    for processes in (2, 3):
        (tmp_path / f"parts-{processes}").write_text("".join(f"{v % processes}\n" for v in range(vertices)))
    parts = f"{tmp_path}/parts-{{}}"
    result = edgewire("compare", graph, "-p", "2,3", "--rate", "1G", "--strategy", "edge,slots", "--ownership", f"hash,hilbert,{parts}",
                      "--repeat", 1, "--iterations", 2, "-o", tmp_path / "r.html", "--json", tmp_path / "r.json", "--csv", tmp_path / "r.csv")
    assert result.returncode == 0, result.stderr
    found = json.loads((tmp_path / "r.json").read_text())
    check_schema(found, "compare_report")
    asked = [(processes, ownership, strategy) for processes in (2, 3) for ownership, strategies in (
        ("hash", ["edge", "slots"]), ("hilbert", ["slots"]), (parts.replace("{}", str(processes)), ["edge", "slots"]))
        for strategy in strategies]
    rows = found["rows"][1:]
    assert [(row["processes"], row["ownership"], row["strategy"]) for row in rows] == asked
    assert [line.rsplit(",", 1)[1] for line in (tmp_path / "r.csv").read_text().splitlines()[2:]] == [f'"{one[1]}"' for one in asked]
    assert any(note.startswith("left out: edge with hilbert, ") for note in found["notes"])
    page = ET.fromstring((tmp_path / "r.html").read_text())
    tables = [[["".join(cell.itertext()) for cell in line] for line in table.iter("tr")] for table in page.iter("table")]
    assert len(tables) == 3  # for each number of processes, and all runs
    for processes, table in zip((2, 3), tables):
        sent = {(row["strategy"], row["ownership"]): f", {readable_bytes(row['payload_bytes'])}, " for row in rows if row["processes"] == processes}
        assert table[0] == ["strategy", "hash", "hilbert", parts.replace("{}", str(processes))]
        assert [line[0] for line in table[1:]] == ["edge", "slots"] and table[1][2] == "-"
        for line in table[1:]:
            for ownership, cell in zip(table[0][1:], line[1:]):
                assert cell == "-" or sent[line[0], ownership] in cell
        assert f"{processes} processes x 1 worker, tcp, 1G\nstrategy" in result.stdout


@needs_hosts
def test_a_failing_run_ends_the_comparison(edgewire, graph, tmp_path, nothing_remains):
    result = edgewire("compare", graph, "-p", 2, "--transport", "shm", "-o", tmp_path / "r.html")
    assert result.returncode == 2
    assert "--transport shm: the processes are on several hosts" in result.stderr
    assert result.stderr.splitlines()[-1] == "edgewire: compare: the run 2 x 1, shm, worker, 1G failed"
    assert not (tmp_path / "r.html").exists()


@needs_hosts
def test_an_interrupted_comparison_leaves_nothing(edgewire, graph, tmp_path, nothing_remains):
    # The first run has no hosts, so runs are short. There are so many of them that they do not end before the signal.
    process = edgewire.start("compare", graph, "-p", 2, "--iterations", 2000, "--repeat", 100, "-o", tmp_path / "r.html")
    wait_for(lambda: any(namespace_of(grandchild) not in (namespace_of(process.pid), None) for child in children(process.pid)
                         for grandchild in children(child)), "the hosts")
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == -signal.SIGTERM
    assert not (tmp_path / "r.html").exists()


@needs_hosts
@pytest.mark.parametrize("options, text", [
    (["-p", 1], "nothing to compare with one process"),
    (["-p", 2, "--rate", "1G,"], "--rate: '1G,' has an empty item"),
    (["-p", 2, "--strategy", "best"], "no strategy 'best'"),
    (["-p", 2, "--ownership", "grid", "--strategy", "edge,process"], "nothing remains to compare: left out: edge and process with grid"),
    (["-p", 2, "--interface", "lo"], "--interface is for a host list"),
    (["-p", 2, "--json", "-", "--csv", "-"], "--json - and --csv -: only one of them can have stdout"),
])
def test_bad_options_of_compare(edgewire, graph, options, text):
    assert text in edgewire.refused("compare", graph, *options, status=2)


def run_both_ranks(edgewire, *command):
    other = edgewire.start(*command, "--rank", 1)
    edgewire.ok(*command, "--rank", 0)
    stdout, stderr = other.communicate(timeout=PATIENCE_S)
    assert other.returncode == 0, stderr
    assert stdout == ""  # rank 0 reports


def test_a_host_list_compares_interfaces(edgewire, graph, tmp_path, hosts, apart):
    """Two processes of a host list on this machine; values travel over the address of an interface."""
    listed = subprocess.run([*apart, "ip", "-4", "-o", "addr", "show", "up", "scope", "global"], capture_output=True, text=True)
    if not (found := re.search(r"^\d+: (\S+)", listed.stdout)):
        pytest.skip("no interface with an IPv4 address here")
    common = ["compare", graph, *hosts(2)[:4], "--repeat", 1, "--iterations", 3, "--strategy", "slots", "--interface", found[1], "--rate", "10G", "--json",
              tmp_path / "r.json"]
    run_both_ranks(edgewire, *common)
    rows = json.loads((tmp_path / "r.json").read_text())["rows"]
    assert [(row["rate"], row.get("interface")) for row in rows] == [("none", None), ("10G", found[1])]
