"""Finds the compiled modules: _core, which needs an MPI, and _offline, which needs none."""
import ctypes
import functools
import importlib
import pathlib

from tutti import _mpi
from tutti._errors import StateError

HERE = pathlib.Path(__file__).resolve().parent


def require_main_interpreter():
    """The native modules have one state for the whole process, as MPI has. A second interpreter would take the first one's."""
    current = ctypes.pythonapi.PyInterpreterState_Get
    current.restype, number = ctypes.c_void_p, ctypes.pythonapi.PyInterpreterState_GetID
    number.argtypes, number.restype = [ctypes.c_void_p], ctypes.c_int64
    if number(current()) != 0:
        raise StateError("tutti: this is a subinterpreter; MPI and Tutti are of the whole process: use them in the main interpreter")


@functools.cache
def core():
    """The module _core; ImportError says what is missing."""
    require_main_interpreter()
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
