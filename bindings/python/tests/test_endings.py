"""What ends early, late or in an odd order: blocks left by exceptions, plans and operations in cycles, closing in a call."""
import gc
import os
import signal
import subprocess
import sys
import textwrap
import warnings
import weakref

import numpy as np
import pytest
import tutti
from test_process import environment


def test_a_block_that_an_exception_leaves(world):
    """The exception is not hidden by an operation that would never end, and the others learn of it."""
    if world.size == 1:
        pytest.skip("one rank alone waits for nobody")
    with pytest.raises(KeyError if world.rank == 0 else tutti.FailedError, match="mine|left by an exception"):
        with tutti.Communicator(world) as comm:
            if comm.rank == 0:
                request = comm.recv_async(np.zeros(1), 1)
                raise KeyError("mine")
            for _ in range(3):  # what rank 0 has sent may be enough for one
                comm.barrier()
    world.Barrier()
    if world.rank == 0:
        with pytest.raises(tutti.FailedError, match="left by an exception"):
            request.wait()


def test_a_program_that_an_exception_ends():
    """With an operation under way that would wait for others, which wait for it."""
    if any(int(os.environ.get(name, "1")) > 1 for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")):
        pytest.skip("programs are started by one rank alone")
    program = textwrap.dedent("""
        import numpy, tutti
        comm = tutti.Communicator()
        if comm.rank == 0:
            request = comm.recv_async(numpy.zeros(1), 1)
            raise KeyError("mine")
        try:
            for _ in range(3):
                comm.barrier()
        except tutti.FailedError as error:
            print(error, flush=True)
    """)
    mpirun = os.environ.get("MPIRUN", "mpirun -n").split()
    done = subprocess.run([*mpirun, "2", sys.executable, "-c", program], env=environment(), capture_output=True, text=True,
                          timeout=120)
    assert done.returncode != 0 and "KeyError: 'mine'" in done.stderr, done
    assert "the program ended by KeyError" in done.stdout, done


def test_a_dropped_plan_warns_and_waits(comm):
    out = np.zeros(3)
    plan = comm.plan_allreduce(np.ones(3), out=out)
    plan.start()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del plan
    assert out.tolist() == [comm.size] * 3
    assert all("tutti: a plan was dropped before it was over" in str(w.message) for w in caught)
    if comm.size == 1:
        return
    ended = tutti.Communicator()
    plan = ended.plan_recv(np.zeros(1), (ended.rank + 1) % ended.size)  # which nobody sends

    def interrupt(*_):
        raise InterruptedError("enough")

    before = signal.signal(signal.SIGALRM, interrupt)
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        plan.start()
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.warns(ResourceWarning, match="a plan was dropped"):
            del plan
    finally:
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = hook
    assert not ended.is_open
    comm.barrier()
    ended.close()


class Kept(np.ndarray):
    pass


class Model:
    """Its operation is a method of its own."""

    def __init__(self, comm):
        self.x = np.ones(10)
        self.op = tutti.Op(self.add)
        self.plan = comm.plan_allreduce(self.x, self.op)

    def add(self, lhs, rhs, into):
        np.add(lhs, rhs, out=into)


def test_cycles_are_collected(comm):
    def of_request_under_way():
        out = np.ones(10).view(Kept)
        out.request = comm.allreduce_async(np.ones(10), out=out)
        return out

    def of_request():
        out = of_request_under_way()
        out.request.wait()
        return out

    def of_plan():
        out = np.ones(10).view(Kept)
        out.plan = comm.plan_allreduce(np.ones(10), out=out)
        out.plan.start()
        return out

    def of_batch():
        x = np.ones(10).view(Kept)
        x.batch = tutti.Batch(comm)
        x.batch.send(x, tutti.NO_RANK)
        return x

    def of_model():
        model = Model(comm)
        assert model.plan()[0] == comm.size
        model.plan.start()
        return model

    gc.collect()
    for make in (of_request, of_request_under_way, of_plan, of_batch, of_model):
        seen = weakref.ref(make())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
        assert seen() is None, make.__name__
    assert comm.allreduce(1) == comm.size


def test_no_garbage_is_collected_inside_an_operation(comm):
    """A request in it would wait, which it cannot there."""
    seen = []

    def add(lhs, rhs, into):
        seen.append(gc.isenabled())
        np.add(lhs, rhs, out=into)

    comm.allreduce(np.ones(3), tutti.Op(add))
    assert not any(seen) and gc.isenabled()


def test_exceptions_whose_text_fails(world):
    if world.size == 1:
        pytest.skip("one rank alone combines nothing")

    class NoText(Exception):
        def __str__(self):
            raise ValueError("no text")

    class Surrogate(Exception):
        def __str__(self):
            return "\udc80"

    for kind in (NoText, Surrogate):

        def fails(lhs, rhs, into, kind=kind):
            if world.rank == 0:
                raise kind
            into[:] = lhs + rhs

        comm = tutti.Communicator(world)
        with pytest.raises(tutti.FailedError, match=kind.__name__ if world.rank == 0 else None) as caught:
            while True:  # the others may notice in the next call
                comm.allreduce(np.ones(12), tutti.Op(fails), algorithm="ring")
        assert isinstance(caught.value.__cause__, kind) == (world.rank == 0)
        world.Barrier()
        comm.close()


def test_closing_inside_a_call(world):
    comm = tutti.Communicator(world)

    class Count:
        def __index__(self):
            comm.close()
            return 1

    class Array:
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **_):
            comm.close()

    for call in (lambda: comm.allgatherv(np.ones(1), [Count()] * comm.size), lambda: comm.allreduce(Array()),
                 lambda: tutti.Batch(comm).send(Array(), 0)):
        with pytest.raises(tutti.StateError, match="tutti: close: a call on this communicator is under way"):
            call()
    assert comm.allreduce(1) == comm.size
    comm.close()
