#include "apps/bench/collective.hpp"

#include <algorithm>

namespace tutti::bench {

namespace {

/// Blocks r and ranks - 1 - r have twice the mean together, so that all blocks have the total.
Count uneven_count(Count mean, int rank, int ranks) {
  if (ranks == 1) return mean;
  const std::int64_t place = 2 * rank - (ranks - 1);  // from -(ranks - 1) to ranks - 1
  // Not multiplied before it is divided, where that could overflow.
  const std::int64_t steps = 2LL * (ranks - 1), whole = mean.value() / steps, rest = mean.value() % steps;
  return mean + Count{place * whole + place * rest / steps};
}

Source input_of(int rank, Count from = {}) { return {rank, 1, from.value()}; }
Source reduced_below(int end, Count from = {}) { return {0, end, from.value()}; }

/// Every rank's input, one after the other.
std::vector<Piece> all_gathered(const Call& call) {
  std::vector<Piece> pieces;
  pieces.reserve(static_cast<std::size_t>(call.ranks()));
  for (int rank = 0; rank < call.ranks(); ++rank) {
    pieces.push_back({call.blocks->offset(rank), call.blocks->count(rank), input_of(rank)});
  }
  return pieces;
}

/// This rank's block of every rank's input.
std::vector<Piece> all_exchanged(const Call& call, Divided how) {
  std::vector<Piece> pieces;
  for (int from = 0; from < call.ranks(); ++from) {
    const Division theirs{how, call.count, call.ranks(), from};
    pieces.push_back({call.blocks->offset(from), call.blocks->count(from), input_of(from, theirs.offset(call.rank()))});
  }
  return pieces;
}

}  // namespace

Division::Division(Divided how, Count total, int ranks, int of) {
  Count offset;
  for (int rank = 0; rank < ranks; ++rank) {
    const Count mean = total / ranks;
    const int steps = how == Divided::unevenly_by_pair ? (rank + of) % ranks : rank;
    const bool is_even = how == Divided::not_at_all || how == Divided::evenly;
    counts_.push_back(is_even ? mean : uneven_count(mean, steps, ranks));
    offsets_.push_back(offset);
    mpi_counts_.push_back(static_cast<int>(counts_.back().value()));
    mpi_offsets_.push_back(static_cast<int>(offset.value()));
    offset += counts_.back();
  }
}

double BenchCollective::busbw_factor(int ranks) const {
  const double all_but_own = static_cast<double>(ranks - 1) / ranks;
  if (collective == Collective::allreduce) return 2 * all_but_own;
  return divided == Divided::not_at_all ? 1 : all_but_own;
}

Layout BenchCollective::layout(const Call& call) const {
  const Count all = call.count, block = call.block(), before = call.blocks->offset(call.rank()), none{0};
  if (!collective) return {all, all, std::nullopt};
  switch (*collective) {
    case Collective::barrier:
      return {};
    case Collective::broadcast:
      return {call.is_root() ? all : none, all, none};
    case Collective::reduce:
      return call.is_root() ? Layout{all, all, none} : Layout{all, none, std::nullopt};
    case Collective::reduce_scatter:
      return {all, block, none};
    case Collective::allgather:
      return {block, all, before};
    case Collective::gather:
      return call.is_root() ? Layout{block, all, before} : Layout{block, none, std::nullopt};
    case Collective::scatter:
      return call.is_root() ? Layout{all, block, none - before} : Layout{none, block, std::nullopt};
    default:
      return {all, all, none};
  }
}

std::vector<Piece> BenchCollective::expected(const Call& call) const {
  const int rank = call.rank(), ranks = call.ranks();
  const Count all = call.count, block = call.block(), before = call.blocks->offset(rank), start{0};
  const bool is_off_root = has_root() && !call.is_root();
  if (!collective) return {{start, all, input_of(call.previous().value())}};
  switch (*collective) {
    case Collective::barrier:
      return {};
    case Collective::broadcast:
      return {{start, all, input_of(call.root.value())}};
    case Collective::scatter:
      return {{start, block, input_of(call.root.value(), before)}};
    case Collective::reduce_scatter:
      return {{start, block, reduced_below(ranks, before)}};
    case Collective::allgather:
    case Collective::gather:
      return is_off_root ? std::vector<Piece>{} : all_gathered(call);
    case Collective::alltoall:
      return all_exchanged(call, divided);
    case Collective::exscan:
      return rank == 0 ? std::vector<Piece>{} : std::vector<Piece>{{start, all, reduced_below(rank)}};
    case Collective::scan:
      return {{start, all, reduced_below(rank + 1)}};
    default:  // reduce, allreduce
      return is_off_root ? std::vector<Piece>{} : std::vector<Piece>{{start, all, reduced_below(ranks)}};
  }
}

const BenchCollective* collective_named(std::string_view name) {
  const std::span all = collectives();
  const auto found = std::ranges::find(all, name, &BenchCollective::name);
  return found == all.end() ? nullptr : &*found;
}

std::optional<Op> op_named(std::string_view name) {
  const Op all[] = {Op::sum,  Op::prod, Op::min,  Op::max,  Op::avg, Op::exact_sum, Op::scaled_sum(0.5),
                    Op::land, Op::lor,  Op::lxor, Op::band, Op::bor, Op::bxor};
  for (const Op& op : all) {
    if (to_string(op.kind()) == name) return op;
  }
  return std::nullopt;
}

}  // namespace tutti::bench
