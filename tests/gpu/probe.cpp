// What a machine's GPUs can do, and how fast: the facts on which the ways of device buffers rest.
//   gpu_probe [--quick] [--first | --rest] [--json FILE]
//   gpu_probe --hold
// Each question is asked in processes of its own. One that fails is named, and the rest goes on. --first asks those
// that matter most, --rest the others. Exit code 1: a question failed; 2: there is no driver, or no device. --hold asks
// nothing: it keeps a context on each device until it is ended, so that drivers need not start devices for each
// process.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>

#include "tests/gpu/functions.hpp"
#include "tests/gpu/questions.hpp"

namespace tutti::gpu {
namespace {

enum class Part : std::uint8_t { first, rest };

struct Question {
  const char* name = nullptr;
  int processes = 0;
  void (*ask)(Team&, const Effort&) = nullptr;
  Part part = Part::rest;
};
constexpr std::array questions{
    Question{"device", 1, ask_device, Part::first},
    Question{"copies", 1, ask_copies, Part::first},
    Question{"latencies", 1, ask_latencies, Part::first},
    Question{"waiting_streams", 1, ask_waiting_streams, Part::first},
    Question{"flag_hops_of_2", 2, ask_flag_hops, Part::first},
    Question{"ipc", 2, ask_ipc_of_one_device, Part::first},
    Question{"small_buffers", 2, ask_small_buffers, Part::first},
    Question{"contexts", 1, ask_contexts},
    Question{"graphs", 1, ask_graphs},
    Question{"reductions", 1, ask_reductions},
    Question{"host_flags", 1, ask_host_flags},
    Question{"flag_hops_of_4", 4, ask_flag_hops},
    Question{"flag_hops_of_8", 8, ask_flag_hops},
    Question{"ipc_peer", 2, ask_ipc_between_devices},
    Question{"ipc_events", 2, ask_ipc_events},
    Question{"sharing_by_1", 1, ask_sharing},
    Question{"sharing_by_2", 2, ask_sharing},
    Question{"sharing_by_4", 4, ask_sharing},
    Question{"sharing_by_8", 8, ask_sharing},
};
constexpr double limit_seconds = 20;

std::string_view name_of(Answer::State state) {
  switch (state) {
    case Answer::State::answered:
      return "answered";
    case Answer::State::failed:
      return "failed";
    default:
      return "skipped";
  }
}

void print(const Question& question, const Answer& answer) {
  for (const Figure& figure : answer.figures) {
    std::string label = figure.name.data();
    if (figure.processes > 0) label += fmt::format(" of {}", figure.processes);
    if (figure.bytes > 0) label += fmt::format(", {} bytes", figure.bytes);
    if (figure.text[0] != '\0')
      fmt::print("  {:<44} {}\n", label, figure.text.data());
    else
      fmt::print("  {:<44} {:.5g} {}\n", label, figure.value, figure.unit.data());
  }
  fmt::print("question {}: {}{}{}\n", question.name, name_of(answer.state), answer.why.empty() ? "" : ": ", answer.why);
  std::fflush(stdout);
}

nlohmann::ordered_json to_json(const Question& question, const Answer& answer) {
  nlohmann::ordered_json figures = nlohmann::ordered_json::array();
  for (const Figure& figure : answer.figures) {
    nlohmann::ordered_json each{{"name", figure.name.data()}};
    if (figure.bytes > 0) each["bytes"] = figure.bytes;
    if (figure.processes > 0) each["processes"] = figure.processes;
    if (figure.text[0] != '\0') {
      each["text"] = figure.text.data();
    } else {
      each["value"] = figure.value;
      each["unit"] = figure.unit.data();
    }
    figures.push_back(std::move(each));
  }
  return {{"name", question.name}, {"state", name_of(answer.state)}, {"why", answer.why}, {"figures", figures}};
}

/// Ends with the process that started it, or by a signal.
int hold() {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  try {
    const int devices = device_count();
    for (int device = 0; device < devices; ++device)
      use_device(device);
    fmt::print("holding {} {}\n", devices, devices == 1 ? "device" : "devices");
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu_probe: {}\n", error.what());
    return 2;
  }
  std::fflush(stdout);
  while (true)
    ::pause();
}

struct Options {
  Effort effort = whole;
  std::optional<Part> part{};  ///< Nothing: both.
  std::string file{};
  bool has_to_hold = false;
};

int run(const Options& options) {
  // Not in this process: those that ask are made of it.
  const Answer there = ask_together(1, limit_seconds, [](Team&) { static_cast<void>(functions()); });
  if (there.state != Answer::State::answered) {
    fmt::print(stderr, "gpu_probe: {}\n", there.why);
    return 2;
  }
  int failed = 0;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Question& question : questions) {
    if (options.part && *options.part != question.part) continue;
    const Answer answer =
        ask_together(question.processes, limit_seconds, [&](Team& team) { question.ask(team, options.effort); });
    print(question, answer);
    all.push_back(to_json(question, answer));
    failed += answer.state == Answer::State::failed ? 1 : 0;
    // Each time: if the time is over, what has been answered is there.
    if (!options.file.empty())
      std::ofstream{options.file} << nlohmann::ordered_json{{"questions", all}}.dump(2) << '\n';
  }
  return failed > 0 ? 1 : 0;
}

/// Nothing: an option is unknown.
std::optional<Options> parse(std::span<char*> arguments) {
  Options options;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view option{arguments[i]};
    if (option == "--quick") {
      options.effort = quick;
    } else if (option == "--first" || option == "--rest") {
      options.part = option == "--first" ? Part::first : Part::rest;
    } else if (option == "--hold") {
      options.has_to_hold = true;
    } else if (option == "--json" && i + 1 < arguments.size()) {
      options.file = arguments[++i];
    } else {
      fmt::print(stderr, "gpu_probe: unknown option {}\n", option);
      return std::nullopt;
    }
  }
  return options;
}

}  // namespace
}  // namespace tutti::gpu

int main(int argc, char** argv) {
  const auto options = tutti::gpu::parse({argv, static_cast<std::size_t>(argc)});
  if (!options) {
    fmt::print(stderr, "Usage: gpu_probe [--quick] [--first | --rest] [--json FILE] | --hold\n");
    return 2;
  }
  return options->has_to_hold ? tutti::gpu::hold() : tutti::gpu::run(*options);
}
