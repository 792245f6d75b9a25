#include "lib/core/communicator/communicator_state.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti::detail {

CommunicatorState::CommunicatorState(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options,
                                     Progress::Entry& entry)
    : CommunicatorState(runtime, comm, options, runtime.wait_for_turn(comm, entry)) {}

/// The turn is the candidate's, and ends with the constructor.
CommunicatorState::CommunicatorState(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options,
                                     Candidate candidate)
    : Workspace(runtime, comm, options, candidate), plans_(settings(), paths()) {
  runtime.opened(*this);
}

void CommunicatorState::match_by(std::unique_ptr<Matching> matching) {
  matching_ = std::move(matching);
  progress().add(*matching_);
}

int CommunicatorState::in_flight() const {
  return order().in_flight() - (matching_ == nullptr ? 0 : matching_->unasked());
}

void CommunicatorState::take(const mpi::Letter& letter, const mpi::Mailbox::Rest& rest, int from) {
  using Kind = mpi::Letter::Kind;
  if (letter.kind == Kind::question)
    peers().others().answer(letter, from);
  else if (letter.kind == Kind::arguments || letter.kind == Kind::verdict)
    argument_check().take(letter, rest);
  else
    peers().take(letter);
}

/// Ranks that still wait for a call of this one learn that it will not come.
void CommunicatorState::record_closing() {
  const records::Signature closing{.action = records::Action::close_communicator,
                                   .rank = rank().value(),
                                   .ranks = members().size(),
                                   .communicator = id(),
                                   .sequence = static_cast<std::uint32_t>(order().next())};
  if (settings().checks_arguments && !has_failed()) argument_check().close(closing);
  recorder().leave(recorder().enter(records::pack(closing), 0, records::Manner::blocking), records::State::over);
}

void CommunicatorState::abort(const std::string& why) {
  const std::string text = fmt::format("aborted on rank {}{}{}", rank().value(), why.empty() ? "" : ": ", why);
  fail(records::FailureKind::error, text);
  progress().advance_all();  // operations of a communicator that has failed end
  close(fmt::format("was {}", text).c_str());
}

void CommunicatorState::close(const char* reason) noexcept {
  if (!is_open() || !is_of_this_process()) return;
  for (int looks = 0; matching_ != nullptr && status().empty() && matching_->is_busy(); ++looks)
    progress().look_at_all(looks);
  if (matching_ != nullptr) matching_->end();
  for (int looks = 0; order().in_flight() > 0 || (status().empty() && streams().is_busy()); ++looks)
    progress().look_at_all(looks);
  if (matching_ != nullptr) progress().remove(*matching_);
  streams().close();
  record_closing();
  // Late messages might still be on their way: of a communicator that has failed, and to ranks that never receive them.
  if (!has_failed() && has_sent_to_pairs())
    carrier().give_back_later(context());
  else if (!has_failed())
    carrier().give_back(context());
  staging_memory().clear();
  runtime().closed(*this);
  leave(reason);
}

}  // namespace tutti::detail
