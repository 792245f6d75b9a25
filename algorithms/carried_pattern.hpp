#pragma once
// The blocks of differing sizes that ranks of a node carry for each other.

#include "tutti/algorithm.hpp"

namespace tutti {

/// Tells which blocks of differing sizes go over another rank to save messages. Larger ones go straight to their
/// receiver; both ends know this by themselves.
class Carried {
 public:
  /// The parameter: elements of the largest block that is carried; 0: all are.
  static constexpr Parameter parameter{.name = "largest", .fallback = 0, .unit = Parameter::Unit::bytes};
  explicit Carried(const Problem& problem) : largest_(problem.uneven() ? problem.parameter : 0) {}
  [[nodiscard]] bool operator()(Count block) const { return largest_ == Count{0} || block <= largest_; }

 private:
  Count largest_;
};

}  // namespace tutti
