#pragma once
// A collective as one rank sees it: explicit point-to-point steps on regions of three buffers.
// No pointers, no data types, no MPI: a schedule can be cached, printed, compared and proved.

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "tutti/types.hpp"

namespace tutti {

enum class Buffer : std::uint8_t { input, output, scratch };

/// `count` elements of a buffer from `offset` on.
struct Region {
  Buffer buffer = Buffer::input;
  Count offset, count;
  bool operator==(const Region&) const = default;
  /// The same elements of another buffer of the same shape.
  [[nodiscard]] Region in(Buffer other) const { return {other, offset, count}; }
  /// The first `n` elements.
  [[nodiscard]] Region first(Count n) const { return {buffer, offset, n}; }
};

/// What one message carries, in order. Empty: a signal, a message without data that only orders.
using Regions = std::vector<Region>;

/// `message`: the how-manieth from this rank to `to`, from 0.
struct Send {
  Rank to;
  Regions from;
  int message = 0;
};
/// `message`: the how-manieth from `from` to this rank, from 0.
struct Recv {
  Rank from;
  Regions into;
  int message = 0;
};
/// into = lhs (+) rhs. All three have the same count; `into` may be `lhs` or `rhs` exactly.
struct Reduce {
  Region lhs, rhs, into;
};
struct Copy {
  Region from, into;
};

using Action = std::variant<Send, Recv, Reduce, Copy>;

/// `after`: the steps of the same rank that must have completed before this one starts, ascending.
struct Step {
  Action action;
  std::vector<int> after;
};

/// The steps of one rank and the elements of scratch that they use.
struct Schedule {
  std::vector<Step> steps;
  Count scratch;
};

/// Where the input lies: in memory of its own, or inside the output from some element on (0 = plain in place).
class Aliasing {
 public:
  constexpr Aliasing() = default;
  static constexpr Aliasing separate() { return {}; }
  static constexpr Aliasing in_place() { return inside_output(Count{0}); }
  static constexpr Aliasing inside_output(Count offset) {
    Aliasing aliasing;
    aliasing.offset_ = offset;
    return aliasing;
  }
  /// Where in the output the input starts; nothing if they are separate.
  [[nodiscard]] constexpr std::optional<Count> offset() const { return offset_; }
  bool operator==(const Aliasing&) const = default;

 private:
  std::optional<Count> offset_;
};

/// What one rank asks of an algorithm. Everything but `rank` and `aliasing` is the same on all ranks,
/// and no message may depend on `aliasing`.
struct Problem {
  Rank rank;
  int size = 1;
  Count count;
  Aliasing aliasing;
};

}  // namespace tutti
