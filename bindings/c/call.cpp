#include "bindings/c/call.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <type_traits>

#include "lib/core/call/arguments.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::c {
namespace {

static_assert(TUTTI_BARRIER == static_cast<int>(Collective::barrier));
static_assert(TUTTI_BROADCAST == static_cast<int>(Collective::broadcast));
static_assert(TUTTI_REDUCE == static_cast<int>(Collective::reduce));
static_assert(TUTTI_ALLREDUCE == static_cast<int>(Collective::allreduce));
static_assert(TUTTI_REDUCE_SCATTER == static_cast<int>(Collective::reduce_scatter));
static_assert(TUTTI_ALLGATHER == static_cast<int>(Collective::allgather));
static_assert(TUTTI_GATHER == static_cast<int>(Collective::gather));
static_assert(TUTTI_SCATTER == static_cast<int>(Collective::scatter));
static_assert(TUTTI_ALLTOALL == static_cast<int>(Collective::alltoall));
static_assert(TUTTI_SCAN == static_cast<int>(Collective::scan));
static_assert(TUTTI_EXSCAN == static_cast<int>(Collective::exscan) && TUTTI_EXSCAN + 1 == collective_count);

// A list of int64_t is read as one of Count or Bytes, which hold nothing else.
static_assert(sizeof(Count) == sizeof(int64_t) && std::is_standard_layout_v<Count>);
static_assert(sizeof(Bytes) == sizeof(int64_t) && std::is_standard_layout_v<Bytes>);

/// A list of C: as many numbers as there are ranks, or none for NULL.
template <class Number>
std::span<const Number> list(const int64_t* numbers, int ranks) {
  if (numbers == nullptr) return {};
  return {reinterpret_cast<const Number*>(numbers), static_cast<std::size_t>(ranks)};
}

/// Names for error texts, by collective and kind of blocks; empty: the collective has no such blocks.
constexpr std::array<std::array<std::string_view, TUTTI_BLOCKS_TYPED + 1>, collective_count> names{{
    {"barrier"},
    {"broadcast"},
    {"reduce"},
    {"allreduce"},
    {"reduce_scatter", "reduce_scatterv"},
    {"allgather", "allgatherv"},
    {"gather", "gatherv"},
    {"scatter", "scatterv"},
    {"alltoall", "alltoallv", "alltoallw"},
    {"scan"},
    {"exscan"},
}};

/// One side of an alltoall with typed blocks.
class TypedSide {
 public:
  TypedSide(const Site& site, std::string_view side, const int64_t* counts, const int64_t* offsets,
            const tutti_type* types, const Communicator& comm)
      : types_(converted(site, fmt::format("{}_types", side), types, comm.size())),
        bytes_(fmt::format("{}_blocks", side),
               {list<Count>(counts, comm.size()), list<Bytes>(offsets, comm.size()), types_}, comm) {}
  [[nodiscard]] BlockList list_of_bytes() const { return bytes_.list(); }

 private:
  static std::vector<Type> converted(const Site& site, const std::string& argument, const tutti_type* types,
                                     int ranks) {
    std::vector<Type> converted;
    for (int rank = 0; types != nullptr && rank < ranks; ++rank)
      converted.push_back(type_of(site, fmt::format("{}[{}]", argument, rank), types[rank]));
    return converted;
  }
  std::vector<Type> types_;
  detail::ByteBlocks bytes_;
};

/// A call of C as one of C++, with the lists that it needs.
class Converted {
 public:
  Converted(const Site& site, const tutti_call& given, const Communicator& comm) {
    call_.collective = collective_of(site, given.collective);
    call_.function = function_of(site, call_.collective, given.blocks);
    const bool is_root = !has_root(call_.collective) || comm.rank() == Rank{given.root};
    const bool sends = call_.collective != Collective::scatter && call_.collective != Collective::broadcast;
    const bool receives = call_.collective != Collective::gather && call_.collective != Collective::reduce;
    call_.in = site.buffer("in", given.in, sends || is_root);
    call_.out = site.buffer("out", given.out, receives || is_root);
    call_.is_uneven = given.blocks != TUTTI_BLOCKS_EVEN;
    call_.root = Rank{given.root};
    call_.count = Count{given.count};
    if (reduces(call_.collective)) call_.op = op_of(site, given.op);
    if (given.blocks != TUTTI_BLOCKS_TYPED && call_.collective != Collective::barrier)
      call_.type = type_of(site, "type", given.type);
    if (given.blocks == TUTTI_BLOCKS_UNEVEN) take_lists(given, comm.rank(), comm.size());
    if (given.blocks == TUTTI_BLOCKS_TYPED) take_typed(site, given, comm);
  }
  [[nodiscard]] const detail::Call& call() const { return call_; }

 private:
  static std::string_view function_of(const Site& site, Collective collective, int blocks) {
    if (blocks < TUTTI_BLOCKS_EVEN || blocks > TUTTI_BLOCKS_TYPED)
      site.refuse("blocks", std::to_string(blocks), "a value of enum tutti_blocks, 0 to 2");
    const auto& its = names[static_cast<std::size_t>(collective)];
    const std::string_view name = its[static_cast<std::size_t>(blocks)];
    if (name.empty())
      site.refuse("blocks", std::to_string(blocks),
                  fmt::format("for {} TUTTI_BLOCKS_EVEN{}", its[TUTTI_BLOCKS_EVEN],
                              its[TUTTI_BLOCKS_UNEVEN].empty() ? "" : " or TUTTI_BLOCKS_UNEVEN"));
    return name;
  }
  /// The lists that count, as the same calls of C++ take them.
  void take_lists(const tutti_call& given, Rank rank, int ranks) {
    const bool is_used = !has_root(call_.collective) || rank == call_.root;
    const bool reads = call_.collective != Collective::gather && call_.collective != Collective::allgather;
    const bool writes = call_.collective != Collective::scatter && call_.collective != Collective::reduce_scatter;
    if (is_used && reads) call_.in_blocks = {list<Count>(given.in_counts, ranks), list<Count>(given.in_offsets, ranks)};
    if (is_used && writes)
      call_.out_blocks = {list<Count>(given.out_counts, ranks), list<Count>(given.out_offsets, ranks)};
    if (call_.collective == Collective::reduce_scatter) call_.in_blocks.offsets = {};
    if (!has_root(call_.collective)) call_.count = Count{0};  // the lists say it
  }
  void take_typed(const Site& site, const tutti_call& given, const Communicator& comm) {
    out_.emplace(site, "out", given.out_counts, given.out_offsets, given.out_types, comm);
    if (!is_in_place(given.in)) in_.emplace(site, "in", given.in_counts, given.in_offsets, given.in_types, comm);
    call_.in_blocks = (in_ ? *in_ : *out_).list_of_bytes();
    call_.out_blocks = out_->list_of_bytes();
  }

  detail::Call call_;
  std::optional<TypedSide> in_, out_;
};

const tutti_call& described(const Site& site, const tutti_call* call) {
  static_cast<void>(site.sized("call", call, "= TUTTI_CALL_INIT"));
  return site.pointed("call", call);
}

}  // namespace

Options call_options(const Site& site, const tutti_options* given) {
  Options options;
  if (site.sized("options", given, "= TUTTI_OPTIONS_INIT") == nullptr) return options;
  if (given->algorithm != nullptr) options.algorithm = given->algorithm;
  options.bits = bits_of(site, given->bits);
  options.accumulate = wide_type_of(site, given->accumulate);
  options.rounding = rounding_of(site, given->rounding);
  if (given->has_stream != 0) options.stream = static_cast<CUstream_st*>(given->stream);
  return options;
}

std::optional<Bits> bits_of(const Site& site, const char* given) {
  if (given == nullptr) return std::nullopt;
  for (const Bits bits : {Bits::same, Bits::fixed})
    if (given == bits_names[static_cast<std::size_t>(bits)]) return bits;
  site.refuse("bits", fmt::format("'{}'", given), "same, fixed");
}

std::optional<Type> wide_type_of(const Site& site, const char* given) {
  if (given == nullptr) return std::nullopt;
  for (const Type type : {Type::fp32, Type::fp64})
    if (given == to_string(type)) return type;
  site.refuse("accumulate", fmt::format("'{}'", given), "fp32, fp64");
}

Rounding rounding_of(const Site& site, const char* given) {
  if (given == nullptr) return Rounding::nearest;
  for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic})
    if (given == to_string(rounding)) return rounding;
  site.refuse("rounding", fmt::format("'{}'", given), "nearest, stochastic");
}

Collective collective_of(const Site& site, tutti_collective collective) {
  if (collective < 0 || collective >= collective_count)
    site.refuse("collective", std::to_string(collective),
                fmt::format("a value of enum tutti_collectives, 0 to {}", collective_count - 1));
  return static_cast<Collective>(collective);
}

tutti_status run(const tutti_call* call, tutti_comm comm, const tutti_options* options, const char* function) noexcept {
  return guarded(
      [&](const Site& site) {
        const Communicator& its = communicator(site, comm);
        detail::run(Converted{site, described(site, call), its}.call(), its, call_options(site, options));
      },
      function);
}

tutti_status start(const tutti_call* call, tutti_comm comm, const tutti_options* options, tutti_request* request,
                   const char* function) noexcept {
  return stored_request(
      request,
      [&](const Site& site) {
        const Communicator& its = communicator(site, comm);
        return detail::start(Converted{site, described(site, call), its}.call(), its, call_options(site, options));
      },
      function);
}

tutti_status prepare(const tutti_call* call, tutti_comm comm, const tutti_options* options, tutti_plan* plan,
                     const char* function) noexcept {
  return stored_plan(
      plan,
      [&](const Site& site) {
        const Communicator& its = communicator(site, comm);
        return detail::prepare(Converted{site, described(site, call), its}.call(), its, call_options(site, options));
      },
      function);
}

}  // namespace tutti::c

tutti_status tutti_run(const tutti_call* call, tutti_comm comm, const tutti_options* options) {
  return tutti::c::run(call, comm, options);
}
tutti_status tutti_start(const tutti_call* call, tutti_comm comm, const tutti_options* options,
                         tutti_request* request) {
  return tutti::c::start(call, comm, options, request);
}
tutti_status tutti_prepare(const tutti_call* call, tutti_comm comm, const tutti_options* options, tutti_plan* plan) {
  return tutti::c::prepare(call, comm, options, plan);
}
