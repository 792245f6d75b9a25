// Gradients that travel in fewer bytes:
//
//     mpirun -n 2 ./compression           what 100 steps of training would lose, with and without error feedback
//     mpirun -n 1 ./compression speed     time of compress() and decompress(), divided by that of memcpy
//
// All steps have the same gradient, so that the sum of all steps is known. Error feedback adds what a step has lost to
// the next one: in the long run nothing is lost, however few bytes travel.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <tutti/tutti.hpp>
#include <vector>

namespace {

using Floats = std::vector<float>;
constexpr std::int64_t elements = 100'000;

/// Numbers around 0, of which few are large, as in gradients; the ranks have different ones.
Floats gradient(int rank, std::int64_t count = elements) {
  Floats values;
  std::uint32_t state = 12345U + 7919U * static_cast<std::uint32_t>(rank);
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    const double uniform = (static_cast<double>(state) + 1) / 4294967297.0;
    values.push_back(static_cast<float>(std::log(uniform) * ((state & 1U) == 0 ? 1 : -1)));
  }
  return values;
}

/// The distance of two vectors, divided by the length of the second.
double distance(const std::vector<double>& is, const std::vector<double>& should) {
  double difference = 0, length = 0;
  for (std::size_t i = 0; i < is.size(); ++i) {
    difference += (is[i] - should[i]) * (is[i] - should[i]);
    length += should[i] * should[i];
  }
  return std::sqrt(difference / length);
}

void compare(tutti::Compression compression, const tutti::Communicator& comm) {
  constexpr int steps = 100;
  tutti::CompressedAllreduce sums{tutti::Count{elements}, compression, comm};
  const Floats mine = gradient(comm.rank().value());
  std::vector<double> exact(elements), with_feedback(elements), without(elements);
  for (int rank = 0; rank < comm.size(); ++rank)
    for (std::size_t i = 0; const float value : gradient(rank))
      exact[i++] += steps * static_cast<double>(value);
  for (auto* const total : {&with_feedback, &without}) {
    sums.reset();
    for (int step = 0; step < steps; ++step) {
      if (total == &without) sums.reset();
      Floats sum = mine;
      sums.run(sum);
      for (std::size_t i = 0; i < sum.size(); ++i)
        (*total)[i] += static_cast<double>(sum[i]);
    }
  }
  const tutti::Bytes bytes = compressed_size(compression, tutti::Count{elements});
  if (comm.rank() == tutti::Rank{0})
    std::printf("%-9s %5.1f %% of the bytes, 100 steps are off by %.1e with feedback, %.1e without\n",
                std::string{to_string(compression)}.c_str(),
                100.0 * static_cast<double>(bytes.value()) / (4 * elements), distance(with_feedback, exact),
                distance(without, exact));
}

/// The least time of a few runs, as other processes only make it longer.
template <class Work>
double seconds(const Work& work) {
  double least = 1e9;
  for (int turn = 0; turn < 15; ++turn) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return least;
}

/// Both times for a few numbers of elements: in the caches, and beyond.
void measure(tutti::Compression compression) {
  std::printf("%-9s", std::string{to_string(compression)}.c_str());
  for (const std::int64_t count : {16'384, 16'777'216}) {
    const Floats values = gradient(0, count);
    Floats error(values.size()), out(values.size());
    std::vector<std::byte> bytes(static_cast<std::size_t>(compressed_size(compression, tutti::Count{count}).value()));
    const double copy = seconds([&] { std::memcpy(out.data(), values.data(), values.size() * sizeof(float)); });
    const double packed = seconds([&] { compress(compression, values, error, bytes); });
    const double plain = seconds([&] { compress(compression, values, {}, bytes); });
    const double unpacked = seconds([&] { decompress(compression, bytes, out); });
    const double added = seconds([&] { decompress_add(compression, bytes, out); });
    std::printf("   %8lld: compress %4.1f (no feedback %4.1f), decompress %4.1f, decompress_add %4.1f",
                static_cast<long long>(count), packed / copy, plain / copy, unpacked / copy, added / copy);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const tutti::Communicator comm{MPI_COMM_WORLD};
    const bool is_speed = argc > 1 && std::string_view{argv[1]} == "speed";
    for (const auto compression : {tutti::Compression::bf16, tutti::Compression::fp16, tutti::Compression::fp8_e4m3,
                                   tutti::Compression::fp8_e5m2, tutti::Compression::int8, tutti::Compression::top_k})
      is_speed ? measure(compression) : compare(compression, comm);
  }
  MPI_Finalize();
}
