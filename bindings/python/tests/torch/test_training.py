"""What PyTorch builds on process groups trains as over gloo: losses within 1e-6, and the same bits from run to run."""
import datetime
import functools

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch import nn
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.nn.parallel import DistributedDataParallel
from training import close, ddp, fsdp2, losses, mesh_of, network, zero

import tutti.torch


def test_ddp(world, gloo):
    first, again, theirs = ddp(world)[1], ddp(world)[1], ddp(gloo)[1]
    assert first == again
    assert close(first, theirs)


def test_ddp_with_a_static_graph_and_unused_parameters(world, gloo):
    assert close(ddp(world, static_graph=True)[1], ddp(gloo, static_graph=True)[1])
    assert close(ddp(world, find_unused_parameters=True)[1], ddp(gloo, find_unused_parameters=True)[1])


def test_zero_redundancy_optimizer(world, gloo):
    first = zero(world)
    assert first == zero(world)
    assert close(first, zero(gloo))


def test_fsdp2(world, gloo):
    first = fsdp2(world)
    assert first == fsdp2(world)
    assert close(first, fsdp2(gloo))


def test_dtensor(world, size):
    mesh = mesh_of(world)
    torch.manual_seed(5)
    left, right = torch.randn(4 * size, 8), torch.randn(8, 6)
    product = distribute_tensor(left, mesh, [Shard(0)]) @ distribute_tensor(right, mesh, [Replicate()])
    assert torch.allclose(product.full_tensor(), left @ right)
    columns = distribute_tensor(left, mesh, [Shard(0)]).redistribute(mesh, [Shard(1)])
    assert isinstance(columns, DTensor) and torch.equal(columns.full_tensor(), left)


def test_functional_collectives(world, rank, size):
    data = torch.full((size,), float(rank))
    assert functional.all_reduce(data, "sum", world)[0].item() == size * (size - 1) / 2
    assert functional.all_gather_tensor(data, 0, world)[-1].item() == size - 1
    assert functional.reduce_scatter_tensor(data, "sum", 0, world).item() == size * (size - 1) / 2
    assert functional.all_to_all_single(data, None, None, world).tolist() == list(map(float, range(size)))
    reduced = functional.all_reduce_coalesced([data, data * 2], "sum", world)
    assert reduced[1][0].item() == size * (size - 1)


def test_compile(world, size):
    @functools.partial(torch.compile, backend="aot_eager", fullgraph=True)
    def step(data):
        return functional.all_reduce(data * 2, "sum", world) + 1

    assert step(torch.ones(4))[0].item() == 2 * size + 1


def test_distributed_checkpoint(world, rank, tmp_path_factory):
    import torch.distributed.checkpoint as checkpoint

    place = [str(tmp_path_factory.mktemp("checkpoint")) if rank == 0 else None]
    dist.broadcast_object_list(place, 0)
    mesh = mesh_of(world)
    saved = {"weights": distribute_tensor(torch.arange(24.0).view(-1, 2), mesh, [Shard(0)]), "step": 7}
    checkpoint.save(saved, checkpoint_id=place[0])
    loaded = {"weights": distribute_tensor(torch.zeros(12, 2), mesh, [Shard(0)]), "step": 0}
    checkpoint.load(loaded, checkpoint_id=place[0])
    assert loaded["step"] == 7 and torch.equal(loaded["weights"].full_tensor(), torch.arange(24.0).view(-1, 2))


# Gradients in fewer bits. ------------------------------------------------------------------------------------------------


def trained(world, hook):
    model = DistributedDataParallel(network(), process_group=world)
    if hook:
        model.register_comm_hook(tutti.torch.hooks.State(world), hook)
    return losses(model, torch.optim.SGD(model.parameters(), 0.02), 200)


@pytest.mark.parametrize("name", ["bf16", "fp8", "power_of_two"])
def test_compression_converges(world, name):
    plain, compressed = trained(world, None), trained(world, getattr(tutti.torch.hooks, name))
    assert plain != compressed  # it has done something
    end, its = sum(plain[-20:]) / 20, sum(compressed[-20:]) / 20
    assert end < plain[0] / 4
    assert its < end * 1.1
    everyone = [None] * dist.get_world_size()
    model, _ = ddp(world)
    dist.all_gather_object(everyone, [parameter.sum().item() for parameter in model.parameters()])
    assert all(other == everyone[0] for other in everyone)


def test_error_feedback_loses_nothing(world, rank, size):
    """The sums of what has been applied and what is kept are the sums of the gradients."""
    class Bucket:
        def __init__(self, data, owners):
            self.data, self.owners = data, owners

        def buffer(self):
            return self.data

        def parameters(self):
            return self.owners

    owners = [nn.Parameter(torch.zeros(1))]
    for hook in (tutti.torch.hooks.bf16, tutti.torch.hooks.fp8, tutti.torch.hooks.power_of_two):
        state = tutti.torch.hooks.State(world)
        generator = torch.Generator().manual_seed(rank)
        applied, true = torch.zeros(37), torch.zeros(37)
        for _ in range(50):
            gradient = torch.randn(37, generator=generator)
            mean = gradient.clone()
            dist.all_reduce(mean, dist.ReduceOp.AVG)
            true += mean
            applied += hook(state, Bucket(gradient.clone(), owners)).wait()
        assert (applied - true).abs().max() < 2


@pytest.mark.parametrize("name", ["bf16", "fp8", "power_of_two"])
def test_hooks_do_not_wait_and_tell_errors(rank, size, name):
    if size == 1:
        pytest.skip("one rank waits for nobody")

    class Bucket:
        def __init__(self):
            self.data = torch.ones(9)

        def buffer(self):
            return self.data

        def parameters(self):
            return []

    hook, group = getattr(tutti.torch.hooks, name), dist.new_group(backend="tutti", timeout=datetime.timedelta(seconds=2))
    state = tutti.torch.hooks.State(group)
    assert torch.equal(hook(state, Bucket()).wait(), torch.ones(9))
    if rank == 0:  # alone: it does not come to an end, and returns all the same
        future = hook(state, Bucket())
        assert not future.done()
        with pytest.raises(RuntimeError, match="Timed out waiting 2000ms"):
            future.wait()
    dist.barrier()
    dist.destroy_process_group(group)


def test_hooks_refuse_whole_numbers(world):
    class Bucket:
        def buffer(self):
            return torch.ones(3, dtype=torch.int32)

    with pytest.raises(TypeError, match="gradients of type torch.int32 cannot be compressed"):
        tutti.torch.hooks.fp8(tutti.torch.hooks.State(), Bucket())
