// Programs in which ranks read and write the buffers of their peers.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "lib/core/plan/pair_order.hpp"
#include "lib/device/stream/program.hpp"

namespace tutti::stream {
namespace {

using shm::SharedPlan;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// A message: its sender, the step there, its receiver, and the step there.
struct Message {
  int from, sent, to, received;
};

/// Finds the delivery of every message, from the plans of all ranks.
class Chooser {
 public:
  explicit Chooser(std::span<const SharedPlan> plans) : plans_(plans) {
    for (const SharedPlan& plan : plans) {
      pairs_.push_back(by_pair(plan.steps));
      after_.push_back(dependencies_of(plan));
      deliveries_.emplace_back(plan.steps.size());
    }
  }

  [[nodiscard]] std::vector<Deliveries> deliveries() && {
    for_all([this](const Message& message) {
      if (may_be_pushed(message)) choose(message, Delivery::Of::pushed);
    });
    for_all([this](const Message& message) {
      if (sent(message).bytes > 0 && !is_pushed(message.from, message.sent) && stays(message))
        choose(message, Delivery::Of::pulled);
    });
    return std::move(deliveries_);
  }

 private:
  [[nodiscard]] const CompiledStep& step(int rank, int i) const { return plans_[index(rank)].steps[index(i)]; }
  [[nodiscard]] const CompiledStep& sent(const Message& message) const { return step(message.from, message.sent); }
  [[nodiscard]] bool is_pushed(int rank, int i) const {
    return deliveries_[index(rank)][index(i)].of == Delivery::Of::pushed;
  }
  [[nodiscard]] const std::vector<int>& messages(int rank, int peer, bool receives) const {
    return pairs_[index(rank)].at({peer, receives});
  }

  template <class Do>
  void for_all(const Do& make) const {
    for (int rank = 0; rank < static_cast<int>(plans_.size()); ++rank)
      for (const auto& [pair, sends] : pairs_[index(rank)])
        for (std::size_t k = 0; !pair.second && k < sends.size(); ++k)
          make(Message{rank, sends[k], pair.first, messages(pair.first, rank, true)[k]});
  }
  void choose(const Message& message, Delivery::Of of) {
    const CompiledStep &there = step(message.to, message.received), &here = sent(message);
    deliveries_[index(message.from)][index(message.sent)] = {of, there.into, there.into_at};
    deliveries_[index(message.to)][index(message.received)] = {of, here.lhs, here.lhs_at};
  }

  /// The sender makes the data out of a message of the receiver's, which says that the receiver has begun. Their place
  /// is free from then on, or holds that message, and nothing else reads it.
  [[nodiscard]] bool may_be_pushed(const Message& message) const {
    const CompiledStep& recv = step(message.to, message.received);
    if (recv.verb != Verb::recv || recv.bytes == 0 || plans_[index(message.to)].side(message.received).joint >= 0)
      return false;
    const auto back = pairs_[index(message.to)].find({message.from, false});
    if (back == pairs_[index(message.to)].end()) return false;
    const std::vector<int>& taken = messages(message.from, message.to, true);
    for (std::size_t k = 0; k < taken.size(); ++k)
      if (is_made_of(message, taken[k]) && is_free_after(message, back->second[k])) return true;
    return false;
  }
  [[nodiscard]] bool is_made_of(const Message& message, int taken) const {
    const SharedPlan& plan = plans_[index(message.from)];
    const int joint = plan.side(taken).joint;
    return std::ranges::any_of(after_[index(message.from)][index(message.sent)], [&](int before) {
      return before == taken || (joint >= 0 && plan.side(before).joint == joint);
    });
  }
  [[nodiscard]] bool is_free_after(const Message& message, int sent_back) const {
    const CompiledStep &recv = step(message.to, message.received), &back = step(message.to, sent_back);
    const std::vector<int>& after = after_[index(message.to)][index(message.received)];
    if (back.bytes == 0 || after.empty()) return back.bytes > 0;  // without data it is not sent
    const SharedPlan& plan = plans_[index(message.to)];
    return after.size() == 1 && after[0] == sent_back && recv.bytes == back.bytes &&
           place_of(plan, recv.into, recv.into_at) == place_of(plan, back.lhs, back.lhs_at);
  }

  /// Whether the data of a message stay as they are until the sender's program ends, but for the receiver's own answer.
  [[nodiscard]] bool stays(const Message& message) const {
    const SharedPlan& plan = plans_[index(message.from)];
    const Dependencies& after = after_[index(message.from)];
    const CompiledStep& send = sent(message);
    const Place place = place_of(plan, send.lhs, send.lhs_at);
    const auto is_over = [&](int i) {
      return i < message.sent || std::ranges::find(after[index(message.sent)], i) != after[index(message.sent)].end();
    };
    for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i) {
      const CompiledStep& later = plan.steps[index(i)];
      if (later.verb == Verb::send || is_over(i)) continue;
      const Place written = place_of(plan, later.into, later.into_at);
      const bool overlaps = written.first == place.first && written.second < place.second + send.bytes &&
                            place.second < written.second + later.bytes;
      const bool is_answer = is_pushed(message.from, i) && after[index(i)] == std::vector{message.sent};
      if (overlaps && !is_answer) return false;
    }
    return true;
  }

  std::span<const SharedPlan> plans_;
  std::vector<Messages> pairs_;         ///< By rank.
  std::vector<Dependencies> after_;     ///< By rank.
  std::vector<Deliveries> deliveries_;  ///< By rank.
};

/// What ranks know of each other's progress at the end of their programs, by their flags alone.
class Progress {
 public:
  explicit Progress(const std::vector<Program>& programs)
      : programs_(programs),
        next_(programs.size()),
        known_(programs.size(), std::vector<std::size_t>(programs.size())) {
    for (bool moves = true; moves;) {
      moves = false;
      for (std::size_t rank = 0; rank < programs.size(); ++rank)
        while (step(rank))
          moves = true;
    }
  }
  /// So many commands of another rank are surely over when a rank has made its own.
  [[nodiscard]] std::size_t known(std::size_t rank, std::size_t other) const { return known_[rank][other]; }

 private:
  using Known = std::vector<std::size_t>;
  /// False: it is over, or waits.
  bool step(std::size_t rank) {
    if (next_[rank] == programs_[rank].commands.size()) return false;
    const Command& command = programs_[rank].commands[next_[rank]];
    const auto peer = static_cast<std::size_t>(command.peer);
    if (command.does == Does::tell) told_[{rank, peer}].emplace(command.number, known_[rank]);
    if (command.does == Does::wait_for_message) {
      const auto& told = told_[{peer, rank}];
      const auto found = told.lower_bound(command.number);
      if (found == told.end()) return false;
      std::ranges::transform(known_[rank], found->second, known_[rank].begin(),
                             [](std::size_t a, std::size_t b) { return std::max(a, b); });
    }
    known_[rank][rank] = ++next_[rank];
    return true;
  }

  const std::vector<Program>& programs_;
  std::vector<std::size_t> next_;
  std::vector<Known> known_;
  std::map<std::pair<std::size_t, std::size_t>, std::map<std::uint32_t, Known>> told_;  ///< By sender and receiver.
};

/// Lets every rank wait at its end for those that may still read its buffers.
void wait_for_readers(std::vector<Program>& programs) {
  const Progress progress{programs};
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    const auto is_here = [&](const Spot& spot) {
      return spot.of == Spot::Of::lent && spot.peer == static_cast<int>(rank);
    };
    const auto touches = [&](const Command& command) {
      return std::ranges::any_of(command.inputs, is_here) || std::ranges::any_of(command.outputs, is_here);
    };
    for (std::size_t peer = 0; peer < programs.size(); ++peer) {
      const std::vector<Command>& its = programs[peer].commands;
      const auto last = std::find_if(its.rbegin(), its.rend(), touches);
      if (static_cast<std::size_t>(its.rend() - last) > progress.known(rank, peer))
        programs[rank].commands.push_back({.does = Does::wait_until_free, .peer = static_cast<int>(peer)});
    }
  }
}

}  // namespace

std::vector<Program> direct_programs(std::span<const SharedPlan> plans) {
  const std::vector<Deliveries> deliveries = Chooser{plans}.deliveries();
  std::vector<Program> programs;
  for (std::size_t rank = 0; rank < plans.size(); ++rank)
    programs.push_back(program_of(plans[rank], deliveries[rank]));
  wait_for_readers(programs);
  return programs;
}

}  // namespace tutti::stream
