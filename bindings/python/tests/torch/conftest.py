"""Run under mpirun (tests/python/torch.sh): every rank runs the same tests in the same order."""
import os
import warnings

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
torch = pytest.importorskip("torch", reason="torch is not installed: scripts/setup.sh torch FOLDER makes a venv with it")
import torch.distributed as dist  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def world():
    """The default group is over Tutti."""
    import tutti.torch  # noqa: F401  (mpi://)

    torch.set_num_threads(1)
    warnings.simplefilter("default")
    dist.init_process_group("tutti", "mpi://")
    yield dist.group.WORLD
    dist.destroy_process_group()


@pytest.fixture(scope="session")
def gloo(world):
    return dist.new_group(backend="gloo")


@pytest.fixture
def compiled():
    """For tests of what the backend in Python does not do."""
    import tutti.torch

    if tutti.torch._native() is None:
        pytest.skip("the compiled backend alone does it")


@pytest.fixture
def rank(world):
    return dist.get_rank()


@pytest.fixture
def size(world):
    return dist.get_world_size()


@pytest.fixture
def group(world):
    """One of the test's own, which it may spoil."""
    made = dist.new_group(backend="tutti")
    yield made
    dist.destroy_process_group(made)
