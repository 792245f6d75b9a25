#include "phases_block_rounds.hpp"

#include <map>

#include "folded_pattern.hpp"
#include "phases.hpp"

namespace tutti {
namespace {

/// The blocks with the listed numbers, but not that of `but`, who has it.
Regions chosen_but(const Blocks& blocks, const std::vector<int>& numbers, Rank but) {
  Regions regions;
  for (const int number : numbers)
    if (Rank{number} != but) Blocks::append(regions, blocks[number]);
  return regions;
}

/// The partial sums of a rank: where it has that of each block, and two areas in turn for those that arrive.
class SumsOfBlocks {
 public:
  SumsOfBlocks(ScheduleBuilder& plan, const Problem& problem, const std::vector<BlockRound>& rounds)
      : plan_(plan), own_(problem.rank) {
    const Blocks in = input_blocks(problem);
    for (int block = 0; block < problem.size; ++block)
      at_.push_back(in[block]);
    Count room[2];
    for (const BlockRound& round : rounds) {
      if (round.from.empty()) continue;
      last_ = &round;
      Count& most = room[turn_];
      const bool leaf = round.given.empty() && rounds.front().kept.empty();  // has given everything away
      if (!leaf) most = std::max(most, static_cast<int>(round.from.size()) * total(places(round.kept)));
      turn_ = 1 - turn_;
    }
    for (int area = 0; area < 2; ++area)
      areas_[area] = plan.scratch(room[area]);
    turn_ = 0;
    result_ = landing(plan, problem);
  }
  void append(const BlockRound& round) {
    for (const auto& [peer, blocks] : round.given) {
      Regions sums;
      for (const Region& sum : places(blocks))
        Blocks::append(sums, sum);
      plan_.send(sums, peer);
      gave_all_ = round.kept.empty();
    }
    if (gave_all_ && !round.from.empty()) plan_.recv(result_, round.from.front());
    if (!gave_all_ && !round.from.empty()) append_sums(round);
  }
  [[nodiscard]] const Region& result() const { return result_; }

 private:
  static std::size_t index(int block) { return static_cast<std::size_t>(block); }
  [[nodiscard]] Regions places(const std::vector<int>& blocks) const {
    Regions places;
    for (const int block : blocks)
      places.push_back(at_[index(block)]);
    return places;
  }
  void append_sums(const BlockRound& round) {
    const Regions mine = places(round.kept);
    Region area = areas_[turn_];
    turn_ = 1 - turn_;
    std::map<Rank, Regions> operands;
    operands[own_] = mine;
    for (const Rank from : round.from) {
      operands[from] = laid_out(mine, area);
      plan_.recv(operands[from], from);
      area = rest(area, total(mine));
    }
    const Regions kept = operands[round.from.front()];
    for (std::size_t block = 0; block < mine.size(); ++block) {
      Regions sum;
      for (const auto& [rank, operand] : operands)
        sum.push_back(operand[block]);
      const bool done = &round == last_ && Rank{round.kept[block]} == own_;
      Region& place = at_[index(round.kept[block])] = done ? result_ : kept[block];
      append_reduction(plan_, sum, mine[block], place);
    }
  }
  ScheduleBuilder& plan_;
  Rank own_;
  Regions at_;
  Region areas_[2], result_;
  int turn_ = 0;
  bool gave_all_ = false;
  const BlockRound* last_ = nullptr;  ///< The last round that receives.
};

}  // namespace

Schedule reduce_scatter_in_rounds(const Problem& problem, const std::vector<BlockRound>& rounds) {
  ScheduleBuilder plan{problem};
  if (problem.size == 1) {
    plan.copy(plan.input(), plan.output());
    return plan.build();
  }
  SumsOfBlocks sums{plan, problem, rounds};
  for (const BlockRound& round : rounds)
    sums.append(round);
  plan.copy(sums.result(), plan.output());
  return plan.build();
}

Schedule allgather_in_rounds(const Problem& problem, const std::vector<BlockRound>& rounds) {
  ScheduleBuilder plan{problem};
  const Blocks out = output_blocks(problem);
  plan.copy(plan.input(), out[problem.rank.value()]);
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    const bool alone = round->kept == std::vector{problem.rank.value()};
    for (const Rank peer : round->from)
      plan.send(alone ? Regions{plan.input()} : chosen_but(out, round->kept, peer), peer);
    for (const auto& [peer, blocks] : round->given)
      plan.recv(chosen_but(out, blocks, problem.rank), peer);
  }
  return plan.build();
}

}  // namespace tutti
