#include "apps/bench/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::bench {

namespace {

std::string with_digits(double value, int most_decimals) {
  int decimals = most_decimals;
  for (double limit = 1; decimals > 0 && value >= limit; limit *= 10) {
    --decimals;
  }
  return fmt::format("{:.{}f}", value, decimals);
}

std::string place_text(const Record& record) {
  if (record.count == 0) return "-";
  return record.placement == Placement::in_place ? "in" : "out";
}

/// As many as the columns that `work` has.
std::vector<std::string> work_cells(const DeviceWork& device, Table::Work work) {
  std::vector<std::string> cells;
  if (work != Table::Work::none) cells.push_back(fmt::format("{:.0f}", device.fetched_bytes + device.stored_bytes));
  if (work != Table::Work::of_driver) return cells;
  const DriverWork driver = device.driver.value_or(DriverWork{});
  for (const double count : {driver.calls, driver.kernels, driver.copies, driver.synchronisations}) {
    cells.push_back(fmt::format("{:g}", count));
  }
  cells.push_back(device.traffic_share ? fmt::format("{:.2f}", *device.traffic_share) : "-");
  return cells;
}

}  // namespace

std::string time_text(double microseconds) { return with_digits(microseconds, 4); }

std::string bandwidth_text(double gigabytes_per_second) { return with_digits(gigabytes_per_second, 3); }

Table::Table(const Layout& layout) : compared_(!layout.peer.empty()), work_(layout.work) {
  const auto wide = [](std::string_view title, std::size_t width) { return std::max(title.size(), width); };
  columns_ = {{"size", "(B)", 11},
              {"count", "(elements)", 10},
              {"type", "", wide("type", layout.type), Side::left},
              {"op", "", wide("op", layout.op), Side::left},
              {"algorithm", "", wide("algorithm", layout.algorithm), Side::left},
              {"transport", "", 9, Side::left},
              {"place", "", 5, Side::left},
              {"min", "(us)", 8},
              {"median", "(us)", 8},
              {"max", "(us)", 8},
              {"algbw", "(GB/s)", 7},
              {"busbw", "(GB/s)", 7},
              {"#wrong", "", 6}};
  if (compared_) {
    columns_.push_back({layout.peer, "(us)", wide(layout.peer, 8)});
    columns_.push_back({"ratio", "", 6});
  }
  if (work_ != Work::none) columns_.push_back({"moved", "(B)", 11});
  if (work_ == Work::of_driver) {
    columns_.insert(
        columns_.end(),
        {{"calls", "", 6}, {"kernels", "", 7}, {"copies", "", 6}, {"syncs", "", 6}, {"traffic", "(share)", 7}});
  }
}

std::string Table::line(std::span<const std::string> cells) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Column& column = columns_[i];
    if (i > 0) text += ' ';
    text += column.side == Side::left ? fmt::format("{:<{}}", cells[i], column.width)
                                      : fmt::format("{:>{}}", cells[i], column.width);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + '\n';
}

std::string Table::header() const {
  std::vector<std::string> titles, units;
  for (const Column& column : columns_) {
    titles.emplace_back(column.title);
    units.emplace_back(column.unit);
  }
  std::string text = line(titles), below = line(units);
  text.front() = below.front() = '#';
  return text + below;
}

std::string Table::row(const Record& record) const {
  std::vector<std::string> cells = {fmt::to_string(record.bytes),
                                    fmt::to_string(record.count),
                                    record.type,
                                    record.op,
                                    record.algorithm,
                                    record.transport,
                                    place_text(record),
                                    time_text(record.time_us.min),
                                    time_text(record.time_us.median),
                                    time_text(record.time_us.max),
                                    bandwidth_text(record.algbw),
                                    bandwidth_text(record.busbw),
                                    record.wrong ? fmt::to_string(*record.wrong) : "-"};
  if (compared_) {
    cells.push_back(record.peer ? time_text(record.peer->time_us.median) : "-");
    cells.push_back(record.peer ? fmt::format("{:.2f}", record.peer->ratio) : "-");
  }
  for (std::string& cell : work_cells(record.device.value_or(DeviceWork{}), work_)) {
    cells.push_back(std::move(cell));
  }
  return line(cells);
}

}  // namespace tutti::bench
