"""Arrays of all kinds, and those that are refused: each with the type and the text of the exception."""
import array

import numpy as np
import pytest
import tutti


def refused(kind, text, call):
    with pytest.raises(kind, match=text) as caught:
        call()
    assert isinstance(caught.value, ValueError) and caught.value.status == 1


class OnlyDlpack:
    """An array that speaks DLPack alone, in the version that it is told to."""

    def __init__(self, values, version=(1, 1)):
        self.values, self.version = values, version
        self.asked = []

    shape = property(lambda self: self.values.shape)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()

    def __dlpack__(self, **named):
        self.asked.append(dict(named))
        if self.version is None and "max_version" in named:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.values.__dlpack__(**({"max_version": self.version} if self.version else {}))


def test_buffer_protocol(comm):
    p = comm.size
    assert comm.allreduce(array.array("d", [1, 2])).tolist() == [p, 2 * p]
    assert comm.allreduce(b"\x01\x02").tolist() == [p, 2 * p]
    assert comm.allreduce(memoryview(np.ones((2, 3)))[:1]).shape == (1, 3)
    out = bytearray(2)
    assert comm.allreduce(b"\x01\x02", out=out) is out
    assert list(out) == [p, 2 * p]
    out.append(1)  # its memory is no longer lent
    refused(tutti.ArgumentError, "tutti: allreduce: out is read-only", lambda: comm.allreduce(b"12", out=b"34"))
    text = "tutti: allreduce: x has elements of format '>h' of the buffer protocol"
    refused(tutti.TypeArgumentError, text, lambda: comm.allreduce(np.ones(2, ">i2").data))


def test_numbers(comm):
    assert comm.allreduce(2) == 2 * comm.size
    assert comm.allreduce(2.5).dtype == "f8"
    assert comm.allreduce(1j) == 1j * comm.size
    assert comm.allreduce(np.int16(3)).dtype == "i2"
    refused(tutti.ArgumentError, "tutti: allreduce: out is a number, and no array", lambda: comm.allreduce(1, out=1))


def test_strided(comm):
    x = np.arange(12.0).reshape(3, 4)
    for strided in (x[:, ::2], x.T, x[::-1]):
        np.testing.assert_array_equal(comm.allreduce(strided), comm.size * strided)
        text = "is not contiguous"
        refused(tutti.ArgumentError, "tutti: allreduce: out " + text, lambda: comm.allreduce(strided.copy(), out=strided))
        refused(tutti.ArgumentError, "tutti: allreduce: x " + text, lambda: comm.plan_allreduce(strided))
    y = memoryview(bytearray(range(6)))[::2]
    assert comm.allreduce(y).tolist() == [0, 2 * comm.size, 4 * comm.size]


def test_unaligned(comm):
    x = np.frombuffer(bytearray(17), "u1")[1:].view("f8")
    x[:] = 1
    assert comm.allreduce(x).tolist() == [comm.size] * 2
    refused(tutti.ArgumentError, r"out is not contiguous \(or not aligned\)", lambda: comm.allreduce(np.ones(2), out=x))


def test_read_only(comm):
    x = np.ones(3)
    x.flags.writeable = False
    assert comm.allreduce(x).tolist() == [comm.size] * 3
    refused(tutti.ArgumentError, "tutti: allreduce: out is read-only", lambda: comm.allreduce(np.ones(3), out=x))
    refused(tutti.ArgumentError, "tutti: allreduce: out is read-only", lambda: comm.allreduce(x, out=x))


@pytest.mark.parametrize("dtype, text", [
    (">f8", "float64 in big-endian byte order"), (">i2", "int16 in big-endian byte order"),
    ("g", r"long double \(float128\)|long double"), ("G", "long double"), ("O", "dtype object"), ("U3", "dtype str96"),
    ("M8[s]", r"dtype datetime64\[s\]"), ("i4,f4", "dtype void64"),
])
def test_types_that_tutti_has_not(comm, dtype, text):
    x = np.zeros(3, dtype)
    refused(tutti.TypeArgumentError, f"tutti: allreduce: x has elements of {text}", lambda: comm.allreduce(x))
    refused(tutti.TypeArgumentError, f"tutti: allreduce: out has elements of {text}", lambda: comm.allreduce(1.0, out=x))


@pytest.mark.parametrize("given, words", [([1, 2], "a list"), (None, "a NoneType"), ("text", "'text'"), (object(), "an object")])
def test_no_arrays(comm, given, words):
    refused(tutti.TypeArgumentError, f"tutti: allreduce: x is {words}; Tutti takes arrays", lambda: comm.allreduce(given))


def test_classes_of_arrays(comm):
    masked = np.ma.masked_array([1.0, 2.0], mask=[True, False])
    refused(tutti.TypeArgumentError, "tutti: allreduce: x is a masked array", lambda: comm.allreduce(masked))

    class Derived(np.ndarray):
        pass

    assert comm.allreduce(np.ones((2, 2)).view(Derived)).shape == (2, 2)


def test_dlpack(comm):
    x = np.arange(6.0).reshape(2, 3)
    for version in ((1, 1), (1, 0), None):
        given = OnlyDlpack(x, version)
        y = np.empty_like(x)
        comm.allreduce(given, out=y)
        np.testing.assert_array_equal(y, comm.size * x)
        assert given.asked[0]["max_version"] == (1, 1)
        target = OnlyDlpack(np.empty_like(x), version)
        assert comm.allreduce(x, out=target) is target
        np.testing.assert_array_equal(target.values, comm.size * x)
    locked = x.copy()
    locked.flags.writeable = False
    comm.allreduce(OnlyDlpack(locked), out=y)
    refused(tutti.ArgumentError, "tutti: allreduce: out is read-only", lambda: comm.allreduce(x, out=OnlyDlpack(locked)))
    refused(tutti.ArgumentError, "out is not contiguous", lambda: comm.allreduce(x.T.copy(), out=OnlyDlpack(x.T)))
    refused(tutti.ArgumentError, "no array like an OnlyDlpack can be made; give out=", lambda: comm.allreduce(OnlyDlpack(x)))


class FakeDevice:
    """Claims to be elsewhere."""

    def __init__(self, device):
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        return "no capsule"


def test_dlpack_of_strangers(comm):
    refused(tutti.ArgumentError, "x is on a device of DLPack's type 8", lambda: comm.allreduce(FakeDevice((8, 0))))
    refused(tutti.TypeArgumentError, "__dlpack__ of x gives 'no capsule'", lambda: comm.allreduce(FakeDevice((1, 0))))


class CudaArray:
    """Memory of the host that claims to be a device's: enough to see what is read."""

    def __init__(self, **facts):
        values = np.ones(4, "f4")
        self.values = values
        interface = {"version": 3, "typestr": "<f4", "shape": (4,), "data": (values.ctypes.data, False), "strides": None}
        self.__cuda_array_interface__ = {**interface, **facts}


def test_cuda_array_interface(comm):
    given, out = CudaArray(), CudaArray()
    assert comm.allreduce(given, out=out) is out
    assert out.values.tolist() == [comm.size] * 4
    comm.allreduce(CudaArray(strides=(4,)), out=out)
    refused(tutti.ArgumentError, "out is read-only",
            lambda: comm.allreduce(given, out=CudaArray(data=(given.values.ctypes.data, True))))
    refused(tutti.TypeArgumentError, "elements of typestr '>f4'", lambda: comm.allreduce(CudaArray(typestr=">f4")))
    refused(tutti.ArgumentError, "x is not contiguous; give a contiguous copy",
            lambda: comm.allreduce(CudaArray(shape=(2,), strides=(8,)), out=out))


def test_streams(comm):
    """Numbers and objects are understood: what refuses them here is the library, or nothing does."""

    class Stream:
        def __cuda_stream__(self):
            return 0, 1234

    for stream in (0, Stream()):
        try:
            comm.allreduce(np.ones(2), stream=stream)
        except tutti.Error as error:
            assert "stream" in str(error)


def test_new_arrays_are_of_the_inputs_kind(comm):
    class Library:
        """An array library by the names that the array API gives them."""

        @staticmethod
        def empty(shape, dtype):
            return Array(np.empty(shape, dtype))

    class Array(OnlyDlpack):
        dtype = property(lambda self: self.values.dtype)

        def __array_namespace__(self):
            return Library

    y = comm.allreduce(Array(np.ones((2, 2))))
    assert isinstance(y, Array) and (y.values == comm.size).all()


def test_jax_arrays_are_never_outputs(comm):
    """By a stand-in for JAX, which is not needed for this."""
    import sys
    import types

    class Array(OnlyDlpack):
        dtype = property(lambda self: self.values.dtype)

        def __array_namespace__(self):
            return types.SimpleNamespace(from_dlpack=lambda values: Array(np.from_dlpack(values)))

    if "jax" in sys.modules:
        pytest.skip("JAX itself is loaded")
    sys.modules["jax"] = types.SimpleNamespace(Array=Array)
    try:
        x = Array(np.ones(3))
        refused(tutti.ArgumentError, "tutti: allreduce: out is an array of JAX, which never changes",
                lambda: comm.allreduce(np.ones(3), out=x))
        y = comm.allreduce(x)
        assert isinstance(y, Array) and y.values.tolist() == [comm.size] * 3
        request = comm.allreduce_async(x)
        assert isinstance(request.wait(), Array)
        y = comm.broadcast(Array(np.full(3, comm.rank)))
        assert y.values.tolist() == [0] * 3
        refused(tutti.ArgumentError, "a plan on arrays of JAX needs out=", lambda: comm.plan_allreduce(x))
    finally:
        del sys.modules["jax"]
