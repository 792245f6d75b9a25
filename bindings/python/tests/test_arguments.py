"""Arguments that do not fit: each exception names the argument, what was given, what is allowed, and the rank."""
import copy
import ctypes
import decimal
import pickle

import numpy as np
import pytest
import tutti


def refused(kind, text, call):
    with pytest.raises(tutti.ArgumentError) as caught:
        call()
    assert type(caught.value) is kind and text in str(caught.value)


@pytest.fixture(autouse=True)
def usable(comm):
    yield
    assert comm.allreduce(1) == comm.size, "nothing has happened"


NO_INTEGERS = ["1", None, 1.5, np.float64(0.7), decimal.Decimal(1), [0], np.array([0])]


@pytest.mark.parametrize("given", NO_INTEGERS)
def test_what_is_no_integer(comm, given):
    x = np.ones(2)
    calls = {
        "broadcast: root": lambda: comm.broadcast(x, root=given), "gatherv: root": lambda: comm.gatherv(x, root=given),
        "send: to": lambda: comm.send(x, given), "recv: source": lambda: comm.recv_async(x, given),
        "sendrecv: source": lambda: comm.sendrecv(x, 0, x, given), "node_of: rank": lambda: comm.node_of(given),
        "Batch.send: to": lambda: tutti.Batch(comm).send(x, given),
    }
    if given is not None:
        calls |= {"send: tag": lambda: comm.send(x, tutti.NO_RANK, tag=given),
                  "Batch.recv: tag": lambda: tutti.Batch(comm).recv(x, tutti.NO_RANK, tag=given)}
    for place, call in calls.items():
        refused(tutti.TypeArgumentError, f"tutti: {place} is ", call)
    counts = [given] * comm.size
    refused(tutti.TypeArgumentError, "tutti: allgatherv: counts[0] is ", lambda: comm.allgatherv(x, counts))


@pytest.mark.parametrize("given", [1 << 40, 1 << 70, -(1 << 70)])
def test_integers_that_no_rank_or_tag_has(comm, given):
    x = np.ones(2)
    text = f" is {given}; allowed: -2147483648 to 2147483647 (on rank {comm.rank})"
    refused(tutti.ArgumentError, "tutti: broadcast: root" + text, lambda: comm.broadcast(x, root=given))
    refused(tutti.ArgumentError, "tutti: send: tag" + text, lambda: comm.send(x, tutti.NO_RANK, tag=given))
    if abs(given) > 1 << 63:
        refused(tutti.ArgumentError, f"counts is {given}; allowed: ", lambda: comm.allgatherv(x, [given] * comm.size))
    refused(tutti.ArgumentError, "tutti: empty: ", lambda: tutti.empty((given, given)))


def test_integers_of_numpy(comm):
    assert comm.broadcast(np.ones(2), root=np.int8(0)).tolist() == [1, 1]
    assert tutti.empty(np.int64(3)).shape == (3,)
    counts = np.full(comm.size, 2, "u8")
    assert comm.allgatherv(np.ones(2), counts).sum() == 2 * comm.size


def test_blocks_that_no_array_has(comm):
    """Results of these sizes are refused before NumPy is asked for them."""
    p = comm.size
    x = np.ones(2 * p)
    for counts in ([-1] * p, [1 << 62] * p):
        refused(tutti.ArgumentError, "tutti: alltoallv: a new array would have ", lambda: comm.alltoallv(x, [2] * p, counts))
    refused(tutti.ArgumentError, "a new array would have ", lambda: comm.allgatherv(np.ones(2), [2] * p, [1 << 62] * p))
    refused(tutti.ArgumentError, "tutti::alltoallv on rank",
            lambda: comm.alltoallv(x, [2] * p, [-1] * p, out=np.ones(2 * p)))


def test_texts(comm):
    x = np.ones(2)
    for bad in ("ring\0x", "ri\udc80ng"):
        refused(tutti.ArgumentError, "tutti: allreduce: algorithm is 'ri", lambda: comm.allreduce(x, algorithm=bad))
        refused(tutti.ArgumentError, "tutti: Communicator: transport is 'ri", lambda: tutti.Communicator(transport=bad))
    refused(tutti.TypeArgumentError, "op is a NoneType; allowed are sum", lambda: comm.allreduce(x, op=None))
    refused(tutti.ArgumentError, "tutti: allreduce: stream is -1; allowed: 0 to", lambda: comm.allreduce(x, stream=-1))


@pytest.mark.parametrize("given, kind", [
    (float("nan"), tutti.ArgumentError), (-1e-300, tutti.ArgumentError), ("5", tutti.TypeArgumentError),
    ([1], tutti.TypeArgumentError), (-1, tutti.ArgumentError), (-(2**2000), tutti.ArgumentError),
])
def test_time_limits(comm, given, kind):
    request, plan = comm.allreduce_async(1), comm.plan_allreduce(np.ones(1))
    plan.start()
    for waits in (request, plan):
        refused(kind, "tutti: wait: timeout is ", lambda: waits.wait(given))
        waits.wait(1e300)


def test_what_is_no_communicator(world):
    """mpi4py's operations, datatypes and groups have numbers, too; these are other communicators' in Fortran."""
    from mpi4py import MPI

    group = world.Get_group()
    for other in (MPI.SUM, MPI.DOUBLE, group, MPI.WIN_NULL, MPI.Comm, "world", True):
        refused(tutti.TypeArgumentError, "give None, a communicator of mpi4py", lambda: tutti.Communicator(other))
    refused(tutti.ArgumentError, f"comm is {1 << 40}", lambda: tutti.Communicator(1 << 40))
    group.Free()


def test_shapes_and_types_of_memory():
    refused(tutti.TypeArgumentError, "tutti: empty: shape is 2.5, and no integer", lambda: tutti.empty(2.5))
    refused(tutti.TypeArgumentError, "tutti: empty: shape is a NoneType, and no integer", lambda: tutti.empty(None))
    refused(tutti.TypeArgumentError, "a length of the shape is 'x'", lambda: tutti.empty((2, "x")))
    refused(tutti.TypeArgumentError, "tutti: empty: dtype has elements of 'zz'", lambda: tutti.empty(2, "zz"))
    refused(tutti.TypeArgumentError, "tutti: empty: dtype has elements of a NoneType", lambda: tutti.empty(2, None))


def test_in_place_is_one():
    for same in (copy.copy(tutti.IN_PLACE), copy.deepcopy([tutti.IN_PLACE])[0], pickle.loads(pickle.dumps(tutti.IN_PLACE))):
        assert same is tutti.IN_PLACE


class Capsule:
    """By ctypes, whatever DLPack's structure is to say."""

    def __init__(self, shape, axes=1, data=None, strides=None, device=(1, 0)):
        class Tensor(ctypes.Structure):
            _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
                        ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

        self.values = np.ones(4)
        self.numbers = [numbers and (ctypes.c_int64 * len(numbers))(*numbers) for numbers in (shape, strides)]
        where = [numbers and ctypes.addressof(numbers) for numbers in self.numbers]
        data = self.values.ctypes.data if data is None else data
        self.tensor = Tensor(data, (1, 0), axes, 2, 64, 1, where[0], where[1], 0, None, None)
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.tensor), b"dltensor", None)

    def copy(self):
        return self


def test_tensors_that_cannot_be(comm):
    out = np.zeros(4)
    assert comm.allreduce(Capsule([4]), out=out).tolist() == [comm.size] * 4
    for capsule in (Capsule(None), Capsule([4], axes=-1), Capsule([-4]), Capsule([1 << 62, 1 << 62], axes=2),
                    Capsule([-2, -2], axes=2), Capsule([4], data=0)):
        refused(tutti.ArgumentError, "x has by __dlpack__ a shape or address that no array has",
                lambda: comm.allreduce(capsule, out=out))
    refused(tutti.ArgumentError, "its own library's copy of it is not, either",
            lambda: comm.allreduce(Capsule([2], strides=[2]), out=np.zeros(2)))
    for device in (None, (), "ab", (1,)):
        refused(tutti.TypeArgumentError, "tutti: allreduce: __dlpack_device__ of x gives ",
                lambda: comm.allreduce(Capsule([4], device=device), out=out))
    refused(tutti.TypeArgumentError, "tutti: allreduce: x is a class", lambda: comm.allreduce(np.ndarray))


class CudaArray:
    def __init__(self, facts):
        self.__cuda_array_interface__ = facts


def test_cuda_arrays_that_cannot_be(comm):
    values, out = np.ones(4), np.zeros(4)
    good = {"version": 3, "typestr": "<f8", "shape": (4,), "data": (values.ctypes.data, False)}
    cases = [
        (tutti.TypeArgumentError, " is a NoneType, and no dict", None), (tutti.ArgumentError, " has no 'data'", {}),
        (tutti.TypeArgumentError, "['shape'] is 4, and no tuple", {**good, "shape": 4}),
        (tutti.ArgumentError, "a shape or address", {**good, "shape": (-4,)}),
        (tutti.ArgumentError, "a shape or address", {**good, "data": (0, False)}),
        (tutti.ArgumentError, "a shape or address", {**good, "strides": (8, 8)}),
        (tutti.TypeArgumentError, "['data'] is a NoneType, and no integer", {**good, "data": (None, False)}),
        (tutti.TypeArgumentError, "['typestr'] is a bytes, and no text", {**good, "typestr": b"<f8"}),
    ]
    for kind, text, facts in cases:
        refused(kind, text, lambda: comm.allreduce(CudaArray(facts), out=out))
