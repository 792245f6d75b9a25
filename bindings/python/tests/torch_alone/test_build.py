"""Building the C++ part: what goes wrong is told, what is there is not built again. No MPI, no ranks."""
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="torch is not installed: scripts/setup.sh torch FOLDER makes a venv with it")
from tutti.torch import build  # noqa: E402


@pytest.fixture
def place(monkeypatch, tmp_path):
    """A cache of the test's own, and a small source in place of the backend's."""
    sources = tmp_path / "csrc"
    sources.mkdir()
    (sources / "module.cpp").write_text("int answer() { return 42; }\n")
    monkeypatch.setattr(build, "_SOURCES", sources)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return sources / "module.cpp"


def test_it_is_built_once(place):
    target = build.build()
    stamp = target.stat().st_mtime_ns
    assert build.build() == target and target.stat().st_mtime_ns == stamp
    assert [path.name for path in target.parent.iterdir() if path.suffix == ".so"] == [target.name]
    place.write_text("int answer() { return 43; }\n")
    assert build.build() != target


def test_processes_that_build_at_once_share_the_result(place, tmp_path):
    program = f"import pathlib; from tutti.torch import build; build._SOURCES = pathlib.Path({str(place.parent)!r}); print(build.build())"
    running = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    targets = {process.communicate()[0].strip() for process in running}
    assert len(targets) == 1 and pathlib.Path(targets.pop()).exists()


def test_what_the_compiler_says_is_told(place):
    place.write_text("int answer() { return nonsense; }\n")
    with pytest.raises(build.BuildError, match="failed with code 1; .*build.log has all of it:\n.*nonsense"):
        build.build()
    assert not [path for path in build.cache().rglob("*.so")]


def test_no_compiler(place, monkeypatch):
    monkeypatch.setenv("MPICXX", "no_such_compiler")
    with pytest.raises(build.BuildError, match="no_such_compiler was not found: install a C\\+\\+ compiler and MPI"):
        build.build()


def test_what_was_built_needs_no_compiler(place, monkeypatch):
    target = build.build()
    monkeypatch.setenv("PATH", "/nowhere")
    assert build.build() == target


def test_no_library(place, monkeypatch, tmp_path):
    monkeypatch.setattr(build, "_places", lambda: [str(tmp_path / "nothing")])
    with pytest.raises(build.BuildError, match="tutti.h and libtutti.so were not found: install Tutti, or set Tutti_ROOT"):
        build.build()


def test_a_cache_that_cannot_be_made(place, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(build.BuildError, match="cannot be made .*: set XDG_CACHE_HOME to a folder that can be written"):
        build.build()


def test_the_program_is_found_without_import():
    """init_process_group("tutti") finds the entry point of the installed package."""
    from importlib.metadata import entry_points

    found = [point for point in entry_points(group="torch.distributed.backends") if point.name == "tutti"]
    if not found:
        pytest.skip("the package is not installed: its entry point is not known")
    assert found[0].value == "tutti.torch:register"
    assert os.path.basename(found[0].load().__code__.co_filename) == "__init__.py"


def test_old_versions_of_pytorch_are_refused():
    program = "import torch._C._distributed_c10d as c10d; del c10d.Backend.Options; import tutti.torch"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert told.returncode == 1 and "ImportError: tutti.torch needs PyTorch 2.6 or newer; this is " in told.stderr
