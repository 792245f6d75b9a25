#pragma once
// A call that is several operations, all under way at once.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/core/run/operation.hpp"
#include "tutti/request.hpp"

namespace tutti::detail {

class CommunicatorState;

/// A Request or a Plan of several operations. Whoever makes the call says what precedes and follows each of them.
class JointCall {
 public:
  explicit JointCall(std::shared_ptr<CommunicatorState> state) : state_(std::move(state)) {}
  JointCall(const JointCall&) = delete;
  JointCall& operator=(const JointCall&) = delete;
  virtual ~JointCall() = default;

  /// A blocking call: each operation is over before the next one starts.
  void run();
  /// Starts one operation after the other. Needs an Entry.
  void start(records::Manner manner);
  /// Of a plan. Throws what Plan::start() throws.
  void start_again();
  /// Each throws the error of an operation that failed, once: then the call is over, as its communicator has failed.
  void wait();
  [[nodiscard]] bool test();
  [[nodiscard]] bool wait_until(std::int64_t end);

  [[nodiscard]] bool is_over() const { return ended_ == operations_.size(); }
  [[nodiscard]] const Operation& first() const { return *operations_.front(); }
  [[nodiscard]] CommunicatorState& communicator() const { return *state_; }
  [[nodiscard]] std::string explain() const;

 protected:
  /// Needs an Entry. There has to be one operation at least.
  void add(Operation& operation);
  /// Before an operation starts. Needs an Entry.
  virtual void prepare(std::size_t operation) = 0;
  /// After it has ended without an error.
  virtual void finish(std::size_t operation) = 0;
  /// What the operation does for the call, for people.
  [[nodiscard]] virtual std::string described(std::size_t operation) const = 0;

 private:
  template <class Look>
  bool go_on(const Look& is_over);

  std::shared_ptr<CommunicatorState> state_;
  std::vector<OwnedOperation> operations_{};
  std::size_t ended_ = 0;  ///< So many of the operations have ended and are finished, in their order.
};

}  // namespace tutti::detail
