"""Communication hooks of DistributedDataParallel that send gradients in fewer bits.

    model = DistributedDataParallel(net)
    model.register_comm_hook(tutti.torch.hooks.State(), tutti.torch.hooks.power_of_two)

What a rank loses by rounding is added to its gradients of the next step (error feedback), so that training converges as
without compression. All ranks get the same bits.

| hook | bits an element | how |
|---|---|---|
| bf16 | 16 | an allreduce, which adds in fp32 |
| fp8 | 8 | e4m3 with a scale for each rank's block |
| power_of_two | 8 | sign and exponent of the nearest power of two |

fp8 and power_of_two send blocks by an alltoall, add them in fp32 in the order of ranks, and send the means by an allgather.
No hook waits: the backward pass goes on, and DistributedDataParallel waits at its end.
"""
import torch
import torch.distributed as dist

__all__ = ["State", "bf16", "fp8", "power_of_two"]


class State:
    """What a hook keeps between steps. `group`: the process group of the model; None is the default one."""

    def __init__(self, group=None):
        self.group = group
        self._errors = {}
        self._means_group = None
        self._last = None  # the future of the last bucket's call of allgather

    def means_group(self):
        """A group for the means alone. The backward pass calls collectives of the model's group meanwhile, not in the same
        order on all ranks."""
        if self._means_group is None:
            config = dist.distributed_c10d.get_backend_config(self.group)
            ranks = dist.get_process_group_ranks(self.group or dist.group.WORLD)
            self._means_group = dist.new_group(ranks, backend=config, use_local_synchronization=True)
        return self._means_group

    def in_order(self, future, function):
        """Calls `function` with `future` when that is complete, after it has returned for all buckets before."""
        both = future if self._last is None else torch.futures.collect_all([future, self._last])
        self._last = both.then(lambda _: function(future))

    def error(self, kind, bucket, count):
        """The memory of what was lost for these parameters; zeros at first. DDP orders its buckets anew after one step."""
        key = (kind, count, *(id(parameter) for parameter in bucket.parameters()))
        if key not in self._errors:
            self._errors[key] = torch.zeros(count, dtype=torch.float32, device=bucket.buffer().device)
        return self._errors[key]


def _check(bucket):
    if not bucket.buffer().is_floating_point():
        raise TypeError(f"tutti: gradients of type {bucket.buffer().dtype} cannot be compressed")


def bf16(state, bucket):
    """Gradients travel as bf16."""
    _check(bucket)
    gradient = bucket.buffer()
    error = state.error("bf16", bucket, gradient.numel())
    error.add_(gradient)
    sent = error.to(torch.bfloat16)
    error.sub_(sent)
    work = dist.all_reduce(sent, dist.ReduceOp.AVG, group=state.group, async_op=True)

    def apply(reduced):
        reduced.value()  # raises what went wrong
        return gradient.copy_(sent)

    return work.get_future().then(apply)


def fp8(state, bucket):
    """Gradients travel as fp8 (e4m3)."""
    return _exchange(state, bucket, _to_fp8, _from_fp8)


def power_of_two(state, bucket):
    """Gradients travel as the nearest powers of two."""
    return _exchange(state, bucket, _to_powers, _from_powers)


# A block is a row: the four bytes of its scale, and one byte for each element. -----------------------------------------


def _with_scale(scale, codes):
    return torch.cat([scale.contiguous().view(torch.uint8).view(-1, 4), codes], dim=1)


def _scale_of(rows):
    return rows[:, :4].reshape(-1).clone().view(torch.float32).view(-1, 1)


_LARGEST = torch.finfo(torch.float8_e4m3fn).max


def _to_fp8(blocks):
    scale = blocks.abs().amax(dim=1, keepdim=True) / _LARGEST
    scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    return _with_scale(scale, (blocks / scale).clamp(-_LARGEST, _LARGEST).to(torch.float8_e4m3fn).view(torch.uint8))


def _from_fp8(rows):
    return rows[:, 4:].contiguous().view(torch.float8_e4m3fn).to(torch.float32) * _scale_of(rows)


_ZERO = 127  # the code of what is too small for its block


def _to_powers(blocks):
    mantissa, exponent = torch.frexp(blocks)  # 0.5 <= |mantissa| < 1
    exponent = exponent - (mantissa.abs() < 0.75).to(exponent.dtype)
    exponent = torch.where(mantissa == 0, torch.full_like(exponent, -1000), exponent)
    largest = exponent.amax(dim=1, keepdim=True)
    below = (largest - exponent).clamp(max=_ZERO)
    codes = (below + 128 * (mantissa < 0)).to(torch.uint8)
    return _with_scale(largest.to(torch.float32), codes)


def _from_powers(rows):
    codes = rows[:, 4:].to(torch.int32)
    below = codes % 128
    power = torch.ldexp(torch.ones_like(below, dtype=torch.float32), _scale_of(rows).to(torch.int32) - below)
    return torch.where(below == _ZERO, torch.zeros_like(power), torch.where(codes >= 128, -power, power))


def _exchange(state, bucket, encode, decode):
    """The mean over ranks of encoded gradients, as a future."""
    _check(bucket)
    gradient = bucket.buffer()
    size, count = dist.get_world_size(state.group), gradient.numel()
    each = -(-count // size)
    blocks = torch.zeros(size * each, dtype=torch.float32, device=gradient.device)
    blocks[:count] = gradient
    error = state.error("gradient", bucket, size * each).view(size, each)
    error_of_mean = state.error("mean", bucket, each).view(1, each)
    group = state.means_group()
    result = torch.futures.Future(devices=None if gradient.device.type == "cpu" else [gradient.device])

    sent = _encoded(blocks.view(size, each), error, encode, decode)
    came, means = torch.empty_like(sent), torch.empty_like(sent)

    def send_mean(arrived):
        def apply(gathered):
            gathered.value()
            return gradient.copy_(decode(means).view(-1)[:count])

        arrived.value()
        mean = _encoded(decode(came).sum(dim=0, keepdim=True) / size, error_of_mean, encode, decode)
        gathering = dist.all_gather_into_tensor(means, mean, group=group, async_op=True).get_future()
        gathering.then(_told(result, apply, is_last=True))

    arriving = dist.all_to_all_single(came, sent, group=state.group, async_op=True).get_future()
    state.in_order(arriving, _told(result, send_mean))
    return result


def _told(result, function, is_last=False):
    """`function`, whose exception, and value if it is the last one, becomes that of the future `result`."""

    def call(future):
        try:
            value = function(future)
        except Exception as error:  # whatever it is, it is raised where the future is awaited
            result.set_exception(error)
        else:
            if is_last:
                result.set_result(value)

    return call


def _encoded(values, error, encode, decode):
    error.add_(values)
    rows = encode(error)
    error.sub_(decode(rows))
    return rows
