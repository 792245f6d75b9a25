"""Finds the module _core, which needs an MPI."""
import functools

from tutti import _mpi


@functools.cache
def core():
    """The module _core; ImportError says what is missing."""
    return _mpi.core()
