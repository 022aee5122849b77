"""The runner of the tests: what it repeats, what it never repeats, and in which environment tests run."""

import os
import pathlib
import re
import shutil
import subprocess
import textwrap

import pytest

import rights
from processes import LIMIT_S
from runner import commands, end_to_end, outcomes, unit

FOLDER = pathlib.Path(__file__).parent

PASSES_THEN = """
    import pathlib
    def once(name, error):
        mark = pathlib.Path(__file__).with_name(name)
        if not mark.exists():
            mark.touch()
            raise error
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """run({file: tests}): (tally, what was printed) of a folder of end-to-end tests."""
    def of(files, side_by_side=0):
        folder = tmp_path / "end_to_end"
        folder.mkdir()
        (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
        (folder / "passes_then.py").write_text(textwrap.dedent(PASSES_THEN))
        (folder / "stream.py").write_text((FOLDER / "stream.py").read_text())
        for name, text in files.items():
            (folder / name).write_text(textwrap.dedent(text))
        monkeypatch.setattr(end_to_end, "FOLDER", folder)
        monkeypatch.setattr(end_to_end, "ALONE", [])
        tally = outcomes.Tally()
        end_to_end.run_all(pathlib.Path("/nowhere"), tally, "", "", side_by_side, {})
        tally.print_end()
        return tally, capsys.readouterr().out

    return of


@pytest.mark.parametrize("side_by_side", [0, 2])
def test_a_test_that_fails_by_chance_is_repeated_and_named(run, side_by_side):
    tally, text = run({"test_a.py": """
        from passes_then import once
        def test_chance(): once("mark", TimeoutError("the machine was busy"))
        def test_fails(): raise TimeoutError("always")
        def test_passes(): pass
        """}, side_by_side)
    assert (tally.passed, tally.failed, tally.unstable) == (2, 1, ["test_a.py::test_chance"])
    assert "\nunstable: test_a.py::test_chance\n" in text and "the machine was busy" in text
    assert text.splitlines()[-2:] == ["1 unstable: test_a.py::test_chance", "2 passed, 1 failed, 0 skipped"]


@pytest.mark.parametrize("name, error", [
    ("test_pagerank.py", "AssertionError('the rank of vertex 3')"),
    ("test_a.py", "RuntimeError('edgewire: ended by SIGSEGV')"),
    ("test_a.py", "RuntimeError('exit status -6: ')"),
    ("test_a.py", "RuntimeError('ERROR: AddressSanitizer: heap-use-after-free')"),
    ("test_a.py", "RuntimeError('tile.cpp:7:5: runtime error: shift exponent 64 is too large')"),
])
def test_wrong_values_and_crashes_are_never_repeated(run, name, error):
    tally, text = run({name: f"""
        from passes_then import once
        def test_it():
            try:
                once("mark", OSError())
            except OSError:
                raise {error}
        """})
    assert (tally.passed, tally.failed, tally.unstable) == (0, 1, []), text


def test_a_fixture_that_fails_and_a_file_that_cannot_be_read_are_failures(run):
    tally, text = run({"test_a.py": """
        import pytest
        @pytest.fixture
        def left_behind():
            yield
            raise OSError("still running")
        def test_it(left_behind): pass
        """, "test_b.py": "import nothing_of_this_name\n"})
    assert tally.passed == 0 and tally.failed >= 2, text
    assert "still running" in text and "nothing_of_this_name" in text


@pytest.mark.parametrize("side_by_side", [0, 2])
def test_each_file_has_a_line_and_each_reason_to_skip_another(run, side_by_side):
    reason = "no " + 100 * "very " + "long reason"
    tally, text = run({"test_a.py": f"""
        import pytest
        @pytest.mark.parametrize("n", range(5))
        def test_skipped(n): pytest.skip("no such  card\\nhere" if n else "{reason}")
        def test_passes(): pass
        """, "test_b.py": """
        import pytest
        pytestmark = pytest.mark.skipif(True, reason="no such card here")
        def test_skipped(): pass
        """, "test_c.py": """
        def test_fails(): raise MemoryError("always")
        """}, side_by_side)
    lines = text.splitlines()
    assert (tally.passed, tally.failed, tally.skipped) == (1, 1, 6) and lines[-1] == "1 passed, 1 failed, 6 skipped"
    for file, came in (("test_a", "1 passed, 5 skipped"), ("test_b", "1 skipped"), ("test_c", "1 failed")):
        assert len(found := [line for line in lines if re.fullmatch(rf"{file}: {came}, \d+\.\d s", line)]) == 1, text
        assert lines.index(found[0]) < lines.index("FAILED  test_c.py::test_fails")
    assert lines[-3:-1] == ["skipped 5: no such card here", f"skipped 1: {reason}"[:116] + " ..."]
    assert "always" in text


def test_skipped_tests_are_named_when_asked_for(capsys):
    tally = outcomes.Tally(verbose=True)
    for name, reason in (("a", "one"), ("b", "another"), ("c", "another")):
        tally.skip(name, reason)
    tally.print_end()
    assert capsys.readouterr().out == ("skipped 2: another\n    b\n    c\nskipped 1: one\n    a\n0 passed, 0 failed, 3 skipped\n")


def test_a_run_that_is_cut_short_tells_of_its_files(capsys):
    files = end_to_end.Files()
    files.take({"files": {"test_a.py": 2, "test_b.py": 1}})
    for name in ("test_a.py::test_one", "test_b.py::test_one"):
        files.take({"name": name, "outcome": "passed", "seconds": 1.5})
        files.take({"ended": name})
    assert capsys.readouterr().out == "test_b: 1 passed, 1.5 s\n"
    files.print_rest()
    assert capsys.readouterr().out == "test_a: 1 passed, 1.5 s\n"


def test_whether_a_folder_is_a_mount_point(tmp_path):
    mounts = tmp_path / "mountinfo"
    mounts.write_text("21 26 0:19 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n26 1 8:1 / / rw - ext4 /dev/sda1 rw\n")
    assert commands.is_mount_point("/", mounts) and commands.is_mount_point("/sys", mounts) and not commands.is_mount_point("/s", mounts)
    mounts.write_text("21 26 0:19 / /proc rw - proc proc rw\n")
    assert not commands.is_mount_point("/", mounts)


@pytest.mark.parametrize("through, why", [
    (["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"], "unshare: unshare failed: Operation not permitted (root needs CAP_SYS_ADMIN)"),
    (["setpriv", "--reuid", "65534", "--clear-groups"], "only root makes some")])
def test_without_a_right_to_make_namespaces_tests_run_all_the_same(tmp_path, through, why):
    if commands.why_together():
        through, why = [], commands.why_together()  # it is so here
    if rights.refusal(*through, "test", "-r", commands.__file__):
        pytest.skip("another user cannot read the tests here")
    script = "from runner.commands import *; run_together_if_need_be(); print(run([*ALONE, 'sh', '-c', 'echo it runs'], 60))"
    done = subprocess.run([*through, "/usr/bin/python3", "-c", script], cwd=commands.ROOT / "tests", capture_output=True, text=True,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.stdout == f"note: tests have no namespaces of their own: {why}\n(0, 'it runs\\n')\n", done


def test_who_becomes_another_user_runs_a_program_that_only_root_can_reach(edgewire, tmp_path):
    """As in a clone below /root. The folder of a test is such a place."""
    shutil.copy(edgewire.program, tmp_path)
    names = ["test_bad_input.py::test_a_graph_without_permission", "test_shell.py::test_too_few_processes_are_named",
             "test_graph_files.py::test_no_permission", "test_compare.py::test_without_root", "test_connecting.py::test_another_user_in_the_pod"]
    status, output = commands.run(["/usr/bin/python3", "-m", "pytest", "-q", *(FOLDER / name for name in names)], LIMIT_S, cwd=commands.ROOT,
                                  env={**os.environ, "EDGEWIRE": str(tmp_path / pathlib.Path(edgewire.program).name)})
    assert status == 0, output
    assert "skipped" not in output or os.geteuid() != 0 or rights.refusal(*rights.through_user(rights.ANOTHER), "true"), output


@pytest.mark.skipif(bool(commands.why_together()), reason=f"no namespaces here: {commands.why_together()}")
def test_no_host_is_missed_where_the_program_makes_some(edgewire, kronecker):
    """Else tests would be skipped in silence."""
    if edgewire("pagerank", kronecker(6), "-p", 2, "-w", 1, "--local-hosts").returncode == 0:
        assert rights.no_hosts() == ""


def test_a_bare_machine_that_cannot_be_made_is_a_skipped_test():
    bare = commands.ROOT / "tests/lab/bare"
    through = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"] if os.geteuid() == 0 else []
    done = subprocess.run([*through, bare, "pip"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "0 passed, 0 failed, 1 skipped"), done
    done = subprocess.run([bare, "demo", "nothing"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stderr.startswith("bare [-r DIR] [-c DIR] [STEP]...: ")


def test_the_environment_is_clean(monkeypatch):
    for name in ("MAKELEVEL", "MAKEFLAGS", "LC_NUMERIC", "EDGEWIRE_SECRET", "EDGEWIRE_HOSTS", "EDGEWIRE_GRAPHS"):
        monkeypatch.setenv(name, "1")
    clean = commands.clean_environment(EDGEWIRE="it")
    assert {name for name in clean if name.startswith(("MAKE", "LC_", "EDGEWIRE"))} == {"LC_ALL", "EDGEWIRE", "EDGEWIRE_GRAPHS"}


@pytest.mark.skipif(bool(commands.why_together()), reason=f"no namespaces here: {commands.why_together()}")
def test_namespaces_end_with_all_that_runs_in_them():
    """An orphan there would hold the pipe open, so that the output would not end."""
    script = "ip -brief address show lo; ls /dev/shm /run/netns; (setsid sleep 1000 &) ; exit 3"
    done = subprocess.run([*commands.ALONE, "sh", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3
    assert "127.0.0.1/8" in done.stdout and "edgewire" not in done.stdout


def test_a_command_that_hangs_ends_with_its_stacks():
    status, output = commands.run(["sh", "-c", "echo begun; sleep 1000; true"], 1)
    assert status == "still running after 1 s" and output.startswith("begun\n")
    assert "sleep 1000" in output


PROGRAM = """#!/bin/sh
for argument; do case $argument in -o=*) results=${{argument#-o=}} ;; esac; done
cat >"$results" <<'END'
<?xml version="1.0"?><doctest><TestSuite><TestCase name="one, two" filename="a.cpp" line="1">{failure}
<OverallResultsAsserts test_case_success="{success}"/></TestCase></TestSuite></doctest>
END
exit {code}
"""


@pytest.mark.parametrize("name, failure, code, repeated", [
    ("launch", '<Expression success="false" type="CHECK"><Original>a</Original></Expression>', 1, 1),
    ("tile", '<Expression success="false" type="CHECK"><Original>a</Original></Expression>', 1, 0),
    ("tile", "<Exception crash=\"false\">timed out</Exception>", 1, 1),
    ("launch", "", 139, 0),
])
def test_unit_tests_are_repeated_unless_a_value_is_wrong(tmp_path, monkeypatch, name, failure, code, repeated):
    monkeypatch.setattr(unit, "ALONE", [])
    program = tmp_path / "program"
    program.write_text(PROGRAM.format(failure=failure, success="false" if failure else "true", code=code))
    program.chmod(0o755)
    tally, later = outcomes.Tally(), []
    unit.report(unit.Program(name, [str(program)], {}), tally, later)
    assert (len(later), tally.failed) == (repeated, 1 - repeated)


@pytest.mark.parametrize("text, crash", [
    ("==9==ERROR: AddressSanitizer: heap-use-after-free on address", True),
    ("WARNING: ThreadSanitizer: data race (pid=9)", True),
    ("graph/codec.cpp:7:9: runtime error: shift exponent 70 is too large", True),
    ("==9==WARNING: AddressSanitizer failed to allocate 0x60000000 bytes", False),
    ("edgewire: 3 of 4 vertices", False),
])
def test_what_is_a_crash(text, crash):
    assert outcomes.is_crash(text) == crash
