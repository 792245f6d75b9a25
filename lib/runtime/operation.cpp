#include "lib/runtime/operation.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "lib/runtime/communicator_state.hpp"
#include "lib/runtime/runtime.hpp"

namespace tutti::detail {

Operation::Operation(CommunicatorState& communicator, CachedPlan& plan)
    : communicator_(communicator),
      plan_(plan),
      execution_(plan.compiled, mpi::MpiPort{communicator.route(), plan.compiled}) {}

void Operation::start() {
  sequence_ = communicator_.next_sequence();
  failure_ = nullptr;
  state_ = State::queued;
  communicator_.progress().add(*this);
  advance();
}

void Operation::advance() {
  if (state_ == State::idle) return;
  try {
    communicator_.require_working();
    if (state_ == State::queued) {
      if (!communicator_.is_turn_of(sequence_)) return;
      execution_.port().begin(communicator_.tag(sequence_));
      execution_.begin();
      state_ = State::running;
    }
    if (execution_.advance()) end();
  } catch (const Error& error) {
    const auto& algorithm = *execution_.plan().algorithm;
    const std::string why = fmt::format("{} ({}), operation {} on rank {}: {}", to_string(algorithm.collective),
                                        algorithm.name, sequence_, communicator_.rank().value(), error.what());
    communicator_.poison(why);
    fail(std::make_exception_ptr(Error{"tutti: " + why}));
  }
}

void Operation::fail(std::exception_ptr why) noexcept {
  failure_ = std::move(why);
  execution_.port().abandon();
  end();
}

void Operation::end() {
  state_ = State::idle;
  communicator_.progress().remove(*this);
  communicator_.ended(sequence_);
}

void Operation::rethrow() {
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

bool Operation::yields() const { return communicator_.waits_yield(); }

}  // namespace tutti::detail
