#pragma once
// Writes schedules in the textbook's verbs and finds the dependencies between steps.

#include <map>
#include <utility>
#include <vector>

#include "tutti/export.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule.hpp"

namespace tutti {

/// The steps that last touched each element of one buffer: disjoint intervals with a last writer and its later readers.
class AccessMap {
 public:
  /// Adds to `found` the steps that a read of [begin, end) must follow, and notes the read.
  TUTTI_API void read(Count begin, Count end, int step, std::vector<int>& found);
  /// Adds to `found` the steps that a write of [begin, end) must follow, and notes the write.
  TUTTI_API void write(Count begin, Count end, int step, std::vector<int>& found);

 private:
  static constexpr int nobody = -1;
  struct Interval {
    Count end;
    int writer = nobody;
    std::vector<int> readers;
  };
  using Intervals = std::map<Count, Interval>;
  void cut(Count at);
  Intervals::iterator cover(Count begin, Count end);
  Intervals intervals_;
};

/// The accesses of one rank's steps to its three buffers.
class Accesses {
 public:
  explicit Accesses(const Aliasing& aliasing) : aliasing_(aliasing) {}
  /// Adds to `found` the steps that `step` has to follow, and `step` itself if it writes elements that it reads; notes
  /// its accesses.
  TUTTI_API void note(int step, const Regions& reads, const Regions& writes, std::vector<int>& found);

 private:
  Aliasing aliasing_;
  AccessMap maps_[3];
};

/// Collects the steps of one rank. Steps take effect as if they ran in the order they were written; the builder infers
/// which of them really have to wait for others (read after write, write after read, write after write).
///
/// - Messages are numbered per pair of ranks, in the order written.
/// - Steps on no elements are dropped (on both sides alike, as counts agree), and so are copies onto themselves and the
///   empty regions of a message.
/// - A signal orders: `signal` leaves after all earlier steps, and steps written after `await` start after it.
///
/// Errors: std::logic_error if a region leaves its buffer or names none, sizes differ, `input` would be written,
/// regions overlap partly, or a rank would send to itself. Cost: O(log s) per step for s steps.
class ScheduleBuilder {
 public:
  /// Builds on buffers of the sizes that the problem's collective has.
  TUTTI_API explicit ScheduleBuilder(const Problem& problem);
  /// Builds on buffers of other sizes.
  TUTTI_API ScheduleBuilder(const Problem& problem, Count input, Count output);
  ScheduleBuilder(const ScheduleBuilder&) = delete;
  ScheduleBuilder& operator=(const ScheduleBuilder&) = delete;
  TUTTI_API ~ScheduleBuilder();

  [[nodiscard]] Region input() const { return {Buffer::input, Count{0}, input_}; }
  [[nodiscard]] Region output() const { return {Buffer::output, Count{0}, output_}; }
  /// Fresh scratch of `count` elements with undefined contents.
  TUTTI_API Region scratch(Count count);

  void send(const Region& from, Rank to) { send(Regions{from}, to); }
  void recv(const Region& into, Rank from) { recv(Regions{into}, from); }
  TUTTI_API void send(const Regions& from, Rank to);
  TUTTI_API void recv(const Regions& into, Rank from);
  TUTTI_API void reduce(const Region& lhs, const Region& rhs, const Region& into);
  /// Reduces lists of regions of equal total, piece by piece.
  TUTTI_API void reduce(const Regions& lhs, const Regions& rhs, const Regions& into);
  /// Reduces `theirs`, which came from `peer`, and `mine` in the order of the two ranks.
  TUTTI_API void reduce_in_order(Rank peer, const Region& theirs, const Region& mine, const Region& into);
  TUTTI_API void copy(const Region& from, const Region& into);
  TUTTI_API void copy(const Regions& from, const Regions& into);
  TUTTI_API void signal(Rank to);
  TUTTI_API void await(Rank from);
  /// The steps that `append(place, size)` writes are those of a group, to which this rank must belong: peers are places
  /// in the group, and the order of ranks is the order of the group. So phases of whole communicators serve as phases
  /// of nodes, or of their leaders.
  template <class Append>
  void within(const Group& group, const Append& append) {
    const Group* outer = std::exchange(group_, &group);
    append(Rank{group.me}, group.size());
    group_ = outer;
  }
  /// The number of steps written so far.
  [[nodiscard]] int steps() const { return static_cast<int>(schedule_.steps.size()); }
  /// Sets a pace: every step written from here on waits for the steps first..last-1, on any elements, until the next
  /// call names others. For limits on the number of steps under way at a time.
  TUTTI_API void follow(int first, int last);

  /// The schedule; the builder must not be used afterwards.
  [[nodiscard]] TUTTI_API Schedule build();

 private:
  void add(Action action, const Regions& reads, const Regions& writes);
  void add_signal(Action action);
  void append(Action action, std::vector<int> after);
  void require_inside(const Region& region) const;
  void require_writable(const Region& region) const;
  /// The rank of a peer, which is given as its place in the group of `within`.
  [[nodiscard]] Rank peer_at(Rank place) const;

  Rank rank_;
  int size_;
  Count input_, output_;
  Aliasing aliasing_;
  Schedule schedule_;
  Accesses accesses_;
  std::map<Rank, int> sent_, received_;
  std::vector<int> since_signal_;  ///< Steps that the next signal has to wait for.
  int fence_ = -1;                 ///< The last await: every later step waits for it.
  std::vector<int> paced_by_;      ///< The steps of the last `follow`.
  const Group* group_ = nullptr;   ///< The group of `within`; none: all ranks.
};

}  // namespace tutti
