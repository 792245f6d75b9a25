#pragma once
// How long an operation waits before Tutti looks for the reason. Nothing here has an effect on calls that end.

#include <cstdint>

namespace tutti::detail {

/// In ns. Each look reads the records of a few ranks, some microseconds; each look at processes, a system call a rank.
struct WatchTuning {
  static constexpr std::int64_t milli = 1'000'000;
  std::int64_t first_look = 4 * milli;              ///< The clock has this resolution.
  std::int64_t longest_between_looks = 50 * milli;  ///< The pause doubles until then.
  std::int64_t before_processes = 100 * milli;      ///< An ended process is found within twice this time.
  std::int64_t before_cycle = 200 * milli;  ///< Two looks that are so far apart have to see the same ranks wait.
  std::int64_t before_cycle_with_threads = 5000 * milli;  ///< With several threads, the missing call may still come.
  /// A message of another call shows a mismatch as well, but not what the other call was: ranks that answer do.
  std::int64_t before_mistaken = 500 * milli;
  std::int64_t for_record = 20 * milli;
  std::int64_t before_loss = 1000 * milli;      ///< Messages take nanoseconds from a sender that is done.
  std::int64_t before_questions = 100 * milli;  ///< Questions to other nodes cost a message.
  std::int64_t between_questions = 1000 * milli;
  std::int64_t for_each_byte = 16;          ///< The wait for each byte of a message whose progress cannot be seen.
  std::int64_t for_answers = 1500 * milli;  ///< A hang is reported after that, with the answers there are.
  std::int64_t for_word_of_failure = 200 * milli;
  std::int64_t for_word_to_leave = 50 * milli;
  std::int64_t for_lower_ranks = 1000 * milli;  ///< The wait for each rank, of up to three, that should report first.
};
inline constexpr WatchTuning watch_tuning{};

}  // namespace tutti::detail
