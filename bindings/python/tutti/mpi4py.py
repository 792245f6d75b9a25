"""mpi4py's upper-case collectives over Tutti.

    from mpi4py import MPI
    import tutti.mpi4py

    comm = tutti.mpi4py.Comm(MPI.COMM_WORLD)
    comm.Allreduce(MPI.IN_PLACE, gradient, MPI.SUM)   # by Tutti
    comm.bcast({"step": 1})                           # everything else is mpi4py's

A program changes one line. Buffers are given as in mpi4py: an array, [array, count], [array, count, datatype], or for
blocks of their own sizes [array, counts], [array, (counts, offsets)], each with a datatype if wanted. A call goes to
mpi4py where its datatype or its operation has no equivalent in Tutti: both are the same on all ranks.
"""
import functools
from collections.abc import Callable
from typing import Any, ParamSpec

import numpy as np
from mpi4py import MPI
from tutti import IN_PLACE, ArgumentError, Communicator

_NAMES = {
    "sum": MPI.SUM, "prod": MPI.PROD, "min": MPI.MIN, "max": MPI.MAX, "land": MPI.LAND, "lor": MPI.LOR, "lxor": MPI.LXOR,
    "band": MPI.BAND, "bor": MPI.BOR, "bxor": MPI.BXOR,
}
_DTYPES = {
    "int8": [MPI.SIGNED_CHAR, MPI.INT8_T], "int16": [MPI.SHORT, MPI.INT16_T], "int32": [MPI.INT, MPI.INT32_T],
    "int64": [MPI.LONG, MPI.LONG_LONG, MPI.INT64_T, MPI.AINT, MPI.OFFSET, MPI.COUNT],
    "uint8": [MPI.UNSIGNED_CHAR, MPI.UINT8_T, MPI.BYTE, MPI.CHAR, MPI.PACKED], "uint16": [MPI.UNSIGNED_SHORT, MPI.UINT16_T],
    "uint32": [MPI.UNSIGNED, MPI.UINT32_T],
    "uint64": [MPI.UNSIGNED_LONG, MPI.UNSIGNED_LONG_LONG, MPI.UINT64_T], "float32": [MPI.FLOAT], "float64": [MPI.DOUBLE],
    "complex64": [MPI.C_FLOAT_COMPLEX], "complex128": [MPI.C_DOUBLE_COMPLEX],
}


_Arguments = ParamSpec("_Arguments")


class _NotTuttis(Exception):
    """A datatype or an operation that mpi4py has to take."""


def _op(op):
    for name, other in _NAMES.items():
        if op == other:
            return name
    raise _NotTuttis


def _dtype(datatype):
    if isinstance(datatype, str):
        return np.dtype(datatype)
    for name, others in _DTYPES.items():
        if any(datatype == other for other in others):
            return np.dtype(name)
    raise _NotTuttis


def _is_numbers(value):
    if isinstance(value, (list, tuple, np.ndarray)):
        return all(x is None or _is_numbers(x) for x in value)
    return isinstance(value, (int, np.integer))


class _Buffer:
    """A buffer as mpi4py takes it: the array from its beginning, how many elements, counts and offsets of blocks."""

    def __init__(self, given):
        self.counts = self.offsets = None
        if given is MPI.IN_PLACE or given is None:
            self.array = IN_PLACE if given is MPI.IN_PLACE else None
            return
        if not isinstance(given, (list, tuple)):
            self.array = given
            return
        array, *rest = given
        datatype = rest.pop() if rest and not _is_numbers(rest[-1]) and rest[-1] is not None else None
        self.array = self._flat(array, datatype)
        if len(rest) == 1 and isinstance(rest[0], tuple) and len(rest[0]) == 2 and not isinstance(rest[0][0], int):
            self.counts, self.offsets = rest[0]
        elif len(rest) == 2:
            self.counts, self.offsets = rest
        elif rest and rest[0] is not None:
            self.counts = rest[0]
        if isinstance(self.counts, (int, np.integer)) and self.offsets is None:
            self.array = self._flat(self.array, None)[: self.counts]
            self.counts = None

    @staticmethod
    def _flat(array, datatype):
        """As one axis, of the datatype that is named."""
        if isinstance(array, np.ndarray):
            if not array.flags.c_contiguous:
                raise ArgumentError("tutti.mpi4py: a buffer is not contiguous")
            flat = array.reshape(-1)
        elif isinstance(array, (bytes, bytearray, memoryview)) or not hasattr(array, "reshape"):
            flat = np.frombuffer(array, np.uint8 if datatype is not None else memoryview(array).format.lstrip("@=<"))
        else:
            flat = array.reshape(-1)
        if datatype is None:
            return flat
        dtype = _dtype(datatype)
        return flat if not isinstance(flat, np.ndarray) or flat.dtype == dtype else flat.view(dtype)

    def all_counts(self, size):
        """Counts of all ranks: those given, or equal shares as in mpi4py."""
        if self.counts is not None:
            return self.counts
        length = self._flat(self.array, None).size
        return [length // size + (rank < length % size) for rank in range(size)]


def _by_tutti(method: Callable[_Arguments, None]) -> Callable[_Arguments, None]:
    """Hands the call to mpi4py where a datatype or an operation is not Tutti's."""

    @functools.wraps(method)
    def call(self, *args, **named):
        try:
            method(self, *args, **named)
        except _NotTuttis:
            getattr(self.mpi4py, method.__name__)(*args, **named)

    return call


class Comm:
    """A communicator of mpi4py whose upper-case collectives Tutti runs; all other names are mpi4py's.

    Collective over comm. `tutti` is the communicator of Tutti, `mpi4py` the one that was given. Results, arguments and
    in-place forms are those of mpi4py; errors in arguments of Tutti's calls are tutti.ArgumentError. Messages between two
    ranks (Send, Recv, ...) stay with mpi4py, as their tags and wildcards meet those of the lower-case names.
    Cost: a microsecond or two a call more than the methods of tutti.Communicator.
    """

    def __init__(self, comm: MPI.Comm | None = None, **options: Any) -> None:
        self.mpi4py = MPI.COMM_WORLD if comm is None else comm
        self.tutti = Communicator(self.mpi4py, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.mpi4py, name)

    def __enter__(self) -> "Comm":
        return self

    def __exit__(self, *_: Any) -> None:
        self.tutti.close()

    def __repr__(self) -> str:
        return f"<tutti.mpi4py.Comm over {self.mpi4py!r}>"

    def Free(self) -> None:
        """Closes Tutti's communicator; mpi4py's is freed unless it is one of its constants."""
        self.tutti.close()
        if self.mpi4py not in (MPI.COMM_WORLD, MPI.COMM_SELF):
            self.mpi4py.Free()

    def Barrier(self) -> None:
        self.tutti.barrier()

    @_by_tutti
    def Bcast(self, buf: Any, root: int = 0) -> None:
        self.tutti.broadcast(_Buffer(buf).array, root)

    @_by_tutti
    def Allreduce(self, sendbuf: Any, recvbuf: Any, op: MPI.Op = MPI.SUM) -> None:
        self.tutti.allreduce(_Buffer(sendbuf).array, _op(op), _Buffer(recvbuf).array)

    @_by_tutti
    def Scan(self, sendbuf: Any, recvbuf: Any, op: MPI.Op = MPI.SUM) -> None:
        self.tutti.scan(_Buffer(sendbuf).array, _op(op), _Buffer(recvbuf).array)

    @_by_tutti
    def Exscan(self, sendbuf: Any, recvbuf: Any, op: MPI.Op = MPI.SUM) -> None:
        self.tutti.exscan(_Buffer(sendbuf).array, _op(op), _Buffer(recvbuf).array)

    @_by_tutti
    def Reduce(self, sendbuf: Any, recvbuf: Any, op: MPI.Op = MPI.SUM, root: int = 0) -> None:
        out = _Buffer(recvbuf).array if self.tutti.rank == root else None
        self.tutti.reduce(_Buffer(sendbuf).array, _op(op), root, out)

    @_by_tutti
    def Reduce_scatter_block(self, sendbuf: Any, recvbuf: Any, op: MPI.Op = MPI.SUM) -> None:
        self.tutti.reduce_scatter(_Buffer(sendbuf).array, _op(op), _Buffer(recvbuf).array)

    @_by_tutti
    def Reduce_scatter(self, sendbuf: Any, recvbuf: Any, recvcounts: Any = None, op: MPI.Op = MPI.SUM) -> None:
        x, out = _Buffer(sendbuf), _Buffer(recvbuf)
        if recvcounts is None:
            recvcounts = (out if x.array is IN_PLACE else x).all_counts(self.tutti.size)
        self.tutti.reduce_scatterv(x.array, recvcounts, _op(op), out.array)

    @_by_tutti
    def Allgather(self, sendbuf: Any, recvbuf: Any) -> None:
        self.tutti.allgather(_Buffer(sendbuf).array, _Buffer(recvbuf).array)

    @_by_tutti
    def Allgatherv(self, sendbuf: Any, recvbuf: Any) -> None:
        out = _Buffer(recvbuf)
        self.tutti.allgatherv(_Buffer(sendbuf).array, out.all_counts(self.tutti.size), out.offsets, out.array)

    @_by_tutti
    def Gather(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        out = _Buffer(recvbuf).array if self.tutti.rank == root else None
        self.tutti.gather(_Buffer(sendbuf).array, root, out)

    @_by_tutti
    def Gatherv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        if self.tutti.rank != root:
            self.tutti.gatherv(_Buffer(sendbuf).array, root=root)
            return
        out = _Buffer(recvbuf)
        self.tutti.gatherv(_Buffer(sendbuf).array, out.all_counts(self.tutti.size), out.offsets, root, out.array)

    @_by_tutti
    def Scatter(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        x = _Buffer(sendbuf).array if self.tutti.rank == root else None
        self.tutti.scatter(x, root, _Buffer(recvbuf).array)

    @_by_tutti
    def Scatterv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        out = _Buffer(recvbuf).array
        if self.tutti.rank != root:
            self.tutti.scatterv(None, root=root, out=out)
            return
        x = _Buffer(sendbuf)
        self.tutti.scatterv(x.array, x.all_counts(self.tutti.size), x.offsets, root, out)

    @_by_tutti
    def Alltoall(self, sendbuf: Any, recvbuf: Any) -> None:
        self.tutti.alltoall(_Buffer(sendbuf).array, _Buffer(recvbuf).array)

    @_by_tutti
    def Alltoallv(self, sendbuf: Any, recvbuf: Any) -> None:
        x, out = _Buffer(sendbuf), _Buffer(recvbuf)
        in_counts = None if x.array is IN_PLACE else x.all_counts(self.tutti.size)
        out_counts = out.all_counts(self.tutti.size)
        self.tutti.alltoallv(x.array, in_counts, out_counts, x.offsets, out.offsets, out.array)
