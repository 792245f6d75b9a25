// What one process asks: copies, latencies, reductions.
#include <array>
#include <bit>

#include "lib/device/driver/kernels.hpp"
#include "tests/gpu/work.hpp"

namespace tutti::gpu {
namespace {

struct Attribute {
  const char* name;
  CUdevice_attribute attribute;
};
constexpr std::array attributes{
    Attribute{"multiprocessors", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    Attribute{"capability_major", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    Attribute{"capability_minor", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    Attribute{"l2_bytes", CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    Attribute{"copy_engines", CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
    Attribute{"compute_mode", CU_DEVICE_ATTRIBUTE_COMPUTE_MODE},
    Attribute{"stream_memory_operations_of_64_bits", CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS},
    Attribute{"ipc_events", CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED},
    Attribute{"memory_pools", CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
    Attribute{"pool_handle_types", CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES},
    Attribute{"virtual_memory_management", CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED},
    Attribute{"gpudirect_rdma", CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED},
    Attribute{"dma_buf", CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED},
    Attribute{"concurrent_managed_access", CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
    Attribute{"host_registered_pointer", CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM},
};

/// One direction of copies, at all sizes. `crossings`: how often a byte is counted.
void ask_copy(Team& team, const Effort& effort, const char* name, CUdeviceptr to, CUdeviceptr from, int crossings) {
  auto* const stream = new_stream();
  for (const std::int64_t bytes : sizes(effort)) {
    const double seconds = seconds_of(
        effort, repetitions(bytes, effort), [&] { copy(to, from, bytes, stream); }, [&] { finish(stream); });
    team.tell(name, rate(crossings * bytes, seconds), "GB/s", bytes);
  }
}

}  // namespace

void ask_device(Team& team, const Effort& /*effort*/) {
  int version = 0;
  check(functions().DriverGetVersion(&version), "cuDriverGetVersion");
  team.tell("driver", std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10));
  if (is_fake()) team.tell("fake", "the fake driver: no figure means anything");
  team.tell("devices", device_count(), "");
  for (int device = 0; device < device_count(); ++device) {
    std::array<char, 96> name{};
    check(functions().DeviceGetName(name.data(), static_cast<int>(name.size()), device), "cuDeviceGetName");
    team.tell("device " + std::to_string(device), std::string{name.data()});
  }
  std::size_t bytes = 0;
  check(functions().DeviceTotalMem(&bytes, 0), "cuDeviceTotalMem");
  team.tell("memory", static_cast<double>(bytes) / (1 << 30), "GiB");
  for (const Attribute& each : attributes) {
    int value = 0;
    if (functions().DeviceGetAttribute(&value, each.attribute, 0) == CUDA_SUCCESS) team.tell(each.name, value, "");
  }
}

void ask_copies(Team& team, const Effort& effort) {
  use_device(0);
  const CUdeviceptr first = device_memory(effort.most_bytes), second = device_memory(effort.most_bytes);
  const CUdeviceptr pinned = pinned_memory(effort.most_bytes);
  ask_copy(team, effort, "copy_on_device", second, first, 2);  // bytes read and bytes written
  ask_copy(team, effort, "copy_to_host", pinned, first, 1);
  ask_copy(team, effort, "copy_from_host", second, pinned, 1);
}

void ask_latencies(Team& team, const Effort& effort) {
  use_device(0);
  auto* const stream = new_stream();
  auto* const event = new_event();
  auto* const kernel = empty_kernel();
  const CUdeviceptr device = device_memory(64), pinned = pinned_memory(64);
  const auto tell = [&](const char* name, auto work) {
    team.tell(name, seconds_of(effort, effort.repetitions, work, [&] { finish(stream); }) * 1e6, "us");
  };
  tell("launch_alone", [&] { launch(kernel, stream); });
  tell("launch_and_poll", [&] {
    launch(kernel, stream);
    poll(event, stream);
  });
  tell("launch_and_synchronise", [&] {
    launch(kernel, stream);
    finish(stream);
  });
  tell("event_and_poll", [&] { poll(event, stream); });
  tell("copy_on_device_and_poll", [&] {
    copy(device + 32, device, 8, stream);
    poll(event, stream);
  });
  tell("copy_to_host_and_poll", [&] {
    copy(pinned, device, 8, stream);
    poll(event, stream);
  });
  tell("copy_from_host_and_poll", [&] {
    copy(device, pinned, 8, stream);
    poll(event, stream);
  });
}

void ask_graphs(Team& team, const Effort& effort) {
  const Functions& f = functions();
  need(f.StreamBeginCapture, "cuStreamBeginCapture");
  need(f.StreamEndCapture, "cuStreamEndCapture");
  need(f.GraphInstantiate, "cuGraphInstantiateWithFlags");
  need(f.GraphLaunch, "cuGraphLaunch");
  use_device(0);
  auto* const stream = new_stream();
  auto* const event = new_event();
  auto* const kernel = empty_kernel();
  launch(kernel, stream);  // loads it: nothing is loaded in a capture
  finish(stream);
  for (const int kernels : {1, 8}) {
    CUgraph graph = nullptr;
    CUgraphExec ready = nullptr;
    check(f.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture");
    for (int i = 0; i < kernels; ++i)
      launch(kernel, stream);
    check(f.StreamEndCapture(stream, &graph), "cuStreamEndCapture");
    check(f.GraphInstantiate(&ready, graph, 0), "cuGraphInstantiateWithFlags");
    const auto work = [&] {
      check(f.GraphLaunch(ready, stream), "cuGraphLaunch");
      poll(event, stream);
    };
    const double seconds = seconds_of(effort, effort.repetitions, work, [&] { finish(stream); });
    team.tell("graph_of_" + std::to_string(kernels) + "_kernels_and_poll", seconds * 1e6, "us");
  }
}

/// out[0] = ... = out[k - 1] = in[0] + ... + in[k - 1], as the step of an allreduce on a device that k ranks share.
void ask_reductions(Team& team, const Effort& effort) {
  use_device(0);
  const cuda::Kernels kernels;
  auto* const stream = new_stream();
  const std::int64_t bytes = effort.most_bytes / 8;
  std::vector<CUdeviceptr> inputs, outputs;
  for (const std::size_t operands : {std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{8}}) {
    while (inputs.size() < operands) {
      inputs.push_back(device_memory(bytes));
      outputs.push_back(device_memory(bytes));
      check(functions().MemsetD32Async(inputs.back(), 0, static_cast<std::size_t>(bytes / 4), stream), "cuMemsetD32");
    }
    const auto work = [&] { kernels.reduce(Op::Kind::sum, Type::fp32, inputs, outputs, Count{bytes / 4}, stream); };
    const double seconds = seconds_of(effort, repetitions(bytes, effort), work, [&] { finish(stream); });
    const auto moved = 2 * static_cast<std::int64_t>(operands) * bytes;
    team.tell("reduction", rate(moved, seconds), "GB/s", bytes, static_cast<int>(operands));
  }
}

/// The host sets a word, a stream that waits for it copies and sets another, and the host sees that.
void ask_host_flags(Team& team, const Effort& effort) {
  const Functions& f = functions();
  need(f.StreamWaitValue32, "cuStreamWaitValue32");
  need(f.StreamWriteValue32, "cuStreamWriteValue32");
  use_device(0);
  auto* const stream = new_stream();
  const CUdeviceptr pinned = pinned_memory(256), memory = device_memory(64);
  auto* const words = std::bit_cast<volatile std::uint32_t*>(pinned);
  words[0] = 0;
  words[32] = 0;
  std::vector<double> seconds;
  for (std::uint32_t turn = 1; turn <= static_cast<std::uint32_t>(effort.rounds * effort.repetitions); ++turn) {
    check(f.StreamWaitValue32(stream, pinned, turn, CU_STREAM_WAIT_VALUE_GEQ), "cuStreamWaitValue32");
    copy(memory + 32, memory, 8, stream);
    check(f.StreamWriteValue32(stream, pinned + 128, turn, 0), "cuStreamWriteValue32");
    for (const double posted = now(); now() - posted < 20e-6;) {
    }
    const double begin = now();
    words[0] = turn;
    while (words[32] != turn) {
    }
    seconds.push_back(now() - begin);
  }
  team.tell("host_flag_copy_host_flag", median(seconds) * 1e6, "us");
}

}  // namespace tutti::gpu
