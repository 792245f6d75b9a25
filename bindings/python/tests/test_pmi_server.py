"""The server of PMI-1, asked line by line, also by ranks that are wrong or dead."""
import selectors
import socket
import threading
import time

import pytest

from pmi_client import Client
from tutti._pmi_server import Lines, Server, mapping_of, turn


class Owner:
    """Notes what the server tells."""

    def __init__(self):
        self.told = []

    def closed(self, rank):
        self.told.append(("closed", rank))
        self.server.lost(rank)

    def broken(self, rank):
        self.told.append(("broken", rank))

    def aborted(self, rank, code):
        self.told.append(("aborted", rank, code))


def wait_for(owner, *told):
    deadline = time.monotonic() + 30
    while not set(told) <= set(owner.told):
        assert time.monotonic() < deadline, owner.told
        time.sleep(0.001)


@pytest.fixture
def job():
    """job(size): clients of a server that runs in a thread, and its owner."""
    threads, clients = [], []

    def start(size):
        owner, selector = Owner(), selectors.DefaultSelector()
        owner.server = Server(["node"] * size, selector, owner)
        for rank in range(size):
            ours, theirs = socket.socketpair()
            owner.server.connect(rank, Lines(ours))
            clients.append(Client(theirs))

        def serve():
            while owner.server.open:
                turn(selector, 0.05)

        threads.append(threading.Thread(target=serve))
        threads[-1].start()
        return clients, owner

    yield start
    for client in clients:
        client.answers.close()
        client.connection.close()
    for thread in threads:
        thread.join(timeout=10)
        assert not thread.is_alive(), "the server goes on though nobody is left"


def test_a_world(job):
    clients, owner = job(3)
    for client in clients:
        assert client.init() == "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
        assert client.ask("cmd=get_maxes") == "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024"
        assert client.ask("cmd=get_appnum") == "cmd=appnum appnum=0"
        assert client.ask("cmd=get_universe_size") == "cmd=universe_size size=3"
    names = {client.ask("cmd=get_my_kvsname") for client in clients}
    assert len(names) == 1 and names.pop().startswith("cmd=my_kvsname kvsname=tutti_")
    assert clients[2].get("PMI_process_mapping") == "(vector,(0,1,3))"
    for client in clients:
        assert client.ask("cmd=finalize") == "cmd=finalize_ack rc=0"
    assert owner.told == []


def test_two_jobs_have_different_names(job):
    """MPICH names its shared memory after the job: two with one name would crash each other."""
    first = job(1)[0][0].ask("cmd=get_my_kvsname")
    assert job(1)[0][-1].ask("cmd=get_my_kvsname") != first


def test_a_thousand_puts_in_pieces(job):
    clients, _ = job(2)
    for first in range(0, 1000, 100):
        lines = (f"cmd=put kvsname=k key=key{i} value=value {i} with=words\n" for i in range(first, first + 100))
        text = "".join(lines).encode()
        for begin in range(0, len(text), 97):  # lines do not end where packets do
            clients[0].connection.sendall(text[begin:begin + 97])
        assert [clients[0].answer() for _ in range(100)] == ["cmd=put_result rc=0 msg=success"] * 100
    assert clients[1].get("key0") == "value 0 with=words" and clients[1].get("key999") == "value 999 with=words"
    assert clients[1].ask("cmd=get kvsname=k key=none") == "cmd=get_result rc=-1 msg=key_not_found value=unknown"


@pytest.mark.parametrize("line, answer", [
    ("cmd=init pmi_version=2 pmi_subversion=0", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1"),
    ("cmd=dance", "cmd=dance_result rc=-1 msg=this_server_has_no_such_command"),
    ("nonsense", "cmd=unknown_result rc=-1 msg=this_server_has_no_such_command"),
    ("", "cmd=unknown_result rc=-1 msg=this_server_has_no_such_command"),
    ("cmd=put kvsname=k value=1", "cmd=put_result rc=-1 msg=this_server_has_no_such_command"),
    ("cmd=publish_name service=s port=p", "cmd=publish_name_result rc=-1 msg=this_server_has_no_such_command"),
    ("mcmd=spawn\nnprocs=2\nexecname=a\nendcmd", "cmd=spawn_result rc=-1 msg=this_server_has_no_such_command"),
])
def test_wrong_commands_are_answered(job, line, answer):
    clients, _ = job(1)
    assert clients[0].ask(line) == answer
    assert clients[0].ask("cmd=get_appnum") == "cmd=appnum appnum=0"


def test_barriers_out_of_order(job):
    clients, _ = job(2)
    clients[0].tell("cmd=barrier_in")
    assert clients[0].ask("cmd=barrier_in") == "cmd=barrier_out rc=-1 msg=this_rank_is_in_the_barrier_already"
    assert clients[1].ask("cmd=barrier_in") == "cmd=barrier_out rc=0 msg=success"
    assert clients[0].answer() == "cmd=barrier_out rc=0 msg=success"
    clients[1].tell("cmd=barrier_in")  # the next one, which the other order begins
    assert clients[0].ask("cmd=barrier_in") == "cmd=barrier_out rc=0 msg=success"


def test_a_rank_that_dies_fails_the_barrier(job):
    clients, owner = job(3)
    for client in clients:
        client.init()
    clients[0].tell("cmd=barrier_in")
    clients[1].answers.close()
    clients[1].connection.close()
    assert clients[0].answer() == "cmd=barrier_out rc=-1 msg=rank_1_has_ended"
    assert clients[2].ask("cmd=barrier_in") == "cmd=barrier_out rc=-1 msg=rank_1_has_ended"
    assert owner.told == [("closed", 1), ("broken", 1)]


def test_a_rank_that_dies_before_the_others_begin(job):
    clients, owner = job(2)
    clients[1].answers.close()
    clients[1].connection.close()
    clients[0].init()
    assert owner.told == [("closed", 1), ("broken", 1)]


def test_a_rank_without_mpi_breaks_nothing(job):
    clients, owner = job(2)
    for client in clients:
        client.answers.close()
        client.connection.close()
    wait_for(owner, ("closed", 0), ("closed", 1))
    assert len(owner.told) == 2


def test_abort(job):
    clients, owner = job(2)
    clients[1].tell("cmd=abort exitcode=5 message=why not")
    clients[1].ask("cmd=get_appnum")
    clients[0].tell("cmd=abort exitcode=many")
    clients[0].ask("cmd=get_appnum")
    assert owner.told == [("aborted", 1, 5), ("aborted", 0, 1)]


def test_a_rank_that_does_not_read_is_given_up(job, monkeypatch):
    monkeypatch.setattr("tutti._pmi_server.LONGEST_WRITE", 0.2)
    clients, owner = job(2)
    with pytest.raises(OSError):
        while True:
            clients[0].tell("cmd=get_maxes")
    assert clients[1].ask("cmd=get_appnum") == "cmd=appnum appnum=0"
    wait_for(owner, ("closed", 0))


def test_a_line_without_end_is_given_up(job):
    clients, owner = job(1)
    with pytest.raises(OSError):
        for _ in range(1000):
            clients[0].connection.sendall(b"x" * 10000)
    wait_for(owner, ("closed", 0))


@pytest.mark.parametrize("nodes, text", [
    ("aaaa", "(vector,(0,1,4))"),
    ("aabb", "(vector,(0,2,2))"),
    ("aabbb", "(vector,(0,1,2),(1,1,3))"),
    ("abab", "(vector,(0,2,1),(0,2,1))"),
    ("baac", "(vector,(0,1,1),(1,1,2),(2,1,1))"),
    ("ab" * 300, None),
])
def test_mapping(nodes, text):
    assert mapping_of(nodes) == text
