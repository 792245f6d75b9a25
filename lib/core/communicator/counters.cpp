#include "lib/core/communicator/counters.hpp"

#include <array>

namespace tutti::detail {
namespace {

using Of = const CommunicatorCounters&;

constexpr std::array names{
    NamedCounter{"calls.fast_path", "blocking calls of short messages, done step by step to their end",
                 [](Of of) { return of.fast_path_calls; }},
    NamedCounter{"calls.packed", "calls whose data were packed from several buffers of a list",
                 [](Of of) { return of.packed_calls; }},
    NamedCounter{"calls.packed_buffers", "these buffers", [](Of of) { return of.packed_buffers; }},
    NamedCounter{"calls.proved", "plans whose schedules were proved (TUTTI_PROVE)",
                 [](Of of) { return of.proved_plans; }},
    NamedCounter{"calls.unproved",
                 "plans that could not be: sizes known in part, buffers that overlap, too many elements or steps",
                 [](Of of) { return of.unproved_plans; }},
    NamedCounter{"device.fetched", "copies from a device to pinned memory", [](Of of) { return of.device.fetched; }},
    NamedCounter{"device.fetched_bytes", "their bytes", [](Of of) { return of.device.fetched_bytes; }},
    NamedCounter{"device.ipc.put", "results that a kernel wrote to a peer's memory on a device",
                 [](Of of) { return of.ipc.put; }},
    NamedCounter{"device.ipc.put_bytes", "their bytes", [](Of of) { return of.ipc.put_bytes; }},
    NamedCounter{"device.ipc.reduced", "kernels that read messages in their senders' memory on devices",
                 [](Of of) { return of.ipc.reduced; }},
    NamedCounter{"device.ipc.refused", "messages on a peer's device that this rank could not map",
                 [](Of of) { return of.ipc.refused; }},
    NamedCounter{"device.ipc.staged", "messages inside the node whose data on a device went by way of the host",
                 [](Of of) { return of.ipc.staged; }},
    NamedCounter{"device.ipc.staged_bytes", "their bytes", [](Of of) { return of.ipc.staged_bytes; }},
    NamedCounter{"device.ipc.taken", "messages that this rank took from a peer's memory on a device",
                 [](Of of) { return of.ipc.taken; }},
    NamedCounter{"device.ipc.taken_bytes", "their bytes", [](Of of) { return of.ipc.taken_bytes; }},
    NamedCounter{"device.runs_on_device", "operations on device buffers whose reductions the device made",
                 [](Of of) { return of.device.device_runs; }},
    NamedCounter{"device.runs_on_host", "operations on device buffers whose reductions the host made",
                 [](Of of) { return of.device.host_runs; }},
    NamedCounter{"device.stored", "copies from pinned memory to a device", [](Of of) { return of.device.stored; }},
    NamedCounter{"device.stored_bytes", "their bytes", [](Of of) { return of.device.stored_bytes; }},
    NamedCounter{"device.stream.copies", "copies that programs in streams made",
                 [](Of of) { return of.stream.copies; }},
    NamedCounter{"device.stream.gated", "calls in streams that the host moved", [](Of of) { return of.stream.gated; }},
    NamedCounter{"device.stream.kernels", "kernels of programs in streams", [](Of of) { return of.stream.kernels; }},
    NamedCounter{"device.stream.parts", "programs in streams behind the first of a long call",
                 [](Of of) { return of.stream.parts; }},
    NamedCounter{"device.stream.programs", "programs put into streams", [](Of of) { return of.stream.programs; }},
    NamedCounter{"device.stream.waits", "flags that programs in streams waited for",
                 [](Of of) { return of.stream.waits; }},
    NamedCounter{"device.stream.writes", "flags that programs in streams wrote",
                 [](Of of) { return of.stream.writes; }},
    NamedCounter{"mpi.received", "messages received over MPI", [](Of of) { return of.messages.mpi.received; }},
    NamedCounter{"mpi.received_bytes", "their bytes", [](Of of) { return of.messages.mpi.received_bytes; }},
    NamedCounter{"mpi.sent", "messages sent over MPI", [](Of of) { return of.messages.mpi.sent; }},
    NamedCounter{"mpi.sent_bytes", "their bytes", [](Of of) { return of.messages.mpi.sent_bytes; }},
    NamedCounter{"network.received", "messages received over UCX", [](Of of) { return of.messages.network.received; }},
    NamedCounter{"network.received_bytes", "their bytes", [](Of of) { return of.messages.network.received_bytes; }},
    NamedCounter{"network.sent", "messages sent over UCX", [](Of of) { return of.messages.network.sent; }},
    NamedCounter{"network.sent_bytes", "their bytes", [](Of of) { return of.messages.network.sent_bytes; }},
    NamedCounter{"shm.eager.streamed", "pieces written to a bounce buffer by streaming stores",
                 [](Of of) { return of.shm.streamed; }},
    NamedCounter{"shm.received", "messages received through shared memory",
                 [](Of of) { return of.messages.shm.received; }},
    NamedCounter{"shm.received_bytes", "their bytes", [](Of of) { return of.messages.shm.received_bytes; }},
    NamedCounter{"shm.reduce.forwarded", "pieces that were reduced and sent on in one pass",
                 [](Of of) { return of.shm.forwarded; }},
    NamedCounter{"shm.reduce.multi_operand", "pieces that were reduced from messages of several ranks in one pass",
                 [](Of of) { return of.shm.joint; }},
    NamedCounter{"shm.sent", "messages sent through shared memory", [](Of of) { return of.messages.shm.sent; }},
    NamedCounter{"shm.sent_bytes", "their bytes", [](Of of) { return of.messages.shm.sent_bytes; }},
    NamedCounter{"shm.tutti_memory.get", "pieces read in Tutti memory of their sender",
                 [](Of of) { return of.shm.lent; }},
    NamedCounter{"shm.tutti_memory.put", "pieces written by their sender to Tutti memory of this rank",
                 [](Of of) { return of.shm.delivered; }},
};

}  // namespace

std::span<const NamedCounter> named_counters() { return names; }

Counters by_name(const CommunicatorCounters& counters) {
  Counters values;
  for (const NamedCounter& each : names)
    values.emplace_hint(values.end(), each.name, each.value(counters));
  return values;
}

}  // namespace tutti::detail
