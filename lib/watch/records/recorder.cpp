#include "lib/watch/records/recorder.hpp"

#include <utility>

namespace tutti::records {

void Recorder::attach(Journal& journal, std::shared_ptr<const void> memory) {
  if (memory_of_first_ != nullptr) {
    others_.push_back({&journal, std::move(memory)});
    return;
  }
  // The making of the first communicator is under way: others can see it from now on.
  for (const Entry& entry : own_->latest(kept))
    if (entry.state == State::inside)
      journal.record(entry.number).enter(entry.number, entry.since, pack(entry.call), 0, Manner::blocking);
  first_ = &journal;
  memory_of_first_ = std::move(memory);
  own_.reset();
}

void Recorder::fail(CommunicatorId communicator, FailureKind kind, std::string_view why) {
  first_->fail(communicator, kind, why);
  for (const Attached& other : others_)
    other.journal->fail(communicator, kind, why);
}

void Recorder::reported(const Signature& call) {
  first_->reported(call);
  for (const Attached& other : others_)
    other.journal->reported(call);
}

}  // namespace tutti::records
