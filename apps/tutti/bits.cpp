// tutti bits: compares the recorded bits of two runs.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "apps/json.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/bits_job.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"

namespace tutti::tool {
namespace {

using bits::Difference;

struct Settings {
  std::string a, b;
  bool json = false;
};

apps::Options options_for(Settings& settings) {
  apps::Options options{
      "tutti bits",
      "Compares two runs of a program, whose ranks recorded the bits of their calls (TUTTI_BITS=record:DIR), and "
      "names\n"
      "the first call that differs, and whether its inputs differ or its result alone (docs/bits-record.md).\n"
      "    TUTTI_BITS=record:a mpirun -n 4 ./program\n"
      "    TUTTI_BITS=record:b mpirun -n 4 ./program\n"
      "    tutti bits a b\n"
      "Exit code: 0 no difference, 1 there is one, 2 the records cannot be compared."};
  options.argument("A", apps::Options::Takes::one, [&](std::string_view given) { settings.a = given; })
      .argument("B", apps::Options::Takes::one, [&](std::string_view given) { settings.b = given; })
      .flag("json", settings.json, "for programs: docs/bits-record.md describes it");
  return options;
}

std::string_view name_of(Difference what) {
  switch (what) {
    case Difference::inputs:
      return "input";
    case Difference::results:
      return "result";
    case Difference::mismatch:
      return "call";
    case Difference::missing:
      return "missing";
  }
  return "";
}

std::string text_of(const FirstCall::OnRank& on) {
  std::string text =
      fmt::format("  rank {}: {}{}", on.rank, name_of(on.found.what), on.found.results_too ? ", result" : "");
  if (on.found.what == Difference::results && !on.found.algorithms.empty()) text += ", " + on.found.algorithms;
  if (!on.found.detail.empty()) text += ": " + on.found.detail;
  return text + "\n";
}

std::string text_of(const ComparedJobs& jobs) {
  std::string text = fmt::format("{} rank{}, {} calls: ", jobs.ranks, jobs.ranks == 1 ? "" : "s", jobs.counts.calls);
  text += jobs.counts.differing == 0
              ? "none differs\n"
              : fmt::format("{} differ{}\n", jobs.counts.differing, jobs.counts.differing == 1 ? "s" : "");
  if (jobs.counts.unhashed > 0)
    text += fmt::format("note: {} calls have no hash, and were not compared\n", jobs.counts.unhashed);
  for (const std::string& note : jobs.notes)
    text += fmt::format("note: {}\n", note);
  const auto add = [&](std::string_view what, const std::vector<FirstCall>& calls) {
    for (const FirstCall& call : calls) {
      text += fmt::format("{}: {}\n", what, bits::in_words(call.verdict, jobs.not_compared));
      for (const FirstCall::OnRank& on : call.ranks)
        text += text_of(on);
    }
  };
  add("first", jobs.first);
  add("later", jobs.later);
  return text;
}

apps::Json json_of(const FirstCall& call, bool is_complete) {
  const bits::Verdict& verdict = call.verdict;
  apps::Json json{{"where", verdict.where},
                  {"number", verdict.key.number},
                  {"only_result", bits::is_of_result_alone(verdict) && is_complete},
                  {"inputs_on", verdict.inputs},
                  {"results_on", verdict.results},
                  {"other_call_on", verdict.mismatches},
                  {"missing_in_a_on", verdict.missing}};
  apps::Json ranks = apps::Json::array();
  for (const auto& [rank, found] : call.ranks) {
    apps::Json each{{"rank", rank}, {"what", name_of(found.what)}, {"detail", found.detail}};
    if (found.element >= 0)
      each.update({{"element", found.element},
                   {"differing", found.differing},
                   {"a", found.first_value},
                   {"b", found.second_value}});
    ranks.push_back(std::move(each));
  }
  json.set("ranks", std::move(ranks));
  return json;
}

apps::Json json_of(const std::vector<FirstCall>& calls, bool is_complete) {
  apps::Json array = apps::Json::array();
  for (const FirstCall& call : calls)
    array.push_back(json_of(call, is_complete));
  return array;
}

apps::Json json_of(const ComparedJobs& jobs) {
  return {{"ranks", jobs.ranks},
          {"calls", jobs.counts.calls},
          {"differing", jobs.counts.differing},
          {"not_compared", jobs.counts.unhashed + jobs.counts.forgotten + jobs.counts.beyond},
          {"missing_in_b", jobs.missed},
          {"complete", jobs.is_complete()},
          {"ranks_not_compared", jobs.not_compared},
          {"first", json_of(jobs.first, jobs.is_complete())},
          {"later", json_of(jobs.later, jobs.is_complete())},
          {"notes", jobs.notes}};
}

}  // namespace

int bits(const Arguments& arguments) {
  Settings settings;
  apps::Options options = options_for(settings);
  if (is_told(options, arguments)) return apps::exit_success;
  const ComparedJobs jobs = compare_jobs(settings.a, settings.b);
  apps::print("{}", settings.json ? json_of(jobs).text(2) + "\n" : text_of(jobs));
  if (!apps::flush_output()) return apps::exit_bad_input;  // 1 says that calls differ
  if (jobs.differ()) return apps::exit_failure;
  return jobs.is_complete() ? apps::exit_success : apps::exit_bad_input;
}

}  // namespace tutti::tool
