#pragma once
// The report of a training as one page of HTML, which needs no other file.

#include <string>
#include <vector>

#include "apps/sgd/report.hpp"
#include "apps/sgd/timeline.hpp"

namespace tutti::sgd {

/// A run as a page shows it: this one, or one of which the JSON is given.
struct ShownRun {
  std::string name;  ///< For people: "4 ranks, buckets of 1 MiB, overlap".
  int first = 1;     ///< The first epoch; a training that was resumed begins later.
  std::vector<double> loss, test_accuracy, samples_per_s, exposed;  ///< By epoch; `exposed`: share of the time.
};

/// A run that was reported as JSON. Throws InputError, which names the file, if the text is no report of tutti-sgd.
[[nodiscard]] ShownRun shown_run(const std::string& file, const std::string& json);

/// Curves of loss and accuracy, images per second, where the time of a step went, one step as it went on rank 0,
/// memory, and the runs that it is compared with.
[[nodiscard]] std::string page_text(const RunDescription& run, const std::vector<EpochReport>& epochs,
                                    const std::vector<Timeline::Span>& step, const std::vector<ShownRun>& others);

}  // namespace tutti::sgd
