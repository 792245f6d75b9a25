#pragma once
// The records for people: a table, and the lines around it, which say what was measured and how to read the figures.
// All lines but the rows of the table start with '#'.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/machine.hpp"
#include "apps/bench/records.hpp"
#include "apps/bench/settings.hpp"

namespace tutti::bench {

/// Microseconds in at most eight characters, with about four significant digits: "0.0904", "12.34", "105600".
[[nodiscard]] std::string time_text(double microseconds);
[[nodiscard]] std::string bandwidth_text(double gigabytes_per_second);
/// "1.234", or "-" if there is none.
[[nodiscard]] std::string ratio_text(const std::optional<double>& ratio);

class Table {
 public:
  /// What is shown of a call's DeviceWork.
  enum class Work : std::uint8_t { none, bytes, of_driver };
  /// Widths of the columns whose texts are known beforehand; `peer` is empty if nothing is compared.
  struct Layout {
    std::size_t type, op, algorithm;
    std::string_view peer;
    Work work = Work::none;
    bool has_overlap = false;
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
  bool compared_, overlapped_;
  Work work_;
};

/// "# ?: not resolved, 3 of 22 ratios: ...", and what is doubtful about how many; nothing if all are resolved.
[[nodiscard]] std::string doubts_text(std::span<const Ratio> ratios);

/// The same of overlaps.
[[nodiscard]] std::string doubts_text(std::span<const Overlap> overlaps);

/// Once, at the start.
[[nodiscard]] std::string preface(const Settings& settings, const Machine& machine);
/// Before the table of one collective on `ranks` ranks.
[[nodiscard]] std::string heading(const Experiment& what, const Settings& settings, int ranks);
/// After it.
[[nodiscard]] std::string notes(const Experiment& what, const Settings& settings, const Machine& machine,
                                std::span<const Record> records);
/// At the end: a line for each collective and algorithm, and the wrong elements of all collectives together.
[[nodiscard]] std::string to_text(std::span<const Summary> summaries);

}  // namespace tutti::bench
