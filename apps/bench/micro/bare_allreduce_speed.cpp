// No test: prints the figures of docs/experiments/bare-loops.md for the least time of an allreduce of a node. Each
// design as a loop over shared memory, with no plan, envelope, flow control or check, each rank's areas as large as its
// data; and Tutti's and the MPI's calls, in turns with them. Sum of float, back to back, on malloc'd buffers.
//
// Usage: mpirun -np P bare_allreduce_speed BYTES...
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/uio.h>

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/bench/micro/bare_ranks.hpp"
#include "lib/reduce/kernels.hpp"
#include "tutti/tutti.hpp"

namespace tutti::bare {
namespace {

constexpr std::size_t largest = std::size_t{4} << 20, most_ranks = 16;
constexpr int rounds = 7;

enum class Copy : std::uint8_t { plain, asked_for };
enum class Result : std::uint8_t { own_area, changes_hands };

/// The data that a rank shows the others: how many of its steps are done, and two areas that calls use in turn.
struct alignas(4096) Place {
  struct alignas(128) Counter {
    std::atomic<std::uint64_t> value{0};
  };
  std::array<Counter, 2> done{};
  pid_t process = 0;
  std::array<std::byte*, 2> buffers{};  // in, out
  alignas(4096) std::array<std::array<std::byte, largest>, 2> given{};
  alignas(4096) std::array<std::array<std::byte, largest>, 2> results{};
};

class Allreduces {
 public:
  Allreduces() {
    Place& mine = places_[me_];
    mine.process = ::getpid();
    mine.buffers = {in_, out_};
    for (std::size_t i = 0; i < largest / sizeof(float); ++i)
      input_[i] = static_cast<float>((i + me_) % 97);
    meet();
  }

  /// Every rank copies all that it has, and reduces everything.
  void one_shot(std::size_t bytes, Copy how) {
    ++calls_;
    give(me_, 0, 0, bytes, how);
    tell(0);
    std::array<const void*, most_ranks> operands{};
    for (std::size_t rank = 0; rank < size_; ++rank)
      operands[rank] = rank == me_ ? in_ : (await(rank, 0), given(rank));
    reduce_(operands.data(), size_, out_, nullptr, bytes / sizeof(float));
  }
  /// Every rank reduces its block of all, and copies the other blocks; `part` bytes after the other.
  void two_shots(std::size_t bytes, std::size_t part, Copy how, Result where) {
    for (std::size_t begin = 0; begin < bytes; begin += part)
      two_shots_of(begin, std::min(part, bytes - begin), how, where);
  }
  /// The same, but blocks are read (process_vm_readv), and results written, in the memory of the other ranks.
  void two_shots_in_place(std::size_t bytes) {
    ++calls_;
    tell(0);
    const std::size_t block = bytes / size_, first = me_ * block;
    std::array<const void*, most_ranks> operands{};
    for (std::size_t rank = 0; rank < size_; ++rank) {
      operands[rank] = rank == me_ ? in_ + first : scratch_ + rank * block;
      if (rank == me_) continue;
      await(rank, 0);
      transfer(::process_vm_readv, rank, 0, scratch_ + rank * block, first, block);
    }
    reduce_(operands.data(), size_, out_ + first, nullptr, block / sizeof(float));
    for (std::size_t rank = 0; rank < size_; ++rank)
      if (rank != me_) transfer(::process_vm_writev, rank, 1, out_ + first, first, block);
    tell(1);
    for (std::size_t rank = 0; rank < size_; ++rank)
      await(rank, 1);
  }
  /// Each rank reads all of the others' data in their memory, and reduces everything.
  void one_shot_in_place(std::size_t bytes) {
    ++calls_;
    tell(0);
    std::array<const void*, most_ranks> operands{};
    for (std::size_t rank = 0; rank < size_; ++rank) {
      operands[rank] = rank == me_ ? in_ : scratch_ + rank * bytes;
      if (rank == me_) continue;
      await(rank, 0);
      transfer(::process_vm_readv, rank, 0, scratch_ + rank * bytes, 0, bytes);
    }
    tell(1);
    reduce_(operands.data(), size_, out_, nullptr, bytes / sizeof(float));
    for (std::size_t rank = 0; rank < size_; ++rank)
      await(rank, 1);
  }
  void tutti(std::size_t bytes) {
    const Count count{static_cast<std::int64_t>(bytes / sizeof(float))};
    tutti::allreduce(in_, out_, count, Type::fp32, Op::sum, comm_);
  }
  void mpi(std::size_t bytes) {
    const int count = static_cast<int>(bytes / sizeof(float));
    tutti::mpi::check(MPI_Allreduce(in_, out_, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  }
  /// Whether the last call's result is right.
  [[nodiscard]] bool is_right(std::size_t bytes) const {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < bytes / sizeof(float); ++i) {
      float sum = 0;
      for (std::size_t rank = 0; rank < size_; ++rank)
        sum += static_cast<float>((i + rank) % 97);
      wrong += output_[i] != sum ? 1 : 0;
    }
    return wrong == 0;
  }
  void forget_result() { std::ranges::fill(output_, 0.0F); }

 private:
  void two_shots_of(std::size_t begin, std::size_t bytes, Copy how, Result where) {
    ++calls_;
    const std::size_t block = bytes / size_, mine = me_ * block;
    for (std::size_t i = 1; i < size_; ++i) {
      const std::size_t to = (me_ + i) % size_;
      give(me_, to * block, begin + to * block, block, how);
    }
    tell(0);
    std::array<const void*, most_ranks> operands{};
    for (std::size_t rank = 0; rank < size_; ++rank)
      operands[rank] = rank == me_ ? in_ + begin + mine : (await(rank, 0), given(rank) + mine);
    reduce_(operands.data(), size_, out_ + begin + mine, result(me_, where, block), block / sizeof(float));
    tell(1);
    for (std::size_t i = 1; i < size_; ++i) {
      const std::size_t from = (me_ + i) % size_;
      await(from, 1);
      std::memcpy(out_ + begin + from * block, result(from, where, block), block);
    }
  }
  void give(std::size_t rank, std::size_t place, std::size_t from, std::size_t bytes, Copy how) {
    std::byte* const into = given(rank) + place;
    if (how == Copy::asked_for)
      for (std::size_t line = 0; line < bytes; line += 64)
        __builtin_prefetch(into + line, 1, 3);
    std::memcpy(into, in_ + from, bytes);
  }
  [[nodiscard]] std::byte* given(std::size_t rank) const { return places_[rank].given[calls_ % 2].data(); }
  /// Where a rank's result is for the others: in the area that it has just read of the next rank, or in one of its own.
  [[nodiscard]] std::byte* result(std::size_t rank, Result where, std::size_t block) const {
    const std::size_t owner = where == Result::changes_hands ? (rank + 1) % size_ : rank;
    Place& place = places_[owner];
    return where == Result::changes_hands ? place.given[calls_ % 2].data() + rank * block
                                          : place.results[calls_ % 2].data();
  }
  using Transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);
  void transfer(Transfer call, std::size_t rank, std::size_t buffer, std::byte* here, std::size_t there,
                std::size_t bytes) const {
    const Place& place = places_[rank];
    const iovec ours{here, bytes}, theirs{place.buffers[buffer] + there, bytes};
    if (call(place.process, &ours, 1, &theirs, 1, 0) != static_cast<ssize_t>(bytes)) std::abort();
  }
  void tell(std::size_t step) { places_[me_].done[step].value.store(calls_, std::memory_order_release); }
  void await(std::size_t rank, std::size_t step) const {
    while (places_[rank].done[step].value.load(std::memory_order_acquire) < calls_)
      detail::give_way(yields_);
  }
  std::size_t me_ = static_cast<std::size_t>(rank_in_world()), size_ = static_cast<std::size_t>(ranks_of_world());
  bool yields_ = ranks_outnumber_processors();
  Shared<Place> places_{size_};
  Communicator comm_{MPI_COMM_WORLD};
  ReduceManyKernel reduce_ = reduce_many_kernel(Op::Kind::sum, Type::fp32);
  using Floats = std::vector<float>;
  Floats input_ = Floats(largest / sizeof(float)), output_ = input_, room_ = Floats(input_.size() * size_);
  std::byte* in_ = std::as_writable_bytes(std::span{input_}).data();
  std::byte* out_ = std::as_writable_bytes(std::span{output_}).data();
  std::byte* scratch_ = std::as_writable_bytes(std::span{room_}).data();
  std::uint64_t calls_ = 0;
};

using Design = std::pair<std::string_view, std::function<void(std::size_t)>>;

std::vector<Design> designs_of(Allreduces& calls) {
  using Bytes = std::size_t;
  constexpr std::size_t whole = largest;
  constexpr auto own = Result::own_area, changes = Result::changes_hands;
  return {
      {"one shot", [&](Bytes n) { calls.one_shot(n, Copy::plain); }},
      {"one shot, lines asked for", [&](Bytes n) { calls.one_shot(n, Copy::asked_for); }},
      {"one shot, read in place", [&](Bytes n) { calls.one_shot_in_place(n); }},
      {"two shots", [&](Bytes n) { calls.two_shots(n, whole, Copy::plain, own); }},
      {"two shots, lines asked for", [&](Bytes n) { calls.two_shots(n, whole, Copy::asked_for, own); }},
      {"two shots, areas change hands", [&](Bytes n) { calls.two_shots(n, whole, Copy::plain, changes); }},
      {"two shots, parts of 64 KiB", [&](Bytes n) { calls.two_shots(n, 1 << 16, Copy::plain, own); }},
      {"two shots, parts of 256 KiB", [&](Bytes n) { calls.two_shots(n, 1 << 18, Copy::plain, own); }},
      {"two shots, parts of 1 MiB", [&](Bytes n) { calls.two_shots(n, 1 << 20, Copy::plain, own); }},
      {"two shots, read and written", [&](Bytes n) { calls.two_shots_in_place(n); }},
      {"Tutti", [&](Bytes n) { calls.tutti(n); }},
      {"MPI", [&](Bytes n) { calls.mpi(n); }},
  };
}

/// Microseconds a call, of the slowest rank.
double time(const Design& design, std::size_t bytes) {
  const int calls = static_cast<int>(std::clamp<std::size_t>((std::size_t{16} << 20) / bytes, 20, 4000));
  for (int i = 0; i < 3; ++i)
    design.second(bytes);
  meet();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i)
    design.second(bytes);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  return slowest_of_all(took.count() / calls);
}

/// A line for each design, a column for each size.
void compare(Allreduces& calls, const std::vector<std::size_t>& sizes) {
  const std::vector<Design> designs = designs_of(calls);
  std::vector<std::string> lines;
  lines.reserve(designs.size());
  for (const auto& [name, design] : designs)
    lines.push_back(fmt::format("{:30}", name));
  for (const std::size_t bytes : sizes) {
    std::vector<std::vector<double>> times(designs.size());
    for (int round = -1; round < rounds; ++round)
      for (std::size_t i = 0; i < designs.size(); ++i) {
        calls.forget_result();
        const double took = time(designs[i], bytes);
        if (round >= 0) times[i].push_back(took);
        if (round < 0 && !calls.is_right(bytes)) lines[i] += "!";
      }
    for (std::size_t i = 0; i < designs.size(); ++i)
      lines[i] += fmt::format("{:11.2f}", median(times[i]));
  }
  if (rank_in_world() != 0) return;
  fmt::print("{:30}{:>11} bytes\n", "us; !: wrong", fmt::join(sizes, "        "));
  for (const std::string& line : lines)
    fmt::print("{}\n", line);
}

std::vector<std::size_t> sizes_of(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  const std::size_t unit = sizeof(float) * static_cast<std::size_t>(ranks_of_world());
  for (const std::string_view text : std::vector<std::string_view>(argv + 1, argv + argc)) {
    std::size_t bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error != std::errc{} || end != text.data() + text.size() || bytes == 0 || bytes > largest ||
        bytes % unit != 0) {
      fmt::print(stderr, "BYTES is '{}'; allowed: multiples of {} up to {}\n", text, unit, largest);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    sizes.push_back(bytes);
  }
  return sizes;
}

}  // namespace
}  // namespace tutti::bare

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const std::vector<std::size_t> sizes = tutti::bare::sizes_of(argc, argv);
    tutti::bare::Allreduces calls;
    tutti::bare::compare(calls, sizes);
  }
  MPI_Finalize();
}
