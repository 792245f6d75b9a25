#include "lib/core/communicator/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/core/communicator/agreed_rules.hpp"
#include "lib/core/communicator/objection.hpp"
#include "lib/core/communicator/shared_text.hpp"
#include "lib/core/files/prover.hpp"
#include "lib/core/schedule/plugins.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/core/transport/network.hpp"
#include "lib/watch/bits/hash.hpp"
#include "lib/watch/faults.hpp"
#include "lib/watch/log.hpp"
#include "lib/watch/trace/ranges.hpp"
#include "tutti/error.hpp"
#include "tutti/plugin.hpp"

namespace tutti {
namespace {

TransportChoice transport_of(std::string_view from_program) {
  if (from_program.empty()) return transport_in_environment();
  return read_transport("tutti::Communicator: argument 'transport'", from_program, linked_networks());
}

constexpr const char *by_program = "the communicator's setting", *by_environment = "TUTTI_ALGORITHM";

LogUse read_log() { return log::read_level() >= log::Level::info ? LogUse::on : LogUse::off; }

/// Differs from that of other processes, and from the last ones of this one.
std::uint32_t next_nonce() {
  static std::uint32_t next = std::random_device{}();
  return ++next;
}

Settings read_settings(const CommunicatorOptions& options) {
  Settings settings;
  settings.transport = transport_of(options.transport);
  load_algorithms_in_environment();
  settings.algorithms = algorithms_in_environment();
  const Choices before = read_choices(options.algorithms, "tutti::Communicator: argument 'algorithms'");
  for (std::size_t i = 0; i < collective_count; ++i) {
    if (before[i].algorithm == nullptr) continue;
    settings.algorithms.choices[i] = before[i];
    settings.algorithms.chosen_by[i] = by_program;
  }
  for (const Variable& variable : variables)
    read_sent(variable, settings);
  const BitsUse bits = bits_in_environment();
  settings.bits = bits.bits;
  settings.bits_files = bits.files;
  if (!options.buffers.empty())
    settings.buffers = static_cast<BufferUse>(
        read_name("tutti::Communicator: argument 'buffers'", options.buffers, {"auto", "host", "device", "tutti"}));
  settings.forms_match = options.forms_match;
  if (options.bits && options.bits != Bits::same && options.bits != Bits::fixed)
    throw ArgumentError("tutti::Communicator: argument 'bits' is Bits::differ; allowed: Bits::same, Bits::fixed");
  settings.bits = options.bits.value_or(settings.bits);
  settings.log = read_log();
  settings.nonce = next_nonce();
  settings.trace = trace_in_environment();
  settings.faults = faults_in_environment();
  settings.ranges = ranges_in_environment();
  return settings;
}

/// A choice without pointers. The algorithm is its place in the registry, -1: none; behind the last one: a file, whose
/// name follows.
struct SentChoice {
  std::int64_t algorithm = -1, parameter = 0, segment = 0, is_by_program = 0;
};

/// The message of rank 0: its settings, or that it has none.
struct Announcement {
  SentSettings settings{};
  SharedMemoryUse shared_memory = SharedMemoryUse::inside_nodes;
  std::uint8_t is_refused = 0, is_traced = 0, has_faults = 0, has_rules = 0, has_files = 0, has_libraries = 0,
               has_bits = 0;       ///< 1: a text follows.
  std::array<char, 40> network{};  ///< Its name; empty: MPI.
  std::array<SentChoice, collective_count> choices{};
};
static_assert(std::is_trivially_copyable_v<Announcement>);

template <std::size_t n>
void put(std::string_view text, std::array<char, n>& into) {
  std::copy_n(text.begin(), std::min(text.size(), n - 1), into.begin());
}

/// The texts of rank 0 that may follow its announcement.
struct Texts {
  std::string refusal{};
  std::string files{};  ///< For each collective the name of the file that is its choice, each ended by a 0.
};

Announcement announce(const CommunicatorOptions& options, Texts& texts) {
  Announcement said;
  try {
    const Settings settings = read_settings(options);
    said.settings = static_cast<const SentSettings&>(settings);
    said.is_traced = settings.trace.folder.empty() ? 0 : 1;
    said.has_rules = options.rules.empty() ? 0 : 1;
    said.has_bits = settings.bits_files.empty() ? 0 : 1;
    said.has_faults = settings.faults.empty() ? 0 : 1;
    said.has_libraries = text_in_environment("TUTTI_ALGORITHMS").empty() ? 0 : 1;
    said.shared_memory = settings.transport.shared_memory;
    put(settings.transport.network, said.network);
    const auto all = algorithms();
    for (std::size_t i = 0; i < collective_count; ++i) {
      const auto& [algorithm, parameter, segment] = settings.algorithms.choices[i];
      const bool is_file = algorithm != nullptr && is_named_file(*algorithm);
      if (is_file) said.has_files = 1;
      texts.files += fmt::format("{}{}", is_file ? algorithm->name : "", '\0');
      if (algorithm == nullptr) continue;
      const std::int64_t is_by_program = settings.algorithms.chosen_by[i] == by_program ? 1 : 0;
      said.choices[i] = {std::ranges::find(all, algorithm) - all.begin(), parameter, segment, is_by_program};
    }
  } catch (const std::exception& error) {
    texts.refusal = error.what();
    said.is_refused = 1;
  }
  return said;
}

/// The lines of rank 0, one for each collective.
std::array<std::string, collective_count> agreed_lines(MPI_Comm comm, std::string lines) {
  lines = detail::shared_text(comm, 0, std::move(lines));
  std::array<std::string, collective_count> each;
  for (std::size_t i = 0, begin = 0; i < collective_count; begin += each[i++].size() + 1)
    each[i] = lines.substr(begin, lines.find('\0', begin) - begin);
  return each;
}

/// Loads the libraries of algorithms that rank 0 has loaded.
void load_libraries_of_rank_0(MPI_Comm comm, int rank) {
  const std::string libraries = detail::shared_text(comm, 0, rank == 0 ? text_in_environment("TUTTI_ALGORITHMS") : "");
  std::uint64_t catalogue = catalogue_hash();
  mpi::check(mpi::api.Bcast(&catalogue, 1, MPI_UINT64_T, 0, comm), "MPI_Bcast");
  std::string why;
  try {
    load_algorithms(libraries);
    if (catalogue != catalogue_hash()) why = "has other algorithms than rank 0, or in another order";
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (const std::string objection = detail::first_objection(comm, rank, why); !objection.empty())
    throw ArgumentError(fmt::format("tutti::Communicator: TUTTI_ALGORITHMS: {}", objection));
}

/// All ranks need the library of proofs, if plans are to be proved.
void require_provers(MPI_Comm comm, int rank) {
  std::string why;
  try {
    static_cast<void>(prover());
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (const std::string objection = detail::first_objection(comm, rank, why); !objection.empty())
    throw ArgumentError(fmt::format("tutti::Communicator: {} (TUTTI_PROVE=0 runs plans unproved)", objection));
}

/// What rank 0 announced is traced: where.
TraceUse agreed_trace(MPI_Comm comm, int rank) {
  TraceUse trace;
  if (rank == 0) trace = trace_in_environment();
  mpi::check(mpi::api.Bcast(&trace.limit, 1, MPI_INT64_T, 0, comm), "MPI_Bcast");
  trace.folder = detail::shared_text(comm, 0, std::move(trace.folder));
  return trace;
}

}  // namespace

HangSettings own_hang_settings() noexcept {
  SentSettings own;
  for (const Variable& variable : variables) {
    try {
      read_sent(variable, own);
    } catch (const std::exception&) {  // the default stays
    }
  }
  return static_cast<const HangSettings&>(own);
}

UserChoices algorithms_in_environment() {
  constexpr const char* name = "TUTTI_ALGORITHM";
  UserChoices users{.choices = read_choices(text_in_environment(name), source_of(name))};
  users.chosen_by.fill(name);
  return users;
}

BitsUse bits_in_environment() {
  BitsUse use = read_bits(source_of("TUTTI_BITS"), text_in_environment("TUTTI_BITS"));
  if (const char* const why = bits::why_no_hash(); why != nullptr && !use.files.empty())
    throw ArgumentError(fmt::format("environment variable TUTTI_BITS is '{}', but {}; allowed: same, fixed",
                                    text_in_environment("TUTTI_BITS"), why));
  return use;
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

Settings agree_on_settings(MPI_Comm comm, const CommunicatorOptions& options) {
  const int rank = mpi::rank_in(comm);
  Announcement said;
  Texts texts;
  if (rank == 0) said = announce(options, texts);
  mpi::check(mpi::api.Bcast(&said, sizeof said, MPI_BYTE, 0, comm), "MPI_Bcast");
  if (said.is_refused != 0) throw ArgumentError(detail::shared_text(comm, 0, std::move(texts.refusal)));
  if (said.has_libraries != 0) load_libraries_of_rank_0(comm, rank);
  const ProveUse proves = said.settings.proves;
  if (proves == ProveUse::all || (proves == ProveUse::loaded && said.has_libraries != 0)) require_provers(comm, rank);
  Settings settings{said.settings};
  if (said.is_traced != 0) settings.trace = agreed_trace(comm, rank);
  if (said.has_bits != 0) {
    const std::string files = detail::shared_text(comm, 0, rank == 0 ? to_text(bits_in_environment().files) : "");
    settings.bits_files = read_bits(source_of("TUTTI_BITS"), files).files;
  }
  if (said.has_faults != 0) settings.faults = detail::shared_text(comm, 0, rank == 0 ? faults_in_environment() : "");
  if (said.has_rules != 0) settings.rules = agree_on_rules(comm, rank == 0 ? options.rules : "", 0, 0);
  std::array<std::string, collective_count> files{};
  if (said.has_files != 0) files = agreed_lines(comm, std::move(texts.files));
  settings.transport.shared_memory = said.shared_memory;
  settings.transport.network = said.network.data();
  const auto all = tutti::algorithms();
  for (std::size_t i = 0; i < collective_count; ++i) {
    const auto& [algorithm, parameter, segment, is_by_program] = said.choices[i];
    if (algorithm < 0) continue;
    const Algorithm* const its = algorithm < std::ssize(all) ? all[static_cast<std::size_t>(algorithm)]
                                                             : named_file(static_cast<Collective>(i), files[i]);
    settings.algorithms.choices[i] = {its, static_cast<int>(parameter), segment};
    settings.algorithms.chosen_by[i] = is_by_program != 0 ? by_program : by_environment;
  }
  return settings;
}

}  // namespace tutti
