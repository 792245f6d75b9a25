"""Builds and loads the C++ part of tutti.torch: one call of the compiler, at first use, for the PyTorch, the Tutti and the MPI
at hand. The result is kept in a folder of the user's cache."""
import contextlib
import fcntl
import functools
import hashlib
import importlib.util
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings

_NAME = "_tutti_torch"
_SOURCES = pathlib.Path(__file__).parent / "csrc"


class BuildError(ImportError):
    """The backend could not be built; the text says what was tried and what the compiler said."""


def _places():
    """Prefixes where tutti.h and libtutti.so may be: Tutti_ROOT, the package itself, Python's, what pkg-config knows."""
    places = [os.environ.get("Tutti_ROOT"), pathlib.Path(__file__).parent.parent, sys.prefix]
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        command = ["pkg-config", "--variable=prefix", "tutti-c"]
        places.append(subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip())
    return [place for place in (*places, "/usr/local", "/usr") if place]


def _prefix():
    """The folder of tutti.h, and libtutti.so."""
    places = _places()
    for place in places:
        include = pathlib.Path(place) / "include"
        for folder in (pathlib.Path(place), *pathlib.Path(place).glob("lib*"), *pathlib.Path(place).glob("lib/*-linux-gnu")):
            library = next(iter(sorted(folder.glob("libtutti.so*"))), None)
            if library and (include / "tutti.h").exists():
                return include, library
    raise BuildError("tutti.torch: tutti.h and libtutti.so were not found: install Tutti, or set Tutti_ROOT to its prefix "
                     f"(looked in {', '.join(map(str, places))})")


def _compiler():
    """The compiler of MPI: MPICXX or mpicxx."""
    return shlex.split(os.environ.get("MPICXX") or "mpicxx")


def _command(target):
    import torch

    root = pathlib.Path(torch.__file__).parent
    include, library = _prefix()
    flags = ["-O1", "-std=c++20", "-fPIC", "-shared", "-w", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX",
             f"-DTORCH_EXTENSION_NAME={_NAME}"]
    if hasattr(torch._C, "_GLIBCXX_USE_CXX11_ABI"):
        flags.append(f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}")
    for part in ("COMPILER_TYPE", "STDLIB", "BUILD_ABI"):  # pybind11 of another compiler would not know PyTorch's classes
        if value := getattr(torch._C, f"_PYBIND11_{part}", None):
            flags.append(f'-DPYBIND11_{part}="{value}"')
    torch_include = root / "include"
    for path in (include, sysconfig.get_path("include"), torch_include, torch_include / "torch/csrc/api/include"):
        flags.append(f"-I{path}")
    flags += [str(_SOURCES / "module.cpp"), "-o", str(target), str(library), f"-Wl,-rpath,{library.parent}"]
    flags += [f"-L{root / 'lib'}", f"-Wl,-rpath,{root / 'lib'}"]
    return [*_compiler(), *flags, "-ltorch", "-ltorch_cpu", "-lc10", "-ltorch_python"]


def _key(command):
    """What the result depends on: a hash of the sources, the command, PyTorch, Python and libtutti, which is for one MPI. The
    compiler has no part in it, so that machines without one use what was built elsewhere."""
    import torch

    digest = hashlib.sha256()
    for source in sorted(_SOURCES.iterdir()):
        digest.update(source.read_bytes())
    library = pathlib.Path(next(part for part in command if "libtutti.so" in part and not part.startswith("-"))).resolve()
    facts = (command, torch.__version__, sys.version, library, library.stat().st_size, library.stat().st_mtime_ns)
    digest.update(repr(facts).encode())
    return f"torch-{torch.__version__}-{sys.implementation.cache_tag}-{digest.hexdigest()[:16]}"


def cache():
    """The folder that keeps what was built: tutti in the user's cache folder, XDG_CACHE_HOME or ~/.cache."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")) / "tutti"


@contextlib.contextmanager
def _locked(path):
    with open(path, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def build():
    """The file of the module, built unless it is there. Processes that build at once wait for the first."""
    command = _command("TARGET")
    folder = cache() / _key(command)
    target = folder / (_NAME + sysconfig.get_config_var("EXT_SUFFIX"))
    if target.exists():
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(f"tutti.torch: {folder} cannot be made ({error.strerror}): set XDG_CACHE_HOME to a folder that can be "
                         "written") from error
    with _locked(folder / "lock"):
        if not target.exists():
            _compile(command, target)
    return target


def _compile(command, target):
    if not shutil.which(command[0]):
        raise BuildError(f"tutti.torch: {command[0]} was not found: install a C++ compiler and MPI's development files, or "
                         "set MPICXX to MPI's compiler")
    for left in target.parent.glob("tmp*.so"):  # of a process that was ended meanwhile
        left.unlink()
    handle, temporary = tempfile.mkstemp(suffix=".so", dir=target.parent)
    os.close(handle)
    command = [temporary if part == "TARGET" else part for part in command]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        os.unlink(temporary)
        log = target.parent / "build.log"
        log.write_text(shlex.join(command) + "\n" + result.stderr, encoding="utf-8")
        errors = [line for line in result.stderr.splitlines() if "error" in line][:3] or result.stderr.splitlines()[-3:]
        raise BuildError(f"tutti.torch: {command[0]} failed with code {result.returncode}; {log} has all of it:\n  "
                         + "\n  ".join(errors))
    os.chmod(temporary, 0o755)
    os.replace(temporary, target)


@functools.cache
def module():
    """The module; None where it cannot be built, after a warning that says why: the backend in Python serves then."""
    try:
        spec = importlib.util.spec_from_file_location(_NAME, build())
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        return loaded
    except BuildError as error:
        warnings.warn(f"{error}\ntutti.torch: the backend in Python is used, which is slower", stacklevel=2)
        return None


if __name__ == "__main__":
    print(build())
