#include "tests/shm/shm_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <unordered_set>

#include "tests/shm/shm_steps.hpp"

namespace tutti::shm::test {
namespace {

struct State {
  Ends ends;
  std::vector<std::byte> memory;
};

/// Tells states apart: 128 bits, for practical purposes never the same of two different ones.
struct Digest {
  std::uint64_t low = 1, high = 2;
  void add(std::uint64_t number) {
    low = mix(low, number);
    high = mix(high ^ 0x5851f42d4c957f2d, number);
  }
  bool operator==(const Digest&) const = default;
};
struct DigestHash {
  std::size_t operator()(const Digest& digest) const { return digest.low; }
};

void append(const End& end, std::vector<std::uint64_t>& numbers) {
  append_private_state(end.channel, numbers);
  for (std::size_t stream = 0; stream < most_streams; ++stream) {
    numbers.push_back(end.done.sent[stream]);
    numbers.push_back(end.done.received[stream]);
    numbers.push_back(end.may_send[stream] ? 1 : 0);
  }
  numbers.push_back(static_cast<std::uint64_t>(end.phase));
  if (end.phase == End::Phase::idle) return;  // its last message makes no difference
  numbers.push_back(end.stream);
  numbers.push_back(static_cast<std::uint64_t>(end.bounce.where));
  numbers.push_back(static_cast<std::uint64_t>(end.bounce.number));
  numbers.push_back(static_cast<std::uint64_t>(end.came.where));
  numbers.push_back(end.came.number);
}

Digest digest_of(const State& state) {
  std::vector<std::uint64_t> numbers;
  for (const End& end : state.ends.end)
    append(end, numbers);
  for (const BouncePool& pool : state.ends.pool)
    append_private_state(pool, numbers);
  Digest digest;
  for (const std::uint64_t number : numbers)
    digest.add(number);
  for (std::size_t at = 0; at < state.memory.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, state.memory.data() + at, sizeof word);
    digest.add(word);
  }
  return digest;
}

class Exploration {
 public:
  Exploration(const Pattern& pattern, Mutant mutant) : steps_(pattern, mutant) {}

  Verdict run() {
    visit(State{steps_.first(), steps_.arena().saved()});
    while (!open_.empty() && verdict_.problem.empty()) {
      const std::unique_ptr<State> state = std::move(open_.back());
      open_.pop_back();
      expand(*state);
    }
    verdict_.states = seen_.size();
    return verdict_;
  }

 private:
  /// Remembers a state; false if it is known.
  bool visit(State&& state) {
    if (!seen_.insert(digest_of(state)).second) return false;
    open_.push_back(std::make_unique<State>(std::move(state)));
    return true;
  }
  void expand(const State& state) {
    const Digest here = digest_of(state);
    bool goes_on = false;
    for (int side = 0; side < 2; ++side)
      for (int choice = 0; choice < steps_.choices(state.ends.end[static_cast<std::size_t>(side)]); ++choice) {
        steps_.arena().restore(state.memory);
        steps_.arena().pools() = state.ends.pool;
        State next{state.ends, {}};
        steps_.step(next.ends, side, choice);
        next.ends.pool = steps_.arena().pools();
        verdict_.problem = steps_.problem(next.ends);
        if (!verdict_.problem.empty()) return;
        next.memory = steps_.arena().saved();
        goes_on |= !(digest_of(next) == here);
        visit(std::move(next));
      }
    // Every step is an advance of some counter, so that there are no circles: nothing but an end leads nowhere.
    if (goes_on) return;
    if (steps_.is_final(state.ends))
      ++verdict_.finals;
    else
      verdict_.problem = describe(state.ends);
  }
  static std::string describe(const Ends& ends) {
    std::string text = "deadlock:";
    for (const End& end : ends.end)
      text += fmt::format(" sent {}, {}, {}, received {}, {}, {};", end.done.sent[0], end.done.sent[1],
                          end.done.sent[2], end.done.received[0], end.done.received[1], end.done.received[2]);
    return text;
  }

  Steps steps_;
  Verdict verdict_;
  std::unordered_set<Digest, DigestHash> seen_;
  std::vector<std::unique_ptr<State>> open_;
};

}  // namespace

Verdict explore(const Pattern& pattern, Mutant mutant) { return Exploration{pattern, mutant}.run(); }

}  // namespace tutti::shm::test
