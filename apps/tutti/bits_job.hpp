#pragma once
// The recorded bits of all ranks of two runs, compared.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/watch/bits/verdict.hpp"

namespace tutti::tool {

/// The first call on a communicator that differs, with what is known of the ranks on which it does.
struct FirstCall {
  bits::Verdict verdict{};
  struct OnRank {
    int rank = 0;
    bits::Found found{};
  };
  std::vector<OnRank> ranks{};
};

struct ComparedJobs {
  int ranks = 0;  ///< That have a record in both.
  bits::Counts counts{};
  std::uint64_t missed = 0;          ///< Calls of the first run that the second did not make.
  std::vector<FirstCall> first{};    ///< No other one is known to come before: one, if ranks meet in both.
  std::vector<FirstCall> later{};    ///< Of other communicators.
  std::vector<std::string> notes{};  ///< What is missing, or damaged.
  std::vector<int> not_compared{};   ///< Ranks whose calls were not compared, or not all.
  [[nodiscard]] bool is_complete() const { return not_compared.empty(); }
  [[nodiscard]] bool differ() const { return !first.empty() || missed > 0; }
};

/// What the folders are called in texts.
inline constexpr bits::Sides sides_of_jobs{"in A", "in B"};

/// Throws InputError if a folder has no record, or those of several runs, or if the two have other numbers of ranks.
[[nodiscard]] ComparedJobs compare_jobs(const std::string& a, const std::string& b);

}  // namespace tutti::tool
