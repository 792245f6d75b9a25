#include "lib/engine/compiled_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <utility>

#include "lib/schedule/pack_messages.hpp"
#include "lib/schedule/passes.hpp"

namespace tutti {
namespace {

using Dependencies = std::vector<std::vector<int>>;

struct Compile {
  std::int64_t element;
  CompiledPlan& plan;

  [[nodiscard]] std::int64_t at(const Region& region) const { return element * region.offset.value(); }
  [[nodiscard]] std::int64_t length(const Region& region) const { return element * region.count.value(); }

  CompiledStep operator()(const Send& send) const {
    ++plan.sends;
    CompiledStep step{.verb = Verb::send, .peer = send.to.value(), .message = send.message};
    if (send.from.empty()) return step;
    step.lhs = send.from[0].buffer;
    step.lhs_at = at(send.from[0]);
    step.bytes = length(send.from[0]);
    return step;
  }
  CompiledStep operator()(const Recv& recv) const {
    ++plan.recvs;
    if (recv.then) return joined(recv);
    CompiledStep step{.verb = Verb::recv, .peer = recv.from.value(), .message = recv.message};
    if (recv.into.empty()) return step;
    step.into = recv.into[0].buffer;
    step.into_at = at(recv.into[0]);
    step.bytes = length(recv.into[0]);
    return step;
  }
  [[nodiscard]] CompiledStep joined(const Recv& recv) const {
    CompiledStep step = (*this)(*recv.then);
    step.verb = Verb::recv_reduce;
    step.lands_left = recv.then->lhs == recv.into[0];
    step.peer = recv.from.value();
    step.message = recv.message;
    return step;
  }
  CompiledStep operator()(const Reduce& reduce) const {
    return {.verb = Verb::reduce,
            .lhs = reduce.lhs.buffer,
            .rhs = reduce.rhs.buffer,
            .into = reduce.into.buffer,
            .lhs_at = at(reduce.lhs),
            .rhs_at = at(reduce.rhs),
            .into_at = at(reduce.into),
            .bytes = length(reduce.into)};
  }
  CompiledStep operator()(const Copy& copy) const {
    return {.verb = Verb::copy,
            .lhs = copy.from.buffer,
            .into = copy.into.buffer,
            .lhs_at = at(copy.from),
            .into_at = at(copy.into),
            .bytes = length(copy.into)};
  }
};

/// The steps of one pair's messages in one direction, in order of their numbers.
using Messages = std::map<std::pair<int, bool>, std::vector<int>>;  // by peer, and whether it sends

Messages by_pair(const std::vector<CompiledStep>& steps) {
  Messages pairs;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const CompiledStep& step = steps[i];
    if (!step.is_message()) continue;
    pairs[{step.peer, step.verb != Verb::send}].push_back(static_cast<int>(i));  // numbers ascend with steps
  }
  return pairs;
}

/// Makes message m of each pair and direction wait for message m - window, but in shared memory.
void limit_messages(const std::vector<CompiledStep>& steps, const Messages& pairs, int window, Dependencies& after) {
  const auto ahead = static_cast<std::size_t>(window);
  for (const auto& [pair, numbered] : pairs) {
    if (is_shared_memory(steps[static_cast<std::size_t>(numbered[0])].path)) continue;
    for (std::size_t m = ahead; m < numbered.size(); ++m)
      after[static_cast<std::size_t>(numbered[m])].push_back(numbered[m - ahead]);
  }
}

std::int64_t pieces_of(const CompiledPlan& plan, const CompiledStep& step, std::int64_t most) {
  const std::int64_t piece = plan.piece_of(most);
  return std::max<std::int64_t>(1, (step.bytes + piece - 1) / piece);
}

/// Pieces that the messages of one pair and direction leave in.
std::int64_t pieces_of(const CompiledPlan& plan, const std::vector<int>& messages, std::int64_t most) {
  std::int64_t pieces = 0;
  for (const int step : messages)
    pieces += pieces_of(plan, plan.steps[static_cast<std::size_t>(step)], most);
  return pieces;
}

/// Decides how messages travel, from what both ends of a pair know alike: how many there are, of which sizes.
void choose_paths(CompiledPlan& plan, const Messages& pairs, Path far, const SharedMemory& memory) {
  for (const auto& [pair, numbered] : pairs) {
    const auto& [peer, receives] = pair;
    for (std::size_t m = 1; m < numbered.size(); ++m)
      plan.steps[static_cast<std::size_t>(numbered[m])].previous = numbered[m - 1];
    if (memory.reaches.empty() || memory.reaches[static_cast<std::size_t>(peer)] == 0) {
      for (const int message : numbered)
        plan.steps[static_cast<std::size_t>(message)].path = far;
      (far == Path::mpi ? plan.uses_mpi : plan.uses_network) = true;
      continue;
    }
    const auto back = pairs.find({peer, !receives});
    const std::int64_t pieces = pieces_of(plan, numbered, memory.piece_bytes);
    const bool is_balanced = back != pairs.end() && pieces == pieces_of(plan, back->second, memory.piece_bytes);
    const Path path = plan.takes_turns && is_balanced && pieces <= memory.swap_slots ? Path::swap : Path::ring;
    std::int64_t slot = 0;
    for (const int message : numbered) {
      CompiledStep& step = plan.steps[static_cast<std::size_t>(message)];
      step.path = path;
      step.slot = path == Path::swap ? static_cast<int>(slot) : 0;
      slot += pieces_of(plan, step, memory.piece_bytes);
    }
  }
}

/// Finds what may be written in place before it is sent: the results of receive-and-reduce steps that go back to where
/// the data came from, and those places for them that are free once the data have been read.
class Answers {
 public:
  Answers(CompiledPlan& plan, const Messages& pairs, const Dependencies& after, const Aliasing& aliasing)
      : plan_(plan), pairs_(pairs), after_(after), aliasing_(aliasing) {}

  void find() {
    for (const auto& [pair, messages] : pairs_) {
      const auto& [peer, receives] = pair;
      if (receives || !is_shared_memory(step(messages[0]).path)) continue;
      for (const int send : messages)
        find_result(send);
      const auto back = pairs_.find({peer, true});
      if (back != pairs_.end()) find_places(messages, back->second);
    }
  }

 private:
  [[nodiscard]] CompiledStep& step(int i) { return plan_.steps[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const std::vector<int>& after(int i) const { return after_[static_cast<std::size_t>(i)]; }

  void find_result(int send) {
    if (!is_result(send)) return;
    step(after(send)[0]).forward = send;
    plan_.forwards = true;
  }
  /// Whether the send waits for nothing but a receive-and-reduce whose result it sends.
  [[nodiscard]] bool is_result(int send) {
    if (after(send).size() != 1) return false;
    const CompiledStep &sent = step(send), &made = step(after(send)[0]);
    return made.verb == Verb::recv_reduce && is_shared_memory(made.path) && made.bytes == sent.bytes &&
           made.into == sent.lhs && made.into_at == sent.lhs_at;
  }

  /// For each send of other data the next receive whose place is free from the start, or is that of the data sent.
  void find_places(const std::vector<int>& sends, const std::vector<int>& recvs) {
    std::size_t next = 0;
    for (const int send : sends) {
      if (is_result(send)) continue;
      while (next < recvs.size() && !fits(send, recvs[next]))
        ++next;
      if (next == recvs.size()) return;
      const CompiledStep& recv = step(recvs[next++]);
      CompiledStep& sent = step(send);
      sent.answer = recv.message;
      sent.into = recv.into;
      sent.into_at = recv.into_at;
    }
  }
  [[nodiscard]] bool fits(int send, int recv) {
    const CompiledStep &to = step(recv), &from = step(send);
    if (to.verb != Verb::recv || to.bytes != from.bytes || to.bytes == 0) return false;
    if (after(recv).empty()) return true;
    return after(recv).size() == 1 && after(recv)[0] == send &&
           place(to.into, to.into_at) == place(from.lhs, from.lhs_at);
  }
  [[nodiscard]] std::pair<Buffer, std::int64_t> place(Buffer buffer, std::int64_t at) const {
    if (buffer != Buffer::input || !aliasing_.offset()) return {buffer, at};
    return {Buffer::output, at + aliasing_.offset()->value() * plan_.element};
  }

  CompiledPlan& plan_;
  const Messages& pairs_;
  const Dependencies& after_;
  const Aliasing& aliasing_;
};

/// Finds the sends of the same data: of the same region, which no step writes between them.
class SendGroups {
 public:
  SendGroups(CompiledPlan& plan, const Aliasing& aliasing) : plan_(plan), aliasing_(aliasing) {}

  void find() {
    for (CompiledStep& step : plan_.steps) {
      if (step.verb == Verb::send) {
        if (is_shared_memory(step.path) && step.bytes > 0) join(step);
        continue;
      }
      const Span written = span(step.into, step.into_at, step.bytes);
      std::erase_if(open_, [&](const Open& open) { return overlap(open.data, written); });
    }
  }

 private:
  struct Span {
    Buffer buffer;
    std::int64_t begin, end;
    bool operator==(const Span&) const = default;
  };
  struct Open {
    Span data;
    CompiledStep* first;
    std::vector<int> peers;
  };

  static bool overlap(const Span& a, const Span& b) {
    return a.buffer == b.buffer && a.begin < b.end && b.begin < a.end;
  }
  [[nodiscard]] Span span(Buffer buffer, std::int64_t at, std::int64_t bytes) const {
    if (buffer == Buffer::input && aliasing_.offset()) {
      buffer = Buffer::output;
      at += aliasing_.offset()->value() * plan_.element;
    }
    return {buffer, at, at + bytes};
  }
  void join(CompiledStep& send) {
    const Span data = span(send.lhs, send.lhs_at, send.bytes);
    const auto same = std::ranges::find(open_, data, &Open::data);
    if (same == open_.end()) {
      open_.push_back({data, &send, {send.peer}});
      return;
    }
    // Once for each reader: what a reader has to give back is bounded.
    if (std::ranges::find(same->peers, send.peer) != same->peers.end()) return;
    same->peers.push_back(send.peer);
    if (same->first->group < 0) same->first->group = plan_.groups++;
    send.group = same->first->group;
  }

  CompiledPlan& plan_;
  const Aliasing& aliasing_;
  std::vector<Open> open_;
};

/// Whether everything that step i waits for has completed whenever step i + 1 may start, for all i.
bool starts_in_order(const Dependencies& after) {
  const std::size_t n = after.size();
  constexpr std::size_t worth_proving = 512;  // longer plans gain nothing that shows
  if (n > worth_proving) return false;
  std::vector<std::vector<bool>> completed(n, std::vector<bool>(n));  // [i][j]: j has completed before i starts
  for (std::size_t i = 0; i < n; ++i)
    for (const int before : after[i]) {
      const auto j = static_cast<std::size_t>(before);
      if (j > i) return false;
      completed[i][j] = true;
      for (std::size_t k = 0; k < j; ++k)
        if (completed[j][k]) completed[i][k] = true;
    }
  for (std::size_t i = 0; i + 1 < n; ++i)
    for (const int before : after[i])
      if (!completed[i + 1][static_cast<std::size_t>(before)]) return false;
  return true;
}

void flatten(const Dependencies& after, CompiledPlan& plan) {
  Dependencies dependents(after.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    plan.waits.push_back(static_cast<int>(after[i].size()));
    const Verb verb = plan.steps[i].verb;
    for (const int before : after[i]) {
      dependents[static_cast<std::size_t>(before)].push_back(static_cast<int>(i));
      if (verb == Verb::reduce || verb == Verb::recv_reduce)
        plan.steps[static_cast<std::size_t>(before)].makes_room = true;
    }
  }
  for (std::size_t i = 0; i < after.size(); ++i) {
    plan.steps[i].first_dependent = static_cast<int>(plan.dependents.size());
    plan.dependents.insert(plan.dependents.end(), dependents[i].begin(), dependents[i].end());
    plan.steps[i].last_dependent = static_cast<int>(plan.dependents.size());
  }
}

}  // namespace

std::string CompiledPlan::name() const {
  if (choice.algorithm == nullptr) return "point-to-point";
  return std::string{to_string(problem.collective)} + " (" + to_text(choice) + ")";
}

void CompiledPlan::combine(const void* lhs, const void* rhs, void* into, void* also, std::int64_t bytes) const {
  const auto elements = static_cast<std::size_t>(bytes >> element_shift);
  if (reduce_many != nullptr) {
    const void* const operands[] = {lhs, rhs};
    return reduce_many(operands, 2, into, also, elements);
  }
  combine(lhs, rhs, into, bytes);
  std::memcpy(also, into, static_cast<std::size_t>(bytes));
}

CompiledPlan compile(const Schedule& schedule, const Problem& problem, Type type, const Op& op, MessageWindow window,
                     const SharedMemory& memory) {
  const Schedule packed = pack_messages(schedule);
  CompiledPlan plan;
  plan.problem = problem;
  plan.problem.in = plan.problem.out = {};
  plan.problem.learned = {};
  plan.type = type;
  plan.op = op;
  plan.ranks = problem.size;
  const bool untouched = problem.collective == Collective::exscan && problem.rank == Rank{0};
  plan.count = untouched ? 0 : shape_of(problem).output.value();
  plan.element = size_of(type).value();
  plan.element_shift = std::countr_zero(static_cast<std::uint64_t>(plan.element));
  plan.reduce = op.kind() == Op::Kind::user ? nullptr : reduce_kernel(op.kind(), type);
  plan.reduce_many = op.kind() == Op::Kind::user ? nullptr : reduce_many_kernel(op.kind(), type);
  plan.scratch_bytes = plan.element * packed.scratch.value();
  Dependencies after;
  for (const Step& step : packed.steps) {
    plan.steps.push_back(std::visit(Compile{plan.element, plan}, step.action));
    after.push_back(step.after);
  }
  plan.takes_turns = window.takes_turns;
  const Messages pairs = by_pair(plan.steps);
  choose_paths(plan, pairs, window.far, memory);
  SendGroups{plan, problem.aliasing}.find();
  Answers{plan, pairs, after, problem.aliasing}.find();
  limit_messages(plan.steps, pairs, window.messages, after);
  plan.in_order = starts_in_order(after);
  flatten(after, plan);
  return plan;
}

CompiledPlan compile(const Choice& choice, const Problem& problem, Type type, const Op& op, MessageWindow window,
                     const SharedMemory& memory) {
  const std::int64_t elements = choice.segment / size_of(type).value();
  const Count segment{choice.segment > 0 ? std::max<std::int64_t>(1, elements) : 0};
  Schedule schedule = built(*choice.algorithm, problem, segment);
  CompiledPlan plan = compile(fused(std::move(schedule)), problem, type, op, window, memory);
  plan.choice = choice;
  return plan;
}

}  // namespace tutti
