"""A server of the protocol PMI-1, by which the ranks of MPICH and Intel MPI learn of each other.

`tutti.run` has a Server in itself. For `join` this file is a program: the server of ranks that somebody else started. It is
a process of its own, as a thread of Python would stand still while MPI_Init holds the interpreter's lock, and lives until
every rank has closed its connection: MPICH 5 asks in an exit handler, long after MPI_Finalize, and crashes where nobody
answers.
"""
import json
import os
import resource
import selectors
import signal
import socket
import sys
import time

LONGEST_VALUE, LONGEST_LINE = 1024, 1 << 16
LONGEST_WRITE = 10  # seconds
GRACE = 5  # seconds in which ranks may end by themselves


class Lines:
    """A connection that is read by lines."""

    def __init__(self, connection):
        self.connection, self.rest = connection, b""
        connection.settimeout(LONGEST_WRITE)

    def read(self):
        """The lines that have come, and whether more can come."""
        try:
            data = self.connection.recv(LONGEST_LINE)
        except ConnectionError:
            data = b""
        *lines, self.rest = (self.rest + data).split(b"\n")
        return [line.decode(errors="replace").strip() for line in lines], bool(data) and len(self.rest) < LONGEST_LINE

    def write(self, line):
        try:
            self.connection.sendall(line.encode() + b"\n")
        except TimeoutError:  # it does not read: the others shall not wait for it
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # who has closed the connection is found lost where it is read


def mapping_of(nodes):
    """PMI's text of where the ranks are: blocks of (first node, nodes, ranks on each); none if it were too long."""
    numbers = {}
    blocks = []
    for node in (numbers.setdefault(node, len(numbers)) for node in nodes):
        if blocks and blocks[-1][0] == node:
            blocks[-1][2] += 1
        else:
            blocks.append([node, 1, 1])
    joined = []
    for node, _, ranks in blocks:
        if joined and joined[-1][2] == ranks and joined[-1][0] + joined[-1][1] == node:
            joined[-1][1] += 1
        else:
            joined.append([node, 1, ranks])
    text = "(vector," + ",".join("(%d,%d,%d)" % tuple(block) for block in joined) + ")"
    return text if len(text) < LONGEST_VALUE else None


class Server:
    """Answers the ranks of a job, each of which has a connection of its own. The keys of `selector` are registered with
    the function that reads them as data.

    `owner` is told what happens: closed(rank) before MPI_Finalize, aborted(rank, code) by MPI_Abort, and once
    broken(rank), when others wait in MPI for a rank that is lost.
    """

    def __init__(self, nodes, selector, owner):
        self.size, self.selector, self.owner = len(nodes), selector, owner
        self.name = f"tutti_{os.urandom(12).hex()}"  # of one job alone: MPICH names shared memory after it
        mapping = mapping_of(nodes)
        self.values = {"PMI_process_mapping": mapping} if mapping else {}
        self.open, self.spawning = {}, set()
        self.inside, self.in_barrier = set(), set()  # between MPI_Init and MPI_Finalize
        self.finalized, self.lost_ranks, self.is_broken = set(), [], False

    def connect(self, rank, lines):
        self.open[rank] = lines
        self.selector.register(lines.connection, selectors.EVENT_READ, lambda: self.read(rank))

    def read(self, rank):
        lines, is_open = self.open[rank].read()
        for line in lines:
            answer = self.answer(rank, line)
            if answer:
                self.open[rank].write(answer)
        if not is_open:
            lines = self.open.pop(rank)
            self.selector.unregister(lines.connection)
            lines.connection.close()
            if rank not in self.finalized:
                self.owner.closed(rank)

    def answer(self, rank, line):
        """The answer to a command; None where it comes later."""
        words = dict(word.split("=", 1) for word in line.split(" ") if "=" in word)
        if self.is_part_of_spawn(rank, line):
            return None
        command = words.get("cmd") or ("spawn" if line == "endcmd" else "")
        key, value = words.get("key", ""), line.partition(" value=")[2]
        match command:
            case "init":
                self.inside.add(rank)
                self.look_for_break()
                known = words.get("pmi_version") == "1"
                return f"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc={0 if known else -1}"
            case "get_maxes":
                return f"cmd=maxes kvsname_max=256 keylen_max=64 vallen_max={LONGEST_VALUE}"
            case "get_appnum":
                return "cmd=appnum appnum=0"
            case "get_universe_size":
                return f"cmd=universe_size size={self.size}"
            case "get_my_kvsname":
                return f"cmd=my_kvsname kvsname={self.name}"
            case "put" if key:
                self.values[key] = value
                return "cmd=put_result rc=0 msg=success"
            case "get" if key in self.values:
                return f"cmd=get_result rc=0 msg=success value={self.values[key]}"
            case "get":
                return "cmd=get_result rc=-1 msg=key_not_found value=unknown"
            case "barrier_in":
                return self.barrier(rank)
            case "finalize":
                self.finalized.add(rank)
                self.leave(rank)
                return "cmd=finalize_ack rc=0"
            case "abort":
                code = words.get("exitcode", "")
                self.owner.aborted(rank, int(code) if code.lstrip("-").isdecimal() else 1)
                return None  # MPICH 5 goes on, Intel MPI waits: for the end
        return f"cmd={command or 'unknown'}_result rc=-1 msg=this_server_has_no_such_command"

    def is_part_of_spawn(self, rank, line):
        """mcmd=spawn, its lines, endcmd: the only command of many lines."""
        if line.startswith("mcmd="):
            self.spawning.add(rank)
        if line == "endcmd":
            self.spawning.discard(rank)
        return rank in self.spawning

    def barrier(self, rank):
        if rank in self.in_barrier:
            return "cmd=barrier_out rc=-1 msg=this_rank_is_in_the_barrier_already"
        self.in_barrier.add(rank)
        self.end_barrier()

    def end_barrier(self):
        """When all ranks are in it, or one never comes."""
        missing = [*self.lost_ranks, *self.finalized]
        if missing:
            self.release(f"rc=-1 msg=rank_{missing[0]}_has_ended")
        if len(self.in_barrier) == self.size:
            self.release("rc=0 msg=success")

    def release(self, result):
        waiting, self.in_barrier = self.in_barrier, set()
        for rank in waiting:
            self.open[rank].write(f"cmd=barrier_out {result}")

    def leave(self, rank):
        self.inside.discard(rank)
        self.in_barrier.discard(rank)
        self.end_barrier()

    def lost(self, rank):
        """The process has ended, or closed the connection, before MPI_Finalize."""
        if rank not in self.finalized:
            self.lost_ranks.append(rank)
            self.leave(rank)
            self.look_for_break()

    def look_for_break(self):
        if self.lost_ranks and self.inside and not self.is_broken:
            self.is_broken = True
            self.owner.broken(self.lost_ranks[0])


def turn(selector, seconds=None):
    """Waits, and calls the functions of what can be read."""
    for key, _ in selector.select(None if seconds is None else max(0, seconds)):
        key.data()


def allow_many_files():
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


# ---- a process that is the server ----------------------------------------------------------------------------------------


class Gathering:
    """Waits for a greeting of every rank, as only then the nodes are known; then they are told to go on."""

    def __init__(self, listener, size, token, selector):
        self.size, self.token, self.selector, self.listener = size, token, selector, listener
        self.ranks, self.nodes, self.pids, self.why_not = {}, {}, {}, None
        selector.register(listener, selectors.EVENT_READ, self.accept)

    def accept(self):
        lines = Lines(self.listener.accept()[0])
        self.selector.register(lines.connection, selectors.EVENT_READ, lambda: self.read(lines))

    def read(self, lines):
        texts, is_open = lines.read()
        rank = next((rank for rank, other in self.ranks.items() if other is lines), None)
        if rank is not None:  # it has no more to say yet
            self.drop(self.ranks.pop(rank))
            self.why_not = f"rank {rank} has ended before all were there"
        elif texts:
            self.greet(lines, texts[0])
        elif not is_open:
            self.drop(lines)

    def greet(self, lines, text):
        try:
            greeting = json.loads(text)
            rank, size, pid = (int(greeting[name]) for name in ("rank", "size", "pid"))
            token, node = (str(greeting[name]) for name in ("token", "node"))
        except (ValueError, TypeError, KeyError):
            return self.drop(lines)  # of another program
        if token != self.token:
            return self.refuse(lines, "the server is that of another job", again=True)
        if self.why_not:
            return self.refuse(lines, self.why_not)
        if size != self.size or not 0 <= rank < self.size or rank in self.ranks:
            return self.refuse(lines, f"rank {rank} of {size}: this job has {self.size} ranks, and each connects once")
        self.ranks[rank], self.nodes[rank], self.pids[rank] = lines, node, pid

    def refuse(self, lines, why, again=False):
        lines.write(json.dumps({"refused": why, "again": again}))
        self.drop(lines)

    def drop(self, lines):
        self.selector.unregister(lines.connection)
        lines.connection.close()

    def wait(self, seconds):
        """Whether all have come."""
        deadline = time.monotonic() + seconds
        while len(self.ranks) < self.size and not self.why_not:
            turn(self.selector, deadline - time.monotonic())
            if time.monotonic() > deadline:
                missing = ", ".join(str(rank) for rank in range(self.size) if rank not in self.ranks)
                self.why_not = f"of {self.size} ranks these did not come within {seconds:g} s: {missing}"
        if self.why_not:
            self.tell_why_not()
        return not self.why_not

    def tell_why_not(self):
        """Those who came, and those who come a little later."""
        for rank in list(self.ranks):
            self.refuse(self.ranks.pop(rank), self.why_not)
        deadline = time.monotonic() + GRACE
        while time.monotonic() < deadline:
            turn(self.selector, deadline - time.monotonic())


class Job:
    """Of ranks that somebody else has started. When it has failed, those of the server's node are told to end, then
    killed; the others are left to whoever started them."""

    def __init__(self, gathering, selector):
        here = gathering.nodes[0]
        self.pids = {rank: pid for rank, pid in gathering.pids.items() if gathering.nodes[rank] == here}
        self.signals, self.at, self.why = [signal.SIGTERM, signal.SIGKILL], None, ""
        self.server = Server([gathering.nodes[rank] for rank in range(gathering.size)], selector, self)
        for rank, lines in gathering.ranks.items():
            selector.unregister(lines.connection)
            self.server.connect(rank, lines)
            lines.write(json.dumps({"go": True}))

    def closed(self, rank):
        self.server.lost(rank)

    def broken(self, rank):
        self.end(f"rank {rank} ended before MPI_Finalize", GRACE)

    def aborted(self, rank, code):
        self.end(f"rank {rank} called MPI_Abort with {code}", 0)

    def end(self, why, seconds):
        at = time.monotonic() + seconds
        if self.at is None or at < self.at:
            self.at, self.why = at, why

    def run(self):
        while self.server.open:
            turn(self.server.selector, self.at and self.at - time.monotonic())
            left = [rank for rank in self.server.open if rank in self.pids]
            if self.at and time.monotonic() >= self.at and left:
                self.end_ranks(left)

    def end_ranks(self, ranks):
        number = self.signals.pop(0)
        self.at = time.monotonic() + GRACE if self.signals else None
        if number == signal.SIGTERM:
            print(f"tutti: {self.why}: the ranks of this node are ended", file=sys.stderr, flush=True)
        for rank in ranks:
            try:
                os.kill(self.pids[rank], number)
            except OSError:
                pass


def main(descriptor, size, token, seconds):
    allow_many_files()
    selector = selectors.DefaultSelector()
    listener = socket.socket(fileno=int(descriptor))
    gathering = Gathering(listener, int(size), token, selector)
    if gathering.wait(float(seconds)):
        Job(gathering, selector).run()


if __name__ == "__main__" and os.fork() == 0:
    main(*sys.argv[1:])
