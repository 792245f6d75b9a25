"""python -m tutti.run -n 4 prog.py ARGS...: starts ranks without mpirun, on this machine."""
import argparse
import ctypes
import functools
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import time

from tutti import _pmi
from tutti._pmi_server import GRACE, Lines, Server, allow_many_files, turn

DESCRIPTION = """\
Starts PROGRAM on N ranks of this machine, without mpirun, where the MPI is MPICH or Intel MPI. Open MPI has to be
started by its own mpirun, or in Slurm by srun --mpi=pmix; so have ranks on several machines, but for torchrun, which
tutti joins by itself.

A PROGRAM that ends in .py is run by this Python; any other is looked for as the shell does. Each rank finds, as
torchrun's do, RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, MASTER_ADDR and MASTER_PORT in its environment.
Rank 0 reads the standard input.

When a rank fails, the others are told to end (SIGTERM), and killed if they have not in 5 seconds. SIGINT, SIGTERM,
SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 go to all ranks; after the first four they have 5 seconds; a second one kills them.
What the ranks leave running is ended, too."""
EPILOG = """\
Exit status: 0 if that of every rank is; else that of the rank that failed first, 128 + N if signal N ended it, or if
signal N ended the job; 2 for wrong arguments, 126 if PROGRAM cannot be started, 127 if there is none.

Example: python -m tutti.run -n 4 train.py --epochs 3"""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
PASSED_ON = (signal.SIGUSR1, signal.SIGUSR2)
MOST_RANKS = 4096


def say(text):
    try:
        print(f"tutti.run: {text}", file=sys.stderr, flush=True)
    except OSError:
        sys.stderr = None  # nobody can be told, and Python is not to try again at the end


def parse(arguments):
    parser = argparse.ArgumentParser("python -m tutti.run", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--ranks", type=int, required=True, metavar="N", help=f"how many ranks: 1 to {MOST_RANKS}")
    parser.add_argument("-m", "--module", action="store_true", help="PROGRAM is a module, as for python -m")
    parser.add_argument("--tag-output", action="store_true", help="begin each line that a rank writes with its number: [3]")
    parser.add_argument("--master-port", type=int, metavar="PORT", help="MASTER_PORT of the ranks (default: a free one)")
    parser.add_argument("--any-mpi", action="store_true", help="start even if the MPI of tutti is Open MPI: for programs that "
                        "use another one, or none")
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS")
    given = parser.parse_args(arguments)
    if not 1 <= given.ranks <= MOST_RANKS:
        parser.error(f"-n {given.ranks}: allowed: 1 to {MOST_RANKS}")
    if given.master_port is not None and not 1 <= given.master_port < 1 << 16:
        parser.error(f"--master-port {given.master_port}: allowed: 1 to 65535")
    return given


def command_of(given):
    if given.module:
        return [sys.executable, "-m", given.program, *given.arguments]
    if given.program.endswith(".py"):
        if not os.path.isfile(given.program):
            raise FileNotFoundError(f"there is no file {given.program}")
        return [sys.executable, given.program, *given.arguments]
    found = shutil.which(given.program)
    if found is None:
        raise FileNotFoundError(f"there is no program {given.program}")
    return [found, *given.arguments]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def how(status):
    if status >= 0:
        return f"ended with exit status {status}"
    return f"was ended by signal {-status} ({signal.strsignal(-status)})"


class NotStarted(Exception):
    """Why a rank does not run."""


class Tagged:
    """The output of a rank, which goes on line by line with the rank in front."""

    def __init__(self, rank, source, sink):
        self.tag, self.rest = b"[%d] " % rank, b""
        self.rank, self.source, self.sink = rank, source, sink  # None: this process has none

    def read(self):
        """Whether more can come."""
        data = os.read(self.source.fileno(), 1 << 16)
        *lines, self.rest = (self.rest + data).split(b"\n")
        if not data and self.rest or len(self.rest) > 1 << 16:
            lines, self.rest = [*lines, self.rest], b""
        text = b"".join(self.tag + line + b"\n" for line in lines)
        while text and self.sink is not None:  # not by its buffer, which would be written again at the end
            text = text[os.write(self.sink.fileno(), text):]
        return bool(data)


class Job:
    def __init__(self, given, command):
        self.given, self.command, self.size = given, command, given.ranks
        self.selector = selectors.DefaultSelector()
        self.server = Server([""] * self.size, self.selector, self)
        self.ranks, self.running = [], {}  # processes; those that run, by rank
        self.status, self.kill_at, self.broken_at = None, None, None  # the exit status of the job, once it is known
        self.death_signal = ctypes.CDLL(None).prctl

    # ---- begin

    def start(self):
        port = str(self.given.master_port or free_port())
        for rank in range(self.size):
            ours, theirs = socket.socketpair()
            process = self.start_rank(rank, port, theirs)
            theirs.close()
            self.ranks.append(process)
            self.running[rank] = process
            self.server.connect(rank, Lines(ours))
            if self.given.tag_output:
                self.tag(rank, process)

    def start_rank(self, rank, port, connection):
        job = {"WORLD_SIZE": self.size, "LOCAL_WORLD_SIZE": self.size, "GROUP_RANK": 0, "MASTER_ADDR": "127.0.0.1",
               "MASTER_PORT": port, "RANK": rank, "LOCAL_RANK": rank, "PMI_FD": connection.fileno(), "PMI_RANK": rank,
               "PMI_SIZE": self.size, "MPI_LOCALNRANKS": self.size, "MPI_LOCALRANKID": rank}
        launcher = {name for name in os.environ if name.startswith(_pmi.LAUNCHERS)}  # that of this process, not of the ranks
        environment = {name: value for name, value in os.environ.items() if name not in launcher}
        output = subprocess.PIPE if self.given.tag_output else None
        parent = os.getpid()

        def die_with_parent():
            self.death_signal(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
            if os.getppid() != parent:
                os._exit(1)

        try:
            return subprocess.Popen(self.command, env=environment | {name: str(value) for name, value in job.items()},
                                    stdin=None if rank == 0 else subprocess.DEVNULL, stdout=output, stderr=output,
                                    pass_fds=[connection.fileno()], start_new_session=True, preexec_fn=die_with_parent)
        except OSError as error:
            raise NotStarted(f"rank {rank} cannot be started: {self.command[0]}: {error.strerror}") from None

    def tag(self, rank, process):
        for source, sink in (process.stdout, sys.stdout), (process.stderr, sys.stderr):
            self.selector.register(source, selectors.EVENT_READ, functools.partial(self.pass_output, Tagged(rank, source, sink)))

    def pass_output(self, tagged):
        try:
            if not tagged.read():
                self.selector.unregister(tagged.source)
        except OSError as error:  # a full disk, a pipe that nobody reads
            tagged.sink = None
            if self.status is None:
                say(f"what rank {tagged.rank} writes cannot be passed on ({error.strerror}); all ranks are ended")
                self.end(1)

    # ---- go on

    def run(self):
        """The exit status of the job."""
        wake, woken = socket.socketpair()
        for end in wake, woken:
            end.setblocking(False)
        signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
        self.selector.register(wake, selectors.EVENT_READ, lambda: self.signalled(wake.recv(256)))
        for number in (signal.SIGCHLD, *ENDING, *PASSED_ON):
            signal.signal(number, lambda *_: None)
        self.start()
        self.collect()
        while self.running:
            at = self.kill_at or self.broken_at
            turn(self.selector, at and at - time.monotonic())
            if self.kill_at and time.monotonic() >= self.kill_at:
                self.kill_at = None
                self.pass_on(signal.SIGKILL)
            elif self.broken_at and time.monotonic() >= self.broken_at:
                self.broken_at = None
                self.end(1)
        self.end_leftovers()
        self.drain()
        return self.status or 0

    def signalled(self, numbers):
        for number in numbers:
            if number in PASSED_ON:
                self.pass_on(number)
            elif number in ENDING:
                first = self.status is None
                self.end(128 + number, number if first else signal.SIGKILL)
        self.collect()

    def collect(self):
        """Ranks that have ended; all that can be said is said of the first that failed."""
        for rank, process in list(self.running.items()):
            status = process.poll()
            if status is None:
                continue
            del self.running[rank]
            if status == 0:
                self.server.lost(rank)
            elif self.status is None:
                others = "; the others are ended" if self.running else ""
                say(f"rank {rank} (process {process.pid}) {how(status)}{others}")
                self.end(status if status > 0 else 128 - status)

    def closed(self, rank):
        """Its process says more when it has ended."""

    def broken(self, rank):
        if self.running and self.status is None:
            say(f"rank {rank} (process {self.ranks[rank].pid}) ended before MPI_Finalize; the others have {GRACE} seconds")
            self.broken_at = time.monotonic() + GRACE

    def aborted(self, rank, code):
        if self.status is None:
            say(f"rank {rank} (process {self.ranks[rank].pid}) called MPI_Abort with {code}; all ranks are ended")
            self.end(code & 255 or 1)

    def pass_on(self, number):
        for process in self.running.values():
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                pass

    def end(self, status, number=signal.SIGTERM):
        if self.status is None:
            self.status, self.kill_at = status, time.monotonic() + GRACE
        self.pass_on(number)

    # ---- end

    def left(self):
        """Ranks whose process group has processes."""
        groups = []
        for rank, process in enumerate(self.ranks):
            try:
                os.killpg(process.pid, 0)
                groups.append(rank)
            except (ProcessLookupError, PermissionError):
                pass
        return groups

    def end_leftovers(self):
        """Of groups without a leader: helpers that clean up have a second for it."""
        for number, seconds in (0, 1), (signal.SIGTERM, 1), (signal.SIGKILL, 1):
            for rank in self.left():
                if number == signal.SIGTERM:
                    say(f"processes that rank {rank} has left running are ended")
                try:
                    os.killpg(self.ranks[rank].pid, number)
                except ProcessLookupError:
                    pass  # ended meanwhile
            deadline = time.monotonic() + seconds
            while self.left() and time.monotonic() < deadline:
                time.sleep(0.01)

    def drain(self):
        deadline = time.monotonic() + 1
        outputs = (stream for process in self.ranks for stream in (process.stdout, process.stderr) if stream)
        outputs = {stream.fileno() for stream in outputs}
        while outputs & set(self.selector.get_map()) and time.monotonic() < deadline:
            turn(self.selector, deadline - time.monotonic())


def require_pmi(ranks):
    """Open MPI would make as many worlds of one rank."""
    from tutti import _native

    try:
        library = _native.core().mpi_library()
    except ImportError:
        return  # no MPI for tutti: the program may have one
    if library.startswith("Open MPI"):
        raise _pmi.Refused(_pmi.why_not_open_mpi(library, ranks))


def main(arguments=None):
    given = parse(arguments)
    try:
        command = command_of(given)
        if given.ranks > 1 and not given.any_mpi:
            require_pmi(given.ranks)
    except FileNotFoundError as error:
        say(error)
        return 127
    except _pmi.Refused as error:
        say(error)
        return 2
    allow_many_files()
    job = Job(given, command)
    try:
        return job.run()
    except NotStarted as error:
        job.pass_on(signal.SIGKILL)
        say(error)
        return 126


if __name__ == "__main__":
    sys.exit(main())
