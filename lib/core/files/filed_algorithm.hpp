#pragma once
// The schedules of a file as an algorithm, which calls name "file:PATH".

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/core/files/chunks.hpp"
#include "lib/core/files/schedule_file.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

/// The facts of a call on which it depends whether a file serves it; all ranks know them alike.
struct FiledCall {
  int ranks = 1;
  Rank root{};
  Bytes bytes{};  ///< Of the larger buffer; negative: ranks know only their own blocks.
  Count count{};  ///< As in Problem; negative: any.
  bool is_uneven = false, is_commutative = true;
  std::span<const int> nodes{};  ///< As in Problem.
};

class FiledAlgorithm final : public ScheduleSource {
 public:
  /// The schedules of all ranks, not proved yet: for problems of `chunks` elements, or a multiple of that.
  FiledAlgorithm(ScheduleFile file, std::string name);
  FiledAlgorithm(const FiledAlgorithm&) = delete;
  FiledAlgorithm& operator=(const FiledAlgorithm&) = delete;

  [[nodiscard]] const Algorithm& algorithm() const { return algorithm_; }
  [[nodiscard]] const ScheduleFile& file() const { return file_; }

  // Of schedules that have been proved:
  /// Finds which chunks are where, so that it serves any number of elements, if it can.
  void find_chunks();
  /// Sets whether the schedules do the same where buffers lie in another way than the file requires, some ranks' or
  /// all.
  void serve_as_they_are(bool all_placements) { serves_all_placements_ = all_placements; }
  /// Sets the cost, in chunks.
  void state_cost(const Cost& cost) { cost_ = cost; }

  /// Why it does not serve such calls, as "it is for 8 ranks, not 4"; empty: it does.
  [[nodiscard]] std::string why_unfit(const FiledCall& call) const;
  /// The same of the count alone.
  [[nodiscard]] std::string why_unfit(Count count) const;

  /// Where buffers do not lie as the file requires, and it does not serve as it is, the rank copies its input first, or
  /// works in scratch. Throws ArgumentError if the file has no schedule for the problem, or this process has not got
  /// it.
  [[nodiscard]] Schedule build(const Problem& problem) const override;
  /// Rounded up where the chunks do not divide the elements.
  [[nodiscard]] Cost cost(const Problem& problem) const override;

  /// All there is to it as numbers, for other processes; of the schedules those of `only` this rank, or all.
  [[nodiscard]] std::vector<std::int64_t> words(std::optional<Rank> only) const;
  /// The algorithm of such numbers.
  [[nodiscard]] static std::unique_ptr<FiledAlgorithm> of_words(std::span<const std::int64_t> words);

 private:
  FiledAlgorithm() = default;
  void describe();

  ScheduleFile file_{};
  std::string name_{};
  Algorithm algorithm_{};
  std::optional<Rank> only_{};  ///< The rank whose schedule this process has, if not those of all.
  ChunksOfFile chunks_{};
  bool serves_all_placements_ = false;
  Cost cost_{};
};

}  // namespace tutti
