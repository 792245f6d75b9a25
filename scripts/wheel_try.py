"""The program by which scripts/wheel.sh tries the wheel: a sum, on the ranks that there are, and a refusal."""
import numpy

import tutti

try:
    from mpi4py import MPI
except ImportError:
    MPI = None

comm = tutti.Communicator(MPI.COMM_WORLD if MPI else None)
total = comm.allreduce(numpy.full(1000, float(comm.rank + 1)))
assert comm.size == 2 and (total == 3).all(), (comm.size, total[0])
assert tutti.schedule.of("allreduce", "ring", ranks=4).fault is None
if comm.rank == 0:
    print(f"{comm.size} ranks, sum {total[0]:g}, {tutti.mpi_library().split(',')[0]!r}", flush=True)
comm.close()
