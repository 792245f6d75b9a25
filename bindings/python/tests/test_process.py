"""What concerns the process: each program runs alone, on one rank."""
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest
import tutti

pytestmark = pytest.mark.skipif(
    any(int(os.environ.get(name, "1")) > 1 for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")),
    reason="programs of one rank are started by one rank alone",
)


def environment(**more):
    """Without what mpirun has told this process."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_COMM", "PMIX", "PMI_", "OMPI_UNIVERSE", "ORTE"))}
    return {**{k: v for k, v in kept.items() if not k.startswith("OMPI_MCA_orte") and not k.startswith("OMPI_MCA_ess")}, **more}


def run(program, *python, **more):
    """Exit code, output and errors of a program."""
    command = [sys.executable, *python, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, env=environment(**more), capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_alone():
    """Without mpi4py, MPI is initialised with threads, and finalised at the end."""
    code, out, err = run("""
        import sys, tutti
        assert "tutti._core" not in sys.modules, "loaded at first use"
        comm = tutti.Communicator()
        assert "mpi4py" not in sys.modules
        print(comm.allreduce(3), comm)
        request = comm.allreduce_async(4)   # alive at the end
        plan = comm.plan_allreduce(__import__("numpy").ones(3))
    """)
    assert (code, out) == (0, "3 <tutti.Communicator, rank 0 of 1>\n"), err


def test_import_needs_no_mpi():
    code, out, err = run("""
        import sys, tutti
        assert issubclass(tutti.ArgumentError, ValueError) and issubclass(tutti.ArgumentError, tutti.Error)
        assert "Communicator" in dir(tutti)
        try:
            tutti.nonsense
        except AttributeError as error:
            print(error)
        assert "tutti._core" not in sys.modules
    """)
    assert (code, out) == (0, "module 'tutti' has no attribute 'nonsense'\n"), err


def test_what_is_missing_is_named(tmp_path):
    """NumPy; the compiled modules, where Python finds the source folder first; packages that tutti has modules for."""
    code, out, err = run("""
        import sys
        sys.modules.update(numpy=None, torch=None, mpi4py=None)
        import tutti
        assert "schedule" in dir(tutti) and not {"torch", "mpi4py"} & set(dir(tutti))
        tutti.Communicator
    """)
    assert code == 1 and "ModuleNotFoundError: import of numpy halted" in err, err
    sources = tmp_path / "tutti"
    shutil.copytree(pathlib.Path(tutti.__file__).parent, sources, ignore=shutil.ignore_patterns("_core*", "_offline*", "_mpis"))
    for built, text in (False, f"this is the source folder of tutti, {sources}, where nothing is compiled"), (True, "without the module"):
        (tmp_path / "pyproject.toml").unlink(missing_ok=True) if built else (tmp_path / "pyproject.toml").touch()
        for name in "Communicator", "schedule":
            code, out, err = run(f"import tutti\ntutti.{name}", "-P", PYTHONPATH=f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
            assert code == 1 and text in err.splitlines()[-1], err


def test_fork():
    code, out, err = run("""
        import os, numpy, tutti
        comm = tutti.Communicator()
        request, plan = comm.allreduce_async(1), comm.plan_allreduce(numpy.ones(1))
        kept = tutti.empty(1000)
        child = os.fork()
        if child == 0:
            for call in (lambda: comm.allreduce(1), request.wait, plan, plan.start, tutti.Communicator,
                         lambda: tutti.empty(3)):
                try:
                    call()
                except tutti.StateError as error:
                    assert "child of a fork(), in which MPI and Tutti cannot" in str(error)
                else:
                    os._exit(1)
            del request, plan, comm, kept
            raise SystemExit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        print(request.wait(), plan(), comm.allreduce(2), comm.allreduce(kept).sum())
    """)
    assert (code, out) == (0, "1 [1.] 2 0.0\n"), err


def test_thread_level_that_is_too_low():
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    code, out, err = run("""
        import threading, mpi4py
        mpi4py.rc.thread_level = "funneled"
        from mpi4py import MPI
        import tutti
        comm = tutti.Communicator(MPI.COMM_WORLD)
        print(comm.allreduce(1))
        def other():
            try:
                comm.allreduce(1)
            except tutti.StateError as error:
                print("thread" in str(error))
        thread = threading.Thread(target=other); thread.start(); thread.join()
    """)
    assert (code, out) == (0, "1\nTrue\n"), err


def test_after_finalize():
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    code, out, err = run("""
        from mpi4py import MPI
        import tutti
        comm = tutti.Communicator(MPI.COMM_WORLD)
        MPI.Finalize()
        for call in (lambda: comm.allreduce(1), tutti.Communicator):
            try:
                call()
            except tutti.StateError as error:
                print(error)
    """)
    assert code == 0 and out.count("\n") == 2 and "finalised" in out.splitlines()[1], out + err


def test_two_mpis():
    """By a stand-in for an mpi4py of another MPI."""
    code, out, err = run("""
        import sys, types, tutti
        other = types.ModuleType("mpi4py.MPI")
        other.Get_library_version = lambda: "MPICH Version: 99\\n more"
        sys.modules["mpi4py.MPI"] = other
        try:
            tutti.Communicator()
        except tutti.StateError as error:
            print(error)
    """)
    assert code == 0 and "two MPIs are in this process: Tutti uses" in out and "mpi4py uses MPICH Version: 99" in out, err


def test_an_mpi_that_is_missing():
    code, out, err = run("""
        import sys
        sys.modules["tutti._core"] = None
        import tutti
        try:
            tutti.Communicator
        except ImportError as error:
            print(type(error).__name__)
    """)
    assert code == 0 and out in ("ImportError\n", "ModuleNotFoundError\n"), err


def test_control_c():
    """Ctrl-C ends a blocking call, whose communicator is aborted, and the wait of a request, which stays."""
    program = textwrap.dedent("""
        import threading, os, signal, time, numpy, tutti
        comm = tutti.Communicator()
        if comm.rank == 0:
            def interrupt():
                threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            request = comm.recv_async(numpy.zeros(1), 1)
            interrupt()
            try:
                request.wait()
            except KeyboardInterrupt:
                print("request", request.done, flush=True)
            interrupt()
            try:
                comm.allreduce(1)
            except KeyboardInterrupt:
                try:
                    comm.allreduce(1)
                except tutti.StateError as error:
                    print("call", "interrupted by a signal" in str(error), flush=True)
        else:
            time.sleep(3)
            try:
                comm.send(numpy.ones(1), 0)
                for _ in range(3):  # what rank 0 had sent before it was interrupted may be enough for one
                    comm.allreduce(1)
            except tutti.FailedError:
                print("peer knows", flush=True)
    """)
    mpirun = os.environ.get("MPIRUN", "mpirun -n").split()  # scripts/mpirun.sh takes the number of ranks alone
    command = [*mpirun, "2", sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert "request False" in done.stdout and "call True" in done.stdout and "peer knows" in done.stdout, done


def test_subinterpreters_are_refused():
    """They would share the modules' state with the main interpreter, whose objects would not be known any more."""
    code, out, err = run("""
        import tutti, tutti.schedule
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        comm = tutti.Communicator()
        other = interpreters.create()
        for program in ("import tutti; tutti.Communicator", "import tutti.schedule"):
            try:
                said = str(interpreters.run_string(other, program))
            except Exception as error:
                said = str(error)
            print("StateError" in said or "subinterpreter" in said)
        interpreters.destroy(other)
        print(comm.allreduce(1), tutti.schedule.of("allreduce", "ring").fault)
    """)
    assert (code, out) == (0, "True\nTrue\n1 None\n"), out + err
