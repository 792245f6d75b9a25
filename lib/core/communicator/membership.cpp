#include "lib/core/communicator/membership.hpp"

#include <fmt/format.h>

#include <utility>

#include "lib/core/transport/mpi/check.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

/// Collective. Files are begun before a context is taken: they may be refused.
Settings agree(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options) {
  Settings settings = agree_on_settings(comm, options);
  runtime.bits().start(comm, settings.bits_files, [&] { runtime.tracing().start(comm, settings.trace); });
  runtime.make_faults(settings.faults);
  return settings;
}

/// Sets the constants that the rules have, the same on all ranks.
std::shared_ptr<const SiteRules> applied(std::shared_ptr<const SiteRules> rules, Settings& settings) {
  if (rules == nullptr) return rules;
  const TunedConstants& tuned = rules->file.tuning;
  settings.tuned_memory = {.fast_path_bytes = tuned.find("shm.fast_path_bytes"),
                           .copied_bytes = tuned.find("shm.copied_bytes"),
                           .joined_bytes = tuned.find("shm.joined_bytes")};
  device::Tuning& device = settings.device_tuning;
  device.chunk_bytes = tuned.find("device.chunk_bytes").value_or(device.chunk_bytes);
  device.copied_in_place = tuned.find("device.copied_in_place").value_or(device.copied_in_place);
  return rules;
}

}  // namespace

/// Braces: from left to right, as both are collective.
Membership::Membership(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options, Candidate& candidate)
    : Membership{runtime, comm, agree(runtime, comm, options), runtime.admit(comm, candidate)} {}

Membership::Membership(Runtime& runtime, MPI_Comm comm, Settings settings, Admission admission)
    : runtime_(runtime),
      progress_(runtime.progress()),
      recorder_(runtime.recorder()),
      settings_(std::move(settings)),
      carrier_(std::move(admission.carrier)),
      context_(admission.context),
      id_(records::CommunicatorId::of(context_, settings_.nonce)),
      rules_(applied(settings_.rules ? *settings_.rules : carrier_->rules(), settings_)),
      waiting_{.is_crowded = carrier_->is_crowded(),
               .outnumbers_processors = carrier_->outnumbers_processors(),
               .shares_processors = carrier_->shares_processors(),
               .mpi_yields = carrier_->mpi_yields()},
      members_(*carrier_, std::move(admission.ranks), Rank{mpi::rank_in(comm)}),
      paths_(*carrier_, members_, settings_, context_, comm) {}

Question Membership::question() const {
  const bool shares_memory = paths_.shares_memory();
  return {.ranks = members_.size(),
          .nodes = members_.node_count(),
          .most_on_a_node = members_.most_on_a_node(),
          .bits = settings_.bits,
          .shares_memory = shares_memory,
          .shares_processors = shares_memory && waiting_.shares_processors,
          .maps_devices = paths_.maps_devices(),
          .memory = paths_.assumed_memory(),
          .spread = members_.nodes(),
          .files = &files_};
}

void Membership::throw_closed() const {
  throw StateError(fmt::format("tutti: rank {}: this communicator {}", rank().value(), closed_because_));
}

records::Signature Membership::signed_here(records::Signature call) const {
  call.rank = rank().value();
  call.ranks = members_.size();
  call.communicator = id_;
  call.any_manner = settings_.forms_match;
  return call;
}

}  // namespace tutti::detail
