#include "apps/bench/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apps/bench/memory.hpp"

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

/// The cells of the columns that `work` has.
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

enum class Whose : bool { ours, peers };

/// The cells of the columns of an overlap.
void add_overlap(const std::optional<Overlap>& overlap, Whose whose, std::vector<std::string>& cells) {
  if (whose == Whose::ours) cells.push_back(overlap ? time_text(overlap->compute_us.median) : "-");
  cells.push_back(overlap ? time_text(overlap->total_us.median) : "-");
  cells.push_back(overlap ? fmt::format("{:.0f}", overlap->percent) : "-");
  cells.push_back(overlap && !overlap->is_resolved() ? "?" : "");
}

}  // namespace

std::string time_text(double microseconds) { return with_digits(microseconds, 4); }

std::string bandwidth_text(double gigabytes_per_second) { return with_digits(gigabytes_per_second, 3); }

std::string ratio_text(const std::optional<double>& ratio) { return ratio ? fmt::format("{:.3f}", *ratio) : "-"; }

Table::Table(const Layout& layout)
    : compared_(!layout.peer.empty()), overlapped_(layout.has_overlap), work_(layout.work) {
  const auto wide = [](std::string_view title, std::size_t width) { return std::max(title.size(), width); };
  columns_ = {{"size", "(B)", 11},
              {"count", "(elements)", 10},
              {"type", "", wide("type", layout.type), Side::left},
              {"op", "", wide("op", layout.op), Side::left},
              {"algorithm", "", wide("algorithm", layout.algorithm), Side::left},
              {"transport", "", 9, Side::left},
              {"place", "", 5, Side::left},
              {"p10", "(us)", 8},
              {"median", "(us)", 8},
              {"p90", "(us)", 8},
              {"algbw", "(GB/s)", 7},
              {"busbw", "(GB/s)", 7},
              {"#wrong", "", 6}};
  if (compared_) {
    columns_.push_back({layout.peer, "(us)", wide(layout.peer, 8)});
    columns_.push_back({"ratio", "", 6});
    columns_.push_back({"", "", 1, Side::left});
  }
  if (overlapped_) {
    columns_.insert(columns_.end(),
                    {{"compute", "(us)", 8}, {"total", "(us)", 8}, {"overlap", "(%)", 7}, {"", "", 1, Side::left}});
  }
  if (overlapped_ && compared_) {
    columns_.insert(columns_.end(), {{"total", "(mpi)", 8}, {"overlap", "(mpi)", 7}, {"", "", 1, Side::left}});
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
                                    time_text(record.time_us.p10),
                                    time_text(record.time_us.median),
                                    time_text(record.time_us.p90),
                                    bandwidth_text(record.algbw),
                                    bandwidth_text(record.busbw),
                                    record.wrong ? fmt::to_string(*record.wrong) : "-"};
  if (compared_) {
    cells.push_back(record.peer ? time_text(record.peer->time_us.median) : "-");
    cells.push_back(record.peer ? fmt::format("{:.2f}", record.peer->ratio.value) : "-");
    cells.push_back(record.peer && !record.peer->ratio.is_resolved() ? "?" : "");
  }
  if (overlapped_) {
    add_overlap(record.overlap, Whose::ours, cells);
    if (compared_) add_overlap(record.peer ? record.peer->overlap : std::nullopt, Whose::peers, cells);
  }
  for (std::string& cell : work_cells(record.device.value_or(DeviceWork{}), work_)) {
    cells.push_back(std::move(cell));
  }
  return line(cells);
}

std::string preface(const Settings& settings, const Machine& machine) {
  std::string text = fmt::format("# {}\n", machine.command);
  text += fmt::format("# ranks {}, nodes {} ({}), hardware threads {}, {}\n", machine.ranks, machine.nodes,
                      machine.hosts.front(), machine.cores, machine.mpi);
  if (machine.has_more_ranks_than_cores()) {
    text += "# more ranks than hardware threads: times say how ranks take turns, more than how data moves\n";
  }
  if (settings.compare == "mpi") {
    text += fmt::format("# MPI: {}\n# MPI's settings: {}\n", machine.mpi_version,
                        machine.mpi_settings.empty() ? "none in the environment"
                                                     : fmt::format("{}", fmt::join(machine.mpi_settings, " ")));
  }
  text += fmt::format("# {} calls, {} memory; times are of the slowest rank, over {} rounds\n",
                      to_string(mode_of(settings)), settings.memory, settings.rounds);
  if (!machine.devices.empty()) {
    text += fmt::format("# devices, by rank: {}\n", fmt::join(machine.devices, ", "));
  }
  if (settings.is_touched) {
    text +=
        fmt::format("# inputs are rewritten before each call; calls are timed alone, reading the clock: {:.0f} ns\n",
                    machine.clock_cost_ns);
  }
  return text;
}

std::string heading(const Experiment& what, const Settings& settings, int ranks) {
  const BenchCollective& collective = *what.collective;
  std::string text = fmt::format("#\n# {}", collective.name);
  if (settings.list > 0) text += fmt::format(" of lists of {} buffers of the size,", settings.list);
  if (collective.has_data()) text += fmt::format(" of {}", settings.type);
  if (collective.reduces()) text += fmt::format(", {}", settings.op);
  if (collective.has_root()) text += fmt::format(", root {}", settings.root);
  if (!settings.ranks.empty()) text += fmt::format(", on {} ranks", ranks);
  text += '\n';
  if (collective.divided == Divided::unevenly || collective.divided == Divided::unevenly_by_pair) {
    text += fmt::format("# blocks differ, with the same total on all ranks: between 1/2 and 3/2 of the mean, {}\n",
                        collective.divided == Divided::unevenly ? "growing from rank 0 to the last"
                                                                : "block j of rank i like block i of rank j");
  }
  if (collective.is_one_way()) text += "# ranks meet in a barrier before each call, which is timed alone\n";
  const bool is_asked = settings.placement == "both" || what.placements == placements_named(settings.placement);
  if (!is_asked && collective.has_data()) {
    text += fmt::format("# it has no call {} place\n", settings.placement == "out" ? "out of" : "in");
  }
  return text;
}

std::string to_text(std::span<const Summary> summaries) {
  std::size_t collective = 10, algorithm = 9;  // the titles
  std::optional<std::int64_t> wrong;
  for (const Summary& summary : summaries) {
    collective = std::max(collective, summary.collective.size());
    algorithm = std::max(algorithm, summary.algorithm.size());
    if (summary.wrong) wrong = wrong.value_or(0) + *summary.wrong;
  }
  const auto line = [&](std::string_view name, std::string_view ranks, std::string_view how, std::string_view out,
                        std::string_view in, std::string_view doubtful, std::string_view bad) {
    return fmt::format("# {:<{}} {:>5} {:<{}} {:>12} {:>8} {:>12} {:>6}\n", name, collective, ranks, how, algorithm,
                       out, in, doubtful, bad);
  };
  std::string text = "#\n# Summary: geometric means of the ratios, and how many of these are not resolved\n";
  text += line("collective", "ranks", "algorithm", "out of place", "in place", "not resolved", "#wrong");
  for (const Summary& s : summaries) {
    text += line(s.collective, fmt::to_string(s.ranks), s.algorithm, ratio_text(s.out_of_place), ratio_text(s.in_place),
                 s.ratios == 0 ? "-" : fmt::format("{} of {}", s.unresolved, s.ratios),
                 s.wrong ? fmt::to_string(*s.wrong) : "-");
  }
  return wrong ? text + fmt::format("# wrong elements in all: {}\n", *wrong) : text;
}

}  // namespace tutti::bench
