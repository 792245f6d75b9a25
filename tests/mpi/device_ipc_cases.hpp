#pragma once
// Calls on devices whose peers map each other's memory.

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "tests/mpi/device_cases.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {

inline std::uint64_t sum_of_ranks(std::uint64_t mine) {
  std::uint64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// Fixture: algorithms are chosen for devices.
class DeviceIpc : public OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (world_size() == 1) GTEST_SKIP() << "one rank has no peers";
    if (std::getenv("FAKE_CUDA_STRICT_IPC") != nullptr) return;  // programs may not free such memory then
    // Owners withdraw memory of earlier tests, peers close it, owners free it: that synchronises, and would be counted.
    kept_.emplace(1);
    for (int again = 0; again < 4; ++again) {
      allreduce(kept_->span(), Op::max, comm_);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  /// All that the fake driver counts in one call that is like others before it.
  template <class Call>
  FakeCudaCounters counted(const Call& call) const {
    call();
    MPI_Barrier(MPI_COMM_WORLD);
    // The owner may have withdrawn what was at these addresses before: peers close it when they next begin a call.
    if (kept_) allreduce(kept_->span(), Op::max, comm_);
    MPI_Barrier(MPI_COMM_WORLD);
    const FakeCudaCounters before = devices_.counters();
    call();
    FakeCudaCounters after = devices_.counters();
    MPI_Barrier(MPI_COMM_WORLD);  // a rank that goes on frees memory, which others close in a call under way
    after.kernels -= before.kernels;
    after.copies -= before.copies;
    after.synchronisations -= before.synchronisations;
    after.bytes_to_host -= before.bytes_to_host;
    after.bytes_to_device -= before.bytes_to_device;
    after.bytes_within_devices -= before.bytes_within_devices;
    after.bytes_read -= before.bytes_read;
    after.bytes_written -= before.bytes_written;
    return after;
  }
  [[nodiscard]] bool counts() const { return devices_.is_fake(); }
  /// Read and written by kernels and copies of all ranks.
  static std::uint64_t traffic(const FakeCudaCounters& counters) {
    return sum_of_ranks(counters.bytes_read + counters.bytes_written + 2 * counters.bytes_within_devices);
  }

  Communicator comm_{MPI_COMM_WORLD, {.buffers = "device"}};
  std::optional<Ones> kept_{};  ///< Memory that stays: a new one each time would itself be withdrawn.
};

}  // namespace tutti::test
