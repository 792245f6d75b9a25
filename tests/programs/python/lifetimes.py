"""A program whose arguments say what it does, in order, as tests/c/lifetimes.c: mpi4py begins and ends MPI in many ways.

    no-init, no-finalize    mpi4py is told not to
    import                  mpi4py, which begins MPI unless it was told not to, or somebody else has
    submodules              parts of mpi4py that do not begin MPI
    found-init              MPI_Init from the MPI library itself, as ctypes finds it: past a preloaded library
    init, threads, finalize MPI_Init, MPI_Init_thread and MPI_Finalize by mpi4py
    comm, call, begin, end, close    a communicator, and collectives on it
    sys-exit, raise         leaves Python so
    os-exit                 leaves without anything that comes at exit
    attribute-WORD          at MPI_Finalize, in a callback of an attribute of MPI_COMM_SELF
    exit-WORD               at exit
    thread-WORD             in a thread of its own

"done" is printed at exit, after the last of all.
"""
import array
import atexit
import ctypes
import os
import sys
import threading

import mpi4py

MPI = None
comm = request = None
mine = total = None


def fill():
    global mine, total
    rank = MPI.COMM_WORLD.rank
    mine = array.array("i", range(rank, rank + 64))
    total = array.array("i", [-1] * 64)


def require_sum():
    ranks = MPI.COMM_WORLD.size
    right = [ranks * (ranks - 1) // 2 + ranks * i for i in range(64)]
    if total.tolist() != right:
        print("FAILED: a wrong sum", file=sys.stderr, flush=True)
        os._exit(1)


def import_it():
    global MPI
    from mpi4py import MPI as module
    MPI = module


def submodules():
    import mpi4py.bench  # noqa: F401
    import mpi4py.run  # noqa: F401


def found_init():
    ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL).MPI_Init(None, None)


def make():
    global comm
    comm = MPI.COMM_WORLD.Dup()
    for _ in range(16):  # so that a preloaded library gets to know it
        comm.Barrier()


def call():
    if MPI.Is_finalized():
        return
    fill()
    comm.Allreduce(mine, total)
    require_sum()


def begin():
    global request
    fill()
    request = comm.Iallreduce(mine, total)


def end():
    if MPI.Is_finalized():
        return
    request.Wait()
    require_sum()


def close():
    if not MPI.Is_finalized():
        comm.Free()


def at_finalize(word):
    key = MPI.Comm.Create_keyval(delete_fn=lambda _comm, _key, given: do_word(given))
    MPI.COMM_SELF.Set_attr(key, word)
    MPI.Comm.Free_keyval(key)


def in_thread(word):
    thread = threading.Thread(target=do_word, args=(word,))
    thread.start()
    thread.join()


WORDS = {
    "no-init": lambda: setattr(mpi4py.rc, "initialize", False),
    "no-finalize": lambda: setattr(mpi4py.rc, "finalize", False),
    "import": import_it,
    "submodules": submodules,
    "found-init": found_init,
    "init": lambda: MPI.Init(),
    "threads": lambda: MPI.Init_thread(MPI.THREAD_MULTIPLE),
    "finalize": lambda: MPI.Finalize(),
    "comm": make,
    "call": call,
    "begin": begin,
    "end": end,
    "close": close,
    "sys-exit": lambda: sys.exit(0),
    "os-exit": lambda: (sys.stdout.flush(), os._exit(0)),
    "raise": lambda: 1 / 0,
}
LATER = {"attribute": at_finalize, "exit": lambda word: atexit.register(do_word, word), "thread": in_thread}


def do_word(word):
    if word in WORDS:
        WORDS[word]()
    else:
        when, _, rest = word.partition("-")
        LATER[when](rest)


atexit.register(lambda: print("done", flush=True))
for given_word in sys.argv[1:]:
    do_word(given_word)
