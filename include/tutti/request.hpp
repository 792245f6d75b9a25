#pragma once
// Operations under way, and operations prepared to run many times.

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "tutti/export.hpp"

namespace tutti {

namespace detail {
class Operation;
/// Waits for an operation if it is under way, and gives it back to the plan that it belongs to.
struct Release {
  TUTTI_API void operator()(Operation* operation) const noexcept;
};
using OwnedOperation = std::unique_ptr<Operation, Release>;
struct TaggedCall;
/// Waits if any of its messages is under way.
struct ReleaseTagged {
  TUTTI_API void operator()(TaggedCall* call) const noexcept;
};
using OwnedTaggedCall = std::unique_ptr<TaggedCall, ReleaseTagged>;
class StreamedCall;
struct ReleaseStreamedCall {
  TUTTI_API void operator()(StreamedCall* call) const noexcept;
};
using OwnedStreamedCall = std::unique_ptr<StreamedCall, ReleaseStreamedCall>;
class JointCall;
/// Waits if any of its operations is under way.
struct ReleaseJointCall {
  TUTTI_API void operator()(JointCall* call) const noexcept;
};
using OwnedJointCall = std::unique_ptr<JointCall, ReleaseJointCall>;
}  // namespace detail

/// A nonblocking operation. Its buffers belong to it until it has completed.
///
/// - **It needs progress.** The call that starts it does everything that can be done at once and returns. After that
///   the operation moves only while some thread of this process is inside Tutti: in test or wait of any request or
///   plan, or in a blocking call; each of these moves all operations of the process forward. While the program
///   computes, or blocks in MPI or elsewhere, its operations stand still on this rank, and other ranks that need its
///   part wait. So call test now and then during long work, or set TUTTI_PROGRESS_THREAD=1 in the environment: a thread
///   of Tutti's own then moves operations forward all the time, which needs MPI_THREAD_MULTIPLE and takes some of a
///   processor.
/// - Destroying a request that is still pending waits for it, as other ranks depend on this one's part; so does
///   assigning to it.
/// - In a child of a fork(), which must not test or wait, the destructor does nothing: the operation is the parent's.
/// - After an error the operation is over and its communicator unusable: wait and test throw the error once, the
///   destructor drops it. Other ranks may still read the operation's buffers until MPI_Finalize, as MPI cannot withdraw
///   a send.
class [[nodiscard]] Request {
 public:
  Request() = default;  ///< Nothing to wait for.
  explicit Request(detail::OwnedOperation operation, detail::OwnedTaggedCall tagged = {})
      : operation_(std::move(operation)), tagged_(std::move(tagged)) {}
  explicit Request(detail::OwnedJointCall joint) : joint_(std::move(joint)) {}

  /// Returns when the operation is complete on this rank. Throws the error if it failed.
  TUTTI_API void wait();
  /// Makes progress, never blocks; true if complete. Throws the error if the operation failed.
  [[nodiscard]] TUTTI_API bool test();
  /// Waits as wait(), but no longer than that, to some milliseconds; true if complete. Otherwise the operation goes on,
  /// and may be waited for again.
  [[nodiscard]] TUTTI_API bool wait_for(std::chrono::duration<double> time);
  /// Takes the operation back if no other rank has a part in it yet: a receive with a tag that no message has met.
  /// True: there is nothing to wait for any more, and buffers are as they were. False: nothing has happened; other
  /// operations end by Communicator::abort() alone.
  [[nodiscard]] TUTTI_API bool cancel();

 private:
  detail::OwnedOperation operation_;
  detail::OwnedTaggedCall tagged_;
  detail::OwnedJointCall joint_;  ///< A call of several operations (tutti/lists.hpp).
};

/// A collective with its buffers, prepared once (persistent): start() and wait() any number of times.
///
/// - All ranks start their plans and other collectives of a communicator in the same order.
/// - With Options::stream, all ranks make the plan, in the order of their other calls. start() puts the call into the
///   stream and returns, and may do so again before it is over;
///   wait() and test() then look at all calls of the communicator that are in streams.
/// - Destroying a started plan waits for it; in a child of a fork() the destructor does nothing.
class [[nodiscard]] Plan {
 public:
  explicit Plan(detail::OwnedOperation operation) : operation_(std::move(operation)) {}
  explicit Plan(detail::OwnedStreamedCall streamed) : streamed_(std::move(streamed)) {}
  explicit Plan(detail::OwnedJointCall joint) : joint_(std::move(joint)) {}

  /// Throws StateError if the plan is still running, or if its communicator is closed.
  TUTTI_API void start();
  /// Returns when the plan is complete on this rank, at once if it was not started. Throws the error if it failed.
  TUTTI_API void wait();
  /// Makes progress, never blocks; true if complete. Throws the error if the plan failed.
  [[nodiscard]] TUTTI_API bool test();
  /// Waits as wait(), but no longer than that, to some milliseconds; true if complete, or not started.
  [[nodiscard]] TUTTI_API bool wait_for(std::chrono::duration<double> time);
  /// The algorithm's name, as in the registry; empty if the plan is no collective. Of a list of buffers, that of the
  /// first call that it became.
  [[nodiscard]] TUTTI_API std::string_view algorithm() const;
  /// The algorithm that runs and why: "allreduce of 1000 elements of fp32 on 4 ranks of 1 node: rabenseifner, as many
  /// bytes want the least volume; 4 rounds; the busiest rank sends 4 messages with 1500 elements in all, and reduces
  /// 750; messages go through shared memory".
  [[nodiscard]] TUTTI_API std::string explain() const;

 private:
  [[nodiscard]] detail::Operation& operation() const;
  detail::OwnedOperation operation_;
  detail::OwnedStreamedCall streamed_;
  detail::OwnedJointCall joint_;
};

}  // namespace tutti
