// How fast the reductions are: in cache beside a loop of one element at a time, out of cache beside a copy. Prints the
// tables of docs/experiments/reduction-kernels.md. Not a test: nothing is asserted.
//
//   reduce_speed [MiB of an array out of cache, 64 by default]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "apps/bench/micro/reduce_speed.hpp"
#include "lib/reduce/kernels.hpp"

namespace tutti {
namespace {

constexpr int rounds = 9;
constexpr std::size_t in_cache_bytes = std::size_t{8} << 10;
constexpr std::size_t operand_count = 4;

struct Arrays {
  // Not all at the same place of a page, or their lines compete for the same places of the caches.
  explicit Arrays(std::size_t bytes) : bytes{bytes}, memory((operand_count + 2) * (bytes + apart) + 4096) {
    char* const page = memory.data() + (4096 - reinterpret_cast<std::uintptr_t>(memory.data()) % 4096);
    for (std::size_t k = 0; k < operand_count + 2; ++k) {
      char* const array = page + k * (bytes + apart);
      (k < operand_count ? operands[k] : k == operand_count ? into : also) = array;
    }
  }
  static constexpr std::size_t apart = 1024 + 64;
  std::size_t bytes;
  std::vector<char> memory;
  char* operands[operand_count]{};
  char *into{}, *also{};

  [[nodiscard]] const void* const* from() const { return reinterpret_cast<const void* const*>(operands); }
};

struct Case {
  std::function<void()> run;
  double bytes_moved;  ///< Read and written, as the program states it.
  std::vector<double> rates{};

  [[nodiscard]] double rate() const {
    std::vector<double> sorted = rates;
    std::nth_element(sorted.begin(), sorted.begin() + rounds / 2, sorted.end());
    return sorted[rounds / 2];
  }
};

double seconds_of(const std::function<void()>& run, int repetitions) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repetitions; ++i)
    run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The cases in turns, round by round; each once before it is timed.
void measure(std::vector<Case>& cases, int repetitions) {
  for (int round = 0; round < rounds; ++round) {
    for (Case& one : cases) {
      one.run();
      one.rates.push_back(one.bytes_moved * repetitions / seconds_of(one.run, repetitions));
    }
  }
}

ReduceKernel sum_of(const KernelTable& table, Type type) { return table.reduce[0][static_cast<int>(type)]; }

void print_header(const std::string& first, const std::vector<std::string>& columns) {
  fmt::print("| {} |", first);
  for (const std::string& column : columns)
    fmt::print(" {} |", column);
  fmt::print("\n|---|");
  for (std::size_t i = 0; i < columns.size(); ++i)
    fmt::print("---|");
  fmt::print("\n");
}

void print_in_cache() {
  fmt::print("In cache ({} KiB an array): sum of two, times the speed of a scalar loop\n\n", in_cache_bytes >> 10);
  std::vector<std::string> columns{"scalar, ns an element"};
  for (const KernelTable* table : runnable_kernel_tables())
    columns.emplace_back(table->name);
  print_header("type", columns);
  const Arrays arrays{in_cache_bytes};
  for (int index = 0; index < static_cast<int>(Type::boolean); ++index) {
    const Type type = static_cast<Type>(index);
    const std::size_t count = arrays.bytes / static_cast<std::size_t>(size_of(type).value());
    const auto elements = static_cast<double>(count);
    const ScalarSum scalar = scalar_sum(type);
    std::vector<Case> cases{
        {[=, &arrays] { scalar(arrays.operands[0], arrays.operands[1], arrays.into, count); }, elements}};
    for (const KernelTable* table : runnable_kernel_tables()) {
      const ReduceKernel kernel = sum_of(*table, type);
      cases.push_back({[=, &arrays] { kernel(arrays.operands[0], arrays.operands[1], arrays.into, count); }, elements});
    }
    measure(cases, 50);
    fmt::print("| {} | {:.2f} |", to_string(type), 1e9 / cases[0].rate());
    for (std::size_t i = 1; i < cases.size(); ++i)
      fmt::print(" {:.1f} |", cases[i].rate() / cases[0].rate());
    fmt::print("\n");
  }
}

/// The cases of a type; the first is the copy.
std::vector<Case> out_of_cache_cases(const Arrays& arrays, Type type) {
  const auto element = static_cast<std::size_t>(size_of(type).value());
  const std::size_t count = arrays.bytes / element;
  const ReduceKernel two = reduce_kernel(Op::Kind::sum, type);
  const ReduceManyKernel many = reduce_many_kernel(Op::Kind::sum, type);
  const auto bytes = static_cast<double>(arrays.bytes);
  const Arrays* const a = &arrays;
  return {{[=] { many(a->from(), 1, a->into, nullptr, count); }, 2 * bytes},
          {[=] { two(a->operands[0], a->operands[1], a->into, count); }, 3 * bytes},
          {[=] { two(a->into, a->operands[1], a->into, count); }, 3 * bytes},
          {[=] { many(a->from(), operand_count, a->into, nullptr, count); }, (operand_count + 1) * bytes}};
}

void print_out_of_cache(const Arrays& arrays) {
  fmt::print("\nOut of cache ({} MiB an array): bytes moved a second, as a share of a copy's\n\n", arrays.bytes >> 20);
  print_header("type", {"copy, GB/s", "sum of two", "in place", fmt::format("of {}", operand_count)});
  for (int index = 0; index < static_cast<int>(Type::boolean); ++index) {
    std::vector<Case> cases = out_of_cache_cases(arrays, static_cast<Type>(index));
    measure(cases, 1);
    const double copy = cases[0].rate();
    fmt::print("| {} | {:.1f} | {:.2f} | {:.2f} | {:.2f} |\n", to_string(static_cast<Type>(index)), copy / 1e9,
               cases[1].rate() / copy, cases[2].rate() / copy, cases[3].rate() / copy);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  const int mebibytes = argc > 1 ? std::atoi(argv[1]) : 64;
  if (argc > 2 || mebibytes < 1) {
    fmt::print(stderr, "usage: reduce_speed [MiB of an array out of cache, at least 1, 64 by default]\n");
    return 2;
  }
  tutti::print_in_cache();
  const tutti::Arrays large{static_cast<std::size_t>(mebibytes) << 20};
  tutti::print_out_of_cache(large);
  return 0;
}
