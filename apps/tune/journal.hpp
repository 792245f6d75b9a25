#pragma once
// What a run has measured so far, on disk: one line of JSON for each size, so that an interrupted run loses nothing.

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "apps/tune/race.hpp"

namespace tutti::tune {

/// The points of each context, by its name.
using Points = std::map<std::string, std::vector<Point>>;

class Journal {
 public:
  /// Collective over MPI_COMM_WORLD. Rank 0 opens the file; `head` says what the run is of. With `resumes`, all ranks
  /// get the points that it has; else it is made anew. Throws InputError on all ranks if the file cannot be written, or
  /// is of a run with another head.
  Journal(const std::string& path, const std::string& head, bool resumes);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// The points of earlier runs.
  [[nodiscard]] const Points& earlier() const { return earlier_; }
  /// Adds a line, on rank 0; it has reached the disk when this returns. Throws InputError if it cannot be written.
  void add(const std::string& context, const Point& point);
  /// Removes the file: its points are in the rules.
  void remove();

 private:
  std::string path_;
  std::FILE* file_ = nullptr;  ///< On rank 0 alone.
  Points earlier_{};
};

}  // namespace tutti::tune
