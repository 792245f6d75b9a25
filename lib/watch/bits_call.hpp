#pragma once
// The bits of one operation: a record when a run begins, and another when it is over.

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>

#include "lib/core/communicator/membership.hpp"
#include "lib/core/run/prepared_plan.hpp"
#include "lib/watch/bits_watch.hpp"
#include "lib/watch/observer.hpp"

namespace tutti::detail {

/// A communicator whose calls are recorded or compared.
class CommunicatorBits {
 public:
  /// nullptr: they are not. `comm`: the ranks of the communicator.
  [[nodiscard]] static std::unique_ptr<CommunicatorBits> make(const Membership& communicator, MPI_Comm comm);

  [[nodiscard]] BitsWatch& watch() const { return watch_; }
  [[nodiscard]] const bits::CommunicatorRecord& record() const { return record_; }
  /// The number of its next collective, or of its next messages.
  [[nodiscard]] std::uint64_t next(bool are_messages) { return ++numbers_[are_messages ? 1 : 0]; }

 private:
  CommunicatorBits(BitsWatch& watch, const bits::CommunicatorRecord& record) : watch_(watch), record_(record) {}

  BitsWatch& watch_;
  bits::CommunicatorRecord record_;
  std::array<std::uint64_t, 2> numbers_{};
};

/// Inputs are hashed before the first message of the run, which may change them where a call is in place. A run that
/// the host moves behind a stream is looked at when the stream has come to it, and a run that the device moves alone
/// never: its records say so.
class BitsOfCall final : public Observer {
 public:
  BitsOfCall(CommunicatorBits& communicator, const PreparedPlan& plan);

  void entered(const Entrance& run) override;
  void started(std::uint64_t sequence) override;
  void left() override { end(bits::Hashed::yes); }
  void failed() override { end(bits::Hashed::failed); }

 private:
  void begin(bits::Hashed hashed);
  void end(bits::Hashed hashed);

  CommunicatorBits& communicator_;
  bits::CallRecord record_{};  ///< Of the latest run.
  DataPieces inputs_, results_;
  const void* in_ = nullptr;
  void* out_ = nullptr;
  bool has_gaps_ = false;
  bool has_begun_ = true;
};

}  // namespace tutti::detail
