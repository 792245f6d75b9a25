#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "lib/core/plan/compile.hpp"

namespace tutti {
namespace {

bool overlap(const Place& a, std::int64_t a_bytes, const Place& b, std::int64_t b_bytes) {
  return a.first == b.first && a.second < b.second + b_bytes && b.second < a.second + a_bytes;
}

/// Chains of reductions become one step each, which combines the operands of all: those that no reduction of this rank
/// has made.
class Chains {
 public:
  Chains(CompiledPlan& plan, Dependencies& after)
      : plan_(plan),
        after_(after),
        dependents_(dependents_of(after)),
        chains_(plan.steps.size()),
        waits_(plan.steps.size()) {}

  void join() {
    for (int i = 0; i < count(); ++i)
      if (step(i).verb == Verb::reduce) chains_[index(i)] = chain_of(i);
    for (int i = 0; i < count(); ++i)
      if (is_passed_on(i)) passed_on_.push_back(i);
    for (int i = 0; i < count(); ++i)
      if (step(i).verb != Verb::send && !is_in(passed_on_, i)) note_write(i);
    for (int i = 0; i < count(); ++i)
      if (chains_[index(i)].size() > 2 && !is_in(passed_on_, i)) keep_operands(i);
    for (int i = 0; i < count(); ++i)
      make_step(i);
  }

 private:
  /// An operand, and the reduction that reads it in the schedule.
  struct Operand {
    Buffer buffer = Buffer::input;
    std::int64_t at = 0;
    int reader = 0;
  };

  static std::size_t index(int step) { return static_cast<std::size_t>(step); }
  static bool is_in(const std::vector<int>& steps, int step) { return std::ranges::binary_search(steps, step); }
  [[nodiscard]] int count() const { return static_cast<int>(plan_.steps.size()); }
  [[nodiscard]] CompiledStep& step(int i) { return plan_.steps[index(i)]; }
  [[nodiscard]] const CompiledStep& step(int i) const { return plan_.steps[index(i)]; }
  [[nodiscard]] Place into(int i) const { return place_of(plan_, step(i).into, step(i).into_at); }

  /// The last reduction before step i that made all of the data there; -1: none.
  [[nodiscard]] int maker(int i, Buffer buffer, std::int64_t at) const {
    const Place place = place_of(plan_, buffer, at);
    int last = -1;
    for (const int j : after_[index(i)])
      if (step(j).verb == Verb::reduce && into(j) == place && step(j).bytes == step(i).bytes) last = std::max(last, j);
    return last;
  }
  [[nodiscard]] std::vector<Operand> chain_of(int i) const {
    const CompiledStep& its = step(i);
    std::vector<Operand> all;
    for (const auto& [buffer, at] : {std::pair{its.lhs, its.lhs_at}, std::pair{its.rhs, its.rhs_at}}) {
      const int made = maker(i, buffer, at);
      if (made < 0)
        all.push_back({buffer, at, i});
      else
        all.insert(all.end(), chains_[index(made)].begin(), chains_[index(made)].end());
    }
    return all;
  }

  /// The buffers that a step reads.
  [[nodiscard]] std::vector<std::pair<Buffer, std::int64_t>> read_by(int i) const {
    const CompiledStep& its = step(i);
    if (its.verb == Verb::recv) return {};
    if (its.verb != Verb::reduce) return {{its.lhs, its.lhs_at}};
    return {{its.lhs, its.lhs_at}, {its.rhs, its.rhs_at}};
  }
  /// Whether the result of a reduction only goes into the next ones, which have its operands themselves.
  [[nodiscard]] bool is_passed_on(int i) const {
    if (step(i).verb != Verb::reduce) return false;
    const Place made = into(i);
    bool is_written_again = made.first == Buffer::scratch;
    for (const int later : dependents_[index(i)])
      for (const auto& [buffer, at] : read_by(later)) {
        if (!overlap(place_of(plan_, buffer, at), step(later).bytes, made, step(i).bytes)) continue;
        const int its_maker = step(later).verb == Verb::reduce ? maker(later, buffer, at) : -1;
        if (its_maker < i) return false;  // it reads the result as it is
        is_written_again |= its_maker == i && into(later) == made;
      }
    return is_written_again;
  }

  void note_write(int i) {
    written_.emplace(into(i), i);
    longest_ = std::max(longest_, step(i).bytes);
  }

  /// The operands have to stay until the whole chain is combined, which is later than the schedule reads them.
  void keep_operands(int i) {
    const std::int64_t bytes = step(i).bytes;
    for (const Operand& operand : chains_[index(i)]) {
      const Place place = place_of(plan_, operand.buffer, operand.at);
      for (auto write = written_.lower_bound({place.first, place.second - longest_}); write != written_.end();
           ++write) {
        const auto& [written, writer] = *write;
        if (written.first != place.first || written.second >= place.second + bytes) break;
        if (!overlap(written, step(writer).bytes, place, bytes) || writer < operand.reader) continue;
        if (writer > i)
          after_[index(writer)].push_back(i);
        else if (writer < i || written != place)
          throw std::logic_error("step " + std::to_string(writer) + " writes an operand of step " + std::to_string(i) +
                                 ", which combines all at once");
      }
    }
  }

  /// Steps whose results are passed on become copies of nothing. Each step that waits for one waits for all that it
  /// waited for instead: so one that combines many waits for their receives alone, as joint reductions need it.
  void make_step(int i) {
    const std::vector<Operand>& chain = chains_[index(i)];
    CompiledStep& its = step(i);
    std::vector<int>& before = after_[index(i)];
    for (std::size_t k = 0; k < before.size(); ++k)
      if (is_in(passed_on_, before[k])) {
        const std::vector<int>& more = waits_[index(before[k])];
        before.insert(before.end(), more.begin(), more.end());
      }
    std::erase_if(before, [&](int j) { return is_in(passed_on_, j); });
    if (is_in(passed_on_, i)) {
      its = {};
      waits_[index(i)] = std::exchange(before, {});
    } else if (chain.size() > 2) {
      its.verb = Verb::combine;
      its.operands = static_cast<int>(plan_.operands.size());
      auto& places = plan_.operands.emplace_back();
      for (const Operand& operand : chain)
        places.emplace_back(operand.buffer, operand.at);
    }
  }

  CompiledPlan& plan_;
  Dependencies& after_;
  Dependencies dependents_;
  std::vector<std::vector<Operand>> chains_;  ///< By step; empty: it reduces nothing.
  std::vector<int> passed_on_;
  std::vector<std::vector<int>> waits_;  ///< Of those: the steps that they waited for.
  std::multimap<Place, int> written_;    ///< Where steps write that are kept.
  std::int64_t longest_ = 0;             ///< Bytes of them.
};

}  // namespace

void combine_at_once(CompiledPlan& plan, Dependencies& after) {
  Chains{plan, after}.join();
  for (std::vector<int>& before : after) {
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
  }
}

}  // namespace tutti
