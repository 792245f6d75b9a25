#pragma once
// MPI's world, and groups of it that are made by their members alone.

#include <mpi.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "types.hpp"

namespace tutti_torch {

inline bool& initialized_here() {
  static bool value = false;
  return value;
}

/// Initialises MPI unless the program has. PyTorch's threads and Tutti's all call, so that MPI must allow it.
inline void require_mpi() {
  int is_initialized = 0, is_finalized = 0, level = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  TORCH_CHECK(is_finalized == 0, "tutti: MPI_Finalize has been called: no group can be made any more");
  if (is_initialized == 0) {
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    initialized_here() = true;
  }
  MPI_Query_thread(&level);
  TORCH_CHECK(
      level == MPI_THREAD_MULTIPLE,
      "tutti: MPI was initialised without MPI_THREAD_MULTIPLE, which torch.distributed needs (mpi4py: do not set "
      "mpi4py.rc.thread_level)");
}

/// The ranks of those members of the group that have not done their part after the time given; empty: all have.
inline std::vector<int> missing(c10d::Store& store, const std::string& prefix, const std::vector<int>& ranks,
                                std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  std::vector<int> left = ranks;
  while (true) {
    std::vector<int> late;
    for (const int rank : left)
      if (!store.check({prefix + std::to_string(rank)})) late.push_back(rank);
    left = std::move(late);
    if (left.empty() || std::chrono::steady_clock::now() >= end) return left;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

inline std::string joined(const std::vector<int>& ranks) {
  std::string text;
  for (const int rank : ranks)
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text;
}

inline std::vector<int> all_ranks(int size, int except = -1) {
  std::vector<int> ranks;
  for (int rank = 0; rank < size; ++rank)
    if (rank != except) ranks.push_back(rank);
  return ranks;
}

/// The ranks in MPI_COMM_WORLD of a group's members. Waits until all have come.
inline std::vector<int> exchange_ranks(c10d::Store& store, int rank, int size, std::chrono::milliseconds timeout) {
  int own = 0, world = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  TORCH_CHECK(size <= world, "tutti: the group has ", size, " ranks, but MPI's world has ", world,
              ": start the program by mpirun, srun or python -m tutti.run");
  const std::string prefix = "tutti/rank/";
  const std::string text = std::to_string(own);
  store.set(prefix + std::to_string(rank), std::vector<uint8_t>(text.begin(), text.end()));
  const auto late = missing(store, prefix, all_ranks(size), timeout);
  if (!late.empty())
    C10_THROW_ERROR(DistBackendError, "tutti: rank " + std::to_string(rank) + ": Timed out waiting " +
                                          std::to_string(timeout.count()) + "ms for ranks " + joined(late) +
                                          " to make the group");
  std::vector<int> ranks;
  for (int member = 0; member < size; ++member) {
    const auto value = store.get(prefix + std::to_string(member));
    ranks.push_back(std::stoi(std::string(value.begin(), value.end())));
  }
  return ranks;
}

/// Tutti's communicator of the members, who alone call.
inline tutti_comm make_comm(const std::vector<int>& ranks, const std::string& name, const tutti_comm_options& options) {
  int world = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  tutti_comm comm = nullptr;
  if (ranks == all_ranks(world)) {
    check(tutti_comm_create(MPI_COMM_WORLD, &options, &comm));
    return comm;
  }
  MPI_Group all = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &members);
  // The tag keeps groups apart that are made at the same time by other threads.
  const int tag = static_cast<int>(std::hash<std::string>{}(name) % 32768);
  const int code = MPI_Comm_create_group(MPI_COMM_WORLD, members, tag, &some);
  MPI_Group_free(&members);
  MPI_Group_free(&all);
  TORCH_CHECK(code == MPI_SUCCESS, "tutti: MPI_Comm_create_group failed with code ", code);
  const tutti_status status = tutti_comm_create(some, &options, &comm);
  MPI_Comm_free(&some);
  check(status);
  return comm;
}

}  // namespace tutti_torch
