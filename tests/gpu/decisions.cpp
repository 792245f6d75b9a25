#include "tests/gpu/report.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <fstream>
#include <stdexcept>
#include <string>

namespace tutti::gpu {
namespace {

/// Joined by semicolons; what was not measured is left out.
struct Text {
  std::string text;
  void add(const std::string& more) { text += (text.empty() ? "" : "; ") + more; }
  void add(std::string_view name, std::optional<double> value, std::string_view unit) {
    if (value) add(fmt::format("{} {:.4g} {}", name, *value, unit));
  }
};

/// A figure of the probe that is a text.
void add_words(Text& text, const Json& all, std::string_view name, std::string_view label) {
  for (const Json& question : all["probe"])
    for (const Json& each : question["figures"])
      if (each["name"] == name && each.contains("text"))
        text.add(fmt::format("{} {}", label, each["text"].get<std::string>()));
}

std::string place_text(const Json& measured) {
  return fmt::format("{} ranks, {}", measured["ranks"].get<int>(),
                     measured["place"] == "shared" ? "one device" : "a device each");
}

/// The last of the bytes that a rule is for; empty: it has no end.
std::string end_text(const Json& rule) {
  const Json bytes = rule.value("bytes", Json());
  const Json& last = bytes.is_array() ? bytes.back() : bytes;
  return last.is_number() ? last.dump() : "";
}

/// The algorithms that `tutti tune` takes instead of the built-in ones, on so many ranks.
std::string tuned_choice(const Json& all, int least_ranks, int most_ranks) {
  Text text;
  for (const Json& each : all["tuned"]) {
    if (each["way"] != "direct" || each["ranks"] < least_ranks || each["ranks"] > most_ranks) continue;
    std::string rules;
    for (const Json& rule : each["rules"]) {
      const std::string end = end_text(rule);
      rules += fmt::format("{}{} by {}{}", rules.empty() ? "" : ", ", rule["collective"].get<std::string>(),
                           rule["use"].get<std::string>(), end.empty() ? "" : " up to " + end + " bytes");
    }
    text.add(fmt::format("{}: {}", place_text(each), rules.empty() ? "nothing is faster" : rules));
  }
  return text.text;
}
std::string one_kernel_few(const Json& all) { return tuned_choice(all, 2, 4); }
std::string one_kernel(const Json& all) { return tuned_choice(all, 5, 32); }
std::string most_ranks(const Json& all) { return tuned_choice(all, 2, 32); }

/// The value of a constant that `tutti tune` takes. `way`: how the calls run that it decides about.
std::string tuned_constant(const Json& all, const char* way, const char* constant, int least_ranks) {
  Text text;
  for (const Json& each : all["tuned"]) {
    if (each["way"] != way || each["ranks"] < least_ranks) continue;
    const Json& tuning = each["tuning"];
    text.add(fmt::format("{}: {}", place_text(each),
                         tuning.contains(constant) ? tuning[constant].dump() : "nothing is faster"));
  }
  return text.text;
}
std::string chunk_bytes(const Json& all) { return tuned_constant(all, "staged", "device.chunk_bytes", 2); }
std::string copied_in_place(const Json& all) { return tuned_constant(all, "direct", "device.copied_in_place", 3); }

/// The bytes that cross in the time of a short copy.
std::string bytes_an_operation(const Json& all) {
  Text text;
  for (const char* way : {"to", "from"}) {
    const auto rate = figure(all, fmt::format("copy_{}_host", way));
    const auto latency = figure(all, fmt::format("copy_{}_host_and_poll", way));
    if (rate && latency)
      text.add(fmt::format("{:.0f} bytes cross in the time of a short copy {} the host", *rate * *latency * 1e3, way));
  }
  return text.text;
}

/// Times of two ways at the first or the last size that has both.
std::string beside(const Json& all, const char* way, const char* other, bool is_first) {
  Text text;
  for (const Json& one : all["collectives"]) {
    std::string found;
    for (const Json& each : one["results"]) {
      const Json& times = each["time_us"];
      if (!times.contains(way) || !times.contains(other) || (is_first && !found.empty())) continue;
      found = fmt::format("{} on {}, {} bytes: {} {:.4g} us, {} {:.4g} us", one["collective"].get<std::string>(),
                          place_text(one), each["bytes"].get<std::int64_t>(), way, times[way].get<double>(), other,
                          times[other].get<double>());
    }
    if (!found.empty()) text.add(found);
  }
  return text.text;
}
std::string host_reduces(const Json& all) { return beside(all, "staged_host", "staged_device", false); }

std::string priorities(const Json& all) {
  Text text;
  for (const char* what : {"a copy on the device", "a copy to the host", "a kernel"}) {
    const std::string asked = fmt::format("waiting streams and {}", what);
    add_words(text, all, asked, fmt::format("{}:", what));
    add_words(text, all, asked + ", greatest priority", fmt::format("{} at the greatest priority:", what));
  }
  return text.text;
}

std::string stream_memory(const Json& all) {
  Text text;
  for (const int processes : {2, 4, 8})
    text.add(fmt::format("hop of a flag, {} processes on the device:", processes),
             figure(all, "flag_hop_between_streams", processes), "us");
  text.add("launch and poll of one process:", figure(all, "launch_and_poll"), "us");
  if (const std::string times = beside(all, "stream", "direct", true); !times.empty()) text.add(times);
  return text.text;
}

std::string opening(const Json& all) {
  Text text;
  text.add("open", figure(all, "ipc_open"), "us");
  text.add("the first", figure(all, "ipc_open_first"), "us");
  add_words(text, all, "handle_of_small_buffer_2", "the handle of a small buffer");
  return text.text;
}
std::string closing(const Json& all) {
  Text text;
  text.add("close", figure(all, "ipc_close"), "us");
  return text.text;
}

/// `constant`: a word of the line of code.
struct Decision {
  const char *file, *constant;
  std::string (*measured)(const Json& all);
};
constexpr const char *choice = "lib/core/selection/builtin.json", *staging = "lib/device/staging/tuning.hpp",
                     *ipc = "lib/device/ipc/tuning.hpp";
constexpr std::array table{
    Decision{choice, "one_kernel_few", one_kernel_few},
    Decision{choice, "one_kernel", one_kernel},
    Decision{choice, "most_ranks", most_ranks},
    Decision{staging, "chunk_bytes", chunk_bytes},
    Decision{staging, "bytes_an_operation", bytes_an_operation},
    Decision{staging, "host_reduces", host_reduces},
    Decision{staging, "copied_in_place", copied_in_place},
    Decision{"lib/device/driver/device.cpp", "CU_STREAM_NON_BLOCKING", priorities},  // where Tutti's streams are made
    Decision{"lib/device/stream/tuning.hpp", "memory_bytes", stream_memory},
    Decision{ipc, "descriptor_patience", opening},
    Decision{ipc, "closing_patience", closing},
    Decision{ipc, "wait_for_peers", closing},
};

bool has_word(const std::string& line, std::string_view word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_part(line[at - 1])) && (end == line.size() || !is_part(line[end]))) return true;
  }
  return false;
}

/// The first line of code with the constant.
Json in_force(const Decision& decision, const std::filesystem::path& root) {
  std::ifstream in{root / decision.file};
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || line.compare(begin, 2, "//") == 0 || !has_word(line, decision.constant)) continue;
    return {
        {"constant", decision.constant}, {"in_force", line.substr(begin)}, {"file", decision.file}, {"line", number}};
  }
  throw std::runtime_error(fmt::format("no line of {} has {}", (root / decision.file).string(), decision.constant));
}

}  // namespace

std::optional<double> figure(const Json& all, std::string_view name, int processes) {
  std::optional<double> found;
  for (const Json& question : all["probe"])
    for (const Json& each : question["figures"])
      if (each["name"] == name && each.contains("value") && (processes == 0 || each.value("processes", 0) == processes))
        found = each["value"].get<double>();
  return found;
}

std::set<std::string> decided_files() {
  std::set<std::string> files;
  for (const Decision& each : table)
    files.insert(each.file);
  return files;
}

Json decisions(const Json& all, const std::filesystem::path& root) {
  Json found = Json::array();
  for (const Decision& each : table) {
    Json decision = in_force(each, root);
    const std::string measured = each.measured(all);
    decision["measured"] = measured.empty() ? "not measured" : measured;
    found.push_back(std::move(decision));
  }
  return found;
}

}  // namespace tutti::gpu
