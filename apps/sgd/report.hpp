#pragma once
// Output for the user: a table while training runs, and JSON for programs.

#include <string>
#include <string_view>
#include <vector>

#include "apps/sgd/trainer.hpp"

namespace tutti::sgd {

/// Facts that do not change from epoch to epoch.
struct RunDescription {
  const Settings& settings;
  const Split& data;
  std::string model;
  std::size_t parameters = 0;
  int ranks = 1;
  std::string_view products;  ///< Machine::products()
  std::string algorithm;      ///< Of the sums; empty: it is chosen call by call.
  std::size_t buckets = 1;
  std::size_t bytes_of_step = 0;  ///< That a rank gives to collectives.
  Memory memory;
};

/// The lines above the table: data, model, training.
[[nodiscard]] std::string header_text(const RunDescription& run);
/// One line of the table, in the columns that header_text() names.
[[nodiscard]] std::string row_text(const Settings& settings, const EpochReport& report);

/// Where the time of a step went, and the memory of a rank.
[[nodiscard]] std::string step_text(const RunDescription& run, const std::vector<EpochReport>& epochs);

/// The mean step of the epochs.
[[nodiscard]] StepTimes mean_step(const std::vector<EpochReport>& epochs);

/// The whole run, indented: {"ranks", "model", ..., "epochs": [{"epoch", "loss", "train_accuracy", "test_accuracy",
/// "samples_per_s", "comm_share", "step_ms": {...}}]}. Accuracies and shares are 0 to 1; the share of communication is
/// that which is exposed, null where nobody knows it.
[[nodiscard]] std::string json_text(const RunDescription& run, const std::vector<EpochReport>& epochs);

}  // namespace tutti::sgd
