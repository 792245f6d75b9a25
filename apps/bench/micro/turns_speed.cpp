// No test: prints the figures of docs/experiments/bare-lines.md for the least time of short calls where ranks take
// turns at processors. Each call as a loop over bare cache lines, with no plan, envelope or check; as Tutti's; and as
// the MPI's; in turns, and timed as tutti-bench does.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string_view>
#include <vector>

#include "apps/bench/micro/bare_ranks.hpp"
#include "lib/runtime/patience.hpp"
#include "tutti/tutti.hpp"

namespace tutti {
namespace {

constexpr int elements = 2, bytes = elements * sizeof(double), rounds = 7;
constexpr std::uint64_t depth = 16;  // messages that may be on their way, as in Tutti's rings

using bare::meet, bare::rank_in_world, bare::ranks_of_world;

using Values = std::array<double, elements>;
struct alignas(64) Line {
  std::atomic<std::uint64_t> flag{0};
  Values values{};
};

/// Messages of a line each, between all ranks of one node: a ring for each pair and direction, and a line in which its
/// reader says how many it has read.
class BareLines {
 public:
  void send(int to, const Values& values = {}) {
    const std::uint64_t number = ++sent_[static_cast<std::size_t>(to)];
    while (number - line(to, me_, depth).flag.load(std::memory_order_acquire) > depth)
      detail::give_way(yields_);
    Line& slot = line(me_, to, number % depth);
    slot.values = values;
    slot.flag.store(number, std::memory_order_release);
  }
  Values receive(int from) {
    const std::uint64_t number = ++received_[static_cast<std::size_t>(from)];
    const Line& slot = line(from, me_, number % depth);
    while (slot.flag.load(std::memory_order_acquire) < number)
      detail::give_way(yields_);
    const Values values = slot.values;
    if (number % (depth / 2) == 0) line(me_, from, depth).flag.store(number, std::memory_order_release);
    return values;
  }

 private:
  [[nodiscard]] Line& line(int from, int to, std::uint64_t number) const {
    const std::size_t pair = static_cast<std::size_t>(from) * size_ + static_cast<std::size_t>(to);
    return lines_[pair * (depth + 1) + number];
  }
  int me_ = rank_in_world();
  std::size_t size_ = static_cast<std::size_t>(ranks_of_world());
  bool yields_ = bare::ranks_outnumber_processors();
  bare::Shared<Line> lines_{size_ * size_ * (depth + 1)};
  std::vector<std::uint64_t> sent_ = std::vector<std::uint64_t>(size_), received_ = sent_;
};

enum class Pace : std::uint8_t { back_to_back, after_barriers };

/// Microseconds a call, of the slowest rank.
double time(Pace pace, const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  using Microseconds = std::chrono::duration<double, std::micro>;
  const int calls = pace == Pace::after_barriers ? 1500 : 6000;
  for (int i = 0; i < 4; ++i)
    call();
  meet();
  Microseconds took{};
  if (pace == Pace::after_barriers) {
    for (int i = 0; i < calls; ++i) {
      meet();
      const auto begin = Clock::now();
      call();
      took += Clock::now() - begin;
    }
  } else {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i)
      call();
    took = Clock::now() - begin;
  }
  meet();
  return bare::slowest_of_all(took.count() / calls);
}

void compare(std::string_view name, Pace pace, const std::array<std::function<void()>, 3>& ways) {
  std::array<std::vector<double>, 3> times;
  for (int round = -1; round < rounds; ++round)
    for (std::size_t way = 0; way < ways.size(); ++way) {
      const double took = time(pace, ways[way]);
      if (round >= 0) times[way].push_back(took);
    }
  const double bare = bare::median(times[0]), ours = bare::median(times[1]), peers = bare::median(times[2]);
  if (rank_in_world() == 0)
    fmt::print("{:9} bare {:7.3f} us, Tutti {:7.3f}, MPI {:7.3f}; MPI over bare {:.2f}, over Tutti {:.2f}\n", name,
               bare, ours, peers, peers / bare, peers / ours);
  std::fflush(stdout);
}

/// Each call in the three ways, with one message of `bytes` for each rank.
class Calls {
 public:
  void gatherv() {
    const auto bare = [this] {
      if (me_ != 0) return lines_.send(0);
      for (int rank = 1; rank < size_; ++rank)
        lines_.receive(rank);
    };
    const auto ours = [this] {
      tutti::gatherv(one_.data(), Count{bytes}, all_.data(), BlockList{blocks_, {}}, Type::int8, Rank{0}, comm_);
    };
    const auto peers = [this] {
      MPI_Gatherv(one_.data(), bytes, MPI_CHAR, all_.data(), counts_.data(), places_.data(), MPI_CHAR, 0,
                  MPI_COMM_WORLD);
    };
    compare("gatherv", Pace::after_barriers, {bare, ours, peers});
  }
  void scatterv() {
    const auto bare = [this] {
      if (me_ != 0) return static_cast<void>(lines_.receive(0));
      for (int rank = 1; rank < size_; ++rank)
        lines_.send(rank);
    };
    const auto ours = [this] {
      tutti::scatterv(all_.data(), BlockList{blocks_, {}}, one_.data(), Count{bytes}, Type::int8, Rank{0}, comm_);
    };
    const auto peers = [this] {
      MPI_Scatterv(all_.data(), counts_.data(), places_.data(), MPI_CHAR, one_.data(), bytes, MPI_CHAR, 0,
                   MPI_COMM_WORLD);
    };
    compare("scatterv", Pace::after_barriers, {bare, ours, peers});
  }
  void barrier() {
    const auto bare = [this] {
      for (int i = 1; i < size_; ++i)
        lines_.send((me_ + i) % size_);
      for (int i = 1; i < size_; ++i)
        lines_.receive((me_ + i) % size_);
    };
    compare("barrier", Pace::back_to_back, {bare, [this] { tutti::barrier(comm_); }, meet});
  }
  void sendrecv() {
    const int next = (me_ + 1) % size_, previous = (me_ + size_ - 1) % size_;
    const auto bare = [=, this] {
      lines_.send(next);
      lines_.receive(previous);
    };
    const auto ours = [=, this] {
      tutti::sendrecv(one_.data(), Count{bytes}, Rank{next}, all_.data(), Count{bytes}, Rank{previous}, Type::int8,
                      comm_);
    };
    const auto peers = [=, this] {
      MPI_Sendrecv(one_.data(), bytes, MPI_CHAR, next, 0, all_.data(), bytes, MPI_CHAR, previous, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    };
    compare("sendrecv", Pace::back_to_back, {bare, ours, peers});
  }
  void allreduce() {
    const auto bare = [this] {
      std::copy_n(mine_.begin(), elements, sums_.begin());
      for (int i = 1; i < size_; ++i)
        lines_.send((me_ + i) % size_, mine_);
      for (int i = 1; i < size_; ++i) {
        const Values theirs = lines_.receive((me_ + i) % size_);
        for (std::size_t element = 0; element < elements; ++element)
          sums_[element] += theirs[element];
      }
    };
    const auto ours = [this] {
      tutti::allreduce(mine_.data(), sums_.data(), Count{elements}, Type::fp64, Op::sum, comm_);
    };
    const auto peers = [this] {
      MPI_Allreduce(mine_.data(), sums_.data(), elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    };
    compare("allreduce", Pace::back_to_back, {bare, ours, peers});
  }
  Calls() {
    for (int rank = 0; rank < size_; ++rank)
      places_.push_back(rank * bytes);
  }

 private:
  Communicator comm_{MPI_COMM_WORLD};
  BareLines lines_;
  int me_ = rank_in_world(), size_ = ranks_of_world();
  std::vector<Count> blocks_ = std::vector<Count>(static_cast<std::size_t>(size_), Count{bytes});
  std::vector<std::int8_t> one_ = std::vector<std::int8_t>(bytes);
  std::vector<std::int8_t> all_ = std::vector<std::int8_t>(bytes * blocks_.size());
  Values mine_{}, sums_{};
  std::vector<int> counts_ = std::vector<int>(static_cast<std::size_t>(size_), bytes), places_;
};

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    tutti::Calls calls;
    calls.gatherv();
    calls.scatterv();
    calls.barrier();
    calls.allreduce();
    calls.sendrecv();
  }
  MPI_Finalize();
}
