#include "lib/watch/trace/format.hpp"

#include <cstring>

namespace tutti::trace {

std::uint64_t checksum_of(const void* block, std::size_t bytes) {
  constexpr std::uint64_t prime = 0x9e3779b97f4a7c15U;
  constexpr unsigned half = 32;
  using Numbers = std::array<std::uint64_t, record_bytes / sizeof(std::uint64_t)>;
  const auto mixed = [](std::uint64_t sum, std::uint64_t number) {
    const std::uint64_t product = (sum ^ number) * prime;
    return product ^ (product >> half);
  };
  Numbers chains{};
  for (std::size_t at = 0; at + record_bytes <= bytes; at += record_bytes) {
    Numbers numbers{};
    std::memcpy(numbers.data(), static_cast<const char*>(block) + at, record_bytes);
    for (std::size_t i = 0; i < chains.size(); ++i)
      chains[i] = mixed(chains[i], numbers[i]);
  }
  std::uint64_t sum = bytes;
  for (const std::uint64_t chain : chains)
    sum = mixed(sum, chain);
  return sum;
}

}  // namespace tutti::trace
