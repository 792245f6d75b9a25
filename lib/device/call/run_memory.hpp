#pragma once
// The memory that an operation on device buffers takes from its communicator for a run.

#include <fmt/format.h>

#include <new>
#include <string>

#include "lib/core/run/run.hpp"
#include "lib/device/staging/block_pool.hpp"

namespace tutti::detail {

/// There is not as much memory as a call on device buffers needs.
class NoStagingMemory : public std::bad_alloc {
 public:
  explicit NoStagingMemory(std::string text) : text_(std::move(text)) {}
  /// "no 4096 bytes of pinned host memory"
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// The staging buffer of a run, and scratch on its device.
class RunMemory {
 public:
  /// Takes it for the run of a plan. Nothing for plans on the host's memory, or if the run has it already. Throws
  /// NoStagingMemory, or Error if the driver fails.
  void take(device::BlockPool& pool, const CompiledPlan& plan, Run& run) {
    const Staging& staging = plan.staging;
    if (staging.device < 0 || is_taken_) return;
    staging_ = taken(pool, device::Residence::pinned, staging.device, staging.bytes);
    if (staging.worker == Staging::Worker::device) {
      try {
        scratch_ = taken(pool, device::Residence::device, staging.device, plan.scratch_bytes);
      } catch (...) {
        pool.give_back(staging_);
        throw;
      }
      run.lend(Buffer::scratch, scratch_.data);
    }
    run.lend(staging_buffer, staging_.data);
    is_taken_ = true;
  }
  [[nodiscard]] bool is_taken() const { return is_taken_; }
  /// Never to be used again: a message may still read or write it.
  void leave() { is_taken_ = false; }
  void give_back(device::BlockPool& pool) {
    if (!is_taken_) return;
    pool.give_back(staging_);
    pool.give_back(scratch_);
    staging_ = scratch_ = {};
    is_taken_ = false;
  }

 private:
  static device::Block taken(device::BlockPool& pool, device::Residence residence, int device, std::int64_t bytes) {
    const device::Block block = pool.take(residence, device, bytes);
    if (block.data == nullptr && bytes > 0)
      throw NoStagingMemory(
          fmt::format("no {} bytes of {}", bytes,
                      residence == device::Residence::pinned ? "pinned host memory" : "memory on the device"));
    return block;
  }
  device::Block staging_{}, scratch_{};
  bool is_taken_ = false;
};

}  // namespace tutti::detail
