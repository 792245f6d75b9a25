#pragma once
// The hash of data: XXH3 with 64 bits, where xxHash's header was found when Tutti was built.

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tutti::bits {

/// Why calls cannot be recorded by this build; nullptr: they can.
[[nodiscard]] const char* why_no_hash();

/// Of data that come piece by piece.
class Hash {
 public:
  Hash();
  Hash(const Hash&) = delete;
  Hash& operator=(const Hash&) = delete;
  ~Hash();

  void reset();
  void update(const void* data, std::size_t bytes);
  [[nodiscard]] std::uint64_t value() const;

 private:
  struct State;  ///< xxHash's.
  std::unique_ptr<State> state_;
};

}  // namespace tutti::bits
