"""Finds the module _core, which needs an MPI."""
import functools
import importlib


@functools.cache
def core():
    """The module _core; ImportError says what is missing."""
    return importlib.import_module("tutti._core")
