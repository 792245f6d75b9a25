#pragma once
// What a rank did when in one step.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tutti::sgd {

class Timeline {
 public:
  enum class Row : std::uint8_t { computing, communication };
  struct Span {
    Row row = Row::computing;
    std::string name;
    double begin = 0, end = 0;  ///< Seconds since the step began.
  };

  /// What is added from now on belongs to one step.
  void begin() {
    spans_.clear();
    start_ = MPI_Wtime();
    is_on_ = true;
  }
  void end() { is_on_ = false; }
  /// Times are those of MPI_Wtime(). Only between begin() and end().
  void add(Row row, std::string name, double begin, double end) {
    if (is_on_) spans_.push_back({row, std::move(name), begin - start_, end - start_});
  }
  [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }

 private:
  std::vector<Span> spans_;
  double start_ = 0;
  bool is_on_ = false;
};

/// Adds the time since it was begun, or since the last lap.
class Laps {
 public:
  explicit Laps(Timeline& timeline) : timeline_(timeline) {}
  void add_to(double& seconds, std::string name = {}) {
    const double now = MPI_Wtime(), begun = std::exchange(last_, now);
    seconds += now - begun;
    if (!name.empty()) timeline_.add(Timeline::Row::computing, std::move(name), begun, now);
  }

 private:
  Timeline& timeline_;
  double last_ = MPI_Wtime();
};

}  // namespace tutti::sgd
