// No test: prints the figures of bare processes in docs/experiments/single-copy.md. Two processes, each on a processor
// of its own; median times of rounds in which single copy and the staged way take turns.
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "lib/exec/relax.hpp"
#include "lib/transport/shm/rendezvous/single_copy.hpp"

namespace tutti::shm {
namespace {

constexpr std::int64_t area_bytes = std::int64_t{64} << 10, largest = std::int64_t{64} << 20;
constexpr std::uint64_t areas = 4;  // in each direction: two hide the other side's work, more leave the near cache
constexpr int rounds = 9;

struct alignas(128) Counter {
  std::atomic<std::uint64_t> value{0};
};
/// The memory that both processes see.
struct Shared {
  std::array<Counter, 2> arrived, written, read;  // by rank; areas for the last two, ever
  std::array<std::uint64_t, 2> sources{};
  alignas(4096) std::array<std::byte, 4096> single_copy{};
  alignas(4096) std::array<std::array<std::array<std::byte, area_bytes>, areas>, 2> pieces{};
};

void await(const Counter& counter, std::uint64_t value) {
  while (counter.value.load(std::memory_order_acquire) < value)
    relax();
}

/// One of the two processes.
class Rank {
 public:
  Rank(Shared& shared, int me)
      : shared_(shared),
        me_(static_cast<std::size_t>(me)),
        source_(largest),
        target_(largest),
        single_copy_(shared.single_copy.data(), 2, me) {
    shared.sources[me_] = reinterpret_cast<std::uintptr_t>(source_.data());
    meet();
    works_ = single_copy_.probe(1 - me).grants();
    meet();
  }
  [[nodiscard]] bool works() const { return works_; }

  void meet() {
    shared_.arrived[me_].value.store(++meetings_, std::memory_order_release);
    await(shared_.arrived[1 - me_], meetings_);
  }
  /// Adds the times of copies of `bytes`, in microseconds; of both at once if `both`, else from rank 0 to rank 1.
  void time(bool single, bool both, bool rewritten, std::int64_t bytes, std::vector<double>& times) {
    const std::int64_t copies = std::max<std::int64_t>(1, (std::int64_t{8} << 20) / bytes);
    for (std::int64_t i = 0; i < copies; ++i) {
      if (rewritten) std::memset(source_.data(), static_cast<int>(i), static_cast<std::size_t>(bytes));
      meet();
      const auto start = std::chrono::steady_clock::now();
      const bool sends = both || me_ == 0, receives = both || me_ == 1;
      if (!single) staged(sends, receives, bytes);
      if (single && receives) read(bytes);
      meet();
      const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
      times.push_back(took.count());
    }
  }

 private:
  void read(std::int64_t bytes) {
    const int peer = static_cast<int>(1 - me_);
    if (!single_copy_.read(peer, shared_.sources[1 - me_], target_.data(), bytes).is_complete()) std::abort();
  }
  /// Pieces go through areas as these are free.
  void staged(bool sends, bool receives, std::int64_t bytes) {
    const auto pieces = static_cast<std::uint64_t>(bytes / area_bytes);
    const std::uint64_t send_end = written_ + (sends ? pieces : 0), receive_end = read_ + (receives ? pieces : 0);
    std::byte *from = source_.data(), *into = target_.data();
    while (written_ < send_end || read_ < receive_end) {
      if (written_ < send_end && written_ - shared_.read[1 - me_].value.load(std::memory_order_acquire) < areas) {
        std::memcpy(shared_.pieces[me_][written_ % areas].data(), from, area_bytes);
        shared_.written[me_].value.store(++written_, std::memory_order_release);
        from += area_bytes;
      }
      if (read_ < receive_end && shared_.written[1 - me_].value.load(std::memory_order_acquire) > read_) {
        std::memcpy(into, shared_.pieces[1 - me_][read_ % areas].data(), area_bytes);
        shared_.read[me_].value.store(++read_, std::memory_order_release);
        into += area_bytes;
      }
    }
  }

  Shared& shared_;
  std::size_t me_;
  std::vector<std::byte> source_, target_;
  SingleCopy single_copy_;
  bool works_ = false;
  std::uint64_t meetings_ = 0, written_ = 0, read_ = 0;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void measure(Rank& rank, bool prints, bool both, bool rewritten, std::int64_t bytes) {
  std::array<std::vector<double>, 2> times;
  for (int round = 0; round < rounds; ++round)
    for (const bool single : {false, true})
      rank.time(single, both, rewritten, bytes, times[single ? 1 : 0]);
  if (!prints) return;
  const double staged = median(times[0]), single = median(times[1]);
  fmt::print("| {} | {} | {} KiB | {:.1f} | {:.1f} | {:.2f} |\n", both ? "both ways" : "one way",
             rewritten ? "rewritten" : "unchanged", bytes >> 10, staged, single, staged / single);
  std::fflush(stdout);
}

/// The part of process `me`; false if single copy is refused.
bool run(Shared& shared, int me) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  CPU_SET(me, &processors);
  ::sched_setaffinity(0, sizeof processors, &processors);
  Rank rank(shared, me);
  if (!rank.works()) return false;
  for (const bool both : {false, true})
    for (const bool rewritten : {false, true})
      for (std::int64_t bytes = area_bytes; bytes <= largest; bytes *= 4)
        measure(rank, me == 0, both, rewritten, bytes);
  return true;
}

int run_both() {
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto* const shared = new (memory) Shared;
  fmt::print("| copy | source | bytes | staged, us | single copy, us | staged / single |\n|---|---|---|---|---|---|\n");
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool works = run(*shared, child == 0 ? 1 : 0);
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  if (!works) fmt::print("the system refuses single copy\n");
  return works ? 0 : 1;
}

}  // namespace
}  // namespace tutti::shm

int main() { return tutti::shm::run_both(); }
