"""Messages between two ranks, with and without tags, and batches."""
import numpy as np
import pytest
import tutti


@pytest.fixture
def neighbours(comm):
    if comm.size == 1:
        pytest.skip("a message to the rank itself needs a Batch")
    return (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size


def test_messages(comm, neighbours):
    right, left = neighbours
    x, out = np.full(3, comm.rank), np.empty(3, int)
    assert comm.sendrecv(x, right, out, left) is out and out.tolist() == [left] * 3
    request = comm.recv_async(out, left)
    assert comm.send(2 * x, right) is None
    assert request.wait() is out and out.tolist() == [2 * left] * 3
    sent = comm.send_async(3 * x, right)
    assert comm.recv(out, left) is out and out.tolist() == [3 * left] * 3
    assert sent.wait() is None
    assert comm.sendrecv_async(x, right, out, left).wait() is out
    plan = comm.plan_sendrecv(x, right, out, left)
    for i in range(3):
        x[:] = i
        assert plan() is out and out.tolist() == [i] * 3
    send, recv = comm.plan_send(x, right), comm.plan_recv(out, left)
    recv.start()
    send()
    assert recv.wait() is out and recv.algorithm == ""


def test_no_rank(comm):
    out = np.full(2, -1)
    comm.send(np.ones(2), tutti.NO_RANK)
    assert comm.recv(out, tutti.NO_RANK).tolist() == [-1, -1]


def test_batch(comm):
    p, rank = comm.size, comm.rank
    batch = tutti.Batch(comm)
    outs = [np.empty(r + 1, "f4") for r in range(p)]
    for r in range(p):
        batch.send(np.full(rank + 1, rank, "f4"), r)
        batch.recv(outs[r], r)
    for run in (batch.run, lambda: batch.start().wait(), batch.plan()):
        for out in outs:
            out[:] = -1
        assert run() is None
        assert [out.tolist() for out in outs] == [[r] * (r + 1) for r in range(p)]
    with pytest.raises(tutti.ArgumentError, match="tutti: Batch.send: x is not contiguous"):
        batch.send(np.ones(4)[::2], 0)


def test_tags(comm, neighbours):
    right, left = neighbours
    for tag in (3, 1, 2):
        comm.send(np.full(2, tag * 10 + comm.rank), right, tag=tag)
    out = np.zeros(4, int)
    for tag in (1, 2, 3):
        message = comm.recv(out, left, tag=tag)
        assert (message.source, message.tag, message.count) == (left, tag, 2)
        assert out.tolist() == [tag * 10 + left] * 2 + [0, 0]
    comm.barrier()
    request = comm.recv_async(out, tutti.ANY_SOURCE, tag=tutti.ANY_TAG)
    comm.send(np.ones(1, int), right, tag=9)
    message = request.wait()
    assert (message.source, message.tag, message.count) == (left, 9, 1)
    assert repr(message) == f"<tutti.Message of 1 elements from rank {left} with tag 9>"
    with pytest.raises(tutti.ArgumentError, match="tutti: plan_send: plans have no tags; start the message anew"):
        comm.plan_send(out, right, tag=1)


def test_batch_with_tags(comm, neighbours):
    right, left = neighbours
    batch = tutti.Batch(comm)
    out = np.zeros(2, int)
    batch.send(np.full(2, comm.rank), right, tag=5)
    message = batch.recv(out, left, tag=5)
    batch.run()
    assert (message.source, message.tag, message.count) == (left, 5, 2) and out.tolist() == [left] * 2


def test_cancel(comm, neighbours):
    _, left = neighbours
    request = comm.recv_async(np.zeros(1), left, tag=77)
    assert request.cancel()
    with pytest.raises(tutti.StateError, match="tutti: wait: the request was cancelled"):
        request.wait()
    comm.barrier()


def test_wrong_messages(comm):
    with pytest.raises(tutti.ArgumentError, match="'to'"):
        comm.send(np.ones(1), 99)
    with pytest.raises(tutti.ArgumentError, match="tutti: sendrecv: out has elements of float32, and x of float64"):
        comm.sendrecv(np.ones(1), 0, np.ones(1, "f4"), 0)
    with pytest.raises(tutti.ArgumentError, match="tutti: recv: out is read-only"):
        comm.recv(b"1", 0)
