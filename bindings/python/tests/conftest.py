"""Run under mpirun: every rank runs the same tests in the same order. Alone they run on one rank."""
import os
import warnings

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def world():
    """mpi4py's communicator of all ranks. MPI is initialised by mpi4py."""
    return pytest.importorskip("mpi4py.MPI", reason="mpi4py is not installed, with which results are compared").COMM_WORLD


@pytest.fixture(scope="session")
def comm(world):
    import tutti

    with tutti.Communicator(world) as made:
        yield made


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item):
    """No rank begins a test before all have ended the one before."""
    warnings.simplefilter("default")
