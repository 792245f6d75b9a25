"""Which MPI this process uses, and with it which module _core: a binary wheel has one for each MPI, in the folder _mpis; a
package that was built here has one alone.

In this order: the MPI that is in the process already, as mpi4py's or that of a program which embeds Python; the one that
TUTTI_MPI names (openmpi, mpich, mpi_abi, or the file of an MPI library); the first that is found, in the environment of
this Python, then where the system looks: of Open MPI, MPICH, the standard ABI.
"""
import ctypes
import importlib.util
import os
import pathlib
import sys

from tutti._errors import StateError

# By the names of their libraries. MPICH's interface is also that of Intel MPI and others.
LIBRARIES = {"openmpi": ["libmpi.so.40"], "mpich": ["libmpi.so.12"], "mpi_abi": ["libmpi_abi.so.1", "libmpi_abi.so.0"]}
FOLDER = pathlib.Path(__file__).parent / "_mpis"


def in_process():
    """The files of the MPI libraries that this process has."""
    with open("/proc/self/maps") as maps:
        files = {line.split(maxsplit=5)[-1].strip() for line in maps if "libmpi" in line}
    return sorted(file for file in files if kind_of_name(file))


def kind_of_name(file):
    """openmpi, mpich or mpi_abi by the name of the library, which may be followed by more figures; None: another."""
    name = os.path.basename(os.path.realpath(file))
    for kind, libraries in LIBRARIES.items():
        for library in libraries:
            if name == library or name.startswith(library + "."):
                return kind
    return None


def candidates(kinds):
    """Files to try, the environment of this Python first."""
    folders = [pathlib.Path(prefix) / "lib" for prefix in dict.fromkeys((sys.prefix, sys.base_prefix))]
    for kind in kinds:
        for folder in folders:
            yield from ((kind, str(folder / library)) for library in LIBRARIES[kind] if (folder / library).is_file())
    for kind in kinds:
        yield from ((kind, library) for library in LIBRARIES[kind])


def load(file):
    """Into the process, for the modules that need it. Intel MPI looks for its providers beside itself only if told."""
    library = ctypes.CDLL(file, ctypes.RTLD_GLOBAL)
    folder = os.path.dirname(file)
    if hasattr(library, "I_MPI_Check_image_status") and os.path.isfile(os.path.join(folder, "libfabric.so.1")):
        os.environ.setdefault("FI_PROVIDER_PATH", folder)
        ctypes.CDLL(os.path.join(folder, "libfabric.so.1"))


def chosen():
    """(kind, file) of the MPI to use; its library is in the process afterwards."""
    there = in_process()
    kinds = {kind_of_name(file) for file in there}
    if len(kinds) > 1:
        raise StateError(f"there are two MPIs in this process, of which one would not know its ranks: {', '.join(there)}")
    wanted = os.environ.get("TUTTI_MPI", "")
    if wanted and wanted not in LIBRARIES and not os.path.isfile(wanted):
        raise StateError(f"TUTTI_MPI is {wanted!r}: allowed: {', '.join(LIBRARIES)}, or the file of an MPI library")
    kind = wanted if wanted in LIBRARIES or not wanted else kind_of_name(wanted)
    if wanted and kind is None:
        raise StateError(f"TUTTI_MPI is {wanted!r}: its name is none of {', '.join(sum(LIBRARIES.values(), []))}")
    if there:
        if kind and kinds != {kind}:
            raise StateError(f"TUTTI_MPI is {wanted!r}, but another MPI is in this process: {there[0]}; two MPIs in a process "
                             "do not know of each other's ranks")
        return kinds.pop(), there[0]
    tried = []
    for each, file in [(kind, wanted)] if os.path.isfile(wanted) else candidates([kind] if kind else list(LIBRARIES)):
        try:
            load(file)
        except OSError as error:
            tried.append(str(error))
        else:
            return each, file
    raise ImportError("there is no MPI: install Open MPI, or MPICH (pip install mpich), or name the file of an MPI library in "
                      f"TUTTI_MPI. Tried: {'; '.join(tried)}")


def core():
    """The module _core of a binary wheel for the MPI of this process."""
    kind, file = chosen()
    found = sorted((FOLDER / kind).glob("_core.*"))
    if not found:
        raise ImportError(f"this package has no module for {file} ({kind})")
    spec = importlib.util.spec_from_file_location("tutti._core", found[0])
    module = importlib.util.module_from_spec(spec)
    sys.modules["tutti._core"] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules["tutti._core"]
        raise
    return module
