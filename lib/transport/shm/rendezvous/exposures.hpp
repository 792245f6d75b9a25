#pragma once
// Which long messages are read in the memory of their sender (single copy), and which are staged in areas.

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/plan/compiled_plan.hpp"
#include "lib/transport/shm/segment/links.hpp"

namespace tutti::shm {

/// Single copy is faster where data that did not change are read again, and often where both ranks send; staging where
/// data were just written, as both ranks then work at the same time. Which holds is measured, for each peer of an
/// operation: the time from its first long message to the end of all, or, where more than one rank sends in a
/// collective, the time that the rank that decides is busy copying. The receiver measures, and wishes; of two ranks
/// that send each other the lower one for both, as both ways of one of them do not mix well. The sender does as is
/// wished.
///
/// Where more than two exchange data, what one pair does changes little while all others do as before, least of all if
/// ranks take turns at processors. In a collective the node's lowest rank therefore decides for all who exchange data
/// with it, and for those with whom these do: the lower one of a pair hands on what it was told.
class Exposures {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Way : std::uint8_t { staged, exposed };

  /// Of a plan whose channels are open, areas reserved. `locals`: as of Route.
  Exposures(Links& links, std::span<const int> locals, const CompiledPlan& plan, SingleCopyUse use);

  /// Whether it might be worth it.
  [[nodiscard]] static bool is_long(const CompiledStep& step) {
    constexpr std::int64_t least = 8 * 1024L;
    return step.bytes >= least && step.path == Path::ring;
  }

  /// A run begins, of an operation in this lane.
  void begin(int lane);
  /// Whether this message may ever be exposed, so that what becomes of it is to be noted.
  [[nodiscard]] bool concerns(const CompiledStep& step) const {
    if (!is_long(step) || is_staged(pairs_[local_of(step)])) return false;
    const Wishes& wishes = wishes_of(local_of(step));
    return step.verb == Verb::send ? may_expose(step) && wishes.other_can_read()
                                   : may_be_read(step) && wishes.can_read();
  }
  /// Whether a brief run ends before this message. Among several ranks to be brief is worth more.
  [[nodiscard]] bool is_for_longer_runs(const CompiledStep& step) const { return has_two_ranks_ && concerns(step); }
  /// Whether a send may be exposed: it has to be worth it, share no copy, and be of a ring, where messages that
  /// are refused can follow. The receiver might come late: nothing of this rank may wait for it but the end, unless
  /// that waits for the receiver anyway.
  [[nodiscard]] bool may_expose(const CompiledStep& step) const {
    const bool is_waited_for = step.first_dependent != step.last_dependent;
    return is_long(step) && step.group < 0 && (!is_waited_for || is_pushed(step));
  }
  [[nodiscard]] bool is_wished(const CompiledStep& message) const;
  /// Whether a message that is to be received is likely to be exposed.
  [[nodiscard]] bool expects(const CompiledStep& step) const {
    return step.verb != Verb::send && is_long(step) && may_be_read(step) && is_wished(step);
  }
  /// A send begins this way.
  void sends(const CompiledStep& send, Way way);
  /// A long message has arrived, or its first piece, the writing of which took so long.
  void arrives(const CompiledStep& recv, Way way, std::chrono::nanoseconds ago);
  /// So long this rank was busy with a long message: writing, reading or reducing.
  void works(const CompiledStep& step, std::chrono::nanoseconds time) { pair_of(step).work += time; }
  void is_over(const CompiledStep& step);
  /// Also if it is reduced; but not if that is done with others in the same pass, nor if it is sent on in that, but
  /// between two ranks.
  [[nodiscard]] bool may_be_read(const CompiledStep& recv) const {
    return recv.joint < 0 && (recv.forward < 0 || has_two_ranks_);
  }
  /// Whether an exposed message that is not reduced is copied by its sender, and not read: in whose caches it is, as it
  /// has just made it.
  [[nodiscard]] bool is_pushed(const CompiledStep& message) const { return is_pushed(pairs_[local_of(message)]); }
  /// An exposed message is not read: the system does not allow it, or it was wished for another plan's receive, and
  /// this one may not be read.
  void refuses(const CompiledStep& recv);

 private:
  /// What goes on with a peer.
  struct Pair {
    MessageKind kind{};
    bool is_measured = false;  ///< Here, and not by another rank.
    bool is_both_ways = false;
    bool is_led = false;         ///< The node's lowest rank decides.
    bool may_be_pushed = false;  ///< Exposed messages, in runs that push.
    std::int64_t bytes = 0;
    int messages = 0, left = 0;            ///< Long ones; in this run.
    bool staged = false, exposed = false;  ///< Whether any was, in this run.
    Clock::time_point began{};
    std::chrono::nanoseconds work{};
    int mixed = 0;  ///< Runs of both kinds, one after the other.
  };

  [[nodiscard]] bool is_pushed(const Pair& pair) const { return pair.may_be_pushed && pushes_; }
  /// Whether all of its messages always are.
  [[nodiscard]] bool is_staged(const Pair& pair) const { return pair.is_both_ways && may_reduce_ && !is_pushed(pair); }
  [[nodiscard]] std::size_t local_of(const CompiledStep& step) const {
    return static_cast<std::size_t>(locals_[static_cast<std::size_t>(step.peer)]);
  }
  /// The peer with which what happens is noted, and decided.
  [[nodiscard]] std::size_t decided_with(const CompiledStep& step) const {
    const std::size_t peer = local_of(step);
    return pairs_[peer].is_led ? lead_ : peer;
  }
  [[nodiscard]] Pair& pair_of(const CompiledStep& step) { return pairs_[decided_with(step)]; }
  [[nodiscard]] Wishes& wishes_of(std::size_t peer) const { return links_->wishes(static_cast<int>(peer)); }
  void follow_the_lowest();
  void conclude(std::size_t peer);
  /// Of the peer, or of all that are led with it.
  void wish(std::size_t peer, bool exposed);

  Links* links_;
  std::span<const int> locals_;
  std::size_t me_;
  bool has_two_ranks_, may_reduce_, is_always_, waits_for_peers_;
  bool pushes_ = true;       ///< In this run.
  std::vector<Pair> pairs_;  ///< By what `links` calls the peer.
  std::size_t lead_ = 0;     ///< The lowest rank; on that itself: the first peer of those that it leads.
};

}  // namespace tutti::shm
