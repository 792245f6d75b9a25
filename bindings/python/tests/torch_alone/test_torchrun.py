"""Ranks that torchrun starts, without mpirun: a world where MPI can make one (MPICH, Intel MPI), else a text that says why not."""
import os
import socket
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: scripts/setup.sh torch FOLDER makes a venv with it")
import tutti._native  # noqa: E402

IS_OPEN_MPI = tutti._native.core().mpi_library().startswith("Open MPI")
needs_pmi = pytest.mark.skipif(IS_OPEN_MPI, reason="Open MPI makes no world without its own launcher")
PROGRAM = """
import os, sys
import torch
import torch.distributed as dist
import tutti.torch

dist.init_process_group("tutti")
rank, size, attempt = dist.get_rank(), dist.get_world_size(), int(os.environ["TORCHELASTIC_RESTART_COUNT"])
torch.manual_seed(7)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(4):
    if step == 2 and rank == 1 and attempt == 0:
        if sys.argv[1] == "raise":
            raise SystemError("as planned")
        if sys.argv[1] == "die":
            os.kill(os.getpid(), 9)
    optimizer.zero_grad()
    model(torch.ones(3, 4)).square().mean().backward()
    optimizer.step()
weights = torch.cat([parameter.detach().view(-1) for parameter in model.parameters()])
everyone = torch.empty(size, len(weights))
dist.all_gather_into_tensor(everyone, weights)
sys.stdout.write(f"rank {rank} of {size}, attempt {attempt}, {bool((everyone == weights).all())}\\n")
"""


def torchrun(tmp_path, how, *options):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_COMM", "PMI", "TORCHELASTIC"))}
    return subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nnodes", "1", "--nproc-per-node", "2",
                           *options, program, how], env=environment, capture_output=True, text=True, timeout=500, check=False)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return str(probe.getsockname()[1])


# A store for each attempt, and one for all of them.
ANYWHERE = "--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"
AT_A_PORT = "--master-port", free_port()


@needs_pmi
@pytest.mark.parametrize("how, options", [("train", ANYWHERE), ("raise", AT_A_PORT), ("die", ANYWHERE)])
def test_training_and_ranks_that_are_started_anew(tmp_path, how, options):
    told = torchrun(tmp_path, how, "--max-restarts", "1", *options)
    assert told.returncode == 0, told.stderr
    assert sorted(told.stdout.splitlines()) == [f"rank {rank} of 2, attempt {int(how != 'train')}, True" for rank in (0, 1)]


@needs_pmi
def test_a_rank_that_dies_ends_the_job(tmp_path):
    told = torchrun(tmp_path, "die", *ANYWHERE)
    assert told.returncode != 0 and "exitcode  : -9" in told.stderr and told.stdout == ""


@pytest.mark.skipif(not IS_OPEN_MPI, reason="this MPI makes a world")
def test_open_mpi_is_refused(tmp_path):
    told = torchrun(tmp_path, "train", *ANYWHERE)
    assert told.returncode != 0 and "makes a world of 2 ranks only by its own launcher: start with `mpirun -n 2" in told.stderr
