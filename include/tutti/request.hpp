#pragma once
// Operations under way, and operations prepared to run many times.

#include <memory>
#include <string_view>

namespace tutti {

namespace detail {
class Operation;
class PersistentOperation;
/// Gives an operation back to the plan that it belongs to.
struct Release {
  void operator()(Operation* operation) const noexcept;
};
}  // namespace detail

/// A nonblocking operation. Its buffers belong to it until it has completed.
///
/// Every test and wait, of any request, moves all operations of the process forward.
/// Destroying a request that is still pending waits for it, as other ranks depend on this one's part; so does assigning
/// over it. After an error the operation is over: wait and test throw it, the destructor drops it.
class [[nodiscard]] Request {
 public:
  Request() = default;  ///< Nothing to wait for: complete.
  explicit Request(detail::Operation* operation) : operation_(operation) {}
  Request(Request&&) noexcept = default;
  Request& operator=(Request&&) noexcept = default;
  ~Request() = default;

  /// Returns when the operation is complete on this rank. Throws what made it fail.
  void wait();
  /// Makes progress, never blocks; true if complete. Throws what made it fail.
  [[nodiscard]] bool test();
  /// Whether wait() may still have to wait. Makes no progress.
  [[nodiscard]] bool pending() const noexcept { return operation_ != nullptr; }

 private:
  std::unique_ptr<detail::Operation, detail::Release> operation_;
};

/// A collective with its buffers, prepared once (persistent): start() and wait() any number of times.
/// All ranks start their plans of a communicator in the same order. Destroying a started plan waits for it.
class [[nodiscard]] Plan {
 public:
  explicit Plan(std::unique_ptr<detail::PersistentOperation> operation);
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  /// Throws StateError if it was started and not yet waited for.
  void start();
  void wait();
  [[nodiscard]] bool test();
  /// The algorithm's name, as in the registry.
  [[nodiscard]] std::string_view algorithm() const;

 private:
  detail::PersistentOperation& operation() const;
  std::unique_ptr<detail::PersistentOperation> operation_;
};

}  // namespace tutti
