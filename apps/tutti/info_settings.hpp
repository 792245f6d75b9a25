#pragma once
// tutti info --settings and --algorithms. One of two files is built: with MPI (info_settings.cpp, info_algorithms.cpp),
// or without (info_session_alone.cpp), which has neither settings nor a selection, and throws InputError.

#include <vector>

#include "apps/json.hpp"

namespace tutti::tool {

/// The ranks of a communicator, as far as selection asks for them.
struct CommunicatorForm {
  std::vector<int> nodes;  ///< The node of each rank.
  int processors = 1;      ///< The processors of each node.
};

/// The settings of this process's environment, for so many ranks, and which of them are wrong.
class SettingsReport {
 public:
  explicit SettingsReport(int ranks);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] apps::Json json() const;

 private:
  struct Row {
    std::string name, value, from, allowed, wrong;
  };
  std::vector<Row> rows_;
  std::vector<std::string> unknown_;
};

/// The algorithms that a communicator of that form chooses for each size, by this process's environment.
class AlgorithmsReport {
 public:
  explicit AlgorithmsReport(const CommunicatorForm& form);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] apps::Json json() const;

 private:
  /// A choice from so many bytes to so many; -1: and more.
  struct Row {
    std::string collective;
    std::int64_t from, to;
    std::string algorithm, why;
  };
  int ranks_ = 1, nodes_ = 1;
  bool shares_memory_ = false, shares_processors_ = false, on_devices_ = false;
  std::vector<std::string> notes_;
  std::vector<Row> rows_;
};

}  // namespace tutti::tool
