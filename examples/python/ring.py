"""Ranks hand a number around a ring, with asyncio: each waits for its neighbour while it goes on with other work.

    mpirun -n 3 python ring.py
"""
import asyncio

import numpy as np
import tutti


async def main(comm):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    value = np.array([comm.rank])
    total = comm.rank
    for _ in range(comm.size - 1):
        batch = tutti.Batch(comm)
        received = np.empty(1, int)
        batch.send(value, right)
        batch.recv(received, left)
        await batch.start()
        value = received
        total += int(value[0])
    return total


with tutti.Communicator() as comm:
    total = asyncio.run(main(comm))
    if comm.rank == 0:
        print(f"{comm.size} ranks, sum {total}")
