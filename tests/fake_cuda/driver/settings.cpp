#include "tests/fake_cuda/driver/settings.hpp"

#include <cstdlib>

namespace fake_cuda {
namespace {

long number(const char* name, long otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr || *text == 0 ? otherwise : std::strtol(text, nullptr, 10);
}

std::string words(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// One if CUDA is asked for one. The default of CUDA is 8, which streams only share if a test asks for that.
int queues() {
  const long connections = number("CUDA_DEVICE_MAX_CONNECTIONS", 8);
  return connections == 1 || number("FAKE_CUDA_SHARED_QUEUES", 0) != 0 ? static_cast<int>(connections) : 0;
}

Settings read() {
  return {.devices = static_cast<int>(number("FAKE_CUDA_DEVICES", 1)),
          .multiprocessors = static_cast<int>(number("FAKE_CUDA_SMS", 4)),
          .capability = static_cast<int>(number("FAKE_CUDA_CC", 90)),
          .memory_bytes = static_cast<std::size_t>(number("FAKE_CUDA_MEMORY_MB", 4096)) << 20,
          .delay_us = number("FAKE_CUDA_DELAY_US", 0),
          .seed = number("FAKE_CUDA_SEED", 1),
          .start_ms = number("FAKE_CUDA_START_MS", 0),
          .log_level = static_cast<int>(number("FAKE_CUDA_LOG", 0)),
          .finds_races = number("FAKE_CUDA_RACE", 0) != 0,
          .aborts = number("FAKE_CUDA_ABORT", 0) != 0,
          .reuses_addresses = number("FAKE_CUDA_REUSE", 1) != 0,
          .poisons = number("FAKE_CUDA_POISON", 1) != 0,
          .has_peers = number("FAKE_CUDA_PEER", 1) != 0,
          .has_fabric = number("FAKE_CUDA_FABRIC", 0) != 0,
          .is_strict_ipc = number("FAKE_CUDA_STRICT_IPC", 0) != 0,
          .refuses_overlaps = number("FAKE_CUDA_ALREADY_MAPPED", 0) != 0,
          .queues = queues(),
          .has_stream_memory_operations = number("FAKE_CUDA_STREAM_MEMOPS", 1) != 0,
          .numbers_mapped_memory = number("FAKE_CUDA_MAPPED_ID", 1) != 0,
          .opens_blocks = number("FAKE_CUDA_IPC_BLOCK", 0) != 0,
          .maps_registered_memory = number("FAKE_CUDA_HOST_POINTER", 1) != 0,
          .forgets_contexts = number("FAKE_CUDA_FORGET_CONTEXTS", 0) != 0,
          .fail = words("FAKE_CUDA_FAIL"),
          .timeline = words("FAKE_CUDA_TIMELINE"),
          .missing = words("FAKE_CUDA_MISSING")};
}

}  // namespace

const Settings& settings() {
  static const Settings* const read_once = new Settings{read()};  // used until the process ends
  return *read_once;
}

}  // namespace fake_cuda
