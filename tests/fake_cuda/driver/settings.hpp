#pragma once
// The environment variables of the fake driver. tests/fake_cuda/README.md describes them.

#include <cstddef>
#include <string>

namespace fake_cuda {

/// The version of CUDA: 13.0.
inline constexpr int driver_version = 13000;

struct Settings {
  int devices = 1;
  int multiprocessors = 4;
  int capability = 90;  ///< 10 times the compute capability.
  std::size_t memory_bytes = 0;
  long delay_us = 0;  ///< The longest random delay before an operation of a stream.
  long seed = 1;
  long start_ms = 0;  ///< So long cuInit takes.
  int log_level = 0;
  bool finds_races = false, aborts = false, reuses_addresses = true, poisons = true, has_peers = true;
  bool has_fabric = false;
  bool is_strict_ipc = false;     ///< What an importer has mapped must not be freed.
  bool refuses_overlaps = false;  ///< Overlaps of mappings of one owner's memory, by its addresses.
  int queues = 0;                 ///< The streams of a context share so many hardware queues; 0: each has its own.
  bool has_stream_memory_operations = true;
  bool numbers_mapped_memory = true;   ///< CU_POINTER_ATTRIBUTE_BUFFER_ID of memory of cuMemMap is not 0.
  bool opens_blocks = false;           ///< cuIpcOpenMemHandle gives the block of 2 MiB that small memory is a part of.
  bool maps_registered_memory = true;  ///< Kernels find registered memory by the address that the host has.
  bool forgets_contexts = false;       ///< A destroyed context is an unknown handle.
  std::string fail{};                  ///< Calls to fail, as "cuIpcOpenMemHandle:3".
  std::string timeline{};              ///< A file to which each operation adds a line.
  std::string missing{};               ///< Names that look-ups do not find, as "cuFuncLoad,cuMemAlloc".
};

const Settings& settings();

}  // namespace fake_cuda
