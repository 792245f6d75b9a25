#pragma once
// This process's part in a communicator: who its ranks are, how they are reached, what they agreed on.

#include <mpi.h>

#include <memory>
#include <string>

#include "lib/core/communicator/carrier.hpp"
#include "lib/core/communicator/members.hpp"
#include "lib/core/communicator/paths.hpp"
#include "lib/core/communicator/runtime.hpp"
#include "lib/core/communicator/settings.hpp"
#include "lib/core/memory/own_process.hpp"
#include "lib/core/run/progress.hpp"
#include "lib/core/selection/site_rules.hpp"
#include "lib/watch/records/recorder.hpp"

namespace tutti::detail {

/// How ranks of a node share its processors.
struct Waiting {
  bool is_crowded = false;             ///< A waiting rank has to give its processor away: Carrier::is_crowded().
  bool outnumbers_processors = false;  ///< This node runs more ranks than it has processors, as all of them know.
  bool shares_processors = false;      ///< This node runs two ranks or more for each processor.
  bool mpi_yields = false;             ///< MPI gives the processor away by itself.
};

class Membership : public OpenCommunicator {
 public:
  [[nodiscard]] Rank rank() const final { return members_.me(); }
  [[nodiscard]] records::CommunicatorId id() const final { return id_; }
  [[nodiscard]] int context() const { return context_; }
  [[nodiscard]] const Members& members() const { return members_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  /// Sets the thresholds of plans that are made from now on, the same on all ranks: for measurements.
  void tune(const device::Tuning& tuning) { settings_.device_tuning = tuning; }
  /// The rules of the site that it keeps to; nullptr: there are none.
  [[nodiscard]] const RuleTable* rules() const { return rules_ == nullptr ? nullptr : &rules_->table; }
  /// The file that they come from.
  [[nodiscard]] const RuleFile* rule_file() const { return rules_ == nullptr ? nullptr : &rules_->file; }
  /// The facts on which the choice of an algorithm depends, as far as they are the same for all calls.
  [[nodiscard]] Question question() const;
  /// Adds a file of schedules that all ranks have read; `name`: as of named_file().
  void add_file(const Algorithm* name, std::unique_ptr<const FiledAlgorithm> file) { files_[name] = std::move(file); }
  [[nodiscard]] const Waiting& waiting() const { return waiting_; }
  [[nodiscard]] const Paths& paths() const { return paths_; }
  [[nodiscard]] Runtime& runtime() const { return runtime_; }
  [[nodiscard]] Progress& progress() const { return progress_; }
  [[nodiscard]] records::Recorder& recorder() const { return recorder_; }
  /// The carrier, while the communicator is open.
  [[nodiscard]] mpi::Carrier& carrier() const final { return *carrier_; }
  [[nodiscard]] bool is_open() const { return carrier_ != nullptr; }
  /// Throws StateError unless it is open.
  void require_open() const {
    if (!is_open()) throw_closed();
  }
  /// False in a child of a fork, which must leave alone the resources that it shares with its parent.
  [[nodiscard]] bool is_of_this_process() const { return process_.is_this(); }
  /// The signature, with what this communicator adds to it.
  [[nodiscard]] records::Signature signed_here(records::Signature call) const;

 protected:
  /// Agrees on settings and takes a context; collective over `comm`.
  Membership(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options, Candidate& candidate);
  /// Closes the communicator: gives up the carrier, which ends with its last user.
  void leave(const char* reason) {
    closed_because_ = reason;
    carrier_.reset();
  }

 private:
  Membership(Runtime& runtime, MPI_Comm comm, Settings settings, Admission admission);
  [[noreturn]] void throw_closed() const;

  Runtime& runtime_;
  Progress& progress_;
  records::Recorder& recorder_;
  Settings settings_;
  std::shared_ptr<mpi::Carrier> carrier_;  ///< Null: closed.
  int context_ = 0;
  records::CommunicatorId id_;
  std::shared_ptr<const SiteRules> rules_;
  FiledAlgorithms files_{};
  Waiting waiting_;
  Members members_;
  Paths paths_;
  std::string closed_because_{};
  OwnProcess process_{};
};

}  // namespace tutti::detail
