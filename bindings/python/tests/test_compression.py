"""Sums in a wider type, compression, and sums of compressed gradients."""
import numpy as np
import pytest
import tutti

FORMATS = ["bf16", "fp16", "fp8_e4m3", "fp8_e5m2", "int8", "top_k"]


def halves(rank, count):
    random = np.random.default_rng([11, rank])
    return (random.uniform(-1, 1, count) * 2.0 ** random.integers(-8, 8, count)).astype(np.float16)


def gradient(rank, count):
    return np.random.default_rng([12, rank]).normal(size=count).astype(np.float32)


@pytest.mark.parametrize("count", [1, 1000, 40_001])
def test_sums_are_rounded_once(comm, count):
    wide = np.zeros(count, np.float32)
    for rank in range(comm.size):
        wide = wide + halves(rank, count) if rank else halves(0, count).astype(np.float32)
    x = halves(comm.rank, count)
    assert comm.allreduce(x, accumulate="fp32").tobytes() == wide.astype(np.float16).tobytes()
    average = (wide / np.float32(comm.size)).astype(np.float16)
    assert comm.allreduce_async(x, "avg", accumulate="fp32").wait().tobytes() == average.tobytes()
    plan = comm.plan_allreduce(x, accumulate="fp32", rounding="stochastic")
    first = plan().copy()
    assert "added in fp32, rounded stochastically" in plan.explain()
    assert plan().tobytes() == first.tobytes()


def test_what_is_no_wider_type(comm):
    with pytest.raises(tutti.ArgumentError, match="accumulate.*fp32 for elements of fp32"):
        comm.allreduce(np.ones(3, np.float32), accumulate="fp32")
    with pytest.raises(tutti.ArgumentError, match="'accumulate' is 'int8'; allowed: fp32, fp64"):
        comm.allreduce(np.ones(3, np.float16), accumulate="int8")
    with pytest.raises(tutti.ArgumentError, match="rounding.*'up'"):
        comm.allreduce(np.ones(3, np.float16), accumulate="fp32", rounding="up")


@pytest.mark.parametrize("name", FORMATS)
def test_errors_are_what_is_lost(name):
    x, error = gradient(0, 1000), np.zeros(1000, np.float32)
    data = tutti.compress(name, x, error)
    assert data.dtype == np.uint8 and data.size == tutti.compressed_size(name, 1000)
    back = tutti.decompress(name, data, 1000)
    assert np.array_equal(back + error, x)
    twice = tutti.decompress_add(name, data, back.copy())
    assert np.array_equal(twice, back + back)


def test_options_of_compression():
    x = gradient(1, 100)
    assert tutti.compress("int8", x, block=10).size == 140
    assert tutti.compress("top_k", x, keep=0.5).size == 400
    kept = tutti.decompress("top_k", tutti.compress("top_k", x, keep=0.5), 100, keep=0.5)
    assert np.count_nonzero(kept) == 50 and np.abs(x[kept == 0]).max() <= np.abs(kept[kept != 0]).min()
    with pytest.raises(tutti.ArgumentError, match="compression is 'int4'; allowed are bf16, fp16"):
        tutti.compress("int4", x)
    with pytest.raises(tutti.ArgumentError, match="x has elements of float64; allowed are those of float32"):
        tutti.compress("int8", x.astype(np.float64))
    with pytest.raises(tutti.ArgumentError, match="'keep' is 0"):
        tutti.compress("top_k", x, keep=0.0)


@pytest.mark.parametrize("name", FORMATS)
def test_sums_of_gradients(comm, name):
    count, steps = 700, 50
    exact = sum(gradient(rank, count).astype(np.float64) for rank in range(comm.size))
    sums = tutti.CompressedAllreduce(count, name, comm, keep=0.2)
    total = np.zeros(count)
    for _ in range(steps):
        x = gradient(comm.rank, count)
        assert sums.run(x) is x
        total += x
    assert np.array_equal(comm.broadcast(x.copy()), x)  # the same on all ranks
    assert np.abs(total / steps - exact).max() < 0.5 * (comm.size + 1)
    assert sums.error.shape == (count,) and (comm.size == 1 or sums.bytes_sent > 0)
    sums.reset()
    assert not sums.error.any() and not sums.sum_error.any()


def test_runs_in_parts(comm):
    a, b = gradient(comm.rank, 999), gradient(comm.rank, 999)
    sums = [tutti.CompressedAllreduce(999, "int8", comm) for _ in range(2)]
    sums[0].start(a, factor=0.5)
    with pytest.raises(tutti.StateError, match="a run is under way"):
        sums[0].start(b)
    while not sums[0].test():
        pass
    assert sums[0].wait() is a and sums[0].wait() is None
    sums[1].run(b, 0.5)
    assert np.array_equal(a, b)
    with pytest.raises(tutti.ArgumentError, match="10 elements; allowed: 999"):
        sums[1].run(np.zeros(10, np.float32))
