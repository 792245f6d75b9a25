"""A transformer whose parameters are sharded over the ranks (FSDP2), trained over Tutti.

    mpirun -n 2 python torch_fsdp2.py [--steps 5]
"""
import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import tutti.torch  # noqa: F401  (mpi://)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="tutti")
    parser.add_argument("--steps", type=int, default=5)
    given = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group(given.backend, "mpi://")
    rank, size = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("cpu", (size,))
    torch.manual_seed(1)
    model = nn.Sequential(*(nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True) for _ in range(2)))
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(rank)
    for step in range(given.steps):
        data = torch.randn(4, 8, 32, generator=generator)
        loss = (model(data) - data.flip(1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if rank == 0:
            print(f"step {step} loss {mean.item() / size:.9f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
