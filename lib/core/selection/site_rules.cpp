#include "lib/core/selection/site_rules.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "lib/core/schedule/passes.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
constexpr const char* folder_name = "tutti/rules.d";

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string folder_of_user() {
  if (const std::string config = environment("XDG_CONFIG_HOME"); !config.empty()) return config + "/" + folder_name;
  const std::string home = environment("HOME");
  return home.empty() ? "" : home + "/.config/" + folder_name;
}

/// Of the installation that this code is a part of: PREFIX/lib/libtutti.so has PREFIX/etc. Debian's folders are one
/// deeper, and those of /usr have /etc.
std::vector<std::string> folders_of_installation() {
  std::vector<std::string> folders;
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&catalogue_hash), &own) != 0 && own.dli_fname != nullptr) {
    std::error_code error;
    fs::path place = fs::canonical(own.dli_fname, error).parent_path();
    for (int above = 0; !error && above < 2; ++above) {
      place = place.parent_path();
      folders.push_back((place / "etc" / folder_name).string());
    }
  }
  folders.push_back(std::string{"/etc/"} + folder_name);
  return folders;
}

/// But for hidden ones, as editors leave them.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error, ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator{folder, error})
    if (entry.path().extension() == ".json" && !entry.path().filename().string().starts_with('.') &&
        entry.is_regular_file(ignored))
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

bool fits(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), FNM_CASEFOLD) == 0;
}

struct Candidates {
  std::optional<FoundRules> best{};
  std::string unfit{};  ///< Why the files are not for this machine.
};

/// The closest of the files that fit; of equal ones the first.
Candidates closest(const std::vector<std::string>& files, const SiteFacts& machine) {
  Candidates found;
  Closeness closeness;
  for (const std::string& path : files) {
    std::string text = read_rule_text(path);
    const RuleFile file = read_rule_file(text, path);
    if (const std::string why = why_unfit(file, machine); !why.empty()) {
      found.unfit += fmt::format("{}{}: {}", found.unfit.empty() ? "" : "; ", path, why);
      continue;
    }
    const Closeness its = closeness_of(file.machines);
    if (!found.best || its.is_closer_than(closeness)) {
      found.best = {path, std::move(text), {}};
      closeness = its;
    } else if (!closeness.is_closer_than(its)) {
      found.best->notes.push_back(
          fmt::format("the rules of {} and of {} fit this machine equally well: the first are taken (tutti rules merge "
                      "joins files)",
                      found.best->path, path));
    }
    if (found.best->path == path)
      for (const RuleWarning& warning : file.warnings)
        found.best->notes.push_back(fmt::format("{}:{}: {}", path, warning.line, warning.text));
  }
  return found;
}

std::vector<std::string> split_at_colons(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(':', at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// "by line 12 of FILE (measured: 1.31 times as fast as the default)".
std::string reason_of(const Rule& rule, const std::string& path) {
  std::string text = fmt::format("by line {} of {}", rule.line, path);
  const Measured& measured = rule.measured;
  std::string figures;
  const auto add = [&](double other, std::string_view name) {
    if (measured.us > 0 && other >= measured.us && !name.empty())
      figures +=
          fmt::format("{}{:.2f} times as fast as {}", figures.empty() ? "measured: " : ", ", other / measured.us, name);
  };
  add(measured.default_us, "the default");
  add(measured.next_us, measured.next);
  if (!figures.empty()) text += fmt::format(" ({})", figures);
  return rule.why.empty() ? text : fmt::format("{}, {}", rule.why, text);
}

RuleTable explained(RuleFile& file) {
  for (Rule& rule : file.rules) {
    rule.why = reason_of(rule, file.path);
    if (rule.choice.segment > 0 && rule.choice.segment < Range::no_end / most_segments)
      rule.most_bytes = rule.choice.segment * most_segments;
  }
  return RuleTable{std::move(file.rules)};
}

}  // namespace

std::string why_unfit(const RuleFile& file, const SiteFacts& machine) {
  if (file.is_simulated && !machine.is_simulated)
    return "its times are those of a simulated device, and this machine has none";
  const FittingMachines& its = file.machines;
  const auto part = [](std::string_view what, const std::optional<std::string>& pattern, const std::string& here) {
    if (!pattern || fits(*pattern, here)) return std::string{};
    return fmt::format("it is for {} '{}', and here is {}", what, *pattern,
                       here.empty() ? "none" : fmt::format("'{}'", here));
  };
  for (const std::string& why : {part("cpu", its.cpu, machine.cpu), part("gpu", its.gpu, machine.gpu),
                                 part("mpi", its.mpi, machine.mpi), part("network", its.network, machine.network)})
    if (!why.empty()) return why;
  const auto number = [](std::string_view what, const Range& range, int here) {
    if (range.contains(here)) return std::string{};
    return fmt::format("it is for {} {} to {}, and here are {}", what, range.least,
                       range.most == Range::no_end ? "any" : fmt::to_string(range.most), here);
  };
  if (machine.nodes == 0) return "";
  const std::string why = number("nodes", its.nodes, machine.nodes);
  return why.empty() ? number("ranks per node (ppn)", its.ppn, machine.ppn) : why;
}

Closeness closeness_of(const FittingMachines& machines) {
  Closeness closeness;
  for (const auto* pattern : {&machines.cpu, &machines.gpu, &machines.mpi, &machines.network})
    closeness.conditions += *pattern ? 1 : 0;
  for (const Range& range : {machines.nodes, machines.ppn}) {
    if (range.is_open()) continue;
    ++closeness.conditions;
    closeness.width += std::min(range.most, std::int64_t{1} << 40) - range.least;
  }
  return closeness;
}

RulePlaces usual_rule_places() {
  RulePlaces places{.named = environment("TUTTI_RULES")};
  if (std::string own = folder_of_user(); !own.empty()) places.folders.push_back(std::move(own));
  for (std::string& folder : folders_of_installation())
    places.folders.push_back(std::move(folder));
  return places;
}

std::string read_rule_text(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) throw ArgumentError(fmt::format("{}: a folder; allowed: a file of rules", path));
  std::ifstream stream{path, std::ios::binary};
  if (!stream) throw ArgumentError(fmt::format("{}: {}", path, std::strerror(errno)));
  std::string text(longest_rule_file + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) throw ArgumentError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

bool has_candidates(const RulePlaces& places) {
  if (!places.named.empty()) return places.named != "none";
  return std::any_of(places.folders.begin(), places.folders.end(),
                     [](const std::string& folder) { return !files_in(folder).empty(); });
}

std::optional<FoundRules> find_rules(const RulePlaces& places, const SiteFacts& machine) {
  if (places.named == "none") return std::nullopt;
  if (const std::vector<std::string> files = split_at_colons(places.named); !files.empty()) {
    Candidates found = closest(files, machine);
    if (!found.best) throw ArgumentError(fmt::format("no file of rules fits this machine: {}", found.unfit));
    return std::move(found.best);
  }
  for (const std::string& folder : places.folders)
    if (Candidates found = closest(files_in(folder), machine); found.best) return std::move(found.best);
  return std::nullopt;
}

SiteRules::SiteRules(RuleFile read) : file(std::move(read)), table(explained(file)) {}

std::uint64_t catalogue_hash() {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  const auto add = [&hash](std::string_view text) {
    for (const char letter : text)
      hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  };
  for (const Algorithm* algorithm : algorithms()) {
    add(to_string(algorithm->collective));
    add(algorithm->name);
  }
  add(builtin_text());
  return hash;
}

std::string processor_name() {
  std::ifstream stream{"/proc/cpuinfo"};
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    for (const std::string_view key : {"model name", "cpu model", "cpu\t", "CPU part"})
      if (line.starts_with(key)) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace tutti
