"""The mean of a gradient over all ranks, three ways.

    mpirun -n 2 python allreduce.py
"""
import numpy as np
import tutti

with tutti.Communicator() as comm:
    gradient = np.full(1000, comm.rank + 1.0)

    mean = comm.allreduce(gradient, op="avg")          # a new array

    request = comm.allreduce_async(gradient, op="avg")  # while the program does something else
    again = request.wait()

    plan = comm.plan_allreduce(gradient, "avg", out=gradient)  # prepared once, in place, called many times
    plan()

    assert (mean == again).all() and (mean == gradient).all()
    if comm.rank == 0:
        print(f"{comm.size} ranks, mean {gradient[0]}, by {plan.algorithm}")
