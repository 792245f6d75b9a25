#pragma once
// The steps of the two ends of shm_model.hpp, on memory that is put back before each of them.

#include <functional>

#include "tests/shm/shm_model.hpp"
#include "tests/shm/shm_support.hpp"

namespace tutti::shm::test {

/// The memory of two ends, and what of it matters.
class Arena {
 public:
  explicit Arena(const Geometry& geometry)
      : geometry_(geometry), memory_(geometry.window_bytes(2)), publishers_{publisher(0), publisher(1)} {}

  [[nodiscard]] Channel channel(int side) {
    const auto me = static_cast<std::size_t>(side);
    return {geometry_, memory_.data(), side, memory_.data() + geometry_.published_at(2, 1 - side), publishers_[me]};
  }
  [[nodiscard]] Publisher publisher(int side) { return {geometry_, memory_.data() + geometry_.published_at(2, side)}; }
  /// Where the channels' references lead.
  [[nodiscard]] std::array<Publisher, 2>& publishers() { return publishers_; }
  [[nodiscard]] std::byte* data() { return memory_.data(); }

  [[nodiscard]] std::vector<std::byte> saved();
  void restore(const std::vector<std::byte>& saved);

 private:
  /// Calls visit(offset, bytes) for the parts that are used.
  void for_parts(const std::function<void(std::int64_t, std::int64_t)>& visit) const;

  Geometry geometry_;
  Memory memory_;
  std::array<Publisher, 2> publishers_;
};

class Steps {
 public:
  Steps(const Pattern& pattern, Mutant mutant) : pattern_(pattern), mutant_(mutant), arena_(pattern.geometry) {}

  [[nodiscard]] Arena& arena() { return arena_; }
  [[nodiscard]] Ends first() { return {{End{arena_.channel(0)}, End{arena_.channel(1)}}, arena_.publishers(), {}}; }
  /// What the end may call next: 0 .. choices() - 1.
  [[nodiscard]] int choices(const End& end) const;
  /// One call; nothing happens if it cannot do anything.
  void step(Ends& ends, int side, int choice);
  [[nodiscard]] bool is_final(const Ends& ends) const;
  /// What is wrong with the state that the steps led to; empty: nothing.
  [[nodiscard]] std::string problem(const Ends& ends);

 private:
  void begin_send(Ends& ends, int side, std::size_t stream);
  void begin_receive(Ends& ends, int side, std::size_t stream);
  void take_area(Ends& ends, int side, std::size_t stream);
  void publish(Ends& ends, int side, std::size_t stream);
  void send_area(Ends& ends, int side);
  void read(const End& end, int side);
  void release(Ends& ends, int side);
  [[nodiscard]] int holders(const Ends& ends, int code, int publisher);

  [[nodiscard]] const std::vector<Kind>& kinds(int side, std::size_t stream) const {
    return (side == 0 ? pattern_.from_0 : pattern_.from_1)[stream];
  }
  [[nodiscard]] Stream stream_of(std::size_t stream, int n) const {
    return of_message(pattern_.streams[stream], static_cast<std::uint64_t>(n), pattern_.per_operation);
  }
  [[nodiscard]] bool may_begin(const End& end, int side, std::size_t stream, bool to_send) const {
    return pattern_.may_begin == nullptr || pattern_.may_begin(end.done, side, stream, to_send);
  }
  static std::uint64_t message(int from, std::size_t stream, std::uint64_t n) {
    return mix(static_cast<std::uint64_t>(from) * most_streams + stream + 1, n);
  }
  [[nodiscard]] std::byte* written_area(Ends& ends, int side) const;

  const Pattern& pattern_;
  Mutant mutant_;
  Arena arena_;
  std::string problem_;
};

/// What an end's channel keeps to itself, as numbers.
void append_private_state(const Channel& channel, std::vector<std::uint64_t>& numbers);
/// How many areas it has taken back, and which it owns.
std::uint64_t taken_back(const Channel& channel);
const std::vector<std::uint8_t>& owned_areas(const Channel& channel);
bool has_reserve(const Channel& channel, int lane);

}  // namespace tutti::shm::test
