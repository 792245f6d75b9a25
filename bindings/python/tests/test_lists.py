"""Calls of lists of arrays: the results of the calls on each array."""
import gc
import weakref

import numpy as np
import pytest
import tutti

LENGTHS = [3, 0, 20000, 17, 1]


def arrays(comm, each=1, dtype="f8"):
    return [(np.arange(n * each) % 50 + 10 * comm.rank + i).astype(dtype) for i, n in enumerate(LENGTHS)]


def run(form, comm, name, *given, **named):
    if form == "blocking":
        return getattr(comm, name)(*given, **named)
    if form == "async":
        return getattr(comm, name + "_async")(*given, **named).wait()
    plan = getattr(comm, "plan_" + name)(*given, **named)
    plan()
    return plan()


def same(results, wanted):
    assert isinstance(results, list) and len(results) == len(wanted)
    for result, want in zip(results, wanted):
        np.testing.assert_array_equal(result, want)
        assert result.dtype == want.dtype and result.shape == want.shape


@pytest.mark.parametrize("form", ["blocking", "async", "plan"])
def test_results(comm, form):
    p, xs = comm.size, arrays(comm)
    packed = comm.counters["calls.packed"]
    same(run(form, comm, "allreduce_list", xs), [comm.allreduce(x) for x in xs])
    assert comm.counters["calls.packed"] > packed
    same(run(form, comm, "allreduce_list", xs, op="max"), [comm.allreduce(x, op="max") for x in xs])
    same(run(form, comm, "allgather_list", xs), [comm.allgather(x) for x in xs])
    wide = arrays(comm, p)
    same(run(form, comm, "reduce_scatter_list", wide), [comm.reduce_scatter(x) for x in wide])
    sent = arrays(comm)
    wanted = [comm.broadcast(x.copy(), root=p - 1) for x in sent]
    returned = run(form, comm, "broadcast_list", sent, root=p - 1)
    assert all(a is b for a, b in zip(returned, sent))
    same(sent, wanted)


def test_outputs(comm):
    p, xs = comm.size, arrays(comm)
    wanted = [comm.allreduce(x) for x in xs]
    out = [np.empty_like(x) for x in xs]
    returned = comm.allreduce_list(xs, out=out)
    assert all(a is b for a, b in zip(returned, out))
    same(out, wanted)
    comm.allreduce_list(xs, out=xs)
    same(xs, wanted)
    wide = arrays(comm, p)
    wanted = [comm.reduce_scatter(x) for x in wide]
    comm.reduce_scatter_list(wide, out=wide)
    same([x[: len(want)] for x, want in zip(wide, wanted)], wanted)
    assert comm.allreduce_list([]) == [] and comm.broadcast_list(()) == []
    same(comm.allreduce_list((np.ones((2, 3)), np.ones(1))), [np.full((2, 3), float(p)), np.full(1, float(p))])
    same(comm.allreduce_list([np.arange(8)[::2]]), [p * np.arange(8)[::2]])


def test_operations_of_python(comm):
    op = tutti.Op(lambda lhs, rhs, into: np.add(lhs, rhs, out=into), commutative=True)
    same(comm.allreduce_list(arrays(comm), op=op), comm.allreduce_list(arrays(comm)))


def test_arrays_live_until_the_request_is_over(comm):
    x = np.ones(5)
    gone = weakref.ref(x)
    request = comm.allreduce_list_async([x, np.ones(6)])
    del x
    gc.collect()
    assert gone() is not None
    same(request.wait(), [np.full(5, float(comm.size)), np.full(6, float(comm.size))])


def test_refusals(comm):
    def refused(kind, text, call):
        with pytest.raises(kind, match=text):
            call()
        assert comm.allreduce(1) == comm.size

    x = np.ones(4)
    refused(tutti.TypeArgumentError, "tutti: allreduce_list: xs is .*, and no list of arrays",
            lambda: comm.allreduce_list(3))
    refused(tutti.ArgumentError, r"xs\[1\] has elements of float32, and xs\[0\] of float64",
            lambda: comm.allreduce_list([x, np.ones(2, "f4")]))
    refused(tutti.ArgumentError, "out has 1 arrays, and xs has 2", lambda: comm.allreduce_list([x, x.copy()], out=[x]))
    refused(tutti.ArgumentError, r"out\[0\] has 3 elements, and must have 4",
            lambda: comm.allreduce_list([x], out=[np.ones(3)]))
    refused(tutti.ArgumentError, "outputs of buffers 0 and 1 share memory",
            lambda: comm.allreduce_list([x, x], out=[x, x]))
    if comm.size > 1:
        refused(tutti.ArgumentError, r"the number of elements of xs\[0\] is 1, which",
                lambda: comm.reduce_scatter_list([np.ones(1)]))
        refused(tutti.ArgumentError, r"out\[0\] has 4 elements, and must have", lambda: comm.allgather_list([x], out=[x]))
    refused(tutti.ArgumentError, "nonblocking calls take no stream", lambda: comm.allreduce_list_async([x], stream=0))
