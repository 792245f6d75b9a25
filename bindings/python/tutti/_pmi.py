"""The world of a job without mpirun, for MPICH and Intel MPI: `join` connects this process to a server (_pmi_server.py).

Ranks of `python -m tutti.run` are connected already. Where torchrun or a shell started them, rank 0 starts the server.
"""
import json
import os
import socket
import subprocess
import sys
import time

from tutti._errors import StateError

OPEN_MPI = "OMPI_COMM_WORLD_"
LAUNCHERS = ("PMI_", "PMIX_", OPEN_MPI, "HYDI_")  # the variables by which a launcher tells MPI of its world
LONGEST_LINE = 1 << 16


class Refused(StateError):
    """Why there is no world; `again` where another try may find one."""

    def __init__(self, why, again=False):
        super().__init__(why)
        self.again = again


def this_node():
    """Containers of one host may share its name, those of several hosts, too."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{socket.gethostname()} {file.read().strip()}"
    except OSError:
        return socket.gethostname()


def listen(address, port):
    """On the interface of `address`; where that is another host, on the one that leads there."""
    family, *_, found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    try:
        return socket.create_server(found[:2], family=family, backlog=1024)
    except OSError as error:
        if port:
            raise Refused(f"port {port} of {address} is taken or not of this host ({error.strerror}): rank 0 needs it, "
                          "one above MASTER_PORT; choose another MASTER_PORT") from None
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect(found)
        return socket.create_server((probe.getsockname()[0], 0), family=family, backlog=1024)


def start_server(listener, size, token, seconds):
    # Its child goes on, so that no rank has a child that it did not start.
    code = [sys.executable, "-I", "-S", os.path.join(os.path.dirname(os.path.abspath(__file__)), "_pmi_server.py")]
    subprocess.run([*code, str(listener.fileno()), str(size), token, str(seconds)], check=True, start_new_session=True,
                   pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def meet(address, greeting, deadline):
    """A connection to the server, when all ranks have one."""
    try:
        connection = socket.create_connection(address, timeout=max(1, deadline - time.monotonic()))
        connection.sendall(json.dumps(greeting).encode() + b"\n")
        answer = json.loads(connection.makefile("rb", buffering=0).readline(LONGEST_LINE))
    except (OSError, ValueError) as error:
        raise Refused(f"the server of rank 0 at {address[0]}:{address[1]} does not answer: {error}", again=True) from None
    if "refused" in answer:
        raise Refused(answer["refused"], answer.get("again", False))
    connection.settimeout(None)
    return connection


def connect(store, rank, size, seconds):
    """The connection of this rank; rank 0 starts the server."""
    master, port = os.environ.get("MASTER_ADDR") or socket.gethostname(), os.environ.get("MASTER_PORT", "")
    if store is None and not port.isdecimal():
        raise Refused("MASTER_ADDR and MASTER_PORT, which torchrun sets, say where the ranks meet; they are missing")
    token = os.urandom(16).hex()
    address = [master, 0]
    if store is None:  # on a port that all know
        elastic = [os.environ.get(f"TORCHELASTIC_{name}", "") for name in ("RUN_ID", "RESTART_COUNT")]
        token, address = "/".join([*elastic, master, port]), [master, int(port) + 1]
    if rank == 0:
        listener = listen(*address)
        start_server(listener, size, token, seconds)
        address = list(listener.getsockname()[:2])
        listener.close()
    if store is not None:
        if rank == 0:
            store.set("tutti/pmi", json.dumps([*address, token]))
        *address, token = json.loads(store.get("tutti/pmi"))
    deadline = time.monotonic() + seconds
    greeting = {"rank": rank, "size": size, "token": token, "node": this_node(), "pid": os.getpid()}
    while True:
        try:
            connection = meet(tuple(address), greeting, deadline + 5)
            break
        except Refused as why:
            if not why.again or time.monotonic() > deadline:
                raise
        time.sleep(0.05)
        if store is not None and rank != 0:  # it may have been the server of ranks that ended before they had met
            *address, greeting["token"] = json.loads(store.get("tutti/pmi"))
    if store is not None and rank == 0:  # all have read it; torchrun keeps its store for the ranks that it starts anew
        store.delete_key("tutti/pmi")
    return connection


joined = None  # the size of the world that this process joined, and the connection, which MPI has from then on


def expected():
    """(rank, size) as torchrun or tutti.run say it, or a launcher of MPI; (0, 1) where nobody does."""
    for prefix, size in (("", "WORLD_SIZE"), ("PMI_", "PMI_SIZE"), (OPEN_MPI, OPEN_MPI + "SIZE")):
        texts = os.environ.get(prefix + "RANK", ""), os.environ.get(size, "")
        if all(text.isdecimal() for text in texts):
            return int(texts[0]), int(texts[1])
    return 0, 1


def was_launched():
    """Whether a launcher of MPI started this process. What torchrun's workers have of one is meant for torchrun."""
    variables = [name for name in os.environ if name.startswith(LAUNCHERS)]
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return bool(variables)
    for name in variables:
        del os.environ[name]
    return False


def why_not_open_mpi(library, size):
    return (f"{library.split(',')[0]} makes a world of {size} ranks only by its own launcher: start with "
            f"`mpirun -n {size} python ...`, or in Slurm with `srun --mpi=pmix`. MPICH and Intel MPI need none "
            "(pip install mpich)")


def join(store=None, rank=None, size=None, library=None, seconds=300):
    """Before MPI_Init: makes it find the ranks that torchrun or a shell started, with RANK, WORLD_SIZE, MASTER_ADDR and
    MASTER_PORT in the environment. Does nothing for one rank, or where a launcher of MPI started the ranks.

    `store` is a torch.distributed.Store, or anything with its set, get and delete_key; without one, rank 0 listens on the port above
    MASTER_PORT. `library` is the text of MPI_Get_library_version, by default that of the MPI which Tutti uses.
    """
    global joined
    told_rank, told_size = expected()
    rank, size = told_rank if rank is None else rank, told_size if size is None else size
    if joined or size == 1:
        return
    if library is None:
        from tutti import _native

        library = _native.core().mpi_library()
    launched = was_launched()
    if library.startswith("Open MPI") and not any(name.startswith(LAUNCHERS[1:3]) for name in os.environ):
        raise Refused(why_not_open_mpi(library, size))
    if launched:
        return
    connection = connect(store, rank, size, seconds)
    os.environ.update(PMI_FD=str(connection.detach()), PMI_RANK=str(rank), PMI_SIZE=str(size))
    joined = size


def require_world(size):
    """After MPI_Init: refuses a world of another size than the ranks were started with."""
    wanted = joined or expected()[1]
    if size == 1 and wanted > 1:
        from tutti import _native

        library = _native.core().mpi_library().partition(",")[0].partition("\n")[0]
        raise Refused(f"MPI's world has 1 rank, while {wanted} were started: by what does not belong to {library}; start with the "
                      "mpirun of that MPI")
