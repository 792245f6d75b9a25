"""Ranks without mpirun: python -m tutti.run, and join() where torchrun started them. TUTTI_TEST_PEERS names a folder in which
mpich/bin/python and intel/bin/python have mpi4py and one of these MPIs; other ranks only speak PMI."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest

import tutti.run
from tutti import _pmi

HERE = pathlib.Path(__file__).parent
PACKAGE = str(pathlib.Path(tutti.__file__).parent.parent)
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_COMM", "PMI", "TORCHELASTIC"))}
ENVIRONMENT.pop("PYTHONUNBUFFERED", None)  # print would write its arguments one by one, between those of other ranks
ENVIRONMENT["PYTHONPATH"] = os.pathsep.join([PACKAGE, str(HERE)])
PEERS = pathlib.Path(os.environ.get("TUTTI_TEST_PEERS", "/nonexistent"))
each_mpi = pytest.mark.parametrize("python", [
    pytest.param(str(PEERS / name / "bin/python"), id=name, marks=pytest.mark.skipif(
        not (PEERS / name / "bin/python").exists(), reason=f"TUTTI_TEST_PEERS has no {name}"))
    for name in ("mpich", "intel")])


def program(folder, text):
    path = folder / "prog.py"
    path.write_text("import os, sys, time, signal\nrank = int(os.environ['RANK'])\n" + textwrap.dedent(text))
    return str(path)


def launch(*arguments, python=sys.executable, **how):
    return subprocess.run([python, "-m", "tutti.run", "--any-mpi", *map(str, arguments)], env=ENVIRONMENT, capture_output=True,
                          text=True, timeout=120, **how)


# ---- tutti.run -----------------------------------------------------------------------------------------------------------


def test_ranks_and_their_environment(tmp_path):
    told = launch("-n", 3, program(tmp_path, """
        names = "RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK MASTER_ADDR PMI_RANK PMI_SIZE".split()
        print(*(os.environ[name] for name in names), int(os.environ["MASTER_PORT"]) > 0, sys.argv[1:], flush=True)
    """), "--epochs", "3", "-n", "9")
    assert told.returncode == 0 and told.stderr == ""
    assert sorted(told.stdout.splitlines()) == [
        f"{rank} 3 {rank} 3 0 127.0.0.1 {rank} 3 True ['--epochs', '3', '-n', '9']" for rank in range(3)]


def test_a_world_without_mpi(tmp_path):
    told = launch("-n", 5, "--tag-output", program(tmp_path, "import pmi_client\nprint(*pmi_client.world())"))
    assert told.returncode == 0, told.stderr
    assert sorted(told.stdout.splitlines()) == [f"[{rank}] port{(rank + 1) % 5} (vector,(0,1,5))" for rank in range(5)]


def test_one_rank_a_module_and_a_command(tmp_path):
    assert launch("-n", 1, "-m", "platform").returncode == 0
    assert launch("-n", 2, "echo", "hello").stdout == "hello\nhello\n"


def test_rank_0_reads_the_input(tmp_path):
    told = launch("-n", 2, program(tmp_path, "print(rank, len(sys.stdin.read()))"), input="abc")
    assert sorted(told.stdout.splitlines()) == ["0 3", "1 0"]


def test_tags_hold_for_every_line_of_both_streams(tmp_path):
    told = launch("-n", 2, "--tag-output", program(tmp_path, """
        print("one\\ntwo\\nlast", end="")
        print("error", file=sys.stderr)
        print("x" * 200000, end="")
    """))
    lines = told.stdout.splitlines()
    assert all(line.startswith(("[0] ", "[1] ")) for line in lines) and told.returncode == 0
    assert sum(line.count("x") for line in lines) == 400000 and "[1] two" in lines
    assert sorted(told.stderr.splitlines()) == ["[0] error", "[1] error"]


def test_the_first_failure_is_that_of_the_job(tmp_path):
    began = time.monotonic()
    told = launch("-n", 3, program(tmp_path, "sys.exit(7) if rank == 1 else time.sleep(100)"))
    assert told.returncode == 7 and time.monotonic() - began < 60
    assert "tutti.run: rank 1 (process " in told.stderr and "ended with exit status 7; the others are ended" in told.stderr
    assert told.stderr.count("tutti.run:") == 1


def test_a_rank_that_a_signal_ends(tmp_path):
    told = launch("-n", 2, program(tmp_path, "os.kill(os.getpid(), signal.SIGSEGV) if rank == 0 else time.sleep(100)"))
    assert told.returncode == 128 + signal.SIGSEGV
    assert "was ended by signal 11 (Segmentation fault); the others are ended" in told.stderr


def test_ranks_that_do_not_end_are_killed(tmp_path):
    told = launch("-n", 2, program(tmp_path, """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open(sys.argv[1] + str(rank), "w").close()
        while rank == 0 and not os.path.exists(sys.argv[1] + "1"):
            time.sleep(0.01)
        sys.exit(3) if rank == 0 else time.sleep(100)
    """), tmp_path / "ready")
    assert told.returncode == 3


@pytest.mark.parametrize("when, status", [("before", 0), ("inside", 1)])
def test_a_rank_that_ends_before_finalize(tmp_path, when, status):
    told = launch("-n", 2, program(tmp_path, f"""
        import pmi_client
        client = pmi_client.Client()
        if rank == 1:
            {"client.init()" if when == "inside" else "pass"}
            sys.exit(0)
        client.init()
        {"time.sleep(100)" if when == "inside" else "print(client.ask('cmd=barrier_in'))"}
    """))
    assert told.returncode == status
    assert "tutti.run: rank 1 (process " in told.stderr and "ended before MPI_Finalize; the others have 5 s" in told.stderr
    assert told.stdout == ("" if status else "cmd=barrier_out rc=-1 msg=rank_1_has_ended\n")


def test_abort_ends_all(tmp_path):
    told = launch("-n", 2, program(tmp_path, """
        import pmi_client
        if rank == 1:
            pmi_client.Client().tell("cmd=abort exitcode=9")
        time.sleep(100)
    """))
    assert told.returncode == 9 and "called MPI_Abort with 9; all ranks are ended" in told.stderr


def test_leftovers_are_ended(tmp_path):
    told = launch("-n", 2, program(tmp_path, """
        import subprocess
        if rank == 1:
            open(sys.argv[1], "w").write(str(subprocess.Popen(["sleep", "1000"]).pid))
    """), tmp_path / "pid")
    assert told.returncode == 0 and "processes that rank 1 has left running are ended" in told.stderr
    assert not pathlib.Path("/proc", (tmp_path / "pid").read_text()).exists()


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_reach_all_ranks(tmp_path, number, status):
    script = program(tmp_path, """
        def end(number, frame):
            os.write(1, b"%d %d\\n" % (rank, number))
            if number != signal.SIGUSR1:
                sys.exit(0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            signal.signal(number, end)
        os.write(1, b"ready\\n")
        while True:
            time.sleep(1)
    """)
    job = subprocess.Popen([sys.executable, "-m", "tutti.run", "--any-mpi", "-n", "2", script], env=ENVIRONMENT, text=True,
                           stdout=subprocess.PIPE)
    assert [job.stdout.readline() for _ in range(2)] == ["ready\n", "ready\n"]
    job.send_signal(signal.SIGUSR1)
    assert sorted(job.stdout.readline() for _ in range(2)) == ["0 10\n", "1 10\n"]
    job.send_signal(number)
    assert sorted(job.communicate(timeout=60)[0].splitlines()) == [f"{rank} {int(number)}" for rank in range(2)]
    assert job.returncode == status


def test_ranks_die_with_their_launcher(tmp_path):
    script = program(tmp_path, "print(os.getpid(), flush=True); time.sleep(1000)")
    job = subprocess.Popen([sys.executable, "-m", "tutti.run", "--any-mpi", "-n", "2", script], env=ENVIRONMENT, text=True,
                           stdout=subprocess.PIPE)
    ranks = [pathlib.Path("/proc", job.stdout.readline().strip()) for _ in range(2)]
    job.kill()
    job.wait()
    deadline = time.monotonic() + 30
    while any(rank.exists() and "State:\tZ" not in (rank / "status").read_text() for rank in ranks):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("arguments, status, text", [
    (["prog.py"], 2, "the following arguments are required: -n/--ranks"),
    (["-n", "0", "true"], 2, "-n 0: allowed: 1 to 4096"),
    (["-n", "many", "true"], 2, "invalid int value: 'many'"),
    (["-n", "2", "--master-port", "70000", "true"], 2, "--master-port 70000: allowed: 1 to 65535"),
    (["-n", "2", "there/is/none.py"], 127, "tutti.run: there is no file there/is/none.py"),
    (["-n", "2", "no-such-program"], 127, "tutti.run: there is no program no-such-program"),
])
def test_bad_input(arguments, status, text):
    told = launch(*arguments)
    assert told.returncode == status and text in told.stderr and "Traceback" not in told.stderr


def test_help_says_all():
    text = launch("--help").stdout
    for word in ["--tag-output", "--master-port", "--any-mpi", "-m,", "WORLD_SIZE", "srun --mpi=pmix", "SIGUSR1", "Exit status"]:
        assert word in text


def test_open_mpi_is_refused(monkeypatch, capsys):
    class Core:
        @staticmethod
        def mpi_library():
            return "Open MPI v4.1.4, package: Debian"

    monkeypatch.setattr("tutti._native.core", Core)
    assert tutti.run.main(["-n", "4", "true"]) == 2
    assert capsys.readouterr().err == (
        "tutti.run: Open MPI v4.1.4 makes a world of 4 ranks only by its own launcher: start with `mpirun -n 4 python ...`, or in "
        "Slurm with `srun --mpi=pmix`. MPICH and Intel MPI need none (pip install mpich)\n")


# ---- join ----------------------------------------------------------------------------------------------------------------


JOIN = "import sys; sys.path.insert(0, '{here}'); from tutti import _pmi; _pmi.join(library='MPICH', seconds={seconds}); {then}"
WORLD = "import pmi_client; print(*pmi_client.world())"


def free_port():
    """So that the next one is free, too."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as first:
            port = first.getsockname()[1]
            try:
                socket.create_server(("127.0.0.1", port + 1)).close()
                return port
            except OSError:
                pass


def join(ranks, size, port, then=WORLD, seconds=60, python=sys.executable, **environment):
    """What the ranks say, and their exit status."""
    text = JOIN.format(here=HERE, seconds=seconds, then=then)
    started = [subprocess.Popen([python, "-c", text], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=ENVIRONMENT | {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1",
                                                   "MASTER_PORT": str(port)} | environment) for rank in ranks]
    return [(*process.communicate(timeout=120), process.returncode) for process in started]


def test_join():
    assert join(range(3), 3, free_port()) == [(f"port{(rank + 1) % 3} (vector,(0,1,3))\n", "", 0) for rank in range(3)]


def test_join_under_torchrun_forgets_the_launcher_of_torchrun():
    inherited = {"TORCHELASTIC_RUN_ID": "job", "PMI_RANK": "0", "PMI_SIZE": "1", "PMIX_RANK": "0", "PMI_FD": "99"}
    assert [status for *_, status in join(range(2), 2, free_port(), **inherited)] == [0, 0]


def test_join_by_a_store_that_knows_an_earlier_server(tmp_path):
    """As that of torchrun, which starts ranks anew after a failure."""
    port = free_port()
    store = f"""
class Store:
    def set(self, key, value):
        while not os.path.exists('read'): time.sleep(0.01)  # rank 1 has got the address of the earlier server
        open('new', 'w').write(value); os.rename('new', 'key')
    def get(self, key):
        while not os.path.exists('key'): time.sleep(0.01)
        text = open('key', 'rb').read()
        open('read' if int(sys.argv[1]) else 'read.0', 'w').close()
        return text
    def delete_key(self, key):
        os.remove('key')
"""
    (tmp_path / "key").write_text(json.dumps(["127.0.0.1", port, "its token"]))
    text = f"import os, time, sys; sys.path.insert(0, {str(HERE)!r})\n{store}\nfrom tutti import _pmi\n" \
           f"_pmi.join(Store(), rank=int(sys.argv[1]), size=2, library='MPICH')\n{WORLD}"
    started = [subprocess.Popen([sys.executable, "-c", text, str(rank)], env=ENVIRONMENT | {"MASTER_ADDR": "127.0.0.1"},
                                stdout=subprocess.PIPE, cwd=tmp_path) for rank in (1, 0)]
    assert [process.communicate(timeout=60)[0] for process in started] == [
        b"port0 (vector,(0,1,2))\n", b"port1 (vector,(0,1,2))\n"]
    assert not (tmp_path / "key").exists()


def test_a_rank_that_never_comes():
    for _, error, status in join([0, 1], 3, free_port(), seconds=2):
        assert status == 1 and "of 3 ranks these did not come within 2 s: 2" in error


def test_a_rank_that_dies_before_all_are_there():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        _pmi.start_server(listener, 2, "token", 60)
    greeting = {"rank": 0, "size": 2, "token": "token", "node": "here", "pid": os.getpid()}
    with socket.create_connection(address) as dies:
        dies.sendall(json.dumps(greeting).encode() + b"\n")
    with pytest.raises(tutti.StateError, match="rank 0 has ended before all were there"):
        _pmi.meet(address, greeting | {"rank": 1}, time.monotonic() + 60)


@pytest.mark.parametrize("wrong, text, again", [
    ({"token": "other"}, "the server is that of another job", True),
    ({"rank": 2}, "rank 2 of 2: this job has 2 ranks, and each connects once", False),
    ({"size": 3}, "rank 0 of 3: this job has 2 ranks", False),
    ({"rank": "many"}, "does not answer", True),
])
def test_strangers_are_refused(wrong, text, again):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        _pmi.start_server(listener, 2, "token", 5)
    greeting = {"rank": 0, "size": 2, "token": "token", "node": "here", "pid": os.getpid()}
    with pytest.raises(_pmi.Refused, match=text) as refused:
        _pmi.meet(address, greeting | wrong, time.monotonic() + 60)
    assert refused.value.again == again


def test_a_rank_of_another_size():
    results = join([0, 1], 2, free_port(), then=WORLD), join([0, 5], 6, free_port(), seconds=2)
    assert [status for *_, status in results[0]] == [0, 0] and [status for *_, status in results[1]] == [1, 1]


def test_another_program_has_the_port():
    port = free_port()
    with socket.create_server(("127.0.0.1", port + 1)):
        (_, error, status), = join([0], 2, port)
    assert status == 1 and f"port {port + 1} of 127.0.0.1 is taken" in error and "MASTER_PORT" in error


def test_a_rank_that_dies_ends_the_job_on_its_node():
    then = "import pmi_client, os, time; client = pmi_client.Client(); client.init(); " \
           "os._exit(3) if os.environ['RANK'] == '1' else time.sleep(100)"
    results = join(range(2), 2, free_port(), then=then)
    assert [status for *_, status in results] == [-signal.SIGTERM, 3]
    assert "tutti: rank 1 ended before MPI_Finalize: the ranks of this node are ended" in results[0][1]


def test_open_mpi_cannot_join(monkeypatch):
    for name in [name for name in os.environ if name.startswith(_pmi.LAUNCHERS)]:
        monkeypatch.delenv(name)
    with pytest.raises(tutti.StateError, match="Open MPI v4.1.4 makes a world of 4 ranks only by its own launcher"):
        _pmi.join(rank=1, size=4, library="Open MPI v4.1.4, package")
    _pmi.join(rank=0, size=1, library="Open MPI v4.1.4, package")  # alone: nothing to do


def test_a_world_of_one_is_refused(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(tutti.StateError, match="MPI's world has 1 rank, while 4 were started"):
        _pmi.require_world(1)
    _pmi.require_world(4)
    for name in "RANK", "WORLD_SIZE":  # by Open MPI's mpirun, while this MPI is another
        monkeypatch.delenv(name)
        monkeypatch.delenv(f"PMI_{name.removeprefix('WORLD_')}", raising=False)
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    with pytest.raises(tutti.StateError, match="1 rank, while 2 were started: by what does not belong to .*; start with the mpirun"):
        _pmi.require_world(1)


def test_no_master_is_told(monkeypatch):
    monkeypatch.delenv("MASTER_PORT", raising=False)
    with pytest.raises(tutti.StateError, match="MASTER_ADDR and MASTER_PORT"):
        _pmi.connect(None, 1, 2, 1)


# ---- with an MPI -----------------------------------------------------------------------------------------------------------

SUM = """
    from mpi4py import MPI
    world = MPI.COMM_WORLD
    print(world.rank, world.size, world.allreduce(world.rank + 1), world.Split_type(MPI.COMM_TYPE_SHARED).size, flush=True)
"""


@each_mpi
def test_a_world_of_mpi(tmp_path, python):
    told = launch("-n", 3, program(tmp_path, SUM), python=python)
    assert (told.returncode, told.stderr) == (0, "")
    assert sorted(told.stdout.split()) == sorted(" ".join(f"{rank} 3 6 3" for rank in range(3)).split())


@each_mpi
def test_abort_of_mpi(tmp_path, python):
    told = launch("-n", 3, program(tmp_path, SUM + "    if rank == 1: world.Abort(5)\n    time.sleep(100)"), python=python)
    assert told.returncode == 5 and "called MPI_Abort with 5" in told.stderr


@each_mpi
@pytest.mark.parametrize("end, status", [("os._exit(3)", 3), ("os.kill(os.getpid(), 9)", 137), ("os._exit(0)", None)])
def test_a_rank_of_mpi_that_dies(tmp_path, python, end, status):
    text = SUM + f"    if rank == 1: {end}\n" + ("    time.sleep(100)" if status else "")
    told = launch("-n", 3, program(tmp_path, text), python=python)
    assert told.returncode == status if status else told.returncode > 0
    assert "rank 1 (process " in told.stderr.partition("tutti.run: ")[2]


@each_mpi
def test_a_rank_that_never_calls_mpi(tmp_path, python):
    told = launch("-n", 2, program(tmp_path, "    \nif rank == 1: sys.exit(0)\nfrom mpi4py import MPI"), python=python)
    assert told.returncode == 1 and "rank 1 (process " in told.stderr and "ended before MPI_Finalize" in told.stderr


@each_mpi
def test_mpi_joins(python):
    """MPICH 5 asks the server in its exit handler, and would crash if it were gone."""
    then = "from mpi4py import MPI; print(MPI.COMM_WORLD.size, MPI.COMM_WORLD.allreduce(1))"
    assert join(range(3), 3, free_port(), then=then, python=python) == [("3 3\n", "", 0)] * 3
