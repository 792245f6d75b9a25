#pragma once
// Recorded calls, and how two of them differ, in words.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/watch/bits/format.hpp"
#include "tutti/datatype.hpp"

namespace tutti::bits {

/// The names of the two runs that are compared.
struct Sides {
  std::string_view first = "recorded", second = "now";
};

/// "allreduce of 1000 fp64, sum", "broadcast of 8 int32 from rank 2", "messages of 4096 bytes".
[[nodiscard]] std::string in_words(const CallRecord& call);
/// "call 137 of communicator 0/4"; of messages "batch 3 of communicator 0/4".
[[nodiscard]] std::string place_in_words(const CallRecord& call, const CommunicatorRecord& communicator);
/// "collective allreduce recorded, broadcast now; count 8 recorded, 9 now": how calls differ that should be the same.
/// Empty: in nothing. The manner of a call and its algorithm may differ.
[[nodiscard]] std::string mismatch(const CallRecord& first, const CallRecord& second, const Sides& sides);
/// "by ring" or "by ring recorded, recursive_doubling now".
[[nodiscard]] std::string algorithms_in_words(const CallRecord& first, const CallRecord& second, const Sides& sides);
/// Why the data of a call were not hashed: "a stream of a device runs the call".
[[nodiscard]] std::string_view in_words(Hashed hashed);

/// One element: "1.25 (0x3ff4000000000000)", "1-2i (0x3f800000, 0xc0000000)".
[[nodiscard]] std::string value_in_words(Type type, const std::byte* element);

/// Compares data of two calls piece by piece, for the first element whose bits differ.
class ElementComparison {
 public:
  explicit ElementComparison(Type type);

  /// The next bytes of both, whole elements.
  void add(const std::byte* first, const std::byte* second, std::size_t bytes);
  [[nodiscard]] std::int64_t differing() const { return differing_; }
  [[nodiscard]] std::int64_t element() const { return element_; }
  /// "element 17 of 1000 is 1.25 (0x3ff4000000000000) recorded, 1.5 (0x3ff8000000000000) now; 3 elements differ".
  [[nodiscard]] std::string in_words(const Sides& sides) const;
  [[nodiscard]] const std::string& first() const { return first_; }
  [[nodiscard]] const std::string& second() const { return second_; }

 private:
  Type type_;
  std::size_t size_;
  std::int64_t seen_ = 0, differing_ = 0, element_ = -1;
  std::string first_{}, second_{};
};

}  // namespace tutti::bits
