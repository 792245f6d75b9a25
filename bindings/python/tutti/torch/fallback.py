"""The backend in Python alone, over tutti.Communicator: for machines without a compiler. It has no thread: what is under way
moves while the program waits, so that a future is complete when it is asked for, and not before. On other ranks the compiled
one may serve."""
import array
import itertools
import operator
import warnings

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import Backend as _Backend
from torch._C._distributed_c10d import ReduceOp, Work

import tutti

_OPERATIONS = {ReduceOp.SUM: "sum", ReduceOp.AVG: "avg", ReduceOp.PRODUCT: "prod", ReduceOp.MIN: "min", ReduceOp.MAX: "max",
               ReduceOp.BAND: "band", ReduceOp.BOR: "bor", ReduceOp.BXOR: "bxor"}
_NUMBERS = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32, 8: torch.uint64, 16: torch.complex128}
_NEEDS_COMPILED = "needs the compiled backend: python -m tutti.torch.build says why it is not there"


class Options(_Backend.Options):
    """pg_options, as of the compiled backend."""

    def __init__(self, algorithms="", transport="", buffers="", **timeout):
        super().__init__("tutti", **timeout)
        self.settings = {"algorithms": algorithms or None, "transport": transport or None, "buffers": buffers or None}


def _operation(op):
    if op == ReduceOp.PREMUL_SUM:
        return tutti.Op.scaled_sum(float(op.__getstate__()[1]))
    return next(name for known, name in _OPERATIONS.items() if op == known)


def _flat(tensors):
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors])


def _empty(count, like):
    return torch.empty(count, dtype=like.dtype, device=like.device)


def _moved(flat):
    """As numbers of the same size: every type can be sent."""
    return flat.view(_NUMBERS[flat.element_size()])


def _counts(tensors):
    return [tensor.numel() for tensor in tensors]


def _is_even(tensors):
    return len(set(_counts(tensors))) == 1


def _joined(items, key):
    """Lists of items in a row that one call of a list takes, as the compiled backend joins them. Without a key an item is
    alone."""
    for known, group in itertools.groupby(items, key):
        yield from [list(group)] if known else ([item] for item in group)


def _spread(flat, tensors):
    offset = 0
    for tensor in tensors:
        tensor.detach().copy_(flat[offset:offset + tensor.numel()].view_as(tensor))
        offset += tensor.numel()


class Pending(Work):
    """Something under way. `after` is called when it is over."""

    def __init__(self, request, outputs, after, limit, number=0):
        super().__init__()
        self._request, self._outputs, self._after, self._limit, self._error = request, outputs, after, limit, None
        self._number = number

    def wait(self, timeout=None):
        if self._request is not None:
            limit = timeout if timeout and timeout.total_seconds() > 0 else self._limit
            request, self._request = self._request, None
            try:
                request.wait(limit.total_seconds())
                self._after()
            except TimeoutError:
                self._request = request
                raise
            except Exception as error:
                self._error = error
        if self._error is not None:
            raise self._error
        return True

    def end(self):
        """Waits; those who hold this work learn of its error. One that has taken too long is in the way of all others."""
        try:
            self.wait()
        except TimeoutError:
            raise
        except Exception:
            pass

    def is_completed(self):
        if self._request is not None and self._request.test():
            self.end()
        return self._request is None

    def result(self):
        return self._outputs

    def get_future(self):
        future = torch.futures.Future()
        try:
            self.wait()
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(self._outputs)
        return future

    def _get_sequence_number(self):
        return self._number


class Backend(_Backend):
    def __init__(self, rank, size, comm, options):
        super().__init__(rank, size)
        self._comm, self._options, self._number, self._last = comm, options, 0, None

    options = property(operator.attrgetter("_options"))
    # What is not said here, PyTorch asks itself without end.
    supports_splitting = supports_coalescing = supports_shrinking = supports_reconfigure = supports_window = False
    _supports_time_estimate = False

    def getBackendName(self):
        return "tutti"

    def _get_sequence_number_for_group(self):
        return self._number

    def _set_sequence_number_for_group(self):
        pass

    def set_timeout(self, timeout):
        self._options._timeout = timeout

    def abort(self):
        self._comm.abort("was aborted")

    def shutdown(self):
        if self._last is not None:
            self._last.end()
        self._comm.close()

    def _run(self, options, outputs, *calls):
        """Calls, each of them a function that starts it and one for when it is over, after the one before."""
        self._number += 1
        limit = getattr(options, "timeout", None) or self._options._timeout
        limit = limit if limit.total_seconds() > 0 else self._options._timeout
        for start, after in calls:
            if self._last is not None:
                self._last.end()
            self._last = Pending(start(), outputs, after, limit, self._number)
        if not getattr(options, "asyncOp", True):
            self._last.wait()
        return self._last

    def _in_place(self, options, tensors, key, start):
        """Calls with lists of tensors, or with copies of those that are not contiguous."""
        def call(listed):
            kept = []

            def begin():
                kept.extend(data.contiguous() for data in listed)
                return start(kept)

            def end():
                for copy, data in zip(kept, listed):
                    if copy.data_ptr() != data.data_ptr():
                        data.copy_(copy)

            return begin, end

        return self._run(options, tensors, *map(call, _joined([tensor.detach() for tensor in tensors], key)))

    def _copied(self, options, pairs, key, start):
        """Calls with lists of copies. A pair is what a call reads and writes, both of them lists of tensors."""
        def call(listed):
            outs = [_empty(sum(_counts(written)), read[0]) for read, written in listed]

            def end():
                for out, (_, written) in zip(outs, listed):
                    _spread(out, written)

            return lambda: start([_flat(read) for read, _ in listed], outs, *listed[0]), end

        return self._run(options, [tensor for _, written in pairs for tensor in written], *map(call, _joined(pairs, key)))

    def allreduce(self, tensors, options):
        if any(tensor.layout != torch.strided for tensor in tensors):
            raise TypeError(f"tutti: the sum of sparse tensors {_NEEDS_COMPILED}")
        op = _operation(options.reduceOp)
        return self._in_place(options, tensors, operator.attrgetter("dtype"),
                              lambda data: self._comm.allreduce_list_async(data, op, out=data))

    allreduce_coalesced = allreduce

    def broadcast(self, tensors, options):
        def start(data):
            return self._comm.broadcast_list_async([_moved(each.view(-1)) for each in data], options.rootRank)

        return self._in_place(options, tensors, torch.Tensor.element_size, start)

    def reduce(self, tensors, options):
        op, root = _operation(options.reduceOp), options.rootRank

        def start(data):
            return self._comm.reduce_async(*data, op, root, out=data[0] if self.rank() == root else None)

        return self._in_place(options, tensors, lambda _: None, start)

    def barrier(self, options):
        return self._run(options, [], (self._comm.barrier_async, lambda: None))

    def allgather(self, outputs, inputs, options):
        def start(data, outs, _, blocks):
            data, outs = [[_moved(flat) for flat in flats] for flats in (data, outs)]
            if _is_even(blocks):
                return self._comm.allgather_list_async(data, out=outs)
            return self._comm.allgatherv_async(*data, _counts(blocks), out=outs[0])

        return self._copied(options, [([data], output) for output, data in zip(outputs, inputs)],
                            lambda pair: _is_even(pair[1]) and pair[0][0].element_size(), start)

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
        op = _operation(options.reduceOp)

        def start(data, outs, blocks, _):
            if _is_even(blocks):
                return self._comm.reduce_scatter_list_async(data, op, out=outs)
            return self._comm.reduce_scatterv_async(*data, _counts(blocks), op, out=outs[0])

        return self._copied(options, [(data, [output]) for output, data in zip(outputs, inputs)],
                            lambda pair: _is_even(pair[0]) and pair[1][0].dtype, start)

    def gather(self, outputs, inputs, options):
        data, root = inputs[0], options.rootRank
        if self.rank() != root:
            return self._run(options, [], (lambda: self._comm.gather_async(_moved(_flat([data])), root), lambda: None))
        out = _empty(self.size() * data.numel(), data)
        return self._run(options, outputs[0],
                         (lambda: self._comm.gather_async(_moved(_flat([data])), root, out=_moved(out)),
                          lambda: _spread(out, outputs[0])))

    def scatter(self, outputs, inputs, options):
        part, root = _empty(outputs[0].numel(), outputs[0]), options.rootRank

        def start():
            data = _moved(_flat(inputs[0])) if self.rank() == root else None
            return self._comm.scatter_async(data, root, out=_moved(part))

        return self._run(options, outputs, (start, lambda: _spread(part, outputs)))

    def alltoall(self, outputs, inputs, options):
        out = _empty(sum(_counts(outputs)), outputs[0])
        return self._run(options, outputs,
                         (lambda: self._comm.alltoallv_async(_moved(_flat(inputs)), _counts(inputs), _counts(outputs),
                                                             out=_moved(out)), lambda: _spread(out, outputs)))

    def all_to_all_single(self, output, data, output_splits, input_splits, options):
        return self.alltoall(list(output.detach().split(output_splits or output.shape[0] // self.size())),
                             list(data.split(input_splits or data.shape[0] // self.size())), options)

    def send(self, tensors, to, tag):
        data = _moved(_flat(tensors))
        return Pending(self._comm.send_async(data, to, tag=tag), tensors, lambda: None, self._options._timeout)

    def recv(self, tensors, source, tag):
        data = _flat(tensors)
        return Pending(self._comm.recv_async(_moved(data), source, tag=tag), tensors, lambda: _spread(data, tensors),
                       self._options._timeout)

    def recv_anysource(self, tensors, tag):
        """PyTorch does not ask a backend in Python which rank it was: dist.recv fails when the message has come."""
        warnings.warn(f"tutti: the source of a message from any rank {_NEEDS_COMPILED}", stacklevel=2)
        return self.recv(tensors, tutti.ANY_SOURCE, tag)


def world():
    import mpi4py.MPI as MPI

    return MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size


def from_rank_0(text):
    """Other ranks give no text. It moves as among compiled backends."""
    import mpi4py.MPI as MPI

    length = array.array("i", [len(text)])
    MPI.COMM_WORLD.Bcast(length)
    moved = bytearray(text.encode().ljust(length[0]))
    MPI.COMM_WORLD.Bcast(moved)
    return moved.decode()


def finalize():
    """mpi4py ends MPI."""


def create(store, rank, size, name, options):
    import mpi4py.MPI as MPI

    everyone = MPI.COMM_WORLD
    store.set(f"tutti/rank/{rank}", str(everyone.rank))
    ranks = [int(store.get(f"tutti/rank/{member}")) for member in range(size)]
    made = everyone if ranks == list(range(everyone.size)) else everyone.Create_group(everyone.group.Incl(ranks))
    return Backend(rank, size, tutti.Communicator(made, **options.settings), options)
