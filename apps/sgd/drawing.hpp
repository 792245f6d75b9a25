#pragma once
// The pictures of a report, as SVG. Their colours suit light and dark pages alike.

#include <string>
#include <vector>

#include "apps/sgd/timeline.hpp"

namespace tutti::sgd {

/// Values by their number.
struct Curves {
  struct Series {
    std::string name;
    std::vector<double> values;
    int first = 1;  ///< The number of the first value.
  };
  std::string title, x_title;
  bool is_logarithmic = false;  ///< In y, if all values are positive. Else y begins at 0.
  std::vector<Series> series = {};
};
[[nodiscard]] std::string svg_of(const Curves& curves);
/// Time runs from left to right; spans that overlap lie below each other.
[[nodiscard]] std::string svg_of(const std::vector<Timeline::Span>& step);

}  // namespace tutti::sgd
