"""The backend "tutti" of torch.distributed.

    import torch.distributed as dist
    dist.init_process_group("tutti")                    # torchrun, python -m tutti.run: RANK, WORLD_SIZE, ... are set

    import tutti.torch
    dist.init_process_group("tutti", "mpi://")          # mpirun, srun: MPI tells them

PyTorch finds the backend by itself (entry point torch.distributed.backends) from version 2.13 on; before, import this
module. docs/torch.md has the rest.
"""
import atexit
import os
import socket
import sys
from datetime import timedelta

import torch
import torch.distributed as dist

if not hasattr(torch._C._distributed_c10d.Backend, "Options"):
    raise ImportError(f"tutti.torch needs PyTorch 2.6 or newer; this is {torch.__version__}")

__all__ = ["Options", "hooks", "register"]


def _native():
    """The compiled backend; None where it cannot be built."""
    from tutti.torch import build

    return build.module()


def _begin():
    module = _native()
    if module is None:
        from tutti.torch import fallback

        return fallback
    return module


def Options(**settings):
    """pg_options of init_process_group and new_group: `algorithms`, `transport`, `buffers`, as of tutti.Communicator, and
    `timeout`."""
    return _begin().Options(**settings)


_begun = None  # the process that began


def _before_mpi(*rank_and_size, store=None):
    """Before the first call that may begin MPI: ranks of torchrun meet, and MPI is ended at exit."""
    global _begun
    if _begun:
        return
    _begun = os.getpid()
    if store is not None:
        from tutti import _pmi

        _pmi.join(store, *rank_and_size)
    atexit.register(_at_exit)


def _finalize():
    """At exit: groups end, then MPI, if it was begun here. After an exception MPI is not ended, as peers may wait for this
    process: the launcher then sees that it died, and ends them."""
    import gc

    if dist.is_initialized():
        dist.destroy_process_group()
    gc.collect()
    _begin().finalize()


def _create(options, backend_options):
    module = _begin()
    _before_mpi(options.group_rank, options.group_size, store=options.store)
    if not isinstance(backend_options, module.Options):
        backend_options = module.Options()
    timeout = options.timeout
    backend_options._timeout = timeout if isinstance(timeout, timedelta) else timedelta(seconds=timeout)
    if hasattr(backend_options, "group_name"):  # not in old versions of PyTorch
        backend_options.group_name = options.group_id
        backend_options.global_ranks_in_group = options.global_ranks_in_group
    return module.create(options.store, options.group_rank, options.group_size, options.group_id, backend_options)


def _at_exit():
    is_child = os.getpid() != _begun  # by fork: groups and MPI are its parent's
    if not is_child and getattr(sys, "last_value", None) is None:
        _finalize()


def register():
    """Makes the name "tutti" known to torch.distributed. Import does it; PyTorch calls it by the entry point."""
    if "TUTTI" not in dist.Backend._plugins:
        dist.Backend.register_backend("tutti", _create, extended_api=True, devices=["cpu", "cuda"])


def _rendezvous(url, **_):
    """init_method "mpi://": rank and size of MPI's world, and a store on rank 0."""
    module = _begin()
    _before_mpi()
    rank, size = module.world()
    store, address = None, ""
    if rank == 0:
        store = dist.TCPStore(socket.gethostname(), 0, size, True, wait_for_workers=False)
        address = f"{store.host} {store.port}"
    host, port = module.from_rank_0(address).split()
    if rank != 0:
        store = dist.TCPStore(host, int(port), size, False)
    for name, value in (("RANK", rank), ("WORLD_SIZE", size), ("MASTER_ADDR", host), ("MASTER_PORT", port)):
        os.environ.setdefault(name, str(value))
    yield store, rank, size
    raise RuntimeError("tutti: a group made by mpi:// cannot be made anew")


register()
if "mpi" not in sys.modules["torch.distributed.rendezvous"]._rendezvous_handlers:
    dist.register_rendezvous_handler("mpi", _rendezvous)


def __getattr__(name):
    if name == "hooks":
        import importlib

        return importlib.import_module("tutti.torch.hooks")
    raise AttributeError(f"module 'tutti.torch' has no attribute {name!r}")
