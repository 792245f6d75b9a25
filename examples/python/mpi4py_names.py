"""A program of mpi4py that changes one line to run its collectives by Tutti.

    mpirun -n 2 python mpi4py_names.py
"""
import numpy as np
import tutti.mpi4py
from mpi4py import MPI

comm = tutti.mpi4py.Comm(MPI.COMM_WORLD)  # was: comm = MPI.COMM_WORLD

x = np.full(4, comm.rank + 1.0)
comm.Allreduce(MPI.IN_PLACE, x, op=MPI.MAX)      # by Tutti
words = comm.bcast("as before", root=0)          # by mpi4py
if comm.rank == 0:
    print(f"{comm.size} ranks, largest {x[0]}, {words}")
