/// Linear alltoall: every block goes straight where it belongs, to the ranks 1, 2, ..., p-1 ahead; a window limits how
/// many exchanges are under way.
/// Shapes   in[p n] -> out[p n], elements, or blocks of listed sizes; no scratch, in place about p n / 2
/// Cost     window w: p-1 messages of n elements per rank, n copied; ceil((p-1)/w) rounds
/// Needs    any p >= 1, any n >= 0
/// Source   Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005, sec. 4.3
#include "phases_alltoall.hpp"

namespace tutti {
namespace {

std::size_t index(int place) { return static_cast<std::size_t>(place); }

/// The places of the blocks to be sent; in place, it moves blocks out of the way of received ones.
class Outgoing {
 public:
  Outgoing(ScheduleBuilder& plan, const Problem& problem)
      : plan_(plan),
        in_place_(problem.aliasing.offset()),
        blocks_(input_blocks(problem)),
        needed_(index(problem.size)) {
    for (int peer = 0; peer < problem.size; ++peer) {
      at_.push_back(blocks_[peer]);
      needed_[index(peer)] = peer != problem.rank.value();
    }
  }
  /// To be called before the block from `peer` is received, and before the one for `peer` is sent.
  void keep(int peer) {
    if (!in_place_ || !needed_[index(peer)]) return;
    at_[index(peer)] = plan_.scratch(blocks_[peer].count);
    plan_.copy(blocks_[peer], at_[index(peer)]);
  }
  void send(int peer) {
    plan_.send(at_[index(peer)], Rank{peer});
    needed_[index(peer)] = false;
  }

 private:
  ScheduleBuilder& plan_;
  bool in_place_;
  Blocks blocks_;
  Regions at_;
  std::vector<bool> needed_;
};

}  // namespace

void append_exchanges(ScheduleBuilder& plan, const Problem& problem, const std::vector<BlockExchange>& exchanges,
                      int window) {
  const Blocks in = input_blocks(problem), out = output_blocks(problem);
  plan.copy(in[problem.rank.value()], out[problem.rank.value()]);
  Outgoing outgoing{plan, problem};
  std::vector<std::pair<int, int>> turns(index(window));  // of each of `window` chains: the steps of the last exchange
  for (std::size_t round = 0; const auto& [to, from] : exchanges) {
    auto& [begin, end] = turns[round++ % turns.size()];
    plan.follow(begin, end);
    const int first = plan.steps();
    outgoing.keep(from);
    outgoing.send(to);
    plan.recv(out[from], Rank{from});
    if (plan.steps() > first) begin = first, end = plan.steps();
  }
  plan.follow(0, 0);
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const std::vector<BlockExchange> exchanges = exchanges_by_distance(problem);
  append_exchanges(plan, problem, exchanges, std::min(problem.parameter, problem.size));
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  const int others = problem.size - 1;
  if (others == 0) return {.copied = n};
  if (n == Count{0}) return {};
  const int turns = (others + problem.parameter - 1) / problem.parameter;
  return {.messages = others, .rounds = turns, .sent = others * n, .copied = n};
}

}  // namespace

extern const Algorithm alltoall_linear;
constinit const Algorithm alltoall_linear{
    .collective = Collective::alltoall,
    .name = "linear",
    .order = Order::of_ranks,
    .parameter = {.name = "window", .fallback = 16, .least = 1},
    .build = build,
    .cost = cost,
    .summary = "every block straight where it belongs, a window of exchanges at a time: least volume",
    .source = "Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005",
};

}  // namespace tutti
