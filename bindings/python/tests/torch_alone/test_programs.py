"""Programs under mpirun: those of docs/torch.md and examples/python, and trainings whose losses do not depend on the run."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="torch is not installed: scripts/setup.sh torch FOLDER makes a venv with it")
TREE = pathlib.Path(__file__).resolve().parents[4]
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "torch"))


def run(ranks, *words):
    mpirun = os.environ.get("MPIRUN")
    if not mpirun:
        pytest.skip("MPIRUN is not set to MPI's mpirun")
    command = shlex.split(mpirun)
    command += [str(ranks)] if command[0].endswith("mpirun.sh") else ["-n", str(ranks)]
    # Unbuffered, a line and its end would be written apart, between those of other ranks.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    result = subprocess.run([*command, sys.executable, *map(str, words)], env=environment, capture_output=True, text=True,
                            check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.splitlines()


def blocks(name):
    page = TREE / "docs" / name
    if not page.exists():
        pytest.skip(f"there is no {page}")
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S)


def example(name):
    path = TREE / "examples" / "python" / name
    if not path.exists():
        pytest.skip(f"there is no {path}")
    return path


def test_the_first_program(tmp_path):
    program = tmp_path / "first.py"
    program.write_text(blocks("torch.md")[0])
    assert sorted(run(2, program)) == [f"rank {rank} of 2: [1.0, 1.0, 1.0, 1.0]" for rank in (0, 1)]


def last_loss(lines, word):
    return [float(line.split(" loss ")[1].split()[0]) for line in lines if word in line][-1]


@pytest.mark.parametrize("hook", ["none", "power_of_two"])
def test_digits(hook):
    lines = run(2, example("torch_digits.py"), "--data", TREE / "apps/data/digits.csv", "--epochs", 1, "--hook", hook)
    ours, theirs = last_loss(lines, "tutti"), last_loss(lines, "gloo")
    assert abs(ours - theirs) <= 1e-6 and ours < 2.3


def test_fsdp2():
    lines = run(2, example("torch_fsdp2.py"), "--steps", 3)
    assert [line.split(" loss ")[0] for line in lines] == ["step 0", "step 1", "step 2"]
    assert abs(last_loss(lines, "step") - last_loss(run(2, example("torch_fsdp2.py"), "--steps", 3, "--backend", "gloo"), "step")) <= 1e-6


@pytest.mark.parametrize("ranks", [2, 4])
def test_losses_are_those_of_gloo_and_the_same_bits_in_every_run(ranks):
    from training import close

    ours = run(ranks, TESTS / "torch" / "training.py", "tutti")
    assert ours == run(ranks, TESTS / "torch" / "training.py", "tutti")
    ours, theirs = json.loads(ours[0]), json.loads(run(ranks, TESTS / "torch" / "training.py", "gloo")[0])
    assert ours.keys() == {"ddp", "zero", "fsdp2"} and all(close(ours[way], theirs[way]) for way in ours)


FORK = """
import os, sys
import torch
import torch.distributed as dist
import tutti.torch

dist.init_process_group("tutti", "mpi://")
child = os.fork()
if child == 0:
    sys.exit(5)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
data = torch.ones(3)
dist.all_reduce(data)
sys.stdout.write(f"{data.tolist()}\\n")
"""


def test_a_child_by_fork_leaves_the_groups_to_its_parent(tmp_path):
    program = tmp_path / "fork.py"
    program.write_text(FORK)
    assert run(2, program) == ["[2.0, 2.0, 2.0]"] * 2
