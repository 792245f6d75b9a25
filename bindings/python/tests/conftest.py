"""Run under mpirun: every rank runs the same tests in the same order. Alone they run on one rank."""
import os
import warnings

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
# These have no use for the ranks: one runs them.
ALONE = ["test_mpi_choice.py", "test_offline.py", "test_pmi_server.py", "test_run.py",
         "test_run_failures.py", "test_schedule_builder.py"]
SIZE = next((os.environ[name] for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE") if name in os.environ), "1")
collect_ignore = ALONE if SIZE != "1" else []


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
