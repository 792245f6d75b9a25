#pragma once
// Memory of which every byte is compared after a call by both names.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/interpose/calls.hpp"
#include "tests/interpose/world.hpp"

namespace tutti::test {

/// Bytes with room before the first one, for datatypes and displacements that reach there.
class Memory {
 public:
  static constexpr std::size_t before = 8192;

  Memory(std::size_t bytes, std::uint32_t seed) : bytes_(before + bytes) {
    std::uint32_t state = seed * 2'654'435'761U + static_cast<std::uint32_t>(rank_in()) * 40'503U + 1U;
    for (std::byte& byte : bytes_) {
      state = state * 1'664'525U + 1'013'904'223U;
      byte = static_cast<std::byte>(state >> 24U);
    }
  }
  [[nodiscard]] std::byte* data() { return bytes_.data() + before; }
  bool operator==(const Memory&) const = default;
  /// Where the first byte differs, relative to data().
  [[nodiscard]] std::ptrdiff_t difference(const Memory& other) const {
    std::size_t i = 0;
    while (i < bytes_.size() && bytes_[i] == other.bytes_[i])
      ++i;
    return static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(before);
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Makes a call by both names from equal memory of that many bytes. All of it must be equal then, the input and gaps
/// too. `call(calls, in, out)` returns MPI's code.
template <class Call>
void compare(const std::string& what, std::size_t in_bytes, std::size_t out_bytes, const Call& call) {
  Memory in{in_bytes, 1}, expected_in = in, out{out_bytes, 2}, expected_out = out;
  const int code = call(served, in.data(), out.data());
  const int expected_code = call(plain, expected_in.data(), expected_out.data());
  EXPECT_EQ(class_of(code), class_of(expected_code)) << what;
  EXPECT_TRUE(in == expected_in) << what << ": the input differs from byte " << in.difference(expected_in) << " on";
  EXPECT_TRUE(out == expected_out) << what << ": the output differs from byte " << out.difference(expected_out)
                                   << " on";
}

}  // namespace tutti::test
