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
  std::vector<int> widths;
  std::size_t parameters = 0;
  int ranks = 1;
  std::string_view algorithm;
};

/// The lines above the table: data, model, training.
[[nodiscard]] std::string header_text(const RunDescription& run);
/// One line of the table, in the columns that header_text() names.
[[nodiscard]] std::string row_text(const EpochReport& report);

/// The whole run, indented: {"ranks", "model", ..., "epochs": [{"epoch", "loss", "train_accuracy", "test_accuracy",
/// "samples_per_s", "comm_share"}]}. Accuracies and shares are 0 to 1; a share is null if communication overlaps.
[[nodiscard]] std::string json_text(const RunDescription& run, const std::vector<EpochReport>& epochs);

}  // namespace tutti::sgd
