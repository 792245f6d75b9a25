"""Tutti memory as arrays."""
import gc

import numpy as np
import pytest
import tutti


def test_empty(comm):
    x = tutti.empty((3, 4), "f4")
    assert isinstance(x, np.ndarray) and x.shape == (3, 4) and x.dtype == "f4" and x.flags.writeable
    assert (x == 0).all() and x.ctypes.data % 4096 == 0
    x[:] = comm.rank
    y = comm.allreduce(x, out=tutti.empty((3, 4), np.float32))
    assert (y == sum(range(comm.size))).all()
    part = x[1:]
    del x
    gc.collect()
    assert (part == comm.rank).all()
    assert tutti.empty(5).dtype == "f8" and tutti.empty(0).shape == (0,) and tutti.empty(()).shape == ()


def test_types(comm):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    assert tutti.empty(3, "bfloat16").dtype == ml_dtypes.bfloat16
    x = tutti.empty(3, ml_dtypes.float8_e5m2)
    x[:] = 1
    assert (comm.allreduce(x).astype(float) == comm.size).all()
    with pytest.raises(tutti.TypeArgumentError, match="tutti: empty: dtype has elements of dtype object"):
        tutti.empty(3, object)
    with pytest.raises(tutti.ArgumentError, match="tutti: empty: a length is -1"):
        tutti.empty(-1)
    with pytest.raises(tutti.ArgumentError, match="tutti: empty: the shape has too many elements"):
        tutti.empty((1 << 40, 1 << 40))


def test_dlpack_of_memory(comm):
    memory = tutti.empty((2, 3), "i4").base
    while isinstance(memory, np.ndarray):
        memory = memory.base
    assert (memory.shape, memory.dtype, memory.nbytes) == ((2, 3), "int32", 24)
    assert memory.__dlpack_device__() == (1, 0)
    x = np.from_dlpack(memory)
    assert x.shape == (2, 3) and x.dtype == "i4"
    x[:] = 5
    assert (np.asarray(memory) == 5).all()
    for capsule in (memory.__dlpack__(), memory.__dlpack__(max_version=(1, 1))):
        assert "dltensor" in repr(capsule)
    with pytest.raises(BufferError, match="tutti: __dlpack__ makes no copies"):
        memory.__dlpack__(copy=True)
    assert not hasattr(memory, "__cuda_array_interface__")
    assert comm.allreduce(memory).tolist() == [[5 * comm.size] * 3] * 2


def test_empty_device(comm):
    try:
        memory = tutti.empty_device(4)
    except tutti.Error as error:
        pytest.skip(f"there is no CUDA: {error}")
    assert memory.__dlpack_device__()[0] == 2
    assert memory.__cuda_array_interface__["typestr"] == "<f4" and not hasattr(memory, "__array_interface__")
