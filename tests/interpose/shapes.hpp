#pragma once
// Datatypes of every kind. All have a signature of integers, so any of them may be received by any other.

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace tutti::test {

/// Integers that every shape divides: a block of so many can be sent as any.
inline constexpr int block_integers = 24;
/// More bytes than a block takes in any shape.
inline constexpr int block_bytes = 2048;

struct Shape {
  std::string name;
  MPI_Datatype type;
  int integers;  ///< In an element.
  /// Elements that make up a block.
  [[nodiscard]] int elements() const { return block_integers / integers; }
};

inline constexpr std::size_t number_of_shapes = 17;
/// All of them, committed. They live until MPI_Finalize.
const std::vector<Shape>& shapes();

}  // namespace tutti::test
