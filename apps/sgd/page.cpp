#include "apps/sgd/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/json.hpp"
#include "apps/options.hpp"
#include "apps/sgd/drawing.hpp"

namespace tutti::sgd {

namespace {

constexpr std::string_view style =
    ":root{color-scheme:light dark}body{font-family:sans-serif;max-width:1180px;margin:24px auto;padding:0 16px}"
    "svg{max-width:100%;height:auto;margin:0 12px 12px 0}table{border-collapse:collapse}"
    "td,th{border:1px solid #80889266;padding:3px 9px;text-align:right}td:first-child,th:first-child{text-align:left}";

std::string tag(std::string_view name, std::string_view content) {
  return fmt::format("<{0}>{1}</{0}>\n", name, content);
}

std::string row_of(std::string_view cell, const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& each : cells)
    text += fmt::format("<{0}>{1}</{0}>", cell, apps::xml_escaped(each));
  return tag("tr", text);
}

std::string name_of(const RunDescription& run) {
  const Settings& settings = run.settings;
  std::string name = fmt::format("{} rank{}, {}", run.ranks, run.ranks == 1 ? "" : "s", settings.precision);
  if (settings.zero > 0) name += ", ZeRO-1";
  if (run.buckets > 1) name += fmt::format(", {} buckets", run.buckets);
  if (settings.overlap) name += ", overlap";
  if (!settings.compress.empty()) name += ", compressed to " + settings.compress;
  if (settings.device) name += ", on GPUs";
  return name;
}

ShownRun shown_run(const RunDescription& run, const std::vector<EpochReport>& epochs) {
  ShownRun shown{"this run: " + name_of(run), epochs.front().epoch, {}, {}, {}, {}};
  for (const EpochReport& epoch : epochs) {
    shown.loss.push_back(epoch.loss);
    shown.test_accuracy.push_back(100 * epoch.test_accuracy);
    shown.samples_per_s.push_back(epoch.samples_per_s);
    shown.exposed.push_back(100 * epoch.step.exposed / epoch.step.all);
  }
  return shown;
}

std::string curve(std::string_view title, const std::vector<ShownRun>& runs, std::vector<double> ShownRun::*values,
                  bool is_logarithmic) {
  Curves curves{.title = std::string{title}, .x_title = "epoch", .is_logarithmic = is_logarithmic};
  for (const ShownRun& run : runs)
    curves.series.push_back({run.name, run.*values, run.first});
  return svg_of(curves);
}

std::string step_table(const RunDescription& run, const std::vector<EpochReport>& epochs) {
  const StepTimes step = mean_step(epochs);
  const auto cells = [&](std::string_view name, double seconds) {
    return row_of("td", {std::string{name}, fmt::format("{:.1f} %", 100 * seconds / step.all)});
  };
  std::string text = row_of("th", {"part of a step", "share"});
  if (!run.settings.has_times()) return tag("p", "All is in streams: nobody waits to measure the parts of a step.");
  text +=
      cells("forward", step.forward) + cells("backward", step.backward) + cells("communication, exposed", step.exposed);
  text += cells("optimizer", step.optimizer) + cells("communication, hidden behind the backward pass", step.hidden);
  return tag("table", text);
}

std::string memory_table(const RunDescription& run) {
  const Memory& memory = run.memory;
  std::string text = row_of("th", {"on a rank", "MiB"});
  for (const auto& [name, bytes] :
       {std::pair{"parameters", memory.parameters}, std::pair{"gradients", memory.gradients},
        std::pair{"optimizer", memory.optimizer}, std::pair{"exchange", memory.exchange},
        std::pair{"values of layers", memory.values},
        std::pair{"bytes given to collectives in a step", run.bytes_of_step}})
    text += row_of("td", {name, fmt::format("{:.2f}", static_cast<double>(bytes) / 0x1p20)});
  return tag("table", text);
}

std::string run_table(const std::vector<ShownRun>& runs) {
  std::string text = row_of("th", {"run", "loss", "test accuracy", "images per second", "exposed communication"});
  const auto median = [](std::vector<double> values) {
    if (values.empty()) return 0.0;
    std::ranges::sort(values);
    return values[values.size() / 2];
  };
  for (const ShownRun& run : runs) {
    const double rate = median(run.samples_per_s), first = median(runs.front().samples_per_s);
    text += row_of("td", {run.name, run.loss.empty() ? "" : fmt::format("{:.5f}", run.loss.back()),
                          run.test_accuracy.empty() ? "" : fmt::format("{:.2f} %", run.test_accuracy.back()),
                          fmt::format("{:.2f} times this run's", first > 0 ? rate / first : 0),
                          run.exposed.empty() ? "overlaps" : fmt::format("{:.1f} %", median(run.exposed))});
  }
  return tag("table", text);
}

}  // namespace

ShownRun shown_run(const std::string& file, const std::string& json) {
  try {
    const apps::Json report = apps::Json::parse(json);
    if (report.at("program").as_text() != "tutti-sgd") throw apps::JsonError("it is of another program");
    ShownRun run;
    run.name = fmt::format("{}: {} ranks, {}", file, report.at("ranks").as_int(), report.at("precision").as_text());
    if (report.at("zero").as_int() > 0) run.name += ", ZeRO-1";
    if (report.at("overlap").as_bool()) run.name += ", overlap";
    if (const std::string compress = report.at("compress").as_text(); !compress.empty())
      run.name += ", compressed to " + compress;
    const std::vector<apps::Json> epochs = report.at("epochs").items();
    if (!epochs.empty()) run.first = epochs.front().at("epoch").as_int();
    for (const apps::Json& epoch : epochs) {
      run.loss.push_back(epoch.at("loss").as_number());
      run.test_accuracy.push_back(100 * epoch.at("test_accuracy").as_number());
      run.samples_per_s.push_back(epoch.at("samples_per_s").as_number());
      if (const auto share = epoch.find("comm_share")) run.exposed.push_back(100 * share->as_number());
    }
    return run;
  } catch (const apps::JsonError& error) {
    throw apps::InputError(fmt::format("--compare: {} is no report of tutti-sgd: {}", file, error.what()));
  }
}

std::string page_text(const RunDescription& run, const std::vector<EpochReport>& epochs,
                      const std::vector<Timeline::Span>& step, const std::vector<ShownRun>& others) {
  std::vector<ShownRun> runs{shown_run(run, epochs)};
  if (!run.settings.has_times()) runs.front().exposed.clear();
  runs.insert(runs.end(), others.begin(), others.end());
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>tutti-sgd</title>\n<style>{}</style>\n"
      "</head>\n<body>\n<h1>A training by tutti-sgd</h1>\n",
      style);
  const std::string header = header_text(run);
  text += tag("pre", apps::xml_escaped(header.substr(0, header.find("\n\n"))));
  text += tag("h2", "How it learnt");
  text += curve("loss", runs, &ShownRun::loss, true) + curve("test accuracy, %", runs, &ShownRun::test_accuracy, false);
  text += tag("h2", "How fast it was");
  text += curve("images per second", runs, &ShownRun::samples_per_s, false);
  text += curve("exposed communication, % of the time", runs, &ShownRun::exposed, false);
  text += tag("h2", "Where the time of a step went") + step_table(run, epochs);
  if (!step.empty()) text += tag("h2", "One step on rank 0") + svg_of(step);
  text += tag("h2", "Memory") + memory_table(run);
  if (runs.size() > 1) text += tag("h2", "Beside other runs") + run_table(runs);
  return text + "</body>\n</html>\n";
}

}  // namespace tutti::sgd
