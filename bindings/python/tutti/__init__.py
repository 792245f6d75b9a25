"""Tutti: collectives for MPI programs, for NumPy arrays and every array that speaks DLPack.

    import numpy as np, tutti
    comm = tutti.Communicator()          # all ranks of mpirun
    total = comm.allreduce(np.ones(4))   # a new array

Names that need MPI are loaded at first use: `import tutti` and `tutti.schedule` work where no MPI is installed.
"""
import importlib
import importlib.util
import sys

from tutti._errors import (
    ArgumentError,
    Error,
    FailedError,
    MpiError,
    OutOfMemoryError,
    StateError,
    TypeArgumentError,
)

_CORE = [
    "ANY_SOURCE", "ANY_TAG", "IN_PLACE", "NO_RANK", "Batch", "Communicator", "CompressedAllreduce", "Memory", "Message", "Op",
    "Plan", "Request", "components", "compress", "compressed_size", "decompress", "decompress_add", "dot", "empty",
    "empty_device", "mpi_library", "norm2", "reduce_array", "sum", "version",
]
_OFFLINE = ["algorithms"]
_FOR_OTHERS = ["mpi4py", "torch"]
_MODULES = [*_FOR_OTHERS, "run", "schedule"]
__all__ = [
    "ArgumentError", "Error", "FailedError", "MpiError", "OutOfMemoryError", "StateError", "TypeArgumentError", *_CORE,
    *_OFFLINE,
]


def __getattr__(name):
    if name in _CORE:
        from tutti import _native

        value = getattr(_native.core(), name)
    elif name in _OFFLINE:
        value = getattr(importlib.import_module("tutti.schedule"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"tutti.{name}")
    elif name == "__version__":
        from importlib.metadata import version

        value = version("tutti")
    else:
        raise AttributeError(f"module 'tutti' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    """Without the modules for packages that are not there: help() and others import all that is named."""
    modules = {name for name in _MODULES if name not in _FOR_OTHERS or sys.modules.get(name) or importlib.util.find_spec(name)}
    return sorted({*globals(), *__all__, *modules, "__version__"})
