// tutti info --settings: what the environment of this process sets, and what holds where it sets nothing.
#include "apps/tutti/info_settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>

#include "apps/tutti/table.hpp"
#include "bindings/preload/policy.hpp"
#include "lib/core/communicator/setting_values.hpp"
#include "lib/core/communicator/settings.hpp"
#include "lib/core/communicator/variables.hpp"
#include "lib/watch/log.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {
namespace {

/// A list of numbers, one for each rank. Of a job that is not there, any number of them will do.
void read_list(std::string_view name, int ranks) {
  const std::string given = text_in_environment(name);
  const auto items = std::ranges::count(given, ',') + 1;
  if (!given.empty())
    static_cast<void>(read_numbers(source_of(name), given, ranks > 1 ? ranks : static_cast<int>(items)));
}

/// The log is opened when the first communicator is made. Here nothing is written.
void require_writable_log() {
  const std::string given = text_in_environment("TUTTI_LOG_FILE");
  if (given.empty()) return;
  const std::filesystem::path file = log::expand_file_name(given),
                              folder = std::filesystem::absolute(file).parent_path();
  if (::access((std::filesystem::exists(file) ? file : folder).c_str(), W_OK) != 0)
    throw ArgumentError(fmt::format("{} is '{}': it cannot be written", source_of("TUTTI_LOG_FILE"), given));
}

/// Throws ArgumentError if the value cannot be used here.
void require_allowed(const tutti::Variable& variable, int ranks) {
  static const auto& readers = *new std::map<std::string_view, std::function<void(int)>>{
      {"TUTTI_ALGORITHM", [](int) { static_cast<void>(algorithms_in_environment()); }},
      {"TUTTI_BITS", [](int) { static_cast<void>(bits_in_environment()); }},
      {"TUTTI_FAULTS", [](int) { static_cast<void>(faults_in_environment()); }},
      {"TUTTI_INTERPOSE",
       [](int) { static_cast<void>(interpose::read_wishes(text_in_environment("TUTTI_INTERPOSE"))); }},
      {"TUTTI_LOG_FILE", [](int) { require_writable_log(); }},
      {"TUTTI_NODES", [](int ranks) { read_list("TUTTI_NODES", ranks); }},
      {"TUTTI_NVTX", [](int) { static_cast<void>(ranges_in_environment()); }},
      {"TUTTI_SOCKETS", [](int ranks) { read_list("TUTTI_SOCKETS", ranks); }},
      {"TUTTI_TRACE", [](int) { static_cast<void>(trace_in_environment()); }},
      {"TUTTI_TRANSPORT", [](int) { static_cast<void>(transport_in_environment()); }}};
  if (const auto found = readers.find(variable.name); found != readers.end()) return found->second(ranks);
  if (variable.form == tutti::Variable::Form::number) static_cast<void>(number_setting(variable.name));
  if (variable.form == tutti::Variable::Form::name) static_cast<void>(name_setting(variable.name));
}

std::string allowed_text(const tutti::Variable& variable) {
  if (variable.form != tutti::Variable::Form::number) return std::string{variable.allowed};
  return fmt::format("{} to {}", variable.least, variable.most);
}

}  // namespace

SettingsReport::SettingsReport(int ranks) : unknown_(unknown_variables()) {
  for (const tutti::Variable& variable : variables) {
    Row row{.name = std::string{variable.name},
            .value = std::string{variable.preset},
            .from = variable.is_derived ? "derived" : "default",
            .allowed = allowed_text(variable),
            .wrong = {}};
    if (const char* const given = std::getenv(row.name.c_str())) {
      row.value = given;
      row.from = "environment";
      try {
        require_allowed(variable, ranks);
      } catch (const Error& error) {
        row.wrong = error.what();
      }
    }
    rows_.push_back(std::move(row));
  }
}

std::string SettingsReport::text() const {
  std::vector<Cells> cells{{"setting", "value", "from", "allowed"}};
  std::string wrong;
  for (const Row& row : rows_) {
    cells.push_back({row.name, row.value, row.from + (row.wrong.empty() ? "" : ", wrong"), row.allowed});
    if (!row.wrong.empty()) wrong += fmt::format("wrong: {}\n", row.wrong);
  }
  for (const std::string& name : unknown_)
    wrong += fmt::format("unknown, without effect: {}\n", name);
  return aligned(cells, "") + (wrong.empty() ? "" : "\n" + wrong);
}

apps::Json SettingsReport::json() const {
  apps::Json settings = apps::Json::array();
  for (const Row& row : rows_) {
    apps::Json each{{"name", row.name}, {"value", row.value}, {"from", row.from}, {"allowed", row.allowed}};
    each.set("wrong", row.wrong.empty() ? apps::Json{} : apps::Json{row.wrong});
    settings.push_back(std::move(each));
  }
  return {{"settings", std::move(settings)}, {"unknown", unknown_}};
}

}  // namespace tutti::tool
