"""python -m tutti.run where its own output fails, or a rank cannot be started: one line says so, and no rank is left."""
import os
import subprocess
import sys

import pytest
from test_run import ENVIRONMENT, launch, program

FULL = "/dev/full"


def launch_to(output, errors, *arguments):
    """With the streams of the shell's redirections."""
    command = f'exec "$@" {output} {errors}'
    return subprocess.run(["sh", "-c", command, "sh", sys.executable, "-m", "tutti.run", "--any-mpi", *map(str, arguments)],
                          env=ENVIRONMENT, capture_output=True, text=True, timeout=120)


def test_a_program_that_cannot_be_started(tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("neither a script nor a program\n")
    broken.chmod(0o755)
    told = launch("-n", 2, broken)
    assert told.returncode == 126
    assert told.stderr == f"tutti.run: rank 0 cannot be started: {broken}: Exec format error\n"


@pytest.mark.skipif(not os.path.exists(FULL), reason=f"there is no {FULL}")
def test_a_full_disk(tmp_path):
    prog = program(tmp_path, "print(rank, flush=True)\ntime.sleep(60)")
    told = launch_to(f">{FULL}", "", "-n", 2, "--tag-output", prog)
    assert told.returncode == 1 and "Traceback" not in told.stderr
    assert "cannot be passed on (No space left on device); all ranks are ended" in told.stderr
    assert launch_to("", f"2>{FULL}", "-n", 2, program(tmp_path, "sys.exit(3 if rank else 0)")).returncode == 3


def test_a_pipe_that_nobody_reads(tmp_path):
    told = launch_to("| head -n 1", "", "-n", 1, "--tag-output", program(tmp_path, "for i in range(100000): print(i)"))
    assert told.stdout == "[0] 0\n" and "Traceback" not in told.stderr


def test_streams_that_are_closed(tmp_path):
    prog = program(tmp_path, "print(rank)\nopen(sys.argv[1] + str(rank), 'w').close()")
    for tags in ([], ["--tag-output"]):
        told = launch_to("<&- >&-", "2>&-", "-n", 2, *tags, prog, tmp_path / "there")
        assert told.returncode == 0 and (tmp_path / "there0").exists() and (tmp_path / "there1").exists()
        (tmp_path / "there0").unlink()
        (tmp_path / "there1").unlink()
