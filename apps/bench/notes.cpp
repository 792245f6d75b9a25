// The lines below a table: how to read it, and what in it cannot be believed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apps/bench/memory.hpp"
#include "apps/bench/text.hpp"

namespace tutti::bench {

namespace {

/// How a line explains the doubt, behind a number of ratios.
std::string explained(Doubt doubt) {
  switch (doubt) {
    case Doubt::few_rounds:
      return fmt::format("with fewer than {} rounds", least_rounds_for_ratio);
    case Doubt::both_sides:
      return "with 1 inside the middle half of their rounds";
    case Doubt::wide_spread:
      return "with a middle half of rounds that is wider than the ratio is far from 1";
    case Doubt::extreme:
      return fmt::format("above {0:g} or below 1/{0:g}", largest_plausible_ratio);
    case Doubt::load:
      break;
  }
  return fmt::format("measured while other processes took over {:.0f} % of the processors", 100 * most_load);
}

/// `Measured` has doubts.
template <class Measured, class Explain>
std::string doubts_of(std::span<const Measured> all, std::string_view noun, Explain explain) {
  const auto unresolved =
      std::count_if(all.begin(), all.end(), [](const Measured& each) { return !each.is_resolved(); });
  if (unresolved == 0) return {};
  std::string text = fmt::format("# ?: not resolved, {} of {} {}. Repeat the run before you believe them:\n",
                                 unresolved, all.size(), noun);
  for (const Doubt doubt : {Doubt::few_rounds, Doubt::both_sides, Doubt::wide_spread, Doubt::extreme, Doubt::load}) {
    const auto number = std::count_if(all.begin(), all.end(), [doubt](const Measured& each) {
      return std::find(each.doubts.begin(), each.doubts.end(), doubt) != each.doubts.end();
    });
    if (number > 0) text += fmt::format("#    {} {}\n", number, explain(doubt));
  }
  return text;
}

std::string explained_of_overlap(Doubt doubt) {
  if (doubt == Doubt::wide_spread)
    return fmt::format("with a middle half of rounds that is wider than {:g} points", most_overlap_spread);
  if (doubt == Doubt::extreme)
    return fmt::format("more than {:g} points below 0 or above 100 before they were bounded", most_overlap_spread);
  return explained(doubt);
}

}  // namespace

std::string doubts_text(std::span<const Ratio> ratios) { return doubts_of(ratios, "ratios", explained); }

std::string doubts_text(std::span<const Overlap> overlaps) {
  return doubts_of(overlaps, "overlaps", explained_of_overlap);
}

namespace {

/// How to read the columns of DeviceWork.
std::string work_lines(std::span<const Record> records) {
  if (records.empty() || !records.front().device) return {};
  std::string text = "# moved: bytes that a call moves between host and device, on the rank that moves most\n";
  if (records.front().device->driver) {
    text +=
        "# calls: of the driver for a call, without looks at events and changes of context; syncs: those that may "
        "wait\n"
        "# traffic: bytes on devices that all ranks read and write, as a multiple of the least number\n";
  }
  return text;
}

/// How to read the overlaps.
std::string overlap_lines(std::span<const Record> records) {
  std::vector<Overlap> all;
  for (const Record& record : records) {
    if (record.overlap) all.push_back(*record.overlap);
    if (record.peer && record.peer->overlap) all.push_back(*record.peer->overlap);
  }
  if (all.empty()) return {};
  return "# median: the call alone; compute: computation as long as that; total: both at once\n"
         "# overlap: 100 * (1 - (total - compute) / median), the share of the call that computation hides\n" +
         doubts_text(all);
}

/// How to read the ratios, and their mean.
std::string ratio_lines(std::span<const Record> records, std::string_view peer) {
  std::vector<Ratio> ratios;
  for (const Record& record : records) {
    if (record.peer) ratios.push_back(record.peer->ratio);
  }
  const std::string text = fmt::format("# ratio: the median of {} over Tutti's; above 1, Tutti is faster.", peer);
  const std::vector<Summary> summaries = summarised(records);
  if (summaries.size() > 1) return text + '\n' + doubts_text(ratios);
  const Summary& summary = summaries.front();
  std::vector<std::string> means;
  if (summary.out_of_place) means.push_back(fmt::format("out of place {:.3f}", *summary.out_of_place));
  if (summary.in_place) means.push_back(fmt::format("in place {:.3f}", *summary.in_place));
  return text + fmt::format(" Geometric mean: {}\n", fmt::join(means, ", ")) + doubts_text(ratios);
}

/// The resolved ratios among these: how many gain, and which lose.
std::string gains_and_losses(std::span<const Record* const> records) {
  constexpr double loss = 0.97, gain = 1.05;
  int gains = 0;
  std::string losses;
  for (const Record* record : records) {
    if (!record->peer->ratio.is_resolved()) continue;
    const double ratio = record->peer->ratio.value;
    if (ratio >= gain) ++gains;
    if (ratio < loss) losses += fmt::format("{}{} B ({:.2f})", losses.empty() ? "" : ", ", record->bytes, ratio);
  }
  return fmt::format("{} faster by 5 % or more; slower by 3 % or more: {}\n", gains, losses.empty() ? "none" : losses);
}

/// What other rules gain and lose, where they take another algorithm and where they do not.
std::string gain_lines(std::span<const Record> records) {
  std::vector<const Record*> changed, same;
  std::vector<double> ratios;
  for (const Record& record : records) {
    if (!record.peer) continue;
    const bool is_changed = record.algorithm != record.peer->algorithm;
    (is_changed ? changed : same).push_back(&record);
    if (is_changed) ratios.push_back(record.peer->ratio.value);
  }
  std::string text = fmt::format("# another algorithm than by the built-in rules: {} of {} measurements",
                                 changed.size(), changed.size() + same.size());
  if (!changed.empty())
    text += fmt::format(", geometric mean {:.3f}, {}", *geometric_mean(ratios), gains_and_losses(changed));
  else
    text += '\n';
  if (!same.empty())
    text += "# the same algorithm, so that only chance or constants of the file differ: " + gains_and_losses(same);
  return text;
}

}  // namespace

std::string notes(const Experiment& what, const Settings& settings, const Machine& machine,
                  std::span<const Record> records) {
  std::string text = work_lines(records) + overlap_lines(records);
  if (settings.compare == "none") return text;
  if (settings.compare == "default") return text + ratio_lines(records, "the built-in rules") + gain_lines(records);
  if (settings.compare == "calls") return text + ratio_lines(records, "the calls on each buffer alone");
  if (!mpi_takes(*what.memory)) {
    text += fmt::format("# not compared: {} takes no memory of devices\n", machine.mpi);
    return text;
  }
  for (const Record& record : records) {
    if (record.peer) continue;
    text += fmt::format("# {} elements: not compared, MPI's call takes counts up to 2147483647\n", record.count);
  }
  const auto compared =
      std::find_if(records.begin(), records.end(), [](const Record& r) { return r.peer.has_value(); });
  if (compared == records.end()) return text;
  const std::string_view mode = to_string(what.mode);
  if (compared->peer->mode != mode) {
    text +=
        fmt::format("# {} has no {} calls: it was measured with {} ones\n", machine.mpi, mode, compared->peer->mode);
  }
  return text + ratio_lines(records, machine.mpi);
}

}  // namespace tutti::bench
