#include "lib/records/recorder.hpp"

#include <utility>

namespace tutti::records {

void Recorder::attach(Journal& journal, std::shared_ptr<const void> memory) {
  if (memory_of_first_ != nullptr) {
    others_.push_back({&journal, std::move(memory)});
    return;
  }
  first_ = &journal;
  memory_of_first_ = std::move(memory);
  own_.reset();
}

void Recorder::fail(CommunicatorId communicator, std::string_view why) {
  first_->fail(communicator, why);
  for (const Attached& other : others_)
    other.journal->fail(communicator, why);
}

}  // namespace tutti::records
