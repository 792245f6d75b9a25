// What a machine's GPUs can do, and how fast: the facts on which the ways of device buffers rest.
//   gpu_probe [--quick] [--json FILE]
// Each question is asked in processes of its own. One that fails is named, and the rest goes on. Exit code 1: a
// question failed; 2: there is no driver, or no device.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tests/gpu/functions.hpp"
#include "tests/gpu/questions.hpp"

namespace tutti::gpu {
namespace {

struct Question {
  const char* name;
  int processes;
  void (*ask)(Team&, const Effort&);
};
constexpr std::array questions{
    Question{"device", 1, ask_device},
    Question{"copies", 1, ask_copies},
    Question{"latencies", 1, ask_latencies},
    Question{"graphs", 1, ask_graphs},
    Question{"reductions", 1, ask_reductions},
    Question{"host_flags", 1, ask_host_flags},
    Question{"flag_hops", 2, ask_flag_hops},
    Question{"ipc", 2, ask_ipc_of_one_device},
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

int run(const Effort& effort, const std::string& file) {
  // Not in this process: those that ask are made of it.
  const Answer there = ask_together(1, limit_seconds, [](Team&) { static_cast<void>(functions()); });
  if (there.state != Answer::State::answered) {
    fmt::print(stderr, "gpu_probe: {}\n", there.why);
    return 2;
  }
  int failed = 0;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Question& question : questions) {
    const Answer answer =
        ask_together(question.processes, limit_seconds, [&](Team& team) { question.ask(team, effort); });
    print(question, answer);
    all.push_back(to_json(question, answer));
    failed += answer.state == Answer::State::failed ? 1 : 0;
  }
  if (!file.empty()) std::ofstream{file} << nlohmann::ordered_json{{"questions", all}}.dump(2) << '\n';
  return failed > 0 ? 1 : 0;
}

}  // namespace
}  // namespace tutti::gpu

int main(int argc, char** argv) {
  using namespace tutti::gpu;
  Effort effort = whole;
  std::string file;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option{argv[i]};
    if (option == "--quick") {
      effort = quick;
    } else if (option == "--json" && i + 1 < argc) {
      file = argv[++i];
    } else {
      fmt::print(stderr, "gpu_probe: unknown option {}\nUsage: gpu_probe [--quick] [--json FILE]\n", option);
      return 2;
    }
  }
  return run(effort, file);
}
