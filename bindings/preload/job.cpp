#include "bindings/preload/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <exception>
#include <string_view>

#include "bindings/preload/operations.hpp"
#include "bindings/preload/target.hpp"
#include "tutti/error.hpp"

namespace tutti::interpose {
namespace {

/// MPI's class, at the root of a reduce whose input and output are the same.
int error_of_aliases(const Target& target) { return target.is_strict() ? MPI_ERR_BUFFER : MPI_ERR_ARG; }

bool is_in_place(const void* data) { return data == MPI_IN_PLACE; }

bool is_rank(int root, const Target& target) { return root >= 0 && root < target.size(); }

template <class Blocks>
inline constexpr bool is_listed = !std::same_as<Blocks, Side::Even>;

/// The part that all collectives have which move data, as bytes. `count`: of a block of even ones, of this rank's part
/// where blocks are listed, on the side `of`. `blocks`: in the larger buffer.
template <class Blocks>
Why moving(Job& job, const char* function, Collective collective, Count count, const Side& of, int blocks) {
  job.has_sides = true;
  job.call = {.function = function,
              .collective = collective,
              .count = count,
              .type = Type::uint8,
              .mpi = of.name(),
              .has_gaps = job.in.has_gaps() || job.out.has_gaps()};
  if constexpr (is_listed<Blocks>) {
    job.call.is_uneven = true;
    job.call.in_blocks = job.in.blocks();
    job.call.out_blocks = job.out.blocks();
  } else {
    job.bytes = count.value() * blocks;
  }
  return Why::served;
}

/// Tutti's buffers are found out when the job is loaded, but for the mark of a call in place.
Why in_place(Job& job) {
  job.call.in = MPI_IN_PLACE;
  job.reads_output = true;
  return Why::served;
}

void note_own_parts(Job& job, std::string_view function, Count sent, Count received) {
  const auto amount = [](const Side& side, Count bytes) {
    return records::mpi_amount({.mpi = side.name()}, bytes.value());
  };
  job.own_error =
      std::make_exception_ptr(MismatchError{fmt::format("this rank sends itself {}, but receives {} from itself, in {}",
                                                        amount(job.in, sent), amount(job.out, received), function)});
}

/// What a rank sends itself is not what it receives from itself: an error that the others cannot know. It takes its
/// part in the call, with as many bytes of that block as it has, and fails then.
Why with_own_part(const Target& target, Job& job, Count sent, Count received) {
  if (sent == received) return Why::served;
  note_own_parts(job, job.call.function, sent, received);
  job.own_block = target.rank();
  return in_place(job);
}

/// Whether the MPI takes one buffer as input and output. Open MPI does, but for an allreduce of several elements.
bool may_be_the_same(const ReductionCall& given, const Target& target) {
  const bool is_refused = given.collective == Collective::allreduce && given.count > 1;
  return given.in != given.out || given.collective == Collective::reduce || !(is_refused || target.is_strict());
}

/// Serves an exchange of all with all in which this rank's own part does not fit: the others get what this rank sends.
template <class Blocks>
Why exchange_without_own_part(const Target& target, Job& job, const char* function) {
  note_own_parts(job, function, job.in.count_of(target.rank()), job.out.count_of(target.rank()));
  job.writes_output = false;
  if constexpr (is_listed<Blocks>) {
    job.in.drop(target.rank());
    job.out.drop(target.rank());
    return moving<Blocks>(job, function, Collective::alltoall, Count{0}, job.in, target.size());
  }
  const Count sent = job.in.count_of(target.rank());
  job.unwanted = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(sent.value() * target.size()));
  return moving<Blocks>(job, function, Collective::alltoall, sent, job.in, target.size());
}

Why describe_reduction(const Target& target, Job& job, const ReductionCall& given, std::int64_t blocks) {
  const Layout* const layout = layout_of(given.type);
  if (layout == nullptr || given.count < 0) return Why::arguments;
  const std::optional<Reduction> reduction = reduction_of(given.op, given.type, *layout);
  if (!reduction) return Why::operation;
  const bool has_elements = given.count > 0;
  if (has_elements && (given.in == nullptr || !may_be_the_same(given, target))) return Why::arguments;
  job.call = {.function = given.function,
              .collective = given.collective,
              .in = given.in,
              .out = given.out,
              .count = Count{given.count},
              .type = reduction->type,
              .op = reduction->op,
              .mpi = layout->name,
              .has_gaps = layout->has_gaps || layout->size != layout->extent};
  job.bytes = given.count * layout->size * blocks;
  job.combined_by = reduction->combined_by;
  return Why::served;
}

}  // namespace

void Job::load() {
  if (!has_sides) {
    if (unwanted != nullptr) call.out = unwanted.get();
    return;
  }
  if (reads_output) out.pack();
  in.pack();
  if (own_block >= 0) out.fill(own_block, in);
  if (!is_in_place(call.out)) call.out = unwanted != nullptr ? unwanted.get() : out.data();
  if (call.collective == Collective::broadcast)
    call.in = call.out;
  else if (!is_in_place(call.in))
    call.in = in.data();
}

std::int64_t Job::own_bytes() const { return bytes > 0 ? bytes : std::max(in.listed_bytes(), out.listed_bytes()); }

void Job::store() {
  if (has_sides && writes_output) out.unpack();
  if (own_error != nullptr) std::rethrow_exception(own_error);
}

Why barrier(Target& /*target*/, Job& job) {
  job.call = {.function = "MPI_Barrier", .collective = Collective::barrier, .mpi = records::of_unnamed_type};
  return Why::served;
}

Why broadcast(Target& target, Job& job, const Side::Even& data, int root) {
  if (!is_rank(root, target) || !job.out.set(data, 1)) return Why::arguments;
  moving<Side::Even>(job, "MPI_Bcast", Collective::broadcast, job.out.count_of(0), job.out, 1);
  job.call.root = Rank{root};
  job.reads_output = target.rank() == root;
  job.writes_output = target.rank() != root;
  return Why::served;
}

Why reduction(Target& target, Job& job, const ReductionCall& given) {
  const bool has_result = given.collective != Collective::exscan || target.rank() > 0;
  if (is_in_place(given.out) || (has_result && given.count > 0 && given.out == nullptr)) return Why::arguments;
  const std::int64_t blocks = given.collective == Collective::reduce_scatter ? target.size() : 1;
  const Why why = describe_reduction(target, job, given, blocks);
  // Tutti writes nothing on the first rank of an exscan, but wants memory there: the input will do.
  if (!has_result && given.out == nullptr && !is_in_place(given.in)) job.call.out = const_cast<void*>(job.call.in);
  return why;
}

Why reduce(Target& target, Job& job, const ReductionCall& given, int root) {
  if (!is_rank(root, target)) return Why::arguments;
  ReductionCall own = given;
  if (target.rank() != root) {
    if (is_in_place(given.in)) return Why::arguments;
    own.out = nullptr;
  } else if (is_in_place(given.out) || (given.count > 0 && given.out == nullptr)) {
    return Why::arguments;
  }
  const Why why = describe_reduction(target, job, own, 1);
  job.call.root = Rank{root};
  if (why != Why::served || own.out == nullptr || own.in != own.out || own.count == 0) return why;
  job.own_error = std::make_exception_ptr(MpiError{error_of_aliases(target), given.function});
  job.unwanted = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(job.bytes));
  return why;
}

Why reduce_scatter(Target& target, Job& job, const ReductionCall& given, Numbers counts) {
  if (counts.is_null() || is_in_place(given.out)) return Why::arguments;
  ReductionCall whole = given;
  whole.count = 0;
  for (int rank = 0; rank < target.size(); ++rank) {
    if (counts[rank] < 0) return Why::arguments;
    job.counts.emplace_back(counts[rank]);
    whole.count += counts[rank];
  }
  if (counts[target.rank()] > 0 && given.out == nullptr) return Why::arguments;
  const Why why = describe_reduction(target, job, whole, 1);
  job.call.count = Count{0};
  job.call.in_blocks = {job.counts, {}};
  job.call.is_uneven = true;
  return why;
}

namespace {

/// The standard forbids that what is sent and what is received overlap; Open MPI takes it. The own block of the output
/// may be sent as it is.
void read_ahead(const Target& target, Job& job, const void* sent) {
  if (target.is_strict()) return;
  const bool is_own_block = job.out.begins_at(target.rank(), sent);
  if (!is_own_block || job.call.collective == Collective::alltoall) job.in.read_ahead_of(job.out);
}

/// Open MPI does not look whether the type is committed of what the root of a gather receives, or of a scatter sends.
template <class Blocks>
bool set_at_root(const Target& target, Side& side, Blocks given) {
  if (side.set(given, target.size())) return true;
  if (target.is_strict() || given.type == MPI_DATATYPE_NULL) return false;
  side = Side{};
  given.type = side.committed(given.type);
  return side.set(given, target.size());
}

template <class Blocks>
Why describe_allgather(const Target& target, Job& job, const char* function, const Side::Even& in, const Blocks& out) {
  if (is_in_place(out.data) || !job.out.set(out, target.size())) return Why::arguments;
  if constexpr (is_listed<Blocks>) job.out.keep_apart();
  const Count mine = job.out.count_of(target.rank());
  moving<Blocks>(job, function, Collective::allgather, mine, job.out, target.size());
  if (is_in_place(in.data)) return in_place(job);
  if (!job.in.set(in, 1)) return Why::arguments;
  read_ahead(target, job, in.data);
  return with_own_part(target, job, job.in.count_of(0), mine);
}

template <class Blocks>
Why describe_gather(const Target& target, Job& job, const char* function, const Side::Even& in, const Blocks& out,
                    int root) {
  const bool at_root = target.rank() == root, is_here = is_in_place(in.data);
  if (!is_rank(root, target) || (is_here && !at_root)) return Why::arguments;
  if (!is_here && !job.in.set(in, 1)) return Why::arguments;
  if (at_root && !set_at_root(target, job.out, out)) return Why::arguments;
  if constexpr (is_listed<Blocks>) job.out.keep_apart();
  if (at_root && !is_here) read_ahead(target, job, in.data);
  const Count mine = at_root ? job.out.count_of(root) : job.in.count_of(0);
  moving<Blocks>(job, function, Collective::gather, mine, at_root ? job.out : job.in, target.size());
  job.call.root = Rank{root};
  return is_here ? in_place(job) : with_own_part(target, job, job.in.count_of(0), mine);
}

template <class Blocks>
Why describe_scatter(const Target& target, Job& job, const char* function, const Blocks& in, const Side::Even& out,
                     int root) {
  const bool at_root = target.rank() == root, is_here = is_in_place(out.data);
  if (!is_rank(root, target) || (is_here && !at_root)) return Why::arguments;
  if (!is_here && !job.out.set(out, 1)) return Why::arguments;
  if (at_root && !set_at_root(target, job.in, in)) return Why::arguments;
  const Count mine = at_root ? job.in.count_of(root) : job.out.count_of(0);
  moving<Blocks>(job, function, Collective::scatter, mine, at_root ? job.in : job.out, target.size());
  job.call.root = Rank{root};
  const bool differ = !is_here && job.out.count_of(0) != mine;
  if (differ) note_own_parts(job, function, mine, job.out.count_of(0));
  job.writes_output = !differ;
  if (is_here || differ) job.call.out = MPI_IN_PLACE;
  return Why::served;
}

template <class Blocks>
Why describe_alltoall(const Target& target, Job& job, const char* function, const Blocks& in, const Blocks& out) {
  if (is_in_place(out.data) || !job.out.set(out, target.size())) return Why::arguments;
  if constexpr (is_listed<Blocks>) job.out.keep_apart();
  const bool is_here = is_in_place(in.data);
  if (!is_here && !job.in.set(in, target.size())) return Why::arguments;
  const Count mine = job.out.count_of(target.rank());
  if (!is_here && job.in.count_of(target.rank()) != mine)
    return exchange_without_own_part<Blocks>(target, job, function);
  moving<Blocks>(job, function, Collective::alltoall, mine, job.out, target.size());
  if (!is_here) read_ahead(target, job, in.data);
  return is_here ? in_place(job) : Why::served;
}

}  // namespace

Why allgather(Target& target, Job& job, const Side::Even& in, const Side::Even& out) {
  return describe_allgather(target, job, "MPI_Allgather", in, out);
}
Why allgatherv(Target& target, Job& job, const Side::Even& in, const Side::Listed& out) {
  return describe_allgather(target, job, "MPI_Allgatherv", in, out);
}
Why gather(Target& target, Job& job, const Side::Even& in, const Side::Even& out, int root) {
  return describe_gather(target, job, "MPI_Gather", in, out, root);
}
Why gatherv(Target& target, Job& job, const Side::Even& in, const Side::Listed& out, int root) {
  return describe_gather(target, job, "MPI_Gatherv", in, out, root);
}
Why scatter(Target& target, Job& job, const Side::Even& in, const Side::Even& out, int root) {
  return describe_scatter(target, job, "MPI_Scatter", in, out, root);
}
Why scatterv(Target& target, Job& job, const Side::Listed& in, const Side::Even& out, int root) {
  return describe_scatter(target, job, "MPI_Scatterv", in, out, root);
}
Why alltoall(Target& target, Job& job, const Side::Even& in, const Side::Even& out) {
  return describe_alltoall(target, job, "MPI_Alltoall", in, out);
}
Why alltoallv(Target& target, Job& job, const Side::Listed& in, const Side::Listed& out) {
  return describe_alltoall(target, job, "MPI_Alltoallv", in, out);
}
Why alltoallw(Target& target, Job& job, const Side::Typed& in, const Side::Typed& out) {
  return describe_alltoall(target, job, "MPI_Alltoallw", in, out);
}

}  // namespace tutti::interpose
