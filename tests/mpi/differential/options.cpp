#include "options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <span>
#include <stdexcept>
#include <string_view>

namespace tutti::differential {
namespace {

template <class Number>
Number number(std::string_view name, std::string_view text, Number least) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least)
    throw std::invalid_argument(fmt::format("{} is '{}'; allowed: a number, {} or more", name, text, least));
  return value;
}

void read_steps(std::string_view text, Options& options) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  options.only_first = number<std::int64_t>("--only", text.substr(0, dash), 0);
  options.only_last = options.only_first;
  if (dash < text.size())
    options.only_last = number<std::int64_t>("--only", text.substr(dash + 1), *options.only_first);
}

void read_option(std::string_view name, std::string_view value, Options& options) {
  if (name == "--seed")
    options.seed = number<std::uint64_t>(name, value, 0);
  else if (name == "--calls")
    options.calls = number<std::int64_t>(name, value, 1);
  else if (name == "--seconds")
    options.seconds = static_cast<double>(number<std::int64_t>(name, value, 1));
  else if (name == "--only")
    read_steps(value, options);
  else if (name == "--threads")
    options.threads = number(name, value, 1);
  else if (name == "--transport")
    options.transport = value;
  else if (name == "--max-bytes")
    options.max_bytes = number<std::int64_t>(name, value, 16);
  else if (name == "--devices")
    options.on_devices = number(name, value, 0) > 0;
  else if (name == "--hang-after")
    options.hang_after = number(name, value, 1);
  else if (name == "--spoil")
    options.spoil = number<std::int64_t>(name, value, 0);
  else if (name == "--hang")
    options.hang = number<std::int64_t>(name, value, 0);
  else
    throw std::invalid_argument(fmt::format("unknown option '{}'\n{}", name, help_text()));
}

}  // namespace

Options read_options(int argc, char** argv) {
  Options options;
  const std::span<char*> arguments{argv + 1, static_cast<std::size_t>(argc - 1)};
  if (arguments.size() % 2 != 0)
    throw std::invalid_argument(fmt::format("'{}' has no value\n{}", arguments.back(), help_text()));
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2)
    read_option(arguments[i], arguments[i + 1], options);
  return options;
}

std::string help_text() {
  return "Makes random calls and compares their results with the MPI's, or with results computed here.\n"
         "  --seed N           which calls; default 1\n"
         "  --calls N          until each rank has made so many; default 1000\n"
         "  --seconds N        instead of --calls: for so long\n"
         "  --only K or K-L    instead: these steps alone, which are printed\n"
         "  --threads N        each with communicators of its own; default 1\n"
         "  --transport NAME   of all communicators, or 'random'; default: as TUTTI_TRANSPORT says\n"
         "  --max-bytes N      of a buffer of one rank, about; default 4194304\n"
         "  --devices 1        buffers may be on GPUs\n"
         "  --hang-after N     seconds in one step after which the run is ended; default 120\n"
         "  --spoil K          changes a byte of a result in step K, to see that this is found\n"
         "  --hang K           the last rank stops at step K, to see that this is found\n";
}

std::string replay_command(const Options& options, std::int64_t step, int ranks) {
  std::string command;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::string_view{*variable}.starts_with("TUTTI_")) command += fmt::format("{} ", *variable);
  command += fmt::format("mpirun -n {} differential_test --seed {}", ranks, options.seed);
  if (options.threads != 1) command += fmt::format(" --threads {}", options.threads);
  if (!options.transport.empty()) command += fmt::format(" --transport {}", options.transport);
  if (options.max_bytes != Options{}.max_bytes) command += fmt::format(" --max-bytes {}", options.max_bytes);
  if (options.on_devices) command += " --devices 1";
  return command + fmt::format(" --only {}", step);
}

}  // namespace tutti::differential
