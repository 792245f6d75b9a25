"""Finds the compiled modules: _core, which needs an MPI, and _offline, which needs none."""
import functools
import importlib
import pathlib

from tutti import _mpi

HERE = pathlib.Path(__file__).resolve().parent


@functools.cache
def core():
    """The module _core; ImportError says what is missing."""
    importlib.import_module("numpy")  # which it needs at once, and whose absence its own error hides
    return _mpi.core() if _mpi.FOLDER.is_dir() else module("_core")


def module(name):
    try:
        return importlib.import_module(f"tutti.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"tutti.{name}":
            raise
    if (HERE.parent / "pyproject.toml").is_file():
        raise ImportError(f"this is the source folder of tutti, {HERE}, where nothing is compiled, and no installed package: "
                          f"start Python in another folder than {HERE.parent}, or install it from there (pip install -e .)")
    raise ImportError(f"this package was built without the module {name} (bindings/python/CMakeLists.txt says why)")
