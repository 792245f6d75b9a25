"""Wrong calls are refused with a text that says what is wrong; peers that do not come, in time; groups end at once."""
import datetime
import os
import signal
import threading

import pytest
import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

import tutti.torch


def backend():
    return dist.group.WORLD._get_backend(torch.device("cpu"))


@pytest.mark.parametrize("call, kind, text", [
    (lambda size: dist.all_reduce(torch.ones(2), ReduceOp.BAND), ValueError, "band is not defined for elements of type Float"),
    (lambda size: dist.all_reduce(torch.ones(2, dtype=torch.bool), ReduceOp.AVG), ValueError, "avg is not defined .* Bool"),
    (lambda size: dist.all_reduce(torch.ones(2).to(torch.float8_e4m3fnuz)), TypeError, "Float8_e4m3fnuz cannot be combined"),
    (lambda size: dist.all_gather_into_tensor(torch.ones(size + 1), torch.ones(1)), ValueError,
     "all_gather_into_tensor: the output has .* elements where there must be"),
    (lambda size: dist.all_gather_into_tensor(torch.ones(size), torch.ones(1, dtype=torch.int32)), TypeError,
     "the input is of type Int, the output of type Float"),
    (lambda size: dist.reduce_scatter_tensor(torch.ones(2), torch.ones(2 * size + 1)), ValueError,
     "reduce_scatter_tensor: the input has .* elements where there must be"),
    (lambda size: dist.all_to_all_single(torch.ones(size), torch.ones(size + 1)), ValueError, "all_to_all_single: the output"),
    (lambda size: dist.all_to_all_single(torch.ones(size), torch.ones(size), [1] * size, [2] * size), ValueError,
     "split sizes add up to .* rows of a tensor that has"),
    (lambda size: dist.all_to_all_single(torch.ones(size), torch.ones(size), [1] * (size + 1), [1] * size), ValueError,
     "split sizes where there must be"),
    (lambda size: backend().broadcast(torch.ones(2), 99), ValueError, "broadcast: root 99 is not a rank of the group"),
    (lambda size: dist.send(torch.ones(2), (dist.get_rank() + 1) % size, tag=-1), ValueError, "send: tag -1 is negative"),
    (lambda size: dist.all_reduce(torch.ones(3).to_sparse(), ReduceOp.MAX), ValueError, "sparse tensors can be summed only"),
])
def test_wrong_calls(size, call, kind, text):
    if size == 1 and "send" in text:
        pytest.skip("messages need two ranks")
    with pytest.raises(kind, match=text):
        call(size)
    data = torch.ones(1)  # the group works on
    dist.all_reduce(data)
    assert data.item() == size


def test_sparse_tensors_that_differ_in_shape(rank, size):
    if size == 1:
        pytest.skip("one rank agrees with itself")
    with pytest.raises(ValueError, match="the sparse tensor of rank . differs in type, shape or number of sparse dimensions"):
        dist.all_reduce(torch.ones(3 + rank).to_sparse())


def test_time_limit_of_a_group(rank, size):
    if size == 1:
        pytest.skip("one rank waits for nobody")
    group = dist.new_group(backend="tutti", timeout=datetime.timedelta(seconds=0.3))
    if rank == 0:
        with pytest.raises(RuntimeError, match="barrier: Timed out waiting 300ms"):
            dist.barrier(group)
        with pytest.raises(RuntimeError, match="cannot be used any more: barrier: Timed out"):
            dist.all_reduce(torch.ones(1), group=group)
    dist.barrier()
    dist.destroy_process_group(group)


def test_time_limit_of_a_wait(group, rank, size):
    if size == 1:
        pytest.skip("one rank waits for nobody")
    data = torch.ones(1)
    if rank == 0:
        work = dist.all_reduce(data, group=group, async_op=True)
        with pytest.raises(RuntimeError, match="all_reduce: Timed out waiting 200ms; it goes on"):
            work.wait(datetime.timedelta(seconds=0.2))
        dist.barrier()
        work.wait()
    else:
        dist.barrier()
        dist.all_reduce(data, group=group)
    assert data.item() == size


def test_monitored_barrier_tells_who_is_missing(rank, size):
    if size == 1:
        pytest.skip("one rank waits for nobody")
    group = dist.new_group(backend="tutti")
    try:
        dist.monitored_barrier(group, datetime.timedelta(seconds=30))
    except ValueError as error:
        pytest.skip(f"this version of PyTorch: {error}")
    limit = datetime.timedelta(seconds=0.3)
    if rank == 0:
        who = ", ".join(map(str, range(1, size)))
        with pytest.raises(RuntimeError, match=f"Ranks? {who} failed to pass monitoredBarrier in 300 ms"):
            dist.monitored_barrier(group, limit, wait_all_ranks=True)
    dist.barrier()
    dist.destroy_process_group(group)


def test_abort_ends_operations_under_way(group, rank, size):
    if size == 1:
        pytest.skip("one rank waits for nobody")
    if rank == 0:
        work = dist.all_reduce(torch.ones(1), group=group, async_op=True)
        group.abort()
        with pytest.raises(RuntimeError, match="was aborted"):
            work.wait()
    dist.barrier()


def test_peers_of_an_abort_are_told(group, rank, size):
    if size == 1:
        pytest.skip("one rank has no peers")
    if rank == 0:
        group.abort()
        with pytest.raises(dist.DistBackendError, match="rank 0: group .* cannot be used any more: was aborted"):
            dist.all_reduce(torch.ones(1), group=group)
    else:
        with pytest.raises(dist.DistBackendError, match="tutti: rank 0: group .* was aborted"):
            dist.all_reduce(torch.ones(1), group=group)
    dist.barrier()


def test_ctrl_c_ends_a_wait_and_not_the_operation(group, rank, size):
    if size == 1:
        pytest.skip("one rank waits for nobody")
    data = torch.ones(3)
    if rank == 0:
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            dist.all_reduce(data, group=group)
    dist.barrier()
    if rank != 0:
        dist.all_reduce(data, group=group)
    dist.barrier(group)
    assert data.tolist() == [size] * 3


def test_a_message_that_never_comes_does_not_keep_a_group(rank, size):
    if size == 1:
        pytest.skip("messages need two ranks")
    group = dist.new_group(backend="tutti")
    work = dist.irecv(torch.zeros(3), (rank + 1) % size, group=group)
    dist.barrier()
    dist.destroy_process_group(group)
    assert work is not None


def test_groups_that_are_over(rank):
    group = dist.new_group(backend="tutti")
    made = group._get_backend(torch.device("cpu"))
    dist.destroy_process_group(group)
    made.shutdown()
    with pytest.raises(RuntimeError, match="was destroyed"):
        made.allreduce([torch.ones(1)]).wait()


def test_what_the_backend_in_python_lacks_is_told(rank, size):
    if tutti.torch._native() is not None:
        pytest.skip("the compiled backend has it")
    with pytest.raises(TypeError, match="the sum of sparse tensors needs the compiled backend: python -m tutti.torch.build"):
        dist.all_reduce(torch.ones(3).to_sparse())
    if size > 1 and rank == 0:
        with pytest.warns(UserWarning, match="from any rank needs the compiled backend"):
            dist.irecv(data := torch.zeros(2)).wait()
        assert data[0].item() == 1
    elif rank == 1:
        dist.send(torch.ones(2), 0)
