"""Which MPI a binary wheel uses: the one of the process, the one that TUTTI_MPI names, the first that is found."""
import pytest

import tutti
from tutti import _mpi


@pytest.fixture
def machine(monkeypatch):
    """machine(there=[...], found=[...]): the MPI libraries of the process, and those that can be loaded."""
    monkeypatch.delenv("TUTTI_MPI", raising=False)

    def prepare(there=(), found=()):
        def load(file):
            if file not in found:
                raise OSError(f"{file}: cannot open shared object file")

        monkeypatch.setattr(_mpi, "in_process", lambda: list(there))
        monkeypatch.setattr(_mpi, "load", load)
        return monkeypatch.setenv

    return prepare


def test_the_mpi_of_the_process_comes_first(machine):
    machine(there=["/opt/lib/libmpi.so.12.5.2"], found=["libmpi.so.40"])
    assert _mpi.chosen() == ("mpich", "/opt/lib/libmpi.so.12.5.2")


def test_the_first_that_is_found(machine):
    machine(found=["libmpi_abi.so.1", "libmpi.so.12"])
    assert _mpi.chosen() == ("mpich", "libmpi.so.12")
    machine(found=["libmpi.so.12", "libmpi.so.40"])
    assert _mpi.chosen() == ("openmpi", "libmpi.so.40")


def test_an_mpi_of_the_environment_comes_before_that_of_the_system(machine, monkeypatch, tmp_path):
    own = tmp_path / "lib" / "libmpi.so.12"
    own.parent.mkdir()
    own.touch()
    monkeypatch.setattr(_mpi.sys, "prefix", str(tmp_path))
    machine(found=["libmpi.so.40", str(own)])
    assert _mpi.chosen() == ("mpich", str(own))


def test_the_one_that_is_named(machine, tmp_path):
    machine(found=["libmpi.so.40", "libmpi_abi.so.1"])("TUTTI_MPI", "mpi_abi")
    assert _mpi.chosen() == ("mpi_abi", "libmpi_abi.so.1")
    library = tmp_path / "libmpi.so.12.0"
    library.touch()
    machine(found=["libmpi.so.40", str(library)])("TUTTI_MPI", str(library))
    assert _mpi.chosen() == ("mpich", str(library))


@pytest.mark.parametrize("there, named, kind, text", [
    (["/a/libmpi.so.40", "/b/libmpi.so.12"], "", tutti.StateError, "two MPIs in this process, .*/a/libmpi.so.40, /b/libmpi.so.12"),
    (["/a/libmpi.so.40"], "mpich", tutti.StateError, "TUTTI_MPI is 'mpich', but another MPI is in this process: /a/libmpi.so.40"),
    ([], "mpi", tutti.StateError, "TUTTI_MPI is 'mpi': allowed: openmpi, mpich, mpi_abi, or the file of an MPI library"),
    ([], __file__, tutti.StateError, "its name is none of libmpi.so.40, libmpi.so.12"),
    ([], "mpich", ImportError, "there is no MPI: .*pip install mpich.*Tried: .*libmpi.so.12"),
    ([], "", ImportError, "Tried: .*libmpi.so.40.*libmpi.so.12.*libmpi_abi.so.1"),
])
def test_refusals(machine, there, named, kind, text):
    machine(there=there)("TUTTI_MPI", named)
    with pytest.raises(kind, match=text):
        _mpi.chosen()


@pytest.mark.parametrize("name, kind", [
    ("libmpi.so.40", "openmpi"), ("libmpi.so.40.30.4", "openmpi"), ("libmpi.so.12", "mpich"), ("libmpi.so.12.0.0", "mpich"),
    ("libmpi_abi.so.1", "mpi_abi"), ("libmpi_cxx.so.40", None), ("libmpi.so.4", None), ("libmpifort.so.12", None),
])
def test_names(name, kind):
    assert _mpi.kind_of_name("/lib/" + name) == kind
