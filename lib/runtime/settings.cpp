#include "lib/runtime/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/runtime/log.hpp"
#include "lib/runtime/variables.hpp"
#include "lib/trace/ranges.hpp"
#include "lib/transport/faults.hpp"
#include "lib/transport/mpi/api.hpp"
#include "lib/transport/mpi/check.hpp"
#include "lib/transport/network.hpp"

namespace tutti {
namespace {

void read_size(const char* name, std::int64_t most, std::int64_t& value) {
  value = number_in_environment(name, 1, most).value_or(value);
}

/// `values`: in the order of the enum.
template <class Use>
void read_use(const char* name, const std::vector<std::string>& values, Use& use) {
  if (const char* const variable = std::getenv(name); variable != nullptr)
    use = static_cast<Use>(read_name(fmt::format("environment variable {}", name), variable, values));
}

std::vector<std::string> linked_networks() {
  std::vector<std::string> names;
  for (const mpi::NetworkDriver* driver : mpi::network_drivers())
    names.emplace_back(driver->name);
  return names;
}

TransportChoice transport_of(std::string_view from_program) {
  const std::vector<std::string> networks = linked_networks();
  if (!from_program.empty()) return read_transport("tutti::Communicator: argument 'transport'", from_program, networks);
  const char* variable = std::getenv("TUTTI_TRANSPORT");
  return read_transport("environment variable TUTTI_TRANSPORT", variable == nullptr ? "" : variable, networks);
}

constexpr const char *by_program = "the communicator's setting", *by_environment = "TUTTI_ALGORITHM";

LogUse read_log() { return log::read_level() >= log::Level::info ? LogUse::on : LogUse::off; }

/// Differs from that of other processes, and from the last ones of this one.
std::uint32_t next_nonce() {
  static std::uint32_t next = std::random_device{}();
  return ++next;
}

/// The folder counts as rank 0 sees it, as other ranks may have been started elsewhere.
TraceUse read_trace() {
  constexpr std::size_t longest = 4000;
  TraceUse trace;
  if (const char* const folder = std::getenv("TUTTI_TRACE"); folder != nullptr && *folder != '\0')
    trace.folder = std::filesystem::absolute(folder);
  if (trace.folder.size() > longest)
    throw ArgumentError(fmt::format("environment variable TUTTI_TRACE has {} characters; allowed: a folder of up to {}",
                                    trace.folder.size(), longest));
  constexpr std::int64_t least = std::int64_t{1} << 20, most = std::int64_t{1} << 40;
  trace.limit = number_in_environment("TUTTI_TRACE_LIMIT", least, most).value_or(trace.limit);
  return trace;
}

/// Throws ArgumentError if its faults cannot be made.
std::string read_faults_text() {
  const char* const variable = std::getenv("TUTTI_FAULTS");
  std::string text = variable == nullptr ? "" : variable;
  static_cast<void>(read_faults(text));
  return text;
}

HangSettings read_hang_settings() {
  HangSettings hang;
  hang.seconds = number_in_environment("TUTTI_HANG_SECONDS", 0, 1'000'000'000).value_or(hang.seconds);
  read_use("TUTTI_HANG_ACTION", {"wait", "abort"}, hang.action);
  return hang;
}

RangeUse read_ranges() {
  if (number_in_environment("TUTTI_NVTX", 0, 1).value_or(0) == 0) return RangeUse::off;
  if (!trace::has_ranges())
    throw ArgumentError(
        "environment variable TUTTI_NVTX is '1', but this library was built without NVTX's header; allowed: 0");
  return RangeUse::on;
}

Settings read_settings(const CommunicatorOptions& options) {
  Settings settings;
  settings.transport = transport_of(options.transport);
  const char* variable = std::getenv("TUTTI_ALGORITHM");
  settings.algorithms.choices =
      read_choices(variable == nullptr ? "" : variable, "environment variable TUTTI_ALGORITHM");
  settings.algorithms.chosen_by.fill(by_environment);
  const Choices before = read_choices(options.algorithms, "tutti::Communicator: argument 'algorithms'");
  for (std::size_t i = 0; i < collective_count; ++i) {
    if (before[i].algorithm == nullptr) continue;
    settings.algorithms.choices[i] = before[i];
    settings.algorithms.chosen_by[i] = by_program;
  }
  read_size("TUTTI_MESSAGE_LIMIT", std::numeric_limits<int>::max(), settings.message_limit);
  read_size("TUTTI_PLAN_CACHE", 65536, settings.plan_cache);
  if (const auto bytes = number_in_environment("TUTTI_STREAM_MEMORY", 0, std::int64_t{1} << 40))
    settings.stream_memory = *bytes;
  read_use("TUTTI_SINGLE_COPY", {"auto", "never", "always"}, settings.single_copy);
  read_use("TUTTI_STAGING", {"auto", "host", "device"}, settings.staging);
  read_use("TUTTI_DEVICE_PATH", {"auto", "ipc", "ucx", "mpi", "staging"}, settings.device_path);
  const std::vector<std::string> buffers{"auto", "host", "device"};
  read_use("TUTTI_BUFFERS", buffers, settings.buffers);
  if (!options.buffers.empty())
    settings.buffers =
        static_cast<BufferUse>(read_name("tutti::Communicator: argument 'buffers'", options.buffers, buffers));
  const HangSettings hang = read_hang_settings();
  settings.hang_seconds = hang.seconds;
  settings.hang_action = hang.action;
  settings.checks_arguments = number_in_environment("TUTTI_CHECK", 0, 1).value_or(0) != 0;
  settings.log = read_log();
  settings.nonce = next_nonce();
  settings.trace = read_trace();
  settings.faults = read_faults_text();
  settings.ranges = read_ranges();
  return settings;
}

/// A choice without pointers. The algorithm is its place in the registry, -1: none.
struct SentChoice {
  std::int64_t algorithm = -1, parameter = 0, segment = 0, is_by_program = 0;
};

/// The message of rank 0: its settings, or that it has none.
struct Announcement {
  std::int64_t message_limit = 0, plan_cache = 0, stream_memory = 0, hang_seconds = 0;
  SharedMemoryUse shared_memory = SharedMemoryUse::inside_nodes;
  shm::SingleCopyUse single_copy = shm::SingleCopyUse::automatic;
  device::StagingUse staging = device::StagingUse::automatic;
  device::WayUse device_path = device::WayUse::automatic;
  BufferUse buffers = BufferUse::automatic;
  LogUse log = LogUse::off;
  HangAction hang_action = HangAction::wait;
  bool checks_arguments = false;
  std::uint32_t nonce = 0;
  RangeUse ranges = RangeUse::off;
  std::uint8_t is_refused = 0, is_traced = 0, has_faults = 0;  ///< 1: a text follows.
  std::array<char, 40> network{};                              ///< Its name; empty: MPI.
  std::array<SentChoice, collective_count> choices{};
};

template <std::size_t n>
void put(std::string_view text, std::array<char, n>& into) {
  std::copy_n(text.begin(), std::min(text.size(), n - 1), into.begin());
}

Announcement announce(const CommunicatorOptions& options, std::string& refusal) {
  Announcement said;
  try {
    const Settings settings = read_settings(options);
    said.message_limit = settings.message_limit;
    said.plan_cache = settings.plan_cache;
    said.stream_memory = settings.stream_memory;
    said.single_copy = settings.single_copy;
    said.staging = settings.staging;
    said.device_path = settings.device_path;
    said.buffers = settings.buffers;
    said.log = settings.log;
    said.hang_seconds = settings.hang_seconds;
    said.hang_action = settings.hang_action;
    said.checks_arguments = settings.checks_arguments;
    said.nonce = settings.nonce;
    said.ranges = settings.ranges;
    said.is_traced = settings.trace.folder.empty() ? 0 : 1;
    said.has_faults = settings.faults.empty() ? 0 : 1;
    said.shared_memory = settings.transport.shared_memory;
    put(settings.transport.network, said.network);
    const auto all = algorithms();
    for (std::size_t i = 0; i < collective_count; ++i) {
      const auto& [algorithm, parameter, segment] = settings.algorithms.choices[i];
      if (algorithm == nullptr) continue;
      const std::int64_t is_by_program = settings.algorithms.chosen_by[i] == by_program ? 1 : 0;
      said.choices[i] = {std::ranges::find(all, algorithm) - all.begin(), parameter, segment, is_by_program};
    }
  } catch (const std::exception& error) {
    refusal = error.what();
    said.is_refused = 1;
  }
  return said;
}

/// What rank 0 has, on all ranks.
std::string agreed_text(MPI_Comm comm, std::string text) {
  auto length = static_cast<std::int64_t>(text.size());
  mpi::check(mpi::api.Bcast(&length, 1, MPI_INT64_T, 0, comm), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  mpi::check(mpi::api.Bcast(text.data(), mpi::narrow(length), MPI_CHAR, 0, comm), "MPI_Bcast");
  return text;
}

/// What rank 0 announced is traced: where.
TraceUse agreed_trace(MPI_Comm comm, int rank) {
  TraceUse trace;
  if (rank == 0) trace = read_trace();
  mpi::check(mpi::api.Bcast(&trace.limit, 1, MPI_INT64_T, 0, comm), "MPI_Bcast");
  trace.folder = agreed_text(comm, std::move(trace.folder));
  return trace;
}

}  // namespace

HangSettings own_hang_settings() noexcept {
  try {
    return read_hang_settings();
  } catch (const std::exception&) {
    return {};
  }
}

Settings agree_on_settings(MPI_Comm comm, const CommunicatorOptions& options) {
  int rank = 0;
  mpi::check(mpi::api.Comm_rank(comm, &rank), "MPI_Comm_rank");
  Announcement said;
  std::string refusal;
  if (rank == 0) said = announce(options, refusal);
  mpi::check(mpi::api.Bcast(&said, sizeof said, MPI_BYTE, 0, comm), "MPI_Bcast");
  if (said.is_refused != 0) throw ArgumentError(agreed_text(comm, std::move(refusal)));
  Settings settings;
  settings.message_limit = said.message_limit;
  settings.plan_cache = said.plan_cache;
  settings.stream_memory = said.stream_memory;
  settings.single_copy = said.single_copy;
  settings.staging = said.staging;
  settings.device_path = said.device_path;
  settings.buffers = said.buffers;
  settings.log = said.log;
  settings.hang_seconds = said.hang_seconds;
  settings.hang_action = said.hang_action;
  settings.checks_arguments = said.checks_arguments;
  settings.nonce = said.nonce;
  settings.ranges = said.ranges;
  if (said.is_traced != 0) settings.trace = agreed_trace(comm, rank);
  if (said.has_faults != 0) settings.faults = agreed_text(comm, rank == 0 ? read_faults_text() : "");
  settings.transport.shared_memory = said.shared_memory;
  settings.transport.network = said.network.data();
  for (std::size_t i = 0; i < collective_count; ++i) {
    const auto& [algorithm, parameter, segment, is_by_program] = said.choices[i];
    if (algorithm < 0) continue;
    settings.algorithms.choices[i] = {tutti::algorithms()[static_cast<std::size_t>(algorithm)],
                                      static_cast<int>(parameter), segment};
    settings.algorithms.chosen_by[i] = is_by_program != 0 ? by_program : by_environment;
  }
  return settings;
}

}  // namespace tutti
