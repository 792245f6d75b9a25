#include "lib/core/communicator/workspace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::detail {

Workspace::Workspace(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options, Candidate& candidate)
    : Membership(runtime, comm, options, candidate),
      order_(carrier().tags().turns(), paths(), settings().forms_match),
      pairwise_sends_(static_cast<std::size_t>(members().size()) * CompiledPlan::class_count),
      streams_(carrier(), members(), paths(), settings(), context(), comm, counters_.stream),
      trace_(CommunicatorTrace::make(*this, comm)),
      bits_(CommunicatorBits::make(*this, comm)) {}

Routes Workspace::route() {
  Routes route = paths().route(counters_);
  route.pairwise = pairwise_sends_;
  route.faults = runtime().faults();
  route.ipc.blocks = &staging_memory_;
  return route;
}

bool Workspace::has_sent_to_pairs() const {
  return std::ranges::any_of(pairwise_sends_, [](const auto& sends) { return sends.numbered > 0; });
}

const std::string& Workspace::status() noexcept {
  try {
    static_cast<void>(streams_.is_busy());
  } catch (const Error& error) {
    poison(fmt::format("a call in a stream on rank {}: {}", rank().value(), error.what()));
  }
  return failure_;
}

bool Workspace::poison(std::string why) {
  if (has_failed()) return false;
  failure_ = std::move(why);
  return true;
}

void Workspace::throw_failure() const {
  throw Error(fmt::format("the communicator is unusable since an operation failed: {}", failure_));
}

}  // namespace tutti::detail
