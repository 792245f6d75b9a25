#include "lib/core/communicator/setting_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "lib/core/schedule/near_names.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

/// "a, b, c (did you mean b?)"
std::string allowed(std::string_view given, const std::vector<std::string>& names) {
  return fmt::format("{}{}", fmt::join(names, ", "), suggestion(given, names));
}

constexpr std::string_view shm_and = "shm+";

std::vector<std::string> all_transports(const std::vector<std::string>& networks) {
  std::vector<std::string> names{"auto", "shm", "mpi"};
  for (const std::string& network : networks) {
    names.push_back(network);
    names.push_back(fmt::format("{}{}", shm_and, network));
  }
  return names;
}

}  // namespace

std::int64_t read_number(std::string_view source, std::string_view given, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
  if (error != std::errc{} || end != given.data() + given.size() || number < least || number > most)
    throw ArgumentError(fmt::format("{} is '{}'; allowed: {} to {}", source, given, least, most));
  return number;
}

std::size_t read_name(std::string_view source, std::string_view given, const std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, given);
  if (found == names.end())
    throw ArgumentError(fmt::format("{} is '{}'; allowed: {}", source, given, allowed(given, names)));
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<int> read_numbers(std::string_view source, std::string_view given, int count) {
  std::vector<int> found;
  const char *at = given.data(), *end = at + given.size();
  for (bool more = true; more;) {
    const auto [next, error] = std::from_chars(at, end, found.emplace_back());
    more = error == std::errc{} && next != end && *next == ',';
    const bool is_bad = error != std::errc{} || (next != end && !more) || found.back() < 0;
    if (is_bad || (!more && found.size() != static_cast<std::size_t>(count)))
      throw ArgumentError(fmt::format("{} is '{}'; allowed: {} numbers with commas between", source, given, count));
    if (more) at = next + 1;
  }
  return found;
}

TransportChoice read_transport(std::string_view source, std::string_view given,
                               const std::vector<std::string>& networks) {
  if (given.empty() || given == "auto") return {};
  if (given == "shm") return {SharedMemoryUse::always};
  if (given == "mpi") return {SharedMemoryUse::never};
  const bool is_mixed = given.starts_with(shm_and);
  const std::string_view name = is_mixed ? given.substr(shm_and.size()) : given;
  if (std::ranges::find(networks, name) != networks.end())
    return {is_mixed ? SharedMemoryUse::inside_nodes : SharedMemoryUse::never, std::string{name}};
  throw ArgumentError(
      fmt::format("{} is '{}'; allowed here: {}", source, given, allowed(given, all_transports(networks))));
}

}  // namespace tutti
