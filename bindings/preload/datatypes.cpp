#include "bindings/preload/datatypes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "bindings/preload/contents.hpp"
#include "bindings/preload/handles.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/core/transport/mpi/handles.hpp"

namespace tutti::interpose {
namespace {

using mpi::api;
using mpi::check;

struct State {
  std::unordered_map<HandleKey, Layout> predefined;
  int attribute = MPI_KEYVAL_INVALID;  ///< A derived type's Layout.
  MPI_Comm own = MPI_COMM_NULL;        ///< A communicator of this rank alone; its errors are codes.
};
State& state() {
  static auto* const state = new State;  // never destroyed: MPI_Finalize may come after main
  return *state;
}

std::optional<Type> integer_of(std::int64_t size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? Type::int8 : Type::uint8;
    case 2:
      return is_signed ? Type::int16 : Type::uint16;
    case 4:
      return is_signed ? Type::int32 : Type::uint32;
    case 8:
      return is_signed ? Type::int64 : Type::uint64;
    default:
      return std::nullopt;
  }
}

std::optional<Type> floating_of(std::int64_t size) {
  if (size == sizeof(float)) return Type::fp32;
  if (size == sizeof(double)) return Type::fp64;
  return std::nullopt;  // long double has its size, but not its format
}

std::optional<Type> complex_of(std::int64_t size) {
  if (size == 2 * sizeof(float)) return Type::complex_fp32;
  if (size == 2 * sizeof(double)) return Type::complex_fp64;
  return std::nullopt;
}

Layout measured(MPI_Datatype type, TypeKind kind) {
  Layout layout{.kind = kind};
  MPI_Count size = 0;
  MPI_Aint lower = 0, extent = 0;
  check(api.Type_size_x(type, &size), "MPI_Type_size_x");
  check(api.Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
  layout.size = size;
  layout.extent = extent;
  layout.is_contiguous = layout.size == layout.extent && lower == 0;
  return layout;
}

std::uint8_t name_of(MPI_Datatype type, std::int64_t size) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  check(api.Type_get_name(type, name.data(), &length), "MPI_Type_get_name");
  return records::mpi_type_of(name.data(), size);
}

/// Whether it has numbers of 80 bits, which take 16 bytes.
bool is_long_double(MPI_Datatype type) {
  constexpr int bits_of_mantissa = 64;
  return std::numeric_limits<long double>::digits == bits_of_mantissa &&
         (type == MPI_LONG_DOUBLE || type == MPI_C_LONG_DOUBLE_COMPLEX || type == MPI_CXX_LONG_DOUBLE_COMPLEX ||
          type == MPI_LONG_DOUBLE_INT);
}

/// Types of Fortran are MPI_DATATYPE_NULL where there is no such type.
void add(TypeKind kind, const std::vector<MPI_Datatype>& types, const auto& same) {
  for (MPI_Datatype type : types) {
    if (type == MPI_DATATYPE_NULL) continue;
    Layout layout = measured(type, kind);
    layout.same = same(layout.size);
    layout.has_gaps = is_long_double(type);
    layout.name = name_of(type, layout.size);
    state().predefined.try_emplace(key_of(type), layout);
  }
}

void add_integers() {
  const auto with_sign = [](std::int64_t size) { return integer_of(size, true); };
  const auto without_sign = [](std::int64_t size) { return integer_of(size, false); };
  add(TypeKind::c_integer,
      {MPI_INT, MPI_LONG, MPI_SHORT, MPI_LONG_LONG, MPI_SIGNED_CHAR, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T},
      with_sign);
  add(TypeKind::other_integer,
      {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_AINT, MPI_OFFSET, MPI_COUNT},
      with_sign);
  add(TypeKind::c_integer,
      {MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_SHORT, MPI_UNSIGNED_LONG_LONG, MPI_UNSIGNED_CHAR, MPI_UINT8_T,
       MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T},
      without_sign);
  add(TypeKind::byte, {MPI_BYTE}, without_sign);
}

void add_others() {
  const auto none = [](std::int64_t /*size*/) { return std::optional<Type>{}; };
  add(TypeKind::floating, {MPI_LONG_DOUBLE}, none);
  add(TypeKind::floating, {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8}, floating_of);
  add(TypeKind::complex, {MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX}, none);
  add(TypeKind::complex,
      {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_COMPLEX,
       MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16},
      complex_of);
  add(TypeKind::logical, {MPI_C_BOOL, MPI_CXX_BOOL}, [](std::int64_t size) { return integer_of(size, false); });
  add(TypeKind::logical, {MPI_LOGICAL}, none);  // how .true. looks is the Fortran compiler's
  add(TypeKind::pair,
      {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_2REAL,
       MPI_2DOUBLE_PRECISION, MPI_2INTEGER},
      none);
  add(TypeKind::other, {MPI_CHAR, MPI_WCHAR, MPI_CHARACTER, MPI_PACKED}, none);
}

/// Whether a type that MPI_Type_get_contents gave has to be freed: not those that are MPI's own.
bool is_programs(int combiner) {
  return combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL && combiner != MPI_COMBINER_F90_COMPLEX &&
         combiner != MPI_COMBINER_F90_INTEGER;
}

/// Whether `holds(part)` of all types that a derived one is made of. True of those that are MPI's own.
template <class Holds>
bool all_parts(MPI_Datatype type, const Holds& holds) {
  if (!is_programs(combiner_of(type))) return true;
  std::vector<MPI_Datatype> parts = parts_of(type);
  const bool all = std::ranges::all_of(parts, holds);
  for (MPI_Datatype& part : parts)
    if (is_programs(combiner_of(part))) check(api.Type_free(&part), "MPI_Type_free");
  return all;
}

/// Whether the bytes of a type without gaps come in order: derived types may list them in any. Those that it does not
/// know are packed, which is right, too.
bool is_in_order(MPI_Datatype type) {
  const int combiner = combiner_of(type);
  if (combiner == MPI_COMBINER_NAMED) return measured(type, TypeKind::other).is_contiguous;
  if (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_RESIZED)
    return false;
  return all_parts(
      type, [](MPI_Datatype part) { return measured(part, TypeKind::derived).is_contiguous && is_in_order(part); });
}

bool has_no_long_double(MPI_Datatype type) { return !is_long_double(type) && all_parts(type, has_no_long_double); }

/// A broadcast to nobody: MPI refuses types that are not committed; MPICH looks only at those of elements that there
/// are.
bool may_be_used(MPI_Datatype type) {
  std::byte never_read{};
  return api.Bcast(&never_read, 1, type, 0, state().own) == MPI_SUCCESS;
}

/// The layout of a derived type, or of a predefined one that is not in the table.
Layout layout_of_other(MPI_Datatype type) {
  Layout layout = measured(type, TypeKind::derived);
  MPI_Aint lower = 0, extent = 0;
  check(api.Type_get_true_extent(type, &lower, &extent), "MPI_Type_get_true_extent");
  layout.is_contiguous = layout.is_contiguous && lower == 0 && extent == layout.size && is_in_order(type);
  layout.has_gaps = !has_no_long_double(type);
  return layout;
}

const Layout* kept_with(MPI_Datatype type) {
  void* kept = nullptr;
  int is_kept = 0;
  check(api.Type_get_attr(type, state().attribute, static_cast<void*>(&kept), &is_kept), "MPI_Type_get_attr");
  return is_kept != 0 ? static_cast<const Layout*>(kept) : nullptr;
}

int forget(MPI_Datatype /*type*/, int /*key*/, void* layout, void* /*extra*/) {
  delete static_cast<Layout*>(layout);
  return MPI_SUCCESS;
}

}  // namespace

void begin_datatypes() {
  add_integers();
  add_others();
  check(api.Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &state().attribute, nullptr), "MPI_Type_create_keyval");
  state().own = mpi::with_same_ranks(MPI_COMM_SELF).release();
  check(api.Comm_set_errhandler(state().own, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

void end_datatypes() {
  api.Comm_free(&state().own);
  api.Type_free_keyval(&state().attribute);
}

MPI_Comm own_comm() { return state().own; }

const Layout* layout_of(MPI_Datatype type) {
  thread_local MPI_Datatype last_type = MPI_DATATYPE_NULL;
  thread_local const Layout* last_layout = nullptr;
  if (type == MPI_DATATYPE_NULL) return nullptr;
  if (type == last_type) return last_layout;  // predefined: it is never freed
  const auto found = state().predefined.find(key_of(type));
  if (found != state().predefined.end()) {
    last_type = type;
    last_layout = &found->second;
    return last_layout;
  }
  if (const Layout* const kept = kept_with(type)) return kept;
  static std::mutex mutex;  // a second thread that finds nothing would replace what the first one uses
  const std::lock_guard lock{mutex};
  if (const Layout* const kept = kept_with(type)) return kept;
  if (!may_be_used(type)) return nullptr;
  auto layout = std::make_unique<Layout>(layout_of_other(type));
  check(api.Type_set_attr(type, state().attribute, layout.get()), "MPI_Type_set_attr");
  return layout.release();
}

}  // namespace tutti::interpose
