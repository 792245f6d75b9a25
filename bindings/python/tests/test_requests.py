"""Requests and plans: completion, time limits, asyncio, arrays that are kept, requests that are dropped."""
import asyncio
import gc
import sys
import threading
import warnings
import weakref

import numpy as np
import pytest
import tutti

COLLECTIVES = ["allreduce", "reduce_scatter", "allgather", "alltoall", "scan", "exscan", "broadcast", "reduce", "gather"]


@pytest.mark.parametrize("name", COLLECTIVES)
def test_three_forms_agree(comm, name):
    def x():
        return np.arange(comm.size * 2.0) + comm.rank

    expected = getattr(comm, name)(x())
    request = getattr(comm, name + "_async")(x())
    given = x()
    plan = getattr(comm, "plan_" + name)(given)
    for result in (request.wait(), plan()):
        np.testing.assert_array_equal(result, expected)
    given[:] = x()
    plan.start()
    np.testing.assert_array_equal(plan.wait(), expected)
    assert plan.wait() is plan.out and plan.test()


def test_forms_of_blocks(comm):
    p, rank = comm.size, comm.rank
    counts = [r + 1 for r in range(p)]
    mine = np.full(rank + 1, rank)
    everything = np.repeat(np.arange(p), counts)
    np.testing.assert_array_equal(comm.allgatherv_async(mine, counts).wait(), everything)
    np.testing.assert_array_equal(comm.plan_allgatherv(mine, counts)(), everything)
    np.testing.assert_array_equal(comm.reduce_scatterv_async(everything, counts).wait(), p * mine)
    np.testing.assert_array_equal(comm.alltoallv_async(np.arange(p), [1] * p, [1] * p).wait(), [rank] * p)
    x = np.arange(2 * p) if rank == 0 else None
    out = np.empty(2, int)
    assert comm.scatter_async(x, out=out).wait() is out
    comm.plan_scatterv(x, [2] * p if rank == 0 else None, out=out)()
    assert out.tolist() == [2 * rank, 2 * rank + 1]
    gathered = comm.gatherv_async(mine, counts).wait()
    assert (gathered == everything).all() if rank == 0 else gathered is None
    assert comm.barrier_async().wait() is None
    assert comm.plan_barrier()() is None


def test_request(comm):
    request = comm.allreduce_async(np.ones(3))
    y = request.wait()
    assert y.tolist() == [comm.size] * 3
    assert request.wait() is y and request.result is y and request.test() and request.done
    assert not request.cancel()
    with pytest.raises(tutti.ArgumentError, match="tutti: wait: timeout is -1; allowed: None, and 0 and more seconds"):
        request.wait(timeout=-1)


def test_blocking_and_nonblocking_calls_meet(comm):
    for root in range(comm.size):
        if comm.rank == root:
            y = comm.allreduce(np.ones(3))
        else:
            y = comm.allreduce_async(np.ones(3)).wait()
        assert y.tolist() == [comm.size] * 3


def test_many_at_once(comm):
    requests = [comm.allreduce_async(np.full(100, i)) for i in range(20)]
    for i, request in enumerate(requests):
        assert (request.wait() == i * comm.size).all()


def test_arrays_are_kept(comm):
    class Kept(np.ndarray):
        pass

    x = np.ones(1000).view(Kept)
    seen = weakref.ref(x)
    request = comm.allreduce_async(x)
    if not request.done:
        del x
        gc.collect()
        assert seen() is not None or request.done
    assert (request.wait() == comm.size).all()
    x = None
    gc.collect()
    assert seen() is None, "a request that is over keeps no array"
    x = np.ones(10).view(Kept)
    seen = weakref.ref(x)
    plan = comm.plan_allreduce(x)
    del x
    gc.collect()
    assert seen() is not None
    assert (plan() == comm.size).all()
    del plan
    gc.collect()
    assert seen() is None


def test_a_dropped_request_warns_and_waits(comm):
    out = np.zeros(3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        comm.allreduce_async(np.ones(3), out=out)
    assert out.tolist() == [comm.size] * 3
    assert [(w.category, str(w.message)) for w in caught] == [
        (ResourceWarning, "tutti: a request was dropped before it was over; its destructor waits for it")
    ]


def test_time_limit(comm):
    """A receive that no message meets yet: with the limit over, the operation goes on."""
    out = np.zeros(1)
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    if comm.size == 1:
        pytest.skip("a message to the rank itself needs a Batch")
    request = comm.recv_async(out, left)
    for limit in (0, 0.001):
        with pytest.raises(TimeoutError, match="tutti: wait: the time is over, and the operation goes on"):
            request.wait(timeout=limit)
        with pytest.raises(tutti.StateError, match="tutti: result: the operation is not over; wait for it"):
            request.result
    comm.barrier()
    comm.send(np.full(1, 7.0), right)
    assert request.wait(timeout=60) is out and out[0] == 7


def test_asyncio(comm):
    async def one(i):
        return await comm.allreduce_async(np.full(3, i))

    async def all_of_them():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        other = asyncio.create_task(tick())
        results = await asyncio.gather(*(one(i) for i in range(4)))
        other.cancel()
        return results, ticks

    results, ticks = asyncio.run(all_of_them())
    assert [y.tolist() for y in results] == [[i * comm.size] * 3 for i in range(4)]
    assert ticks > 0


def test_plan_facts(comm):
    plan = comm.plan_allreduce(np.ones(10), algorithm="ring")
    assert plan.algorithm == "ring" and plan.explain().startswith("allreduce of 10 elements of fp64 on")
    plan()
    assert comm.plan_allreduce(np.ones(10), "max").out.shape == (10,)


def test_threads(comm):
    """Two threads, each with a communicator of its own."""
    results = {}

    def work(name, own):
        results[name] = [own.allreduce(np.full(100, i)).sum() for i in range(50)]

    others = [tutti.Communicator(comm_of) for comm_of in _duplicates(2)]
    threads = [threading.Thread(target=work, args=(i, other)) for i, other in enumerate(others)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: [k * 100 * comm.size for k in range(50)] for i in range(2)}
    for other in others:
        other.close()


def _duplicates(count):
    from mpi4py import MPI

    return [MPI.COMM_WORLD.Dup() for _ in range(count)]


def test_close_while_a_request_is_under_way(world):
    comm = tutti.Communicator(world)
    request = comm.allreduce_async(np.ones(3))
    comm.close()
    assert request.wait().tolist() == [comm.size] * 3


def test_errors_are_raised_again(world):
    """A call with other counts on one rank: each rank that notices raises, and the communicator is unusable."""
    if world.size == 1:
        pytest.skip("one rank cannot differ from itself")
    comm = tutti.Communicator(world)
    request = comm.allreduce_async(np.ones(3 if comm.rank == 0 else 4))
    with pytest.raises(tutti.FailedError) as first:
        request.wait()
    with pytest.raises(tutti.FailedError) as second:
        request.wait()
    assert str(first.value) == str(second.value) and first.value.status == 5
    assert "allreduce" in comm.status
    with pytest.raises(tutti.FailedError):
        comm.allreduce(1)
    world.Barrier()
    comm.close()


def test_abort(world):
    comm = tutti.Communicator(world)
    if world.size == 1:
        comm.abort("enough")
    else:
        request = comm.recv_async(np.zeros(1), (comm.rank + 1) % comm.size)
        comm.abort("enough")
        with pytest.raises(tutti.FailedError, match="enough"):
            request.wait()
    assert not comm.is_open
    with pytest.raises(tutti.StateError, match="enough"):
        comm.allreduce(1)
    world.Barrier()
    comm.close()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.11")
def test_memory_does_not_grow(comm):
    import resource

    x, out = np.ones(1000), np.empty(1000)

    def work():
        for _ in range(2000):
            comm.allreduce(x, out=out)
            comm.allreduce(x)
            comm.allreduce_async(x).wait()

    work()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096, "KiB"
