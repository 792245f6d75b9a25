#pragma once
// Which long messages are read in the memory of their sender (single copy), and which are staged in areas.

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/engine/compiled_plan.hpp"
#include "lib/shm/links.hpp"

namespace tutti::shm {

/// Single copy is faster where data that did not change are read again, and often where both ranks send; staging where
/// data were just written, as both ranks then work at the same time. Which holds is measured, for each peer of an
/// operation: the time from its first long message to the end of all. The receiver measures, and wishes; of two ranks
/// that send each other the lower one for both, as both ways of one of them do not mix well. The sender does as is
/// wished.
class Exposures {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Way : std::uint8_t { staged, exposed };

  /// Of a plan whose channels are open, areas reserved. `locals`: as of Route.
  Exposures(Links& links, std::span<const int> locals, const CompiledPlan& plan, SingleCopyUse use);

  /// Whether it might be worth it.
  [[nodiscard]] static bool is_long(const CompiledStep& step) {
    constexpr std::int64_t least = 16 * 1024L;
    return step.bytes >= least && step.path == Path::ring;
  }

  /// A run begins.
  void begin();
  /// Whether a send may be exposed: it has to be worth it, share no copy, and be of a ring, where messages that
  /// are refused can follow. The receiver might come late: nothing of this rank may wait for it but the end.
  [[nodiscard]] static bool may_expose(const CompiledStep& step) {
    return is_long(step) && step.group < 0 && step.first_dependent == step.last_dependent;
  }
  [[nodiscard]] bool is_wished(const CompiledStep& send) const;
  /// A send begins this way.
  void sends(const CompiledStep& send, Way way);
  /// A long message has arrived, or its first piece, the writing of which took so long.
  void arrives(const CompiledStep& recv, Way way, std::chrono::nanoseconds ago);
  void is_over(const CompiledStep& step);
  [[nodiscard]] static bool may_be_read(const CompiledStep& recv) {
    return recv.verb == Verb::recv && recv.joint < 0;  // what is reduced is taken from areas as it is
  }
  /// An exposed message is not read: the system does not allow it, or it was wished for another plan's receive, and
  /// this one may not be read.
  void refuses(const CompiledStep& recv);

 private:
  /// What goes on with a peer.
  struct Pair {
    MessageKind kind{};
    bool is_measured = false;  ///< Here, and not by the peer.
    bool is_both_ways = false;
    std::int64_t bytes = 0;
    int messages = 0, left = 0;            ///< Long ones; in this run.
    bool staged = false, exposed = false;  ///< Whether any was, in this run.
    Clock::time_point began{};
    int mixed = 0;  ///< Runs of both kinds, one after the other.
  };

  [[nodiscard]] std::size_t local_of(const CompiledStep& step) const {
    return static_cast<std::size_t>(locals_[static_cast<std::size_t>(step.peer)]);
  }
  [[nodiscard]] Pair& pair_of(const CompiledStep& step) { return pairs_[local_of(step)]; }
  [[nodiscard]] const Pair& pair_of(const CompiledStep& step) const { return pairs_[local_of(step)]; }
  [[nodiscard]] Wishes& wishes_of(const CompiledStep& step) const {
    return links_->wishes(static_cast<int>(local_of(step)));
  }
  void conclude(Pair& pair, Wishes& wishes);

  Links* links_;
  std::span<const int> locals_;
  bool may_reduce_, is_always_;
  std::vector<Pair> pairs_;  ///< By what `links` calls the peer.
};

}  // namespace tutti::shm
