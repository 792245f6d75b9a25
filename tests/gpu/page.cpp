#include "tests/gpu/report.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

namespace tutti::gpu {
namespace {

std::string number(const Json& value) {
  if (value.is_null()) return "";
  const auto plain = value.get<double>();
  return plain < 1000 ? fmt::format("{:.4g}", plain) : fmt::format("{:.0f}", plain);
}
std::string percent(const Json& value) {
  return value.is_null() ? "" : fmt::format("{:.0f} %", 100 * value.get<double>());
}
std::string to_size(std::int64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < units.size(); value /= 1024)
    ++unit;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

/// How many steps of each part have passed, and those that have not.
std::string steps_text(const Json& all) {
  std::string text = "\n## Steps\n\n| part | passed | failed | skipped | seconds | of |\n|---|---|---|---|---|---|\n";
  for (const Json& part : all["parts"]) {
    std::map<std::string, int> count;
    for (const Json& step : all["steps"])
      if (step["part"] == part["name"]) ++count[step["state"]];
    text += fmt::format("| {} | {} | {} | {} | {:.0f} | {:.0f} |\n", part["name"].get<std::string>(), count["passed"],
                        count["failed"], count["skipped"], part["seconds"].get<double>(),
                        part["allowed_seconds"].get<double>());
  }
  text += "\nThose that have not passed:\n\n| part | step | state | why |\n|---|---|---|---|\n";
  for (const Json& step : all["steps"])
    if (step["state"] != "passed")
      text += fmt::format("| {} | {} | {} | {} |\n", step["part"].get<std::string>(), step["name"].get<std::string>(),
                          step["state"].get<std::string>(), step["why"].get<std::string>());
  return text;
}

std::string decisions_text(const Json& decisions) {
  std::string text =
      "\n## What the figures decide\n\nEach constant that was guessed, as it stands in the sources, beside what was "
      "measured here.\n\n| constant | in force | where | measured |\n|---|---|---|---|\n";
  for (const Json& each : decisions)
    text += fmt::format("| {} | `{}` | {}:{} | {} |\n", each["constant"].get<std::string>(),
                        each["in_force"].get<std::string>(), each["file"].get<std::string>(), each["line"].get<int>(),
                        each["measured"].get<std::string>());
  return text;
}

std::string probe_text(const Json& questions) {
  std::string text = "\n## What the devices can do\n\n| question | figure | size | value |\n|---|---|---|---|\n";
  for (const Json& question : questions) {
    if (question["state"] != "answered")
      text += fmt::format("| {} | {} | | {} |\n", question["name"].get<std::string>(),
                          question["state"].get<std::string>(), question["why"].get<std::string>());
    for (const Json& figure : question["figures"]) {
      const std::string of = figure.contains("processes") ? fmt::format(" of {}", figure["processes"].get<int>()) : "";
      std::string value = figure.contains("text") ? figure["text"].get<std::string>()
                                                  : fmt::format("{:.4g} {}", figure["value"].get<double>(),
                                                                figure["unit"].get<std::string>());
      if (figure.contains("share_of_copy")) value += ", " + percent(figure["share_of_copy"]) + " of a copy";
      text += fmt::format("| {} | {}{} | {} | {} |\n", question["name"].get<std::string>(),
                          figure["name"].get<std::string>(), of,
                          figure.contains("bytes") ? to_size(figure["bytes"]) : "", value);
    }
  }
  return text;
}

const char* words_of(const Json& place) { return place == "shared" ? "one device" : "a device each"; }

/// How many times as fast the direct way is as another, at the largest size that both have.
std::string gain_over(const char* way, const Json& one) {
  std::string gain;
  for (const Json& each : one["results"]) {
    const Json& times = each["time_us"];
    if (times.contains("direct") && times.contains(way))
      gain = fmt::format("{:.3g}", times[way].get<double>() / times["direct"].get<double>());
  }
  return gain;
}

std::string overview(const Json& collectives) {
  std::string text =
      "\n## Collectives\n\nHow much of its limit the direct way reaches, and how many times as fast it is as the "
      "others at "
      "the largest size.\n\n| collective | ranks | on | half of the limit from | largest share | staged | the MPI's | "
      "NCCL |\n|---|---|---|---|---|---|---|---|\n";
  for (const Json& one : collectives) {
    const Json& half = one["half_of_limit_from_bytes"];
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", one["collective"].get<std::string>(),
                        one["ranks"].get<int>(), words_of(one["place"]), half.is_null() ? "never" : to_size(half),
                        percent(one["largest_share"]), gain_over("staged", one), gain_over("mpi", one),
                        gain_over("nccl", one));
  }
  return text + "\nMicroseconds of a call, medians, by the size of the larger buffer of a rank:\n";
}

std::string case_text(const Json& one) {
  std::string text = fmt::format(
      "\n### {} on {} ranks, {}\n\n| size | limit | direct | share | in a stream | staged | the MPI's | NCCL |\n"
      "|---|---|---|---|---|---|---|---|\n",
      one["collective"].get<std::string>(), one["ranks"].get<int>(), words_of(one["place"]));
  for (const Json& each : one["results"]) {
    const auto time = [&](const char* way) { return number(each["time_us"].value(way, Json{})); };
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", to_size(each["bytes"]), number(each["limit_us"]),
                    time("direct"), percent(each["share"]), time("stream"), time("staged"), time("mpi"), time("nccl"));
  }
  return text;
}

}  // namespace

std::string to_markdown(const Json& all) {
  std::string text = "# A machine with a GPU\n\nWritten by `scripts/gpu_check.sh`.\n\n| | |\n|---|---|\n";
  for (const auto& [name, value] : all["facts"].items())
    text += fmt::format("| {} | {} |\n", name, value.get<std::string>());
  text += steps_text(all) + decisions_text(all["decisions"]) + probe_text(all["probe"]);
  if (!all["collectives"].empty()) text += overview(all["collectives"]);
  for (const Json& one : all["collectives"])
    text += case_text(one);
  return text;
}

}  // namespace tutti::gpu
