#pragma once
// The steps of the two ends of shm_model.hpp, on memory that is put back before each of them.

#include <functional>

#include "tests/shm/shm_model.hpp"
#include "tests/shm/shm_support.hpp"

namespace tutti::shm::test {

/// The memory of two ends, and the parts of it that matter.
class Arena {
 public:
  explicit Arena(const Geometry& geometry)
      : geometry_(geometry), memory_(geometry.window_bytes(2)), pools_{pool(0), pool(1)} {}

  [[nodiscard]] Channel channel(int side) {
    const auto me = static_cast<std::size_t>(side);
    return {geometry_, memory_.data(), side, memory_.data() + geometry_.pool_at(2, 1 - side), pools_[me]};
  }
  [[nodiscard]] BouncePool pool(int side) { return {geometry_, memory_.data() + geometry_.pool_at(2, side)}; }
  /// Where the channels' references lead.
  [[nodiscard]] std::array<BouncePool, 2>& pools() { return pools_; }
  [[nodiscard]] std::byte* data() { return memory_.data(); }

  [[nodiscard]] std::vector<std::byte> saved();
  void restore(const std::vector<std::byte>& saved);

 private:
  /// Calls visit(offset, bytes) for the parts that are used.
  void for_parts(const std::function<void(std::int64_t, std::int64_t)>& visit) const;

  Geometry geometry_;
  Memory memory_;
  std::array<BouncePool, 2> pools_;
};

class Steps {
 public:
  Steps(const Pattern& pattern, Mutant mutant) : pattern_(pattern), mutant_(mutant), arena_(pattern.geometry) {}

  [[nodiscard]] Arena& arena() { return arena_; }
  [[nodiscard]] Ends first() { return {{End{arena_.channel(0)}, End{arena_.channel(1)}}, arena_.pools(), {}}; }
  /// The number of calls that the end may make next; step() takes 0 .. choices() - 1.
  [[nodiscard]] int choices(const End& end) const;
  /// One call; nothing happens if it cannot do anything.
  void step(Ends& ends, int side, int choice);
  [[nodiscard]] bool is_final(const Ends& ends) const;
  /// The fault of the state that the steps led to; empty: none.
  [[nodiscard]] std::string problem(const Ends& ends);

 private:
  void begin_send(Ends& ends, int side, std::size_t stream);
  void begin_receive(Ends& ends, int side, std::size_t stream);
  void send_in_cell(Ends& ends, int side, std::size_t stream, std::size_t of);
  void take_buffer(Ends& ends, int side, std::size_t stream);
  void share(Ends& ends, int side, std::size_t stream);
  void send_buffer(Ends& ends, int side);
  void read(const End& end, int side);
  void release(Ends& ends, int side);
  [[nodiscard]] int holders(const Ends& ends, int owner, int number);

  [[nodiscard]] const std::vector<MessageKind>& kinds(int side, std::size_t stream) const {
    return (side == 0 ? pattern_.from_0 : pattern_.from_1)[stream];
  }
  [[nodiscard]] int lane_of(std::size_t stream) const { return pattern_.streams[stream]; }
  [[nodiscard]] bool may_begin(const End& end, int side, std::size_t stream, bool to_send) const {
    return pattern_.may_begin == nullptr || pattern_.may_begin(end.done, side, stream, to_send);
  }
  static std::uint64_t message(int from, std::size_t stream, std::uint64_t n) {
    return mix(static_cast<std::uint64_t>(from) * most_streams + stream + 1, n);
  }
  const Pattern& pattern_;
  Mutant mutant_;
  Arena arena_;
  std::string problem_;
};

/// The private state of an end's channel and pool, as numbers.
void append_private_state(const Channel& channel, std::vector<std::uint64_t>& numbers);
void append_private_state(const BouncePool& pool, std::vector<std::uint64_t>& numbers);

}  // namespace tutti::shm::test
