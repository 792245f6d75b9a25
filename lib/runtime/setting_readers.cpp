#include "lib/runtime/setting_readers.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "lib/runtime/variables.hpp"
#include "lib/trace/ranges.hpp"
#include "lib/transport/faults.hpp"
#include "lib/transport/network.hpp"
#include "tutti/error.hpp"

namespace tutti {

UserChoices algorithms_in_environment() {
  constexpr const char* name = "TUTTI_ALGORITHM";
  UserChoices users{.choices = read_choices(text_in_environment(name), source_of(name))};
  users.chosen_by.fill(name);
  return users;
}

std::string faults_in_environment() {
  std::string text = text_in_environment("TUTTI_FAULTS");
  static_cast<void>(read_faults(text));
  return text;
}

RangeUse ranges_in_environment() {
  if (number_setting("TUTTI_NVTX") == 0) return RangeUse::off;
  if (!trace::has_ranges())
    throw ArgumentError(
        "environment variable TUTTI_NVTX is '1', but this library was built without NVTX's header; allowed: 0");
  return RangeUse::on;
}

TraceUse trace_in_environment() {
  constexpr std::size_t longest = 4000;
  TraceUse trace;
  if (const std::string folder = text_in_environment("TUTTI_TRACE"); !folder.empty())
    trace.folder = std::filesystem::absolute(folder);
  if (trace.folder.size() > longest)
    throw ArgumentError(fmt::format("environment variable TUTTI_TRACE has {} characters; allowed: a folder of up to {}",
                                    trace.folder.size(), longest));
  trace.limit = number_setting("TUTTI_TRACE_LIMIT");
  return trace;
}

TransportChoice transport_in_environment() {
  return read_transport(source_of("TUTTI_TRANSPORT"), text_in_environment("TUTTI_TRANSPORT"), linked_networks());
}

std::vector<std::string> linked_networks() {
  std::vector<std::string> names;
  for (const mpi::NetworkDriver* driver : mpi::network_drivers())
    names.emplace_back(driver->name);
  return names;
}

}  // namespace tutti
