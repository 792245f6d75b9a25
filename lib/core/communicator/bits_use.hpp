#pragma once
// What TUTTI_BITS asks for. Needs no MPI.

#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/schedule.hpp"

namespace tutti {

/// Where each rank records the bits of its calls, and with which record it compares them.
struct BitsFiles {
  std::string record{};   ///< A folder; empty: nothing is recorded.
  std::string compare{};  ///< A folder; empty: nothing is compared.
  std::int64_t deep = 0;  ///< The most bytes of data that a rank records beside the hashes.
  [[nodiscard]] bool empty() const { return record.empty() && compare.empty(); }
  friend bool operator==(const BitsFiles&, const BitsFiles&) = default;
};

struct BitsUse {
  Bits bits = Bits::same;
  BitsFiles files{};
};

/// "fixed", "record:DIR", "fixed,record:DIR:deep", "compare:DIR,record:DIR:deep=4G". Folders become absolute. Throws
/// ArgumentError that begins with `source`, and says what was given and what is allowed.
[[nodiscard]] BitsUse read_bits(std::string_view source, std::string_view given);
/// The text that read_bits() reads, of the files alone.
[[nodiscard]] std::string to_text(const BitsFiles& files);

}  // namespace tutti
