"""Compression in memory of a device, over any CUDA driver that the process finds."""
import ctypes

import numpy as np
import pytest
import tutti

FORMATS = ["bf16", "fp16", "fp8_e4m3", "fp8_e5m2", "int8", "top_k"]


@pytest.fixture(scope="module")
def cuda():
    """The driver, with the primary context of its first device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        pytest.skip(f"there is no CUDA: {error}")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), 0):
        pytest.skip("there is no CUDA: the driver has no device")
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    assert driver.cuCtxSetCurrent(context) == 0
    try:
        tutti.empty_device(1)
    except tutti.Error as error:
        pytest.skip(f"Tutti has no devices: {error}")
    yield driver
    driver.cuCtxSynchronize()


def address_of(memory):
    return ctypes.c_uint64(memory.__cuda_array_interface__["data"][0])


def on_device(cuda, values):
    memory = tutti.empty_device(values.shape, values.dtype)
    assert cuda.cuMemcpyHtoD_v2(address_of(memory), ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(values.nbytes)) == 0
    return memory


def on_host(cuda, memory):
    values = np.empty(memory.shape, memory.dtype)
    assert cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(values.ctypes.data), address_of(memory), ctypes.c_size_t(values.nbytes)) == 0
    return values


def gradient(rank, count):
    return np.random.default_rng([12, rank]).normal(size=count).astype(np.float32)


@pytest.mark.parametrize("name", FORMATS)
def test_bits_are_those_of_the_host(comm, cuda, name):
    x, error = gradient(comm.rank, 1000), np.zeros(1000, np.float32)
    x_there, error_there = on_device(cuda, x), on_device(cuda, error)
    data = tutti.compress(name, x, error)
    data_there = tutti.compress(name, x_there, error_there)
    assert np.array_equal(on_host(cuda, data_there), data) and np.array_equal(on_host(cuda, error_there), error)
    back_there = tutti.decompress(name, data_there, 1000)
    assert np.array_equal(on_host(cuda, back_there), tutti.decompress(name, data, 1000))
    tutti.decompress_add(name, data_there, x_there)
    assert np.array_equal(on_host(cuda, x_there), tutti.decompress_add(name, data, x))


@pytest.mark.parametrize("name", FORMATS)
def test_sums_have_the_bits_of_the_host(comm, cuda, name):
    host = tutti.CompressedAllreduce(777, name, comm, keep=0.1)
    device = tutti.CompressedAllreduce(777, name, comm, keep=0.1, on_device=True)
    for step in range(3):
        x = gradient(10 * step + comm.rank, 777)
        there = on_device(cuda, x)
        assert device.run(there, factor=0.5) is there
        host.run(x, factor=0.5)
        assert np.array_equal(on_host(cuda, there), x)


def test_hosts_and_devices_are_kept_apart(comm, cuda):
    x, there = np.ones(8, np.float32), on_device(cuda, np.ones(8, np.float32))
    with pytest.raises(tutti.ArgumentError, match="compress: error is in memory of the host, and the other array is not"):
        tutti.compress("int8", there, np.zeros(8, np.float32))
    sums = tutti.CompressedAllreduce(8, "int8", comm, on_device=True)
    with pytest.raises(tutti.ArgumentError, match="x is in memory of the host; allowed is memory of a device"):
        sums.run(x)
    with pytest.raises(tutti.ArgumentError, match="x is in memory of a device; allowed is memory of the host"):
        tutti.CompressedAllreduce(8, "int8", comm).run(there)
    with pytest.raises(tutti.ArgumentError, match="the errors are in memory of a device"):
        sums.error
