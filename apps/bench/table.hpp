#pragma once
// The records as lines of a table for people.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/record.hpp"

namespace tutti::bench {

/// Microseconds in at most eight characters, with about four significant digits: "0.0904", "12.34", "105600".
[[nodiscard]] std::string time_text(double microseconds);
[[nodiscard]] std::string bandwidth_text(double gigabytes_per_second);

class Table {
 public:
  /// What is shown of a call's DeviceWork.
  enum class Work : std::uint8_t { none, bytes, of_driver };
  /// Widths of the columns whose texts are known beforehand; `peer` is empty if nothing is compared.
  struct Layout {
    std::size_t type, op, algorithm;
    std::string_view peer;
    Work work = Work::none;
  };
  explicit Table(const Layout& layout);

  /// Two lines that start with '#': titles and units.
  [[nodiscard]] std::string header() const;
  [[nodiscard]] std::string row(const Record& record) const;

 private:
  enum class Side : char { left = '<', right = '>' };
  struct Column {
    std::string_view title, unit;
    std::size_t width;
    Side side = Side::right;
  };
  [[nodiscard]] std::string line(std::span<const std::string> cells) const;
  std::vector<Column> columns_;
  bool compared_;
  Work work_;
};

}  // namespace tutti::bench
