"""The backend in Python alone, over tutti.Communicator: for machines without a compiler. Calls run where they are made, so
that async_op does not let the program go on meanwhile; messages alone are under way while it does."""
import operator

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import Backend as _Backend
from torch._C._distributed_c10d import ReduceOp, Work, _create_work_from_future

import tutti

_OPERATIONS = {ReduceOp.SUM: "sum", ReduceOp.AVG: "avg", ReduceOp.PRODUCT: "prod", ReduceOp.MIN: "min", ReduceOp.MAX: "max",
               ReduceOp.BAND: "band", ReduceOp.BOR: "bor", ReduceOp.BXOR: "bxor"}


class Options(_Backend.Options):
    """pg_options, as of the compiled backend."""

    def __init__(self, algorithms="", transport="", buffers="", **timeout):
        super().__init__("tutti", **timeout)
        self.settings = {"algorithms": algorithms or None, "transport": transport or None, "buffers": buffers or None}


def _done(value):
    future = torch.futures.Future()
    future.set_result(value)
    return _create_work_from_future(future)


def _operation(op):
    for known, name in _OPERATIONS.items():
        if op == known:
            return name
    raise ValueError("tutti: PREMUL_SUM needs the compiled backend")


def _flat(tensors):
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors])


def _spread(flat, tensors):
    offset = 0
    for tensor in tensors:
        tensor.detach().copy_(flat[offset:offset + tensor.numel()].view_as(tensor))
        offset += tensor.numel()


class Message(Work):
    """A message under way."""

    def __init__(self, request, after, kept):
        super().__init__()
        self._request, self._after, self._kept = request, after, kept

    def wait(self, timeout=None):
        if self._request is not None:
            self._request.wait()
            self._request = None
            self._after()
        return True

    def is_completed(self):
        if self._request is not None and self._request.test():
            self._request = None
            self._after()
        return self._request is None


class Backend(_Backend):
    def __init__(self, rank, size, comm, options):
        super().__init__(rank, size)
        self._comm, self._options, self._number = comm, options, 0

    options = property(operator.attrgetter("_options"))

    def getBackendName(self):
        return "tutti"

    def _get_sequence_number_for_group(self):
        return self._number

    def _set_sequence_number_for_group(self):
        pass

    def shutdown(self):
        self._comm.close()

    def _in_place(self, function, tensors):
        """Calls with each tensor, or with a copy of one that is not contiguous."""
        self._number += 1
        for tensor in tensors:
            data = tensor.detach()
            dense = data.contiguous()
            function(dense)
            if dense.data_ptr() != data.data_ptr():
                data.copy_(dense)
        return _done(tensors)

    def allreduce(self, tensors, options):
        op = _operation(options.reduceOp)
        return self._in_place(lambda data: self._comm.allreduce(data, op, out=data), tensors)

    allreduce_coalesced = allreduce

    def broadcast(self, tensors, options):
        return self._in_place(lambda data: self._comm.broadcast(data, options.rootRank), tensors)

    def reduce(self, tensors, options):
        op, root = _operation(options.reduceOp), options.rootRank
        if self.rank() == root:
            return self._in_place(lambda data: self._comm.reduce(data, op, root, out=data), tensors)
        return self._in_place(lambda data: self._comm.reduce(data, op, root), tensors)

    def barrier(self, options):
        self._number += 1
        self._comm.barrier()
        return _done([])

    def _gathered(self, data):
        out = torch.empty(self.size() * data.numel(), dtype=data.dtype, device=data.device)
        self._comm.allgather(data.detach().contiguous().view(-1), out=out)
        return out

    def allgather(self, outputs, inputs, options):
        self._number += 1
        for output, data in zip(outputs, inputs):
            _spread(self._gathered(data), output)
        return _done([tensor for output in outputs for tensor in output])

    def allgather_coalesced(self, outputs, inputs, options):
        return self.allgather([[output[i] for output in outputs] for i in range(len(inputs))], inputs, options)

    def all_gather_single(self, output, data, options):
        return self.all_gather_single_coalesced([output], [data], options)

    def all_gather_single_coalesced(self, outputs, inputs, options):
        return self.allgather([[output] for output in outputs], inputs, options)

    def reduce_scatter_single(self, output, data, options):
        return self.reduce_scatter_single_coalesced([output], [data], options)

    def reduce_scatter_single_coalesced(self, outputs, inputs, options):
        return self.reduce_scatter(outputs, [[data] for data in inputs], options)

    def reduce_scatter(self, outputs, inputs, options):
        self._number += 1
        for output, data in zip(outputs, inputs):
            part = torch.empty(output.numel(), dtype=output.dtype, device=output.device)
            self._comm.reduce_scatter(_flat(data), _operation(options.reduceOp), out=part)
            _spread(part, [output])
        return _done(outputs)

    def gather(self, outputs, inputs, options):
        self._number += 1
        data, root = inputs[0].detach().contiguous().view(-1), options.rootRank
        if self.rank() != root:
            self._comm.gather(data, root)
            return _done([])
        out = torch.empty(self.size() * data.numel(), dtype=data.dtype, device=data.device)
        self._comm.gather(data, root, out=out)
        _spread(out, outputs[0])
        return _done(outputs[0])

    def scatter(self, outputs, inputs, options):
        self._number += 1
        part = torch.empty(outputs[0].numel(), dtype=outputs[0].dtype, device=outputs[0].device)
        self._comm.scatter(_flat(inputs[0]) if self.rank() == options.rootRank else None, options.rootRank, out=part)
        _spread(part, outputs)
        return _done(outputs)

    def alltoall(self, outputs, inputs, options):
        self._number += 1
        in_counts, out_counts = [data.numel() for data in inputs], [data.numel() for data in outputs]
        out = torch.empty(sum(out_counts), dtype=outputs[0].dtype, device=outputs[0].device)
        self._comm.alltoallv(_flat(inputs), in_counts, out_counts, out=out)
        _spread(out, outputs)
        return _done(outputs)

    def all_to_all_single(self, output, data, output_splits, input_splits, options):
        return self.alltoall(list(output.detach().split(output_splits or output.shape[0] // self.size())),
                             list(data.split(input_splits or data.shape[0] // self.size())), options)

    def send(self, tensors, to, tag):
        data = tensors[0].detach().contiguous()
        return Message(self._comm.send_async(data, to, tag=tag), lambda: None, data)

    def recv(self, tensors, source, tag):
        target = tensors[0].detach()
        data = target.contiguous()
        after = (lambda: None) if data.data_ptr() == target.data_ptr() else (lambda: target.copy_(data))
        return Message(self._comm.recv_async(data, source, tag=tag), after, data)


def world():
    import mpi4py.MPI as MPI

    return MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size


def from_rank_0(text):
    import mpi4py.MPI as MPI

    return MPI.COMM_WORLD.bcast(text)


def finalize():
    """mpi4py ends MPI."""


def create(store, rank, size, name, options):
    import mpi4py.MPI as MPI

    everyone = MPI.COMM_WORLD
    store.set(f"tutti/rank/{rank}", str(everyone.rank))
    ranks = [int(store.get(f"tutti/rank/{member}")) for member in range(size)]
    made = everyone if ranks == list(range(everyone.size)) else everyone.Create_group(everyone.group.Incl(ranks))
    return Backend(rank, size, tutti.Communicator(made, **options.settings), options)
