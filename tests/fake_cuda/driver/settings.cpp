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

Settings read() {
  return {.devices = static_cast<int>(number("FAKE_CUDA_DEVICES", 1)),
          .multiprocessors = static_cast<int>(number("FAKE_CUDA_SMS", 4)),
          .capability = static_cast<int>(number("FAKE_CUDA_CC", 90)),
          .memory_bytes = static_cast<std::size_t>(number("FAKE_CUDA_MEMORY_MB", 4096)) << 20,
          .delay_us = number("FAKE_CUDA_DELAY_US", 0),
          .seed = number("FAKE_CUDA_SEED", 1),
          .log_level = static_cast<int>(number("FAKE_CUDA_LOG", 0)),
          .finds_races = number("FAKE_CUDA_RACE", 0) != 0,
          .aborts = number("FAKE_CUDA_ABORT", 0) != 0,
          .reuses_addresses = number("FAKE_CUDA_REUSE", 1) != 0,
          .poisons = number("FAKE_CUDA_POISON", 1) != 0,
          .has_peers = number("FAKE_CUDA_PEER", 1) != 0,
          .has_fabric = number("FAKE_CUDA_FABRIC", 0) != 0,
          .is_strict_ipc = number("FAKE_CUDA_STRICT_IPC", 0) != 0,
          .refuses_overlaps = number("FAKE_CUDA_ALREADY_MAPPED", 0) != 0,
          .has_one_queue = number("CUDA_DEVICE_MAX_CONNECTIONS", 8) == 1,
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
