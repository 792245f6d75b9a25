"""A rank that speaks PMI-1 without an MPI: what it asks, and what it is answered."""
import os
import socket


class Client:
    def __init__(self, connection=None):
        self.connection = connection or socket.socket(fileno=int(os.environ["PMI_FD"]))
        self.connection.settimeout(30)
        self.answers = self.connection.makefile("r")

    def tell(self, line):
        self.connection.sendall(line.encode() + b"\n")

    def ask(self, line):
        self.tell(line)
        return self.answer()

    def answer(self):
        return self.answers.readline().strip()

    def get(self, key):
        return self.ask(f"cmd=get kvsname=any key={key}").partition(" value=")[2]

    def init(self):
        return self.ask("cmd=init pmi_version=1 pmi_subversion=1")


def world():
    """Each rank puts what the next one gets, as MPI_Init does; what it found."""
    client, rank, size = Client(), int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
    assert client.init() == "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
    client.ask(f"cmd=put kvsname=any key=address-{rank} value=port{rank}")
    assert client.ask("cmd=barrier_in") == "cmd=barrier_out rc=0 msg=success"
    found = client.get(f"address-{(rank + 1) % size}")
    mapping = client.get("PMI_process_mapping")
    assert client.ask("cmd=finalize") == "cmd=finalize_ack rc=0"
    return found, mapping
