#include "problems.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <utility>

#include "fault.hpp"
#include "form.hpp"
#include "lib/core/schedule/passes.hpp"
#include "lib/core/schedule/regions.hpp"
#include "memory.hpp"
#include "prove.hpp"
#include "tutti/patterns.hpp"

namespace tutti::checker {
namespace {

std::size_t index(Rank rank) { return static_cast<std::size_t>(rank.value()); }

/// The sizes that each rank learns; proves the exchange on the way.
std::vector<std::vector<Count>> learned_by(const Algorithm& algorithm, const std::vector<Problem>& problems) {
  RankSchedules schedules;
  for (const Problem& problem : problems) {
    Exchange exchange = algorithm.exchange(problem);
    schedules.push_back({exchange.input, exchange.output, Aliasing::separate(), std::move(exchange.schedule)});
  }
  const Expectation anything{Order::any, nullptr};
  if (const Verdict verdict = prove(schedules, anything); !verdict.proved())
    throw Fault{"exchange of sizes: " + verdict.fault};
  const Graph graph{schedules};
  Values values{schedules};
  Memory memory{schedules, values};
  run_in_order(graph.order(Flow::one_credit).events, graph, memory, values);
  std::vector<std::vector<Count>> known, learned;
  for (const Problem& problem : problems)
    known.push_back(known_sizes(problem));
  for (Rank rank; rank.value() < static_cast<int>(schedules.size()); rank = Rank{rank.value() + 1}) {
    learned.emplace_back();
    for (const Value value : memory.output(rank)) {
      const std::vector<Leaf> leaves = values.leaves(value, 2);
      if (leaves.size() != 1)
        throw Fault{
            fmt::format("exchange of sizes: rank {}: element {} is no size", rank.value(), learned.back().size())};
      learned.back().push_back(known[index(leaves[0].rank)][static_cast<std::size_t>(leaves[0].element.value())]);
    }
  }
  return learned;
}

}  // namespace

std::string_view to_string(Placement placement) {
  switch (placement) {
    case Placement::separate:
      return "separate";
    case Placement::in_place:
      return "in place";
    case Placement::in_place_on_even_ranks:
      return "in place on even ranks";
  }
  return "?";
}

std::string to_text(const Case& what) {
  std::string text = fmt::format("{} ranks, {} elements, {}", what.size, what.count.value(), to_string(what.placement));
  if (what.root != Rank{0}) text += fmt::format(", root {}", what.root.value());
  if (what.parameter != 0) text += fmt::format(", parameter {}", what.parameter);
  if (what.segment > Count{0}) text += fmt::format(", segments of {}", what.segment.value());
  if (what.is_fused) text += ", fused";
  if (!what.nodes.empty()) text += fmt::format(", nodes {}", fmt::join(what.nodes, ","));
  if (!what.sockets.empty()) text += fmt::format(", sockets {}", fmt::join(what.sockets, ","));
  if (!what.counts.empty()) {
    text += ", counts";
    for (std::size_t i = 0; i < std::min<std::size_t>(what.counts.size(), 16); ++i)
      text += fmt::format(" {}", what.counts[i].value());
    if (what.counts.size() > 16) text += " ...";
    if (what.gap > Count{0}) text += fmt::format(" with gaps of {}", what.gap.value());
  }
  return text;
}

Problem even_problem(const Algorithm& algorithm, const Case& what, Rank rank) {
  Problem problem{rank, what.size, what.count};
  problem.collective = algorithm.collective;
  problem.root = what.root;
  problem.parameter = what.parameter > 0 ? what.parameter : algorithm.parameter.fallback;
  problem.nodes = what.nodes;
  problem.sockets = what.sockets;
  return problem;
}

Problems::Problems(const Algorithm& algorithm, const Case& what)
    : nodes_(std::make_shared<const std::vector<int>>(what.nodes)),
      sockets_(std::make_shared<const std::vector<int>>(what.sockets)) {
  for (int rank = 0; rank < what.size; ++rank) {
    problems_.push_back(even_problem(algorithm, what, Rank{rank}));
    problems_.back().nodes = *nodes_;
    problems_.back().sockets = *sockets_;
  }
  if (!what.counts.empty()) list_blocks(what);
  for (Problem& problem : problems_) {
    const bool even = problem.rank.value() % 2 == 0;
    if (what.placement == Placement::in_place || (what.placement == Placement::in_place_on_even_ranks && even))
      problem.aliasing = called_in_place(problem);
  }
  if (algorithm.exchange == nullptr || what.counts.empty()) return;
  auto learned = learned_by(algorithm, problems_);
  for (std::size_t rank = 0; rank < learned.size(); ++rank) {
    lists_->push_back(std::move(learned[rank]));
    problems_[rank].learned = lists_->back();
  }
}

void Problems::list_blocks(const Case& what) {
  const auto size = static_cast<std::size_t>(what.size);
  lists_->reserve(6 * size);  // views into it stay valid
  for (const Problem& problem : problems_) {
    const Rank rank = problem.rank;
    const std::vector<Count> all = what.counts, own{what.counts[index(rank)]};
    const bool at_root = rank == what.root;
    if (problem.collective == Collective::reduce_scatter) list(rank, all, {}, Count{0});
    if (problem.collective == Collective::allgather) list(rank, {}, all, what.gap);
    if (problem.collective == Collective::gather) list(rank, own, at_root ? all : own, what.gap);
    if (problem.collective == Collective::scatter) list(rank, at_root ? all : own, own, what.gap);
    if (problem.collective == Collective::alltoall) {
      std::vector<Count> sent, received;
      for (std::size_t peer = 0; peer < size; ++peer) {
        sent.push_back(what.counts[index(rank) * size + peer]);
        received.push_back(what.counts[peer * size + index(rank)]);
      }
      list(rank, sent, received, what.gap);
    }
  }
}

/// Lists of one block are a rank's own, which has no offset; and gather and scatter list only one side off the root.
void Problems::list(Rank rank, std::vector<Count> in, std::vector<Count> out, Count gap) {
  Problem& problem = problems_[index(rank)];
  const bool at_root = rank == problem.root;
  const Collective collective = problem.collective;
  const bool only_in = collective == Collective::gather && !at_root,
             only_out = collective == Collective::scatter && !at_root;
  const bool one_in = collective == Collective::gather, one_out = collective == Collective::scatter;
  if (!in.empty() && !only_out) problem.in = keep(std::move(in), one_in ? Count{0} : gap);
  if (!out.empty() && !only_in) problem.out = keep(std::move(out), one_out ? Count{0} : gap);
}

BlockList Problems::keep(std::vector<Count> counts, Count gap) {
  lists_->push_back(std::move(counts));
  const std::vector<Count>& kept = lists_->back();
  if (gap == Count{0}) return {kept, {}};
  std::vector<Count> offsets;
  Count end;
  for (const Count count : kept) {
    offsets.push_back(end + gap);
    end += gap + count;
  }
  lists_->push_back(std::move(offsets));
  return {kept, lists_->back()};
}

namespace {

RankSchedules schedules_of(const Algorithm& algorithm, const Problems& problems, Count segment) {
  RankSchedules schedules;
  for (Rank rank; rank.value() < problems.size(); rank = Rank{rank.value() + 1}) {
    const Problem& problem = problems.of(rank);
    const auto [input, output] = shape_of(problem);
    schedules.push_back({input, output, problem.aliasing, built(algorithm, problem, segment)});
  }
  return schedules;
}

}  // namespace

RankSchedules schedules_of(const Algorithm& algorithm, const Problems& problems) {
  return schedules_of(algorithm, problems, Count{0});
}

RankSchedules schedules_of(const Algorithm& algorithm, const Problems& problems, const Case& what) {
  // The passes take for granted that schedules have their form.
  RankSchedules schedules = schedules_of(algorithm, problems, Count{0});
  if (what.segment > Count{0}) {
    require_form(schedules);
    schedules = schedules_of(algorithm, problems, what.segment);
  }
  if (!what.is_fused) return schedules;
  require_form(schedules);
  for (RankSchedule& own : schedules)
    own.schedule = fused(std::move(own.schedule));
  return schedules;
}

RankSchedules schedules_of(const Algorithm& algorithm, const Case& what) {
  return schedules_of(algorithm, Problems{algorithm, what}, what);
}

}  // namespace tutti::checker
