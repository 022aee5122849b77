"""edgewire tasks: the shapes by which the cost of a task is measured, their reports, and what ends them."""

import contextlib
import json
import os
import random
import signal

import pytest

from job import check_schema
from processes import DEAD_PEER_S, LIMIT_S, LIVE_PEER_S, PATIENCE_S, causes, check_ended, children, cpu_seconds, start_seconds, wait_for

SHAPES = ["number-inc", "yield", "suspend", "iterative", "iterative-j"]
CUTS = [(1, 1, "shm"), (1, 2, "shm"), (2, 1, "shm"), (3, 2, "shm"), (2, 2, "tcp")]


def simulated(shape, count, width):
    """The number that comes out, and how many tasks run: counted as the shape is described."""
    number = tasks = 0
    if shape == "yield":
        return count, count + 1
    for _ in range(count):
        if shape == "number-inc":
            number, tasks = number + 2, tasks + 3
        elif shape == "suspend":
            number, tasks = number + 1, tasks + 1
        else:
            number, tasks = number + width, tasks + width + (shape == "iterative-j")
    return number, tasks + 1


@pytest.mark.sanitize
@pytest.mark.parametrize("shape", [pytest.param(SHAPES[0], marks=pytest.mark.core), *SHAPES[1:]])
def test_shapes_run_their_tasks_wherever_these_are(edgewire, tmp_path, shape):
    path = tmp_path / "report.json"
    for processes, workers, transport in CUTS:
        text = edgewire.ok("tasks", shape, "--count", 70, *(["--width", 5] if "iter" in shape else []), "-p", processes, "-w", workers,
                           "--transport", transport, "--repeat", 2, "--json", path)
        report = json.loads(path.read_text())
        check_schema(report, "tasks_report")
        number, tasks = simulated(shape, 70, 5)
        assert (report["result"], report["tasks"]) == (str(number), tasks)
        assert f"result: {number}\n" in text and f"{tasks} tasks in " in text
        assert len(report["tasks_run"]) == processes and sum(report["tasks_run"]) == tasks and min(report["tasks_run"]) > 0
        assert len(report["seconds_runs"]) == 2 and sum(report["seconds_runs"]) < report["seconds_total"]
        phases = report["seconds_a_task_by_phase"]
        assert (phases["send"] > 0) == (processes > 1) == (report["tasks_sent"] > 0) == (report["payload_bytes_sent"] > 0)
        assert phases["queue"] > 0 and phases["run"] > 0


def test_tasks_cross_the_link_as_the_shape_says(edgewire, tmp_path):
    path = tmp_path / "report.json"
    for shape, sent in (("number-inc", 750), ("yield", 500), ("suspend", 250), ("iterative", 1000), ("iterative-j", 1000)):
        edgewire.ok("tasks", shape, "--count", 500, *(["--width", 4] if "iter" in shape else []), "-p", 2, "-w", 1, "--repeat", 1, "--json", path)
        report = json.loads(path.read_text())
        assert report["tasks_sent"] - report["tasks_moved"] == sent


def aligned(a, b, match, mismatch, gap_open, gap_extend):
    """Score and ends of the best local alignment, by Gotoh's three matrices."""
    never = -10**9
    score, skip_a, skip_b = ({} for _ in range(3))
    best = (0, 0, 0)
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if i == 0 or j == 0:
                score[i, j], skip_a[i, j], skip_b[i, j] = 0, never, never
                continue
            skip_b[i, j] = max(score[i, j - 1] - gap_open - gap_extend, skip_b[i, j - 1] - gap_extend)
            skip_a[i, j] = max(score[i - 1, j] - gap_open - gap_extend, skip_a[i - 1, j] - gap_extend)
            pair = score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else -mismatch)
            score[i, j] = max(0, pair, skip_a[i, j], skip_b[i, j])
            if score[i, j] > best[0]:
                best = score[i, j], i, j
    return best


@pytest.mark.sanitize
def test_smith_waterman_aligns_files(edgewire, tmp_path):
    chance = random.Random(3)
    a = "".join(chance.choices("ACGT", k=230))
    b = "".join(chance.choices("ACGT", k=40)) + a[50:110] + "GATTACA" + a[125:200]
    paths = [tmp_path / "a.fa", tmp_path / "b.fa"]
    for path, letters in zip(paths, (a, b)):
        path.write_text(f">name\n{letters[:60].lower()}\n{letters[60:]}\n")
    for scores, (processes, workers, transport), blocks in (
            ((2, 3, 5, 2), (1, 2, "shm"), "10x10"), ((1, 1, 0, 1), (2, 1, "shm"), "7x31"), ((5, 4, 10, 1), (3, 1, "tcp"), "30x1"),
            ((2, 3, 5, 2), (2, 2, "tcp"), f"{len(a)}x{len(b)}")):
        options = [word for pair in zip(("--match", "--mismatch", "--gap-open", "--gap-extend"), scores) for word in pair]
        report = json.loads(edgewire.ok("tasks", "smith-waterman", "--sequences", *paths, *options, "--blocks", blocks, "-p", processes, "-w", workers,
                                        "--transport", transport, "--repeat", 1, "--verify", "--json", "-"))
        check_schema(report, "tasks_report")
        score, end_a, end_b = aligned(a, b, *scores)
        assert report["result"] == f"score {score}, ends at letter {end_a} of the first and {end_b} of the second sequence"
        rows, columns = map(int, blocks.split("x"))
        assert (report["letters"], report["blocks"], report["verified"]) == ([len(a), len(b)], [rows, columns], True)
        assert report["tasks"] == rows * columns + rows + 1


# Human haemoglobin, alpha and beta (UniProt P69905, P68871).
HAEMOGLOBIN = (
    "MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHGKKVADALTNAVAHVDDMPNALSALSDLHAHKLRVDPVNFKLLSHCLLVTLAAHLPAEFTPAVHASL"
    "DKFLASVSTVLTSKYR",
    "MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPKVKAHGKKVLGAFSDGLAHLDNLKGTFATLSELHCDKLHVDPENFRLLGNVLVCVLAHHFGKEFTPP"
    "VQAAYQKVVAGVANALAHKYH")


def test_smith_waterman_scores_as_biopython_does(edgewire, tmp_path):
    align = pytest.importorskip("Bio.Align")
    chance = random.Random(5)
    long = "".join(chance.choices("ACGT", k=3000))
    relative = "".join(c for c in long if chance.random() > 0.03)  # gaps of one letter and more
    for number, (a, b) in enumerate((HAEMOGLOBIN, (long, relative))):
        paths = [tmp_path / f"{number}{name}.fa" for name in "ab"]
        for path, letters in zip(paths, (a, b)):
            path.write_text(f">it\n{letters}\n")
        for match, mismatch, gap_open, gap_extend in ((2, 3, 5, 2), (5, 4, 10, 1), (1, 1, 0, 1)):
            theirs = align.PairwiseAligner(mode="local", match_score=match, mismatch_score=-mismatch, open_gap_score=-gap_open - gap_extend,
                                           extend_gap_score=-gap_extend)
            report = json.loads(edgewire.ok("tasks", "smith-waterman", "--sequences", *paths, "--match", match, "--mismatch", mismatch,
                                            "--gap-open", gap_open, "--gap-extend", gap_extend, "--blocks", "9x11", "-p", 2, "-w", 1,
                                            "--repeat", 1, "--json", "-"))
            assert report["result"].startswith(f"score {theirs.score(a, b):.0f}, ")


def test_smith_waterman_generates_the_same_sequences_everywhere(edgewire):
    results = {edgewire.ok("tasks", "smith-waterman", "--length", 700, "--blocks", "9x4", "--repeat", 1, "-p", processes, "-w", 1, "--verify").splitlines()[1]
               for processes in (1, 2, 3)}
    assert len(results) == 1 and "score" in results.pop()


def sum_of_rows(width, steps, reach):
    """`reach(t)`: distances to the tasks of the row before."""
    row = [i + 1 for i in range(width)]
    for t in range(1, steps):
        row = [t * 1000003 + i + 1 + sum(row[i + d] for d in reach(t) if 0 <= i + d < width) for i in range(width)]
    return sum(row) % 2**64


@pytest.mark.sanitize
def test_metg(edgewire, tmp_path):
    reaches = {"stencil": lambda t: (-1, 0, 1), "fft": lambda t: (-1 << (t - 1) % 3, 0, 1 << (t - 1) % 3)}
    for pattern, processes, workers, transport in (("stencil", 1, 2, "shm"), ("fft", 2, 1, "shm"), ("stencil", 2, 2, "tcp"), ("random", 3, 1, "shm")):
        report = json.loads(edgewire.ok("tasks", "metg", "--pattern", pattern, "--width", 7, "--steps", 12, "--repeat", 1, "-p", processes,
                                        "-w", workers, "--transport", transport, "--json", "-"))
        check_schema(report, "metg_report")
        assert (report["pattern"], report["width"], report["steps"]) == (pattern, 7, 12)
        assert pattern == "random" or report["result"] == str(sum_of_rows(7, 12, reaches[pattern]))
        levels = report["levels"]
        assert [level["work"] for level in levels] == [2**18 >> i for i in range(len(levels))]
        for level in levels:
            assert abs(level["seconds_a_task"] / (level["seconds"] * processes * workers / 84) - 1) < 1e-9
        assert levels[-1]["work"] == 1 or levels[-1]["efficiency"] < 0.2
        if "seconds_metg" in report:
            above = max(i for i, (longer, shorter) in enumerate(zip(levels, levels[1:]))
                        if longer["efficiency"] >= 0.5 > shorter["efficiency"])
            pair = sorted(level["seconds_a_task"] for level in levels[above:above + 2])
            assert pair[0] <= report["seconds_metg"] <= pair[1]
    text = edgewire.ok("tasks", "metg", "--steps", 50, "-w", 1)
    assert "1 columns x 50 steps" in text and "efficiency" in text
    assert "--pattern" in edgewire.refused("tasks", "metg", "--pattern", "tree", status=2)


def test_what_is_refused(edgewire, tmp_path):
    assert "--count" in edgewire.refused("tasks", "yield", "--count", 0, status=2)
    assert "--width" in edgewire.refused("tasks", "iterative", "--width", 0, status=2)
    assert "--width" in edgewire.refused("tasks", "yield", "--width", 3, status=2)
    assert edgewire("tasks").returncode == 2
    good, bad = tmp_path / "good.fa", tmp_path / "bad.fa"
    good.write_text(">good\nACGT\n")
    bad.write_text(">bad\nAC-GT\n")
    for options, words, status in (
            (["--blocks", "3"], "--blocks 3: say ROWSxCOLUMNS", 2), (["--blocks", "0x1"], "--blocks", 2), (["--blocks", "5x4"], "--blocks", 2),
            (["--sequences", good, bad], "bad.fa:2: a sequence has letters only", 1), (["--sequences", good, tmp_path], "Is a directory", 1),
            (["--sequences", good, tmp_path / "none"], "none: cannot read", 1), (["--sequences", good], "--sequences", 2),
            (["--length", 0], "--length", 2), (["--gap-open", -1], "--gap-open", 2)):
        chosen = [*([] if "--sequences" in options else ["--sequences", good, good]), *([] if "--blocks" in options else ["--blocks", "2x2"])]
        assert words in edgewire.refused("tasks", "smith-waterman", *chosen, *options, "-p", 2, "-w", 1, status=status)
    assert "missing/report.json" in edgewire.refused("tasks", "yield", "--json", tmp_path / "missing/report.json")


def peer_timeout(blow):
    """Only a process that is stopped makes it expire."""
    return DEAD_PEER_S if blow == signal.SIGSTOP else LIVE_PEER_S


@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_process_ends_the_job(edgewire, transport, blow):
    with edgewire.start("tasks", "iterative", "--count", 1 << 39, "-p", 3, "-w", 1, "--transport", transport,
                        "--peer-timeout", peer_timeout(blow)) as process:
        ranks = wait_for(lambda: len(found := children(process.pid)) == 3 and found, "three processes")
        wait_for(lambda: all(cpu_seconds(pid) > 0.05 for pid in ranks), "tasks that run")
        os.kill(ranks[1], blow)
        try:
            _, stderr = process.communicate(timeout=PATIENCE_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 1
    lines = causes(stderr.splitlines())
    assert lines and all("rank 1" in line for line in lines), stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("command", [["iterative", "--count", 1 << 39], ["metg", "--steps", 100_000]], ids=lambda words: words[0])
def test_one_process_says_that_a_signal_ends_the_job(edgewire, command, number):
    with edgewire.start("tasks", *command, "-p", 2, "-w", 1) as process:
        ranks = wait_for(lambda: len(found := children(process.pid)) == 2 and found, "two processes")
        wait_for(lambda: all(cpu_seconds(pid) > start_seconds() + 0.1 for pid in ranks), "tasks that run")
        check_ended(process, number, r"before the result was whole|(before the end of the first (run|level)|after level \d+), "
                                     r"with \d+ tasks run here")


def lose_a_process(edgewire, ranks, victim, blow, *command, timeout_s=None):
    """What a job with --retry ends with: a process, or several, are lost when all work."""
    with edgewire.start("tasks", *command, "-p", ranks, "-w", 1, "--peer-timeout", timeout_s or peer_timeout(blow), "--retry") as process:
        pids = wait_for(lambda: len(found := children(process.pid)) == ranks and found, "all processes")
        wait_for(lambda: all(cpu_seconds(pid) > start_seconds() + 0.1 for pid in pids), "tasks that run")
        for one in [victim] if isinstance(victim, int) else victim:
            os.kill(pids[one], blow)
        try:
            _, stderr = process.communicate(timeout=LIMIT_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, stderr


@pytest.mark.parametrize("ranks, victim, transport, blow", [
    (2, 1, "shm", signal.SIGKILL), (3, 1, "tcp", signal.SIGKILL), pytest.param(4, 3, "shm", signal.SIGSTOP, marks=pytest.mark.slow), (3, 1, "shm", signal.SIGKILL),
    (2, 1, "tcp", signal.SIGSTOP), (4, 2, "tcp", signal.SIGKILL)])
def test_a_job_with_retry_outlives_a_process(edgewire, tmp_path, ranks, victim, transport, blow):
    path = tmp_path / "report.json"
    status, stderr = lose_a_process(edgewire, ranks, victim, blow, "iterative", "--count", 5000, "--width", 8, "--repeat", 20,
                                    "--transport", transport, "--json", path)
    assert status == 0, stderr
    report = json.loads(path.read_text())
    check_schema(report, "tasks_report")
    assert (report["result"], report["lost"], len(report["seconds_runs"])) == ("40000", [victim], 20)
    assert report["tasks_run"][victim] == 0 and min(n for rank, n in enumerate(report["tasks_run"]) if rank != victim) > 0
    assert f"rank {victim} " in stderr and "the others have run its tasks" in stderr


@pytest.mark.parametrize("ranks, transport", [(3, "shm"), (3, "tcp"), (4, "tcp")])
def test_what_other_processes_know_is_not_computed_again(edgewire, tmp_path, ranks, transport):
    path = tmp_path / "report.json"
    status, stderr = lose_a_process(edgewire, ranks, 1, signal.SIGKILL, "smith-waterman", "--length", 20000, "--blocks", "60x60", "--repeat", 1,
                                    "--transport", transport, "--verify", "--json", path)
    assert status == 0, stderr
    report = json.loads(path.read_text())
    assert report["lost"] == [1] and report["verified"] and 0 < report["results_kept"] < 60 * 60


def test_the_loss_of_rank_0_ends_a_job_with_retry(edgewire):
    status, stderr = lose_a_process(edgewire, 3, 0, signal.SIGKILL, "iterative", "--count", 1 << 39)
    assert status == 1 and "rank 0 was ended by signal 9" in stderr


@pytest.mark.parametrize("victims", [[0], [0, 1]], ids=str)
def test_rank_0_of_a_job_with_retry_is_stopped_for_good(edgewire, victims):
    """The others give it up and end; then only the parent can end it. Whether they notice early makes no difference."""
    status, stderr = lose_a_process(edgewire, 3, victims, signal.SIGSTOP, "iterative", "--count", 1 << 39, timeout_s=1)
    assert status == 1 and "rank 0 has not ended 3 s after the others (it is stopped), so it is killed" in stderr, stderr


def test_all_others_may_be_lost(edgewire, tmp_path):
    path = tmp_path / "report.json"
    with edgewire.start("tasks", "number-inc", "--count", 20000, "-p", 4, "-w", 1, "--repeat", 20, "--peer-timeout", DEAD_PEER_S,
                        "--retry", "--json", path) as process:
        pids = wait_for(lambda: len(found := children(process.pid)) == 4 and found, "all processes")
        for pid, blow in ((pids[2], signal.SIGKILL), (pids[1], signal.SIGSTOP), (pids[3], signal.SIGKILL)):
            before = cpu_seconds(pids[0]) + start_seconds()
            wait_for(lambda: cpu_seconds(pids[0]) > before + 0.1 or process.poll() is not None, "tasks that run")
            os.kill(pid, blow)
        _, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, stderr
    report = json.loads(path.read_text())
    assert (report["result"], report["lost"]) == ("40000", [1, 2, 3])


def test_metg_has_no_retry(edgewire):
    assert "--retry" in edgewire.refused("tasks", "metg", "--retry", status=2)
