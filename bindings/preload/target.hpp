#pragma once
// A communicator of the program's, as the interposer knows it.

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bindings/preload/policy.hpp"
#include "lib/watch/records/record.hpp"
#include "tutti/communicator.hpp"

namespace tutti::interpose {

/// Which calls Tutti may move on a thread of its own, so that they go on while the program does something else.
enum class Movable : std::uint8_t {
  none,         ///< A thread may move none: nobody would complete their requests.
  without_mpi,  ///< MPI does not allow the thread, but shared memory carries all messages.
  all,
};

/// What the program calls a communicator at this time, for reports as long as this lives.
class NameInReports {
 public:
  NameInReports(const Communicator& communicator, MPI_Comm comm);
  NameInReports(const NameInReports&) = delete;
  NameInReports& operator=(const NameInReports&) = delete;
  ~NameInReports();

 private:
  records::CommunicatorId id_;
};

/// Made at the first collective on a communicator, and kept with it as an attribute until the program frees it.
class Target {
 public:
  /// Local: it is not known yet, unless it is never served.
  explicit Target(MPI_Comm comm);
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  ~Target();

  /// Collective over `comm`, once. Never throws for what all ranks find alike: then it is not served. `most`: of the
  /// job.
  void get_to_know(MPI_Comm comm, const Wishes& wishes, Movable most);
  /// Whether all ranks have got to know it: they all find the same, since they make the collective calls on a
  /// communicator in the same order.
  [[nodiscard]] bool is_known() const { return is_known_.load(std::memory_order_acquire); }
  /// One more call that waits for all ranks, before it is known. The number of such calls.
  int count_call() { return ++calls_; }

  // Only for a communicator that is known.
  [[nodiscard]] bool is_served() const { return communicator_.has_value(); }
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  [[nodiscard]] const Communicator& communicator() const { return *communicator_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// Whether this MPI refuses what Open MPI takes: buffers that are sent and received into at once, in any reduction
  /// but some allreduces, and types at a root that are not committed.
  [[nodiscard]] bool is_strict() const { return is_strict_; }

  [[nodiscard]] bool serves(Function function) const { return !served_[index_of(function)].empty(); }
  [[nodiscard]] bool serves(Function function, std::int64_t bytes) const {
    return served_[index_of(function)].contain(bytes);
  }

  /// Every second call of a function and size. To be asked once for each call.
  [[nodiscard]] bool is_turn_of_mpi(Function function, std::int64_t bytes);

  /// The program frees `comm`, while calls may be under way. Their errors are for the handler that it has now.
  void abandon(MPI_Comm comm) noexcept;
  /// Hands MPI's code of an error of a call to the error handler of `comm`, or to that which it had. Returns the code.
  int raise(MPI_Comm comm, int code) const;

  /// What may be moved, the same on all ranks.
  [[nodiscard]] Movable movable() const { return movable_; }

 private:
  void open(MPI_Comm comm);

  int rank_ = 0, size_ = 1;
  int calls_ = 0;
  std::atomic<bool> is_known_ = false;
  bool is_strict_;
  Movable movable_ = Movable::none;
  Served served_{};
  std::atomic<MPI_Errhandler> last_handler_ = MPI_ERRHANDLER_NULL;  ///< The handler of a communicator that is freed.
  std::optional<Communicator> communicator_;
  std::optional<NameInReports> name_;
  std::string why_not_;
  std::vector<bool> turns_;  ///< By function and power of two of the bytes; empty before it is asked.
};

}  // namespace tutti::interpose
