#pragma once
// Predefined types, and values of them.

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace tutti::test {

/// A predefined type whose values tests can write.
struct NumberType {
  std::string name;
  MPI_Datatype type;
  std::size_t extent;  ///< Bytes.
  /// Writes a small number at `to`: 0 is false, the second part of a pair or of a complex number is `second`.
  void (*write)(void* to, int value, int second);
  bool is_floating = false;
};

/// All that this MPI has.
std::vector<NumberType> number_types();

/// Elements of a type, each different, of which the bytes that carry values can be compared: a long double has others.
class Values {
 public:
  Values(const NumberType& type, std::size_t count, int seed);
  [[nodiscard]] void* data() { return bytes_.data(); }
  /// Whether the first `count` elements are equal.
  [[nodiscard]] bool equal(const Values& other, std::size_t count) const;

 private:
  const NumberType* type_;
  std::vector<std::byte> bytes_;
};

}  // namespace tutti::test
