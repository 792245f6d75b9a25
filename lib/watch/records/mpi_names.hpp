#pragma once
// The calls of programs that run with the preloaded library, as those programs name them. Only names: nothing of MPI.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/watch/records/record.hpp"

namespace tutti::records {

/// A predefined datatype of MPI.
struct MpiType {
  std::string_view name;
  std::int64_t size;  ///< Bytes.
};

/// Signature::mpi: how the program described the elements.
inline constexpr std::uint8_t by_tutti = 0;          ///< It called Tutti itself, whose names it knows.
inline constexpr std::uint8_t of_unnamed_type = 1;   ///< A derived type, or none: counted in bytes.
inline constexpr std::uint8_t of_several_types = 2;  ///< One for each rank.
inline constexpr std::uint8_t of_first_type = 3;     ///< That of the list of names; the others follow.

/// The place of a datatype for Signature::mpi; of_unnamed_type if it is not one of the list with that size.
[[nodiscard]] std::uint8_t mpi_type_of(std::string_view name, std::int64_t size);

[[nodiscard]] inline bool is_mpis(const Signature& call) {
  return call.mpi != by_tutti && call.action < Action::messages;
}
/// "MPI_Bcast", "MPI_Ireduce_scatter_block", "MPI_Alltoallw_init".
[[nodiscard]] std::string mpi_function_of(const Signature& call);
/// "MPI_INT"; "bytes": no one datatype with a name.
[[nodiscard]] std::string mpi_type_name(const Signature& call);
/// "MPI_SUM", "a user's operation".
[[nodiscard]] std::string mpi_op_name(const Signature& call);
/// "32 MPI_INT", "128 bytes": so many bytes as the program counts them.
[[nodiscard]] std::string mpi_amount(const Signature& call, std::int64_t bytes);

/// The program's name of a communicator of this process, for its own reports; empty: it has none any more.
void name_communicator(CommunicatorId id, std::string_view name);
/// Empty: it has none.
[[nodiscard]] std::string name_of_communicator(CommunicatorId id);

}  // namespace tutti::records
