#pragma once
// Common parts of the tests of the shared-memory protocol: memory between ends, and messages whose every byte is known.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lib/core/transport/shm/eager/channel.hpp"

namespace tutti::shm::test {

/// Zeroed memory, aligned as a mapping is.
class Memory {
 public:
  explicit Memory(std::int64_t bytes) : pages_(static_cast<std::size_t>((bytes + usual_page - 1) / usual_page)) {}
  [[nodiscard]] std::byte* data() { return pages_.data()->bytes.data(); }

 private:
  struct alignas(usual_page) Page {
    std::array<std::byte, usual_page> bytes{};
  };
  std::vector<Page> pages_;
};

/// Any number, always the same for the same arguments (the finalizer of splitmix64).
inline std::uint64_t mix(std::uint64_t key, std::uint64_t n) {
  std::uint64_t z = key * 0xd1342543de82ef95 + n * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
  return z ^ (z >> 31U);
}

/// Calls visit(at, word, bytes) for the words that a message consists of.
template <class Visit>
void for_words(std::uint64_t message, std::size_t bytes, Visit visit) {
  for (std::size_t at = 0; at < bytes; at += sizeof message)
    visit(at, message + at * 0x9e3779b97f4a7c15, bytes - at < sizeof message ? bytes - at : sizeof message);
}

/// Writes the message that `message` stands for.
inline void fill(std::byte* into, std::uint64_t message, std::size_t bytes) {
  for_words(message, bytes,
            [&](std::size_t at, std::uint64_t word, std::size_t size) { std::memcpy(into + at, &word, size); });
}

/// Whether this is it.
[[nodiscard]] inline bool is_filled(const std::byte* from, std::uint64_t message, std::size_t bytes) {
  bool same = true;
  for_words(message, bytes, [&](std::size_t at, std::uint64_t word, std::size_t size) {
    std::uint64_t found = word;
    std::memcpy(&found, from + at, size);
    same &= found == word;
  });
  return same;
}

/// Whether the next message of a lane is there; its envelope then.
[[nodiscard]] inline bool arrived(const Channel& channel, int lane, Envelope& envelope) {
  if (!channel.ring(lane).incoming().is_there()) return false;
  envelope = channel.ring(lane).incoming().envelope();
  return true;
}

}  // namespace tutti::shm::test
