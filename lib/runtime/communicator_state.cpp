#include "lib/runtime/communicator_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/runtime/introduction.hpp"
#include "lib/runtime/runtime.hpp"
#include "lib/transport/mpi/api.hpp"
#include "lib/transport/mpi/check.hpp"

namespace tutti::detail {
namespace {

Rank rank_in(MPI_Comm comm) {
  int rank = 0;
  mpi::check(mpi::api.Comm_rank(comm, &rank), "MPI_Comm_rank");
  return Rank{rank};
}

/// Collective. A trace is begun before a context is taken: it may be refused.
Settings agree(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options) {
  Settings settings = agree_on_settings(comm, options);
  runtime.tracing().start(comm, settings.trace);
  runtime.make_faults(settings.faults);
  return settings;
}

}  // namespace

CommunicatorState::CommunicatorState(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options,
                                     Progress::Entry& entry)
    : CommunicatorState(runtime, comm, options, runtime.wait_for_turn(comm, entry)) {}

/// Braces: from left to right, as both are collective.
CommunicatorState::CommunicatorState(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options,
                                     Candidate candidate)
    : CommunicatorState{runtime, comm, agree(runtime, comm, options), runtime.admit(comm, std::move(candidate))} {}

CommunicatorState::CommunicatorState(Runtime& runtime, MPI_Comm comm, Settings settings, Admission admission)
    : runtime_(runtime),
      progress_(runtime.progress()),
      recorder_(runtime.recorder()),
      settings_(std::move(settings)),
      carrier_(std::move(admission.carrier)),
      context_(admission.context),
      id_(records::CommunicatorId::of(context_, settings_.nonce)),
      waiting_{.is_crowded = carrier_->is_crowded(),
               .outnumbers_processors = carrier_->outnumbers_processors(),
               .shares_processors = carrier_->shares_processors(),
               .mpi_yields = carrier_->mpi_yields()},
      members_(*carrier_, std::move(admission.ranks), rank_in(comm)),
      paths_(*carrier_, members_, settings_, context_, comm),
      order_(carrier_->tags().turns(), paths_, settings_.forms_match),
      pairwise_sends_(static_cast<std::size_t>(members_.size()) * CompiledPlan::line_count),
      streams_(*carrier_, members_, paths_, settings_, context_, comm, counters_.stream),
      trace_(CommunicatorTrace::make(runtime.tracing(), settings_, members_, context_, comm)),
      plans_(settings_, paths_) {
  runtime_.opened(*this);
  introduce(*this);
}

Route CommunicatorState::route() {
  Route route = paths_.route(counters_);
  route.pairwise = pairwise_sends_;
  route.faults = runtime_.faults();
  route.ipc.blocks = &staging_memory_;
  return route;
}

void CommunicatorState::throw_unusable() const {
  if (!is_open())
    throw StateError(fmt::format("tutti: rank {}: this communicator {}", rank().value(), closed_because_));
  throw Error(fmt::format("the communicator is unusable since an operation failed: {}", failure_));
}

bool CommunicatorState::poison(std::string why) {
  if (!failure_.empty()) return false;
  failure_ = std::move(why);
  return true;
}

/// Ranks that still wait for a call of this one learn that it will not come.
void CommunicatorState::record_closing() {
  const records::Call closing{.action = records::Action::close_communicator,
                              .rank = rank().value(),
                              .ranks = members_.size(),
                              .communicator = id_,
                              .sequence = static_cast<std::uint32_t>(order_.next())};
  if (settings_.checks_arguments && failure_.empty()) argument_check_.close(closing);
  recorder_.leave(recorder_.enter(records::pack(closing), 0, records::Manner::blocking), records::State::over);
}

const std::string& CommunicatorState::status() noexcept {
  try {
    static_cast<void>(streams_.is_busy());
  } catch (const Error& error) {
    poison(fmt::format("a call in a stream on rank {}: {}", rank().value(), error.what()));
  }
  return failure_;
}

/// A message to a rank that never receives it may be on its way for a while.
void CommunicatorState::give_context_back() {
  const bool has_sent = std::ranges::any_of(pairwise_sends_, [](const auto& sends) { return sends.numbered > 0; });
  if (has_sent)
    carrier_->give_back_later(context_);
  else
    carrier_->give_back(context_);
}

void CommunicatorState::match_by(std::unique_ptr<Matching> matching) {
  matching_ = std::move(matching);
  progress_.add(*matching_);
}

int CommunicatorState::in_flight() const {
  return order_.in_flight() - (matching_ == nullptr ? 0 : matching_->unasked());
}

void CommunicatorState::abort(const std::string& why) {
  const std::string text = fmt::format("aborted on rank {}{}{}", rank().value(), why.empty() ? "" : ": ", why);
  if (poison(text)) watch_.tell(records::FailureKind::error, text);
  progress_.end_all_of(*this);
  close(fmt::format("was {}", text).c_str());
}

void CommunicatorState::close(const char* reason) noexcept {
  if (!is_open() || !is_of_this_process()) return;
  for (int looks = 0; matching_ != nullptr && status().empty() && matching_->is_busy(); ++looks)
    progress_.look_at_all(looks);
  if (matching_ != nullptr) matching_->end();
  for (int looks = 0; order_.in_flight() > 0 || (status().empty() && streams_.is_busy()); ++looks)
    progress_.look_at_all(looks);
  if (matching_ != nullptr) progress_.remove(*matching_);
  streams_.close();
  record_closing();
  if (failure_.empty()) give_context_back();  // else late messages might still be on their way
  staging_memory_.clear();
  closed_because_ = reason;
  runtime_.closed(*this);
  carrier_.reset();
}

}  // namespace tutti::detail
