#include "bindings/preload/operations.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/core/reduce/wide_type.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::interpose {
namespace {

using mpi::api;
using mpi::check;

using TypeKinds = std::array<bool, kind_count>;  ///< By TypeKind.

/// An operation of MPI's and the kinds of types that it is for.
struct Predefined {
  MPI_Op op;
  std::optional<Op> same;
  TypeKinds kinds;
};

const std::vector<Predefined>& predefined() {
  //                          derived, C integer, other integer, floating, logical, complex, byte, pair, other
  constexpr TypeKinds ordered{false, true, true, true, false, false, false, false, false};
  constexpr TypeKinds numbers{false, true, true, true, false, true, false, false, false};
  constexpr TypeKinds truths{false, true, false, false, true, false, false, false, false};
  constexpr TypeKinds bits{false, true, true, false, false, false, true, false, false};
  constexpr TypeKinds pairs{false, false, false, false, false, false, false, true, false};
  static const auto& all = *new std::vector<Predefined>{
      // never destroyed, as all here: calls may come after main
      {MPI_SUM, Op::sum, numbers},  {MPI_PROD, Op::prod, numbers},     {MPI_MIN, Op::min, ordered},
      {MPI_MAX, Op::max, ordered},  {MPI_LAND, Op::land, truths},      {MPI_LOR, Op::lor, truths},
      {MPI_LXOR, Op::lxor, truths}, {MPI_BAND, Op::band, bits},        {MPI_BOR, Op::bor, bits},
      {MPI_BXOR, Op::bxor, bits},   {MPI_MINLOC, std::nullopt, pairs}, {MPI_MAXLOC, std::nullopt, pairs}};
  return all;
}

/// What a function that reduces by MPI_Reduce_local needs. It lives for ever: plans refer to it.
struct ByMpi {
  MPI_Op op;
  MPI_Datatype type;
  std::int64_t extent;
  bool may_swap;  ///< Operands may change places.
};

/// inout = in (+) inout
void reduce_local(const ByMpi& how, const void* in, void* inout, std::int64_t count) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  for (std::int64_t done = 0; done < count; done += most) {
    const std::int64_t bytes = done * how.extent;
    check(api.Reduce_local(static_cast<const std::byte*>(in) + bytes, static_cast<std::byte*>(inout) + bytes,
                           static_cast<int>(std::min(most, count - done)), how.type, how.op),
          "MPI_Reduce_local");
  }
}

void combine(const void* lhs, const void* rhs, void* into, Count count, void* context) {
  const ByMpi& how = *static_cast<const ByMpi*>(context);
  const auto bytes = static_cast<std::size_t>(count.value() * how.extent);
  if (into == rhs) return reduce_local(how, lhs, into, count.value());
  if (into == lhs && how.may_swap) return reduce_local(how, rhs, into, count.value());
  if (into != lhs) {
    std::memcpy(into, rhs, bytes);
    return reduce_local(how, lhs, into, count.value());
  }
  const auto right = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::memcpy(right.get(), rhs, bytes);
  reduce_local(how, lhs, right.get(), count.value());
  std::memcpy(into, right.get(), bytes);
}

/// Handles that MPI uses again mean the new operation here, too: all that is kept of one is asked for again.
ByMpi* by_mpi(MPI_Op op, MPI_Datatype type, std::int64_t extent, bool may_swap) {
  static std::mutex mutex;
  static auto& all = *new std::map<std::pair<MPI_Op, MPI_Datatype>, std::array<std::unique_ptr<ByMpi>, 2>>;
  const std::lock_guard lock{mutex};
  std::unique_ptr<ByMpi>& its = all[{op, type}][may_swap ? 1 : 0];
  if (its == nullptr) its = std::make_unique<ByMpi>(ByMpi{op, type, extent, may_swap});
  return its.get();
}

/// A type of Tutti's whose elements have that size, as a function does not look at values.
std::optional<Type> of_size(std::int64_t bytes) {
  for (const Type type : {Type::uint8, Type::uint16, Type::uint32, Type::uint64, Type::complex_fp64, detail::wide_type})
    if (size_of(type).value() == bytes) return type;
  return std::nullopt;
}

bool keeps_sides = false;  ///< Set before any call is served.

}  // namespace

void keep_sides_of_operands() { keeps_sides = true; }

std::optional<Reduction> reduction_of(MPI_Op op, MPI_Datatype type, const Layout& layout) {
  if (op == MPI_OP_NULL || layout.kind == TypeKind::derived) return std::nullopt;
  const auto& all = predefined();
  const auto found = std::ranges::find(all, op, &Predefined::op);
  int is_commutative = 1;
  if (found != all.end()) {
    if (!found->kinds[static_cast<std::size_t>(layout.kind)]) return std::nullopt;
    if (found->same && layout.same) return Reduction{*layout.same, *found->same};
  } else {
    if (op == MPI_REPLACE || op == MPI_NO_OP) return std::nullopt;
    check(api.Op_commutative(op, &is_commutative), "MPI_Op_commutative");
  }
  const std::optional<Type> carrier = of_size(layout.extent);
  if (!carrier) return std::nullopt;
  const bool may_swap = is_commutative != 0 && !keeps_sides;
  const Commutative commutes = is_commutative != 0 ? Commutative::yes : Commutative::no;
  return Reduction{.type = *carrier,
                   .op = Op::user(combine, commutes, by_mpi(op, type, layout.extent, may_swap)),
                   .combined_by = found != all.end() ? CombinedBy::mpi : CombinedBy::user};
}

}  // namespace tutti::interpose
