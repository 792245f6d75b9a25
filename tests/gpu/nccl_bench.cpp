// NCCL's collectives on device buffers, as a peer to compare with: no header of NCCL is needed, and no link to it.
//   mpirun -n K nccl_bench [--quick] [--json FILE]
// Several ranks may share a device from NCCL 2.30 on (NCCL_MULTI_RANK_GPU_ENABLE=1, which is set here). Exit code 77:
// there is no libnccl.so.2, or it refuses; 2: no device.
#include <cuda.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tests/gpu/work.hpp"

namespace tutti::gpu {
namespace {

// Declared as NCCL documents them.
using NcclComm = struct ncclComm*;
struct NcclUniqueId {
  std::array<char, 128> internal;
};
constexpr int nccl_float = 7, nccl_sum = 0;
constexpr int skipped = 77;  ///< Exit code.

/// NCCL refuses, or is not there.
struct NoNccl : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Nccl {
  int (*get_version)(int*) = nullptr;
  const char* (*get_error_string)(int) = nullptr;
  int (*get_unique_id)(NcclUniqueId*) = nullptr;
  int (*comm_init_rank)(NcclComm*, int, NcclUniqueId, int) = nullptr;
  int (*comm_destroy)(NcclComm) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, NcclComm, CUstream) = nullptr;
  int (*broadcast)(const void*, void*, std::size_t, int, int, NcclComm, CUstream) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int, NcclComm, CUstream) = nullptr;
  int (*reduce_scatter)(const void*, void*, std::size_t, int, int, NcclComm, CUstream) = nullptr;
  int (*send)(const void*, std::size_t, int, int, NcclComm, CUstream) = nullptr;
  int (*recv)(void*, std::size_t, int, int, NcclComm, CUstream) = nullptr;

  Nccl() {
    void* const library = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw NoNccl("libnccl.so.2 was not found");
    const auto find = [&]<class Function>(const char* name, Function*& function) {
      function = reinterpret_cast<Function*>(::dlsym(library, name));
      if (function == nullptr) throw NoNccl(fmt::format("libnccl.so.2 has no {}", name));
    };
    find("ncclGetVersion", get_version);
    find("ncclGetErrorString", get_error_string);
    find("ncclGetUniqueId", get_unique_id);
    find("ncclCommInitRank", comm_init_rank);
    find("ncclCommDestroy", comm_destroy);
    find("ncclGroupStart", group_start);
    find("ncclGroupEnd", group_end);
    find("ncclAllReduce", all_reduce);
    find("ncclBroadcast", broadcast);
    find("ncclAllGather", all_gather);
    find("ncclReduceScatter", reduce_scatter);
    find("ncclSend", send);
    find("ncclRecv", recv);
  }
  void require(int result, const char* what) const {
    if (result != 0) throw NoNccl(fmt::format("it refuses: {}: {}", what, get_error_string(result)));
  }
};

/// One rank's buffers and communicator.
class Bench {
 public:
  Bench(const Nccl& nccl, const Effort& effort)
      : nccl_(nccl),
        effort_(effort),
        comm_(connected()),
        stream_(new_stream()),
        in_(std::bit_cast<char*>(device_memory(effort.most_bytes))),
        out_(std::bit_cast<char*>(device_memory(effort.most_bytes))) {}

  /// Like the results of tutti-bench: `bytes` is the size of the larger buffer.
  nlohmann::ordered_json measure(const std::string& collective, std::int64_t bytes) {
    const auto count = static_cast<std::size_t>(bytes) / sizeof(float), part = count / static_cast<std::size_t>(size_);
    const auto call = [&] { post(collective, count, part); };
    call();
    finish(stream_);
    const int calls = repetitions(bytes, effort_);
    std::vector<double> seconds;
    for (int round = 0; round < effort_.rounds; ++round) {
      MPI_Barrier(MPI_COMM_WORLD);
      double spent = now();
      for (int again = 0; again < calls; ++again) {
        call();
        finish(stream_);  // as a blocking call
      }
      spent = (now() - spent) / calls;
      MPI_Allreduce(MPI_IN_PLACE, &spent, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      seconds.push_back(spent);
    }
    return {{"collective", collective},
            {"ranks", size_},
            {"bytes", bytes},
            {"time_us", {{"median", median(seconds) * 1e6}}}};
  }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

 private:
  /// Puts this rank on its device, and in a communicator of all ranks.
  NcclComm connected() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    use_device(rank_ % device_count());
    NcclUniqueId id{};
    int result = rank_ == 0 ? nccl_.get_unique_id(&id) : 0;
    MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    nccl_.require(result, "ncclGetUniqueId");
    MPI_Bcast(id.internal.data(), static_cast<int>(id.internal.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    NcclComm comm = nullptr;
    nccl_.require(nccl_.comm_init_rank(&comm, size_, id, rank_), "ncclCommInitRank");
    return comm;
  }
  void post(const std::string& collective, std::size_t count, std::size_t part) {
    if (collective == "allreduce")
      nccl_.require(nccl_.all_reduce(in_, out_, count, nccl_float, nccl_sum, comm_, stream_), "ncclAllReduce");
    else if (collective == "broadcast")
      nccl_.require(nccl_.broadcast(in_, out_, count, nccl_float, 0, comm_, stream_), "ncclBroadcast");
    else if (collective == "allgather")
      nccl_.require(nccl_.all_gather(in_, out_, part, nccl_float, comm_, stream_), "ncclAllGather");
    else if (collective == "reduce_scatter")
      nccl_.require(nccl_.reduce_scatter(in_, out_, part, nccl_float, nccl_sum, comm_, stream_), "ncclReduceScatter");
    else
      exchange(part);
  }
  void exchange(std::size_t part) {
    nccl_.require(nccl_.group_start(), "ncclGroupStart");
    for (int peer = 0; peer < size_; ++peer) {
      const std::size_t at = static_cast<std::size_t>(peer) * part * sizeof(float);
      nccl_.require(nccl_.send(in_ + at, part, nccl_float, peer, comm_, stream_), "ncclSend");
      nccl_.require(nccl_.recv(out_ + at, part, nccl_float, peer, comm_, stream_), "ncclRecv");
    }
    nccl_.require(nccl_.group_end(), "ncclGroupEnd");
  }

  const Nccl& nccl_;
  Effort effort_;
  int rank_ = 0, size_ = 1;
  NcclComm comm_;
  CUstream stream_;
  char *in_, *out_;
};

void run(const Effort& effort, const std::string& file) {
  const Nccl nccl;
  int version = 0;
  nccl.require(nccl.get_version(&version), "ncclGetVersion");
  Bench bench{nccl, effort};
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const char* collective : {"allreduce", "broadcast", "allgather", "alltoall", "reduce_scatter"})
    for (const std::int64_t bytes : sizes(effort)) {
      if (bytes < 1024) continue;  // so that each rank has a part
      results.push_back(bench.measure(collective, bytes));
      if (bench.rank() == 0)
        fmt::print("{:<16} {:>12} bytes {:>12.2f} us\n", collective, bytes,
                   results.back()["time_us"]["median"].get<double>());
    }
  if (bench.rank() != 0 || file.empty()) return;
  std::ofstream{file} << nlohmann::ordered_json{{"nccl", version}, {"results", results}}.dump(2) << '\n';
}

int run_or_say_why(const Effort& effort, const std::string& file) {
  try {
    run(effort, file);
    return 0;
  } catch (const NoNccl& error) {
    fmt::print(stderr, "SKIP: no NCCL: {}\n", error.what());
    return skipped;
  } catch (const Unanswered& error) {
    fmt::print(stderr, "nccl_bench: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "nccl_bench: {}\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace tutti::gpu

int main(int argc, char** argv) {
  using namespace tutti::gpu;
  ::setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 0);
  MPI_Init(&argc, &argv);
  Effort effort{std::int64_t{64} << 20, 5, 20};
  std::string file;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option{argv[i]};
    if (option == "--quick") effort = quick;
    if (option == "--json" && i + 1 < argc) file = argv[++i];
  }
  const int code = run_or_say_why(effort, file);
  // Others may be in a call of NCCL that never ends.
  if (code != 0 && code != skipped) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return code;
}
