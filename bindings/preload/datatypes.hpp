#pragma once
// What Tutti has to know of an MPI datatype.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "lib/watch/records/mpi_names.hpp"
#include "tutti/datatype.hpp"

namespace tutti::interpose {

/// The kinds of predefined types for which MPI defines the same operations (MPI 4.1, section 6.9.2).
enum class TypeKind : std::uint8_t { derived, c_integer, other_integer, floating, logical, complex, byte, pair, other };
inline constexpr std::size_t kind_count = 9;

struct Layout {
  TypeKind kind = TypeKind::derived;
  /// Elements lie one after the other, without gaps and in the order of their bytes.
  bool is_contiguous = false;
  /// Tutti's type of the same values; nothing if it has none.
  std::optional<Type> same{};
  /// Bytes of the data may hold nothing, as those of long double do.
  bool has_gaps = false;
  std::int64_t size = 0;                         ///< Bytes of data in an element.
  std::int64_t extent = 0;                       ///< Bytes from an element to the next.
  std::uint8_t name = records::of_unnamed_type;  ///< In reports: records::Signature::mpi.
};

/// Finds out the predefined types, and how to remember derived ones. Once, after MPI_Init.
void begin_datatypes();
void end_datatypes();
/// A duplicate of MPI_COMM_SELF, whose errors are codes.
[[nodiscard]] MPI_Comm own_comm();
/// The layout of a type; a derived type keeps its own until it is freed. nullptr: no type that may be used, as one
/// that is not committed; MPI says what is wrong. Costs a look into a table, or into the attributes of a derived type.
[[nodiscard]] const Layout* layout_of(MPI_Datatype type);

}  // namespace tutti::interpose
