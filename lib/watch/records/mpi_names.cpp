#include "lib/watch/records/mpi_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <map>
#include <mutex>

#include "tutti/algorithm.hpp"

namespace tutti::records {
namespace {

constexpr std::int64_t long_bytes = sizeof(long);

/// All ranks have the same list: its places lie in records. Sizes of Fortran's types are the usual ones.
constexpr std::array<MpiType, 46> types{{{"MPI_BYTE", 1},
                                         {"MPI_CHAR", 1},
                                         {"MPI_SIGNED_CHAR", 1},
                                         {"MPI_UNSIGNED_CHAR", 1},
                                         {"MPI_SHORT", 2},
                                         {"MPI_UNSIGNED_SHORT", 2},
                                         {"MPI_INT", 4},
                                         {"MPI_UNSIGNED", 4},
                                         {"MPI_LONG", long_bytes},
                                         {"MPI_UNSIGNED_LONG", long_bytes},
                                         {"MPI_LONG_LONG", 8},
                                         {"MPI_LONG_LONG_INT", 8},
                                         {"MPI_UNSIGNED_LONG_LONG", 8},
                                         {"MPI_FLOAT", 4},
                                         {"MPI_DOUBLE", 8},
                                         {"MPI_LONG_DOUBLE", 16},
                                         {"MPI_INT8_T", 1},
                                         {"MPI_INT16_T", 2},
                                         {"MPI_INT32_T", 4},
                                         {"MPI_INT64_T", 8},
                                         {"MPI_UINT8_T", 1},
                                         {"MPI_UINT16_T", 2},
                                         {"MPI_UINT32_T", 4},
                                         {"MPI_UINT64_T", 8},
                                         {"MPI_C_BOOL", 1},
                                         {"MPI_C_FLOAT_COMPLEX", 8},
                                         {"MPI_C_COMPLEX", 8},
                                         {"MPI_C_DOUBLE_COMPLEX", 16},
                                         {"MPI_AINT", 8},
                                         {"MPI_OFFSET", 8},
                                         {"MPI_COUNT", 8},
                                         {"MPI_WCHAR", 4},
                                         {"MPI_INTEGER", 4},
                                         {"MPI_INTEGER4", 4},
                                         {"MPI_INTEGER8", 8},
                                         {"MPI_REAL", 4},
                                         {"MPI_REAL4", 4},
                                         {"MPI_REAL8", 8},
                                         {"MPI_DOUBLE_PRECISION", 8},
                                         {"MPI_COMPLEX", 8},
                                         {"MPI_DOUBLE_COMPLEX", 16},
                                         {"MPI_LOGICAL", 4},
                                         {"MPI_CHARACTER", 1},
                                         {"MPI_2INT", 8},
                                         {"MPI_FLOAT_INT", 8},
                                         {"MPI_DOUBLE_INT", 12}}};
static_assert(of_first_type + types.size() <= std::size_t{1} << mpi_bits);

/// nullptr: no one datatype with a name.
const MpiType* listed_type(const Signature& call) {
  const std::size_t place = call.mpi;
  return place >= of_first_type && place < of_first_type + types.size() ? &types[place - of_first_type] : nullptr;
}

/// MPI's name where it is not "MPI_" and Tutti's.
std::string blocking_name(const Signature& call) {
  std::string name =
      call.action == Action::broadcast ? "bcast" : std::string{to_string(static_cast<Collective>(call.action))};
  if (call.action == Action::reduce_scatter) return name + (call.is_uneven ? "" : "_block");
  if (call.action == Action::alltoall && call.mpi == of_several_types) return name + "w";
  return name + (call.is_uneven ? "v" : "");
}

struct Names {
  std::mutex mutex;
  std::map<std::uint32_t, std::string> by_id;
};
Names& names() {
  static auto& all = *new Names;  // never destroyed: communicators may be closed after main
  return all;
}

}  // namespace

std::uint8_t mpi_type_of(std::string_view name, std::int64_t size) {
  const auto* const found =
      std::ranges::find_if(types, [&](const MpiType& type) { return type.name == name && type.size == size; });
  return found == types.end() ? of_unnamed_type : static_cast<std::uint8_t>(of_first_type + (found - types.begin()));
}

std::string mpi_function_of(const Signature& call) {
  std::string name = blocking_name(call);
  if (call.manner == Manner::nonblocking) name.insert(0, 1, 'i');
  if (call.manner == Manner::persistent) name += "_init";
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return "MPI_" + name;
}

std::string mpi_type_name(const Signature& call) {
  const MpiType* const type = listed_type(call);
  return type == nullptr ? "bytes" : std::string{type->name};
}

std::string mpi_op_name(const Signature& call) {
  if (call.op >= Op::Kind::user) return "a user's operation";
  std::string name{tutti::to_string(call.op)};
  std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::toupper(letter); });
  return "MPI_" + name;
}

std::string mpi_amount(const Signature& call, std::int64_t bytes) {
  const MpiType* const type = listed_type(call);
  if (type == nullptr || bytes % type->size != 0) return fmt::format("{} bytes", bytes);
  return fmt::format("{} {}", bytes / type->size, type->name);
}

void name_communicator(CommunicatorId id, std::string_view name) {
  const std::lock_guard lock{names().mutex};
  if (name.empty())
    names().by_id.erase(id.value);
  else
    std::ranges::replace_copy_if(
        name, std::back_inserter(names().by_id[id.value] = {}),
        [](char each) { return std::iscntrl(static_cast<unsigned char>(each)) != 0; }, '?');
}

std::string name_of_communicator(CommunicatorId id) {
  const std::lock_guard lock{names().mutex};
  const auto found = names().by_id.find(id.value);
  return found == names().by_id.end() ? "" : found->second;
}

}  // namespace tutti::records
