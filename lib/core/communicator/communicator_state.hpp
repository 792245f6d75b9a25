#pragma once
// The state behind a Communicator.

#include <memory>
#include <string>

#include "lib/core/communicator/workspace.hpp"
#include "lib/core/run/matching.hpp"
#include "lib/core/run/plan_cache.hpp"
#include "tutti/communicator.hpp"

namespace tutti::detail {

/// The last layer of a communicator: its plans and its end. It outlives its Communicator while requests or plans refer
/// to it.
class CommunicatorState final : public Workspace {
 public:
  /// Collective over `comm`. Other threads may enter the library while it waits for ranks.
  CommunicatorState(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options, Progress::Entry& entry);
  ~CommunicatorState() override { close("was closed"); }

  [[nodiscard]] Plans& plans() { return plans_; }
  /// The part that matches messages with tags; nullptr: there have been none.
  [[nodiscard]] Matching* matching() const { return matching_.get(); }
  void match_by(std::unique_ptr<Matching> matching);

  [[nodiscard]] int in_flight() const override;
  void take(const mpi::Letter& letter, const mpi::Mailbox::Rest& rest, int from) override;
  void close(const char* reason) noexcept override;
  /// Ends its operations at once, with an error, and closes it. Needs an Entry.
  void abort(const std::string& why);

 private:
  CommunicatorState(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options, Candidate candidate);
  void record_closing();

  Plans plans_;
  std::unique_ptr<Matching> matching_{};
};

}  // namespace tutti::detail
