// What several processes ask: memory, flags and events of one in another, and a device that they share.
#include <algorithm>
#include <array>
#include <bit>

#include "tests/gpu/work.hpp"

namespace tutti::gpu {
namespace {

constexpr std::uint32_t pattern = 0x5eed0001;

/// The words of the team as the device sees them.
CUdeviceptr registered_words(Team& team) {
  void* const words = const_cast<std::uint32_t*>(team.shared().words);
  CUdeviceptr address = 0;
  check(functions().MemHostRegister(words, sizeof team.shared().words,
                                    CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP),
        "cuMemHostRegister");
  check(functions().MemHostGetDevicePointer(&address, words, 0), "cuMemHostGetDevicePointer");
  return address;
}

void need_ipc() {
  need(functions().IpcGetMemHandle, "cuIpcGetMemHandle");
  need(functions().IpcOpenMemHandle, "cuIpcOpenMemHandle");
  need(functions().IpcCloseMemHandle, "cuIpcCloseMemHandle");
}

CUdeviceptr open(const CUipcMemHandle& handle) {
  CUdeviceptr address = 0;
  check(functions().IpcOpenMemHandle(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), "cuIpcOpenMemHandle");
  return address;
}
void close(CUdeviceptr address) { check(functions().IpcCloseMemHandle(address), "cuIpcCloseMemHandle"); }

std::uint32_t first_word(CUdeviceptr memory, CUstream stream) {
  const CUdeviceptr pinned = pinned_memory(64);
  copy(pinned, memory, 4, stream);
  finish(stream);
  return *std::bit_cast<const volatile std::uint32_t*>(pinned);
}

/// Process 1 lends memory, and process 0 opens, copies and closes it. Inside a device a byte is read and written;
/// between two it crosses once.
void ask_ipc(Team& team, const Effort& effort, int lender_device, const std::string& prefix) {
  const int crossings = lender_device == 0 ? 2 : 1;
  need_ipc();
  use_device(team.rank() == 0 ? 0 : lender_device);
  const std::int64_t bytes = effort.most_bytes;
  const CUdeviceptr mine = device_memory(bytes);
  auto* const stream = new_stream();
  if (team.rank() == 1) {
    check(functions().MemsetD32Async(mine, pattern, static_cast<std::size_t>(bytes / 4), stream), "cuMemsetD32Async");
    finish(stream);
    check(functions().IpcGetMemHandle(&team.shared().memory[1], mine), "cuIpcGetMemHandle");
  }
  team.barrier();
  if (team.rank() == 0) {
    std::vector<double> opening, closing;
    for (int round = 0; round < std::max(effort.rounds, 3); ++round) {
      const double begin = now();
      const CUdeviceptr peer = open(team.shared().memory[1]);
      const double opened = now();
      close(peer);
      opening.push_back(opened - begin);
      closing.push_back(now() - opened);
    }
    team.tell(prefix + "open_first", opening.front() * 1e6, "us");
    team.tell(prefix + "open", median(opening) * 1e6, "us");
    team.tell(prefix + "close", median(closing) * 1e6, "us");
    const CUdeviceptr peer = open(team.shared().memory[1]);
    const double seconds = seconds_of(
        effort, repetitions(bytes, effort), [&] { copy(mine, peer, bytes, stream); }, [&] { finish(stream); });
    team.tell(prefix + "copy", rate(crossings * bytes, seconds), "GB/s", bytes);
    const bool is_right = first_word(mine, stream) == pattern;
    close(peer);
    if (!is_right) throw std::runtime_error("the memory of the other process holds other data than it wrote");
  }
  team.barrier();  // the mapping is closed before the memory goes
}

}  // namespace

void ask_ipc_of_one_device(Team& team, const Effort& effort) { ask_ipc(team, effort, 0, "ipc_"); }

void ask_ipc_between_devices(Team& team, const Effort& effort) {
  static_cast<void>(functions());
  if (device_count() < 2) throw Unanswered("there is only one device");
  int is_possible = 0;
  check(functions().DeviceCanAccessPeer(&is_possible, 0, 1), "cuDeviceCanAccessPeer");
  if (is_possible == 0) throw Unanswered("devices 0 and 1 do not reach each other");
  ask_ipc(team, effort, 1, "ipc_peer_");
}

/// A stream of process 0 waits for an event of process 1, which is recorded behind a copy.
void ask_ipc_events(Team& team, const Effort& effort) {
  need(functions().IpcGetEventHandle, "cuIpcGetEventHandle");
  need(functions().IpcOpenEventHandle, "cuIpcOpenEventHandle");
  use_device(0);
  auto* const stream = new_stream();
  const CUdeviceptr memory = device_memory(64);
  CUevent event = nullptr;
  if (team.rank() == 1) {
    event = new_event(CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS);
    check(functions().IpcGetEventHandle(&team.shared().event, event), "cuIpcGetEventHandle");
  }
  team.barrier();
  if (team.rank() == 0) check(functions().IpcOpenEventHandle(&event, team.shared().event), "cuIpcOpenEventHandle");
  auto* const done = new_event();
  std::vector<double> seconds;
  for (int round = 0; round < effort.rounds * 5; ++round) {
    team.barrier();
    const double begin = now();
    if (team.rank() == 1) {
      copy(memory + 32, memory, 8, stream);
      check(functions().EventRecord(event, stream), "cuEventRecord");
    }
    team.barrier();
    if (team.rank() == 0) {
      check(functions().StreamWaitEvent(stream, event, 0), "cuStreamWaitEvent");
      copy(memory + 32, memory, 8, stream);
      poll(done, stream);
    }
    seconds.push_back(team.longest(now() - begin));
  }
  team.tell("copy_event_wait_copy", median(seconds) * 1e6, "us");
}

/// Streams of all processes, on one device, set a word for the next one in turn; the host only posts.
void ask_flag_hops(Team& team, const Effort& effort) {
  const Functions& f = functions();
  need(f.StreamWaitValue32, "cuStreamWaitValue32");
  need(f.StreamWriteValue32, "cuStreamWriteValue32");
  use_device(0);
  auto* const stream = new_stream();
  const CUdeviceptr words = registered_words(team);
  const auto word_of = [&](int rank) { return words + static_cast<CUdeviceptr>(128 * rank); };
  const CUdeviceptr mine = word_of(team.rank()), before = word_of((team.rank() + team.size() - 1) % team.size());
  const auto wait = [&](std::uint32_t turn) {
    check(f.StreamWaitValue32(stream, before, turn, CU_STREAM_WAIT_VALUE_GEQ), "cuStreamWaitValue32");
  };
  const auto write = [&](std::uint32_t turn) {
    check(f.StreamWriteValue32(stream, mine, turn, 0), "cuStreamWriteValue32");
  };
  constexpr std::uint32_t turns = 50;
  std::vector<double> seconds;
  std::uint32_t turn = 0;
  for (int round = 0; round < effort.rounds; ++round) {
    team.barrier();
    const double begin = now();
    for (const std::uint32_t last = turn + turns; turn < last;) {
      ++turn;
      if (team.rank() == 0) write(turn);
      wait(turn);
      if (team.rank() != 0) write(turn);
    }
    finish(stream);
    seconds.push_back(team.longest(now() - begin) / (team.size() * turns));
  }
  team.tell("flag_hop_between_streams", median(seconds) * 1e6, "us", 0, team.size());
}

/// Process 1 lends the second of two buffers of 1,000 bytes, which a driver makes parts of one block. Process 0 opens
/// its handle: does it get the buffer, or the beginning of the block?
void ask_small_buffers(Team& team, const Effort& /*effort*/) {
  constexpr std::int64_t bytes = 1000;
  need_ipc();
  use_device(0);
  auto* const stream = new_stream();
  const CUdeviceptr first = device_memory(bytes), second = device_memory(bytes);
  if (team.rank() == 1) {
    check(functions().MemsetD32Async(first, pattern + 1, bytes / 4, stream), "cuMemsetD32Async");
    check(functions().MemsetD32Async(second, pattern + 2, bytes / 4, stream), "cuMemsetD32Async");
    finish(stream);
    check(functions().IpcGetMemHandle(&team.shared().memory[0], first), "cuIpcGetMemHandle");
    check(functions().IpcGetMemHandle(&team.shared().memory[1], second), "cuIpcGetMemHandle");
    team.shared().words[0] = static_cast<std::uint32_t>(second - first);
  }
  team.barrier();
  if (team.rank() == 0) {
    team.tell("small_buffers_apart", static_cast<std::int32_t>(team.shared().words[0]), "B");
    for (const std::uint32_t number : {1U, 2U}) {
      const CUdeviceptr opened = open(team.shared().memory[number - 1]);
      const std::uint32_t found = first_word(opened, stream);
      close(opened);
      const char* gives = "gives other bytes";
      if (found == pattern + number) gives = "gives the buffer";
      if (found == pattern + 3 - number) gives = "gives the other buffer, where the block begins";
      team.tell("handle_of_small_buffer_" + std::to_string(number), std::string{gives});
    }
  }
  team.barrier();
}

/// Every process copies in memory of its own, all at once, on one device.
void ask_sharing(Team& team, const Effort& effort) {
  use_device(0);
  const std::int64_t bytes = effort.most_bytes / 4;
  const CUdeviceptr memory = device_memory(2 * bytes);
  auto* const stream = new_stream();
  auto* const event = new_event();
  const double copying = seconds_of(
      team, effort, repetitions(bytes, effort),
      [&] { copy(memory + static_cast<CUdeviceptr>(bytes), memory, bytes, stream); }, [&] { finish(stream); });
  auto* const kernel = empty_kernel();
  const double polling = seconds_of(
      team, effort, effort.repetitions,
      [&] {
        launch(kernel, stream);
        poll(event, stream);
      },
      [&] { finish(stream); });
  team.tell("copies_of_all", rate(2 * bytes * team.size(), copying), "GB/s", bytes, team.size());
  team.tell("launch_and_poll_of_all", polling * 1e6, "us", 0, team.size());
}

}  // namespace tutti::gpu
