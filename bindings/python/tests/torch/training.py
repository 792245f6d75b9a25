"""Trainings of a small network in three ways, each over a process group.

    mpirun -n 2 python training.py BACKEND

prints the losses of rank 0, with all digits.
"""
import json
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel


def network():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(16, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))


def losses(model, optimizer, steps=6):
    generator = torch.Generator().manual_seed(dist.get_rank())
    found = []
    for _ in range(steps):
        data = torch.randn(8, 16, generator=generator)
        loss = (model(data) - data.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def ddp(group, **settings):
    model = DistributedDataParallel(network(), process_group=group, bucket_cap_mb=0.004, **settings)
    return model, losses(model, torch.optim.SGD(model.parameters(), 0.05))


def zero(group):
    model = DistributedDataParallel(network(), process_group=group)
    return losses(model, ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, process_group=group, lr=0.05))


def mesh_of(group):
    return DeviceMesh.from_group(group, "cpu")


def fsdp2(group):
    from torch.distributed.fsdp import fully_shard

    model = network()
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh_of(group))
    fully_shard(model, mesh=mesh_of(group))
    return losses(model, torch.optim.SGD(model.parameters(), 0.05))


def close(ours, theirs):
    return all(abs(a - b) <= 1e-6 * max(1, abs(b)) for a, b in zip(ours, theirs, strict=True))


if __name__ == "__main__":
    import tutti.torch  # noqa: F401  (mpi://)

    torch.set_num_threads(1)
    dist.init_process_group(sys.argv[1], "mpi://")
    world = dist.group.WORLD
    found = {"ddp": ddp(world)[1], "zero": zero(world), "fsdp2": fsdp2(world)}
    if dist.get_rank() == 0:
        print(json.dumps(found))
    dist.destroy_process_group()
