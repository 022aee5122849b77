"""Each call to a disk that a command makes, spoilt in one run after the other. What is only late or short costs time; anything else ends
the run with a line that names the file and the cause, or was not needed. Nothing half-written is left, and an older output stays."""

import dataclasses
import errno
import json
import os
import random
import re
import shutil

import pytest

from faulty_disk import CREATE, CUT, READS, RING, SHORT, WRITES, Call, Fault, FaultyDisk, why_not, without_chance
from processes import PATIENCE_S
from system_calls import refusing
from test_bad_input import cause_of
from test_webgraph import write_webgraph

SEED = os.environ.get("EDGEWIRE_TEST_SEED")  # none: all calls are spoilt, each at one to three of the times that it is made
WHOLE_SEED = "1"
FEW = 3  # faults of a case by a seed
BEFORE = "what was there before\n"


@dataclasses.dataclass
class Case:
    """A command. `make`: what is run before, or done with the folder. `older`: outputs that are there. `apart`: outputs that do not depend
    on each other, so that one may be there without the next. `kept`: what a run may leave that fails, and the next one uses. `varies`: what
    is different each time."""
    run: str
    make: tuple = ("generate kronecker --scale 8 --undirected -o g.ew",)
    older: str = ""
    apart: str = ""
    kept: str = "-"
    varies: str = "-"
    environment: dict = dataclasses.field(default_factory=dict)
    refused: tuple = ()


def made(name):
    return lambda folder: (folder / name).mkdir()


def private(name, content):
    """A file that nobody else may read."""
    def write(folder):
        (folder / name).write_text(content)
        (folder / name).chmod(0o600)
    return write


GRAPH = "generate kronecker --scale 8 --undirected -o g.ew"
WEIGHTED = f"{GRAPH} --weights"
LIST = (WEIGHTED, "convert g.ew -o g.wel")
RECORDS = ("generate records --bytes 6M --files 2 -o in",)
SORT = "sort in/records-00000 in/records-00001 --memory 4400k -w 1 -o out"
RANKS = "pagerank g.ew --deterministic -w 1 -o ranks.tsv"
LARGER = ("generate kronecker --scale 11 --undirected -o g.ew", made("disk"))
TILES = RANKS + " --iterations 2 --strategy slots --edges disk --devices disk"
ROWS = "bfs g.ew --source 0 -w 1 -o ranks.tsv --edges disk --devices disk"
STATE = RANKS + " -p 2 --checkpoint state --every 2"
NO_RING = ("io_uring_setup",)
CASES = {
    "generate": Case("generate kronecker --scale 8 -o out.ew", older="out.ew", make=()),
    "generate records": Case("generate records --bytes 200k --files 2 -o out", make=()),
    "convert": Case("convert g.wel -w 1 -o out.ew", LIST, "out.ew"),
    "convert to a table": Case("convert g.ew -w 1 -o out.csv.gz", older="out.csv.gz"),
    "convert names": Case("convert g.csv --labels -w 1 -o out.ew", (WEIGHTED, "convert g.ew -o g.csv"), "out.ew out.ew.labels"),
    "convert in little memory": Case("convert g.wel --memory 72M -w 1 -o out.ew", (WEIGHTED.replace("8", "15"), LIST[1]), "out.ew"),
    "convert -p 2": Case("convert g.wel --memory 100M -p 2 -w 1 -o out.ew", LIST, "out.ew"),
    "convert --parts": Case("convert g.wel --parts -p 2 -w 1 -o out/", LIST),
    "sort": Case(SORT, RECORDS),
    "sort without io_uring": Case(SORT + " --temp temp", (*RECORDS, made("temp")), refused=NO_RING),
    "sort -p 2": Case(SORT + " -p 2 --partitions 3", RECORDS),
    "sort, verified": Case("sort in/records-00000 -w 1 --verify -o out", ("generate records --bytes 200k -o in",)),
    "owners": Case(RANKS + " -p 2 --ownership owners", (GRAPH, private("owners", "0\n1\n" * 128)), "ranks.tsv"),
    "hosts": Case(RANKS + " --hosts hosts --rank 0 --secret-file secret", (GRAPH, private("hosts", "127.0.0.1\n"), private("secret", "s" * 32)), "ranks.tsv"),
    "WebGraph": Case("convert w.graph -w 1 -o out.ew", (lambda folder: write_webgraph(folder / "w.graph", [[1, 2], [0], [1]]),), "out.ew"),
    "checkpoint": Case(STATE + " --iterations 9", older="ranks.tsv", kept="state", varies="state"),
    "checkpoint, resumed": Case(STATE + " --iterations 9 --resume state", (GRAPH, STATE + " --iterations 5"), "ranks.tsv", "", "state", "state"),
    "plan cache, written": Case(RANKS + " -p 2 --plan-cache=plans", (GRAPH, made("plans")), "ranks.tsv", "", "plans", "plans"),
    "plan cache, read": Case(RANKS + " -p 2 --plan-cache=plans", (GRAPH, made("plans"), RANKS + " -p 2 --plan-cache=plans"), "ranks.tsv", "", "plans", "plans"),
    "tiles, written": Case(TILES + " -p 2", LARGER, "ranks.tsv", "", "(disk|g.ew.edges-.*)", "(disk|g.ew.edges-.*)"),
    "tiles, read": Case(TILES, (*LARGER, TILES), "ranks.tsv", "", "(disk|g.ew.edges-.*)", "(disk|g.ew.edges-.*)"),
    "tiles, read without io_uring": Case(TILES, (*LARGER, TILES), "ranks.tsv", "", "(disk|g.ew.edges-.*)", "(disk|g.ew.edges-.*)", refused=NO_RING),
    "rows, written": Case(ROWS + " -p 2", LARGER, "ranks.tsv", "", "(disk|g.ew.edges-.*)", "(disk|g.ew.edges-.*)"),
    "rows, read": Case(ROWS, (*LARGER, ROWS), "ranks.tsv", "", "(disk|g.ew.edges-.*)", "(disk|g.ew.edges-.*)"),
    "results": Case("pagerank g.ew --deterministic -w 1 -o out.csv --json report.json", (GRAPH,), "out.csv report.json", "out.csv report.json", varies="report.json"),
    "results in parts": Case("pagerank g.ew --deterministic -w 1 -p 2 -o out.json --output-parts", (GRAPH,), "out.json.0001-of-0002"),
    "profile": Case("profile -o page.html --trace trace.json -- pagerank g.ew -w 1 -p 2", (GRAPH,), "page.html", "page.html trace.json", varies="(page.html|trace.json)"),
    "a list for this run": Case("bfs -q g.wel --source 0 -w 1 -o levels.tsv", (*LIST, made("temp")), "levels.tsv", environment={"TMPDIR": "temp"}),
}

# What costs only time, and what ends a run, by the call. What tells of a file or takes it away again may be needless.
LATE = {"read": (SHORT, errno.EINTR), "pread64": (SHORT, errno.EINTR), "write": (SHORT, errno.EINTR), "pwrite64": (SHORT, errno.EINTR),
        "ring read": (SHORT, errno.EINTR, errno.EAGAIN), "ring write": (SHORT, errno.EINTR, errno.EAGAIN),
        "fallocate": (errno.EINTR, errno.EOPNOTSUPP), "ftruncate": (errno.EINTR,), "fsync": (errno.EINTR,), "fdatasync": (errno.EINTR,),
        "close": (errno.EINTR,), "openat": (errno.EINTR,), CREATE: (errno.EINTR,)}
FULL = (*WRITES, "fallocate", CREATE, "mkdir", "linkat")
FATAL = {**dict.fromkeys(READS, (errno.EIO,)), **dict.fromkeys(WRITES, (errno.ENOSPC, errno.EDQUOT, errno.EIO)), "openat": (errno.EIO,),
         CREATE: (errno.ENOSPC, errno.EIO), "fallocate": (errno.ENOSPC, errno.EIO), "ftruncate": (errno.EIO,), "mmap": (errno.ENOMEM, CUT),
         "linkat": (errno.ENOSPC, errno.EIO, errno.EPERM), "rename": (errno.ENOSPC, errno.EIO), "mkdir": (errno.ENOSPC, errno.EDQUOT),
         "close": (errno.EIO,), "getdents64": (errno.EIO,), "fchmod": (errno.EIO,), "fsync": (errno.EIO,), "fdatasync": (errno.EIO,),
         **dict.fromkeys("fstat newfstatat statx access readlink unlink rmdir".split(), (errno.EIO,))}
THRICE = (*READS, *WRITES, "fallocate", "linkat", "mmap")  # at the first time, the last and another, where all calls are spoilt
LASTING = {errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EIO: READS + WRITES}


def tree(folder):
    """All below the folder: files with their bytes."""
    return {without_chance(str(path.relative_to(folder))): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def like(names, pattern):
    return {name for name in names if re.fullmatch(rf"{pattern}(/.*)?", name)}


class Sweep:
    """Runs of one case, each in a copy of the same folder."""

    def __init__(self, edgewire, place, case):
        self.edgewire, self.case = edgewire, case
        self.folder, self.origin = place / "here", place / "origin"
        self.origin.mkdir()
        for command in case.make:
            if callable(command):
                command(self.origin)
            else:
                edgewire.ok(*command.split(), cwd=self.origin)
        for name in case.older.split():
            (self.origin / name).write_text(BEFORE)
        self.belong_together = not case.apart and (" " in case.older or "--output-parts" in case.run)
        self.before = tree(self.origin)
        _, self.calls = self.run()
        self.right = tree(self.folder)

    def run(self, fault=None):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.origin, self.folder)
        refuse = refusing(*self.case.refused) if self.case.refused else lambda: None
        with FaultyDisk(self.folder, fault) as disk:
            def prepare():
                disk.prepare()
                refuse()

            result = self.again(preexec_fn=prepare)
        if fault is None:
            assert result.returncode == 0, result.stderr
            return result, disk.calls
        return result, disk.spoilt

    def again(self, **options):
        return self.edgewire(*self.case.run.split(), cwd=self.folder, env=self.case.environment, timeout=PATIENCE_S, **options)

    def faults(self, table):
        """Each of them at one to three of the times that its call is made; few by the seed."""
        found = []
        chance = random.Random(f"{SEED or WHOLE_SEED} {self.case.run}")
        for call in sorted(self.calls, key=str):
            count = self.calls[call]
            for how in table.get(call.name, ()):
                times = {chance.randint(1, count)} | ({1, count} if call.name in THRICE else set())
                found += [Fault(call, number, how, chance.choice([(), LASTING.get(how, ())])) for number in sorted(times)]
        return chance.sample(found, min(FEW, len(found))) if SEED else found

    def trouble(self, fault, late):
        """What is wrong with the end of the run; "" for nothing."""
        result, spoilt = self.run(fault)
        left = tree(self.folder)
        if result.returncode == 0:
            return self.trouble_of_success(fault, left)
        if result.returncode != 1 or late or not spoilt:
            return f"it ends with {result.returncode}: {result.stderr}"
        return self.trouble_of_line(fault, result.stderr) or self.trouble_of_rest(fault, left)

    def trouble_of_success(self, fault, left):
        allowed = self.aside(fault, left)
        missing = set(self.right) - set(left)
        if self.case.kept != "-" and "--checkpoint" not in self.case.run:  # a cache, which a run can do without
            missing -= like(missing, self.case.kept)
        more = set(left) - set(self.right) - allowed
        if missing or more:
            return f"it succeeds without {sorted(missing)} and with {sorted(more)}"
        wrong = [name for name, content in left.items() if name in self.right and not self.is_right(name, content)]
        return f"it succeeds with another {wrong}" if wrong else ""

    def aside(self, fault, left):
        """What has a name aside that may stay: what cannot be taken away."""
        return {name for name in left if "#" in name and fault.call.name in ("unlink", "rmdir")}

    def is_right(self, name, content):
        """Whether this is what an undisturbed run leaves; of what varies, whether it is whole."""
        if not like([name], self.case.varies):
            return content == self.right[name]
        if name.endswith(".json"):
            return content.endswith(b"}\n") and bool(json.loads(content))
        return not name.endswith(".html") or content.endswith(b"</html>\n")

    def trouble_of_line(self, fault, stderr):
        try:
            cause = without_chance(cause_of(stderr))
        except AssertionError:
            return f"it says {stderr}"
        named = ["here", ".: ", *(word for word in re.split(r"[ /=]", self.case.run) if re.search(r"[./]|out|disk|plans|state|in|temp|hosts|secret|owners", word))]
        named += self.case.environment.values()
        if fault.call.file and "#" not in fault.call.file:
            named = [fault.call.file, *([*named, *self.before] if fault.lasting else [])]  # what comes next may be of another file
        if not any(name in cause for name in named):
            return f"it does not name {named}: {cause}"
        why = "" if fault.how == CUT else os.strerror(fault.how)  # a file that is cut is found damaged in many ways
        return "" if why in cause else f"it does not say {why}: {cause}"

    def trouble_of_rest(self, fault, left):
        kept = {name for name in like({*left, *self.before}, self.case.kept) if "#" not in name} | self.aside(fault, left)
        if fault.how == CUT:
            kept |= {fault.call.file}  # by us
        if fault.call.name == "rename" and self.belong_together:  # the others have their names already, or have lost their older ones
            kept |= {name for name in self.right if left.get(name, self.right[name]) == self.right[name]}
        kept |= {name for name in self.case.apart.split() if name in left and self.is_right(name, left[name])}
        wrong = {name for name in {*left, *self.before} - kept if left.get(name, "") != self.before.get(name, "")}
        if wrong:
            return f"it fails, and leaves {sorted(wrong)}"
        return "" if fault.how == CUT else self.trouble_of_next()

    def trouble_of_next(self):
        """Of a run on an undisturbed disk, with what this one has left for it."""
        if self.case.kept == "-":
            return ""
        if "--checkpoint" in self.case.run:
            shutil.rmtree(self.folder / "state", ignore_errors=True)
            if "--resume" in self.case.run:
                return ""
        result = self.again()
        if result.returncode != 0:
            return f"the next run ends with {result.returncode}: {result.stderr}"
        wrong = [name for name in self.case.older.split() if (self.folder / name).read_bytes() != self.right[name]]
        return f"the next run has another {wrong}" if wrong else ""


@pytest.fixture(scope="module")
def sweep(edgewire, tmp_path_factory):
    """sweep(case): its Sweep, made once."""
    if why := why_not():
        pytest.skip(why)
    made = {}

    def of(case):
        if case not in made:
            made[case] = Sweep(edgewire, tmp_path_factory.mktemp("disk"), CASES[case])
        return made[case]

    return of


@pytest.mark.matrix(1 / 4)
@pytest.mark.parametrize("table", [LATE, FATAL], ids=["late", "fatal"])
@pytest.mark.parametrize("case", CASES)
def test_a_call_that_is_spoilt(sweep, case, table):
    runs = sweep(case)
    wrong = []
    for fault in runs.faults(table):
        if trouble := runs.trouble(fault, table is LATE):
            print(f"seed {SEED or WHOLE_SEED}: {fault}: {trouble}")
            wrong.append(fault)
    assert not wrong, f"{len(wrong)} faults end badly, see stdout"
