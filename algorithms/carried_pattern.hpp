#pragma once
// Which blocks of differing sizes ranks of a node carry for each other.

#include "tutti/algorithm.hpp"

namespace tutti {

/// Of blocks of differing sizes, those that go over another rank to save messages. Larger ones go straight to where
/// they belong, which both ends know by themselves.
class Carried {
 public:
  /// The parameter: elements of the largest that is carried; 0: all are.
  static constexpr Parameter parameter{.name = "largest", .fallback = 0, .unit = Parameter::Unit::bytes};
  explicit Carried(const Problem& problem) : largest_(problem.uneven() ? problem.parameter : 0) {}
  [[nodiscard]] bool operator()(Count block) const { return largest_ == Count{0} || block <= largest_; }

 private:
  Count largest_;
};

}  // namespace tutti
