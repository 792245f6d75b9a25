"""A small convolutional network learns handwritten digits, by DistributedDataParallel, over one or more backends side by side.

    mpirun -n 2 python torch_digits.py [--data digits.csv] [--backends tutti,gloo] [--epochs 3] [--hook none]

digits.csv lies in share/tutti of an installed Tutti: 1797 pictures of 8 x 8 pixels, with the digit at the end of each line.
All backends train the same network from the same data, so that they must come to the same loss.
"""
import argparse
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import tutti.torch


def pictures(path):
    with open(path, encoding="utf-8") as file:
        table = torch.tensor([[float(word) for word in line.split(",")] for line in file])
    table = table[torch.randperm(len(table), generator=torch.Generator().manual_seed(1))]
    return table[:, :-1].view(-1, 1, 8, 8) / 16, table[:, -1].long()


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1),
                         nn.ReLU(), nn.Flatten(), nn.Linear(32 * 16, 64), nn.ReLU(), nn.Linear(64, 10))


class Training:
    """One network over one backend."""

    def __init__(self, backend, hook):
        self.group = dist.new_group(backend=backend)
        self.model = DistributedDataParallel(network(), process_group=self.group)
        if hook != "none":
            self.model.register_comm_hook(tutti.torch.hooks.State(self.group), getattr(tutti.torch.hooks, hook))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)

    def epoch(self, inputs, labels, batch):
        """The mean loss of all ranks, and milliseconds a step."""
        dist.barrier(self.group)
        start = time.perf_counter()
        total = torch.zeros(1)
        for first in range(0, len(inputs) - batch + 1, batch):
            loss = nn.functional.cross_entropy(self.model(inputs[first:first + batch]), labels[first:first + batch])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.detach()
        steps = len(inputs) // batch
        took = (time.perf_counter() - start) / steps * 1e3
        dist.all_reduce(total, group=self.group)
        return total.item() / steps / dist.get_world_size(), took


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="digits.csv")
    parser.add_argument("--backends", default="tutti,gloo")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32, help="pictures a rank and step")
    parser.add_argument("--hook", default="none", choices=["none", "bf16", "fp8", "power_of_two"])
    given = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo" if given.backends == "gloo" else "tutti", "mpi://")
    rank, size = dist.get_rank(), dist.get_world_size()
    inputs, labels = pictures(given.data)
    train = len(inputs) * 4 // 5 // size * size
    mine = slice(rank, train, size)
    trainings = {backend: Training(backend, given.hook) for backend in given.backends.split(",")}
    for epoch in range(given.epochs):
        for backend, training in trainings.items():
            loss, took = training.epoch(inputs[mine], labels[mine], given.batch)
            with torch.no_grad():
                right = (training.model.module(inputs[train:]).argmax(1) == labels[train:]).float().mean()
            if rank == 0:
                print(f"epoch {epoch} {backend:6} loss {loss:.9f} right {right:.3f} "
                      f"{took:.2f} ms a step", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
