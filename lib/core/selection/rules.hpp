#pragma once
// Rules by which algorithms are chosen: the question, the answer, and tables of rules.

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/files/filed_algorithm.hpp"
#include "lib/core/schedule/choice.hpp"
#include "lib/watch/records/signature.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// The memory in which the buffers of a communicator are taken to be, as all ranks have to choose alike and do not know
/// of each other's buffers: ordinary memory, that of tutti::allocate(), or that of devices.
enum class AssumedMemory : std::uint8_t { host, tutti, device };
inline constexpr std::array<std::string_view, 3> assumed_memory_names{"host", "tutti",
                                                                      "device"};  ///< By AssumedMemory.
/// The manners of calls, in the order of records::Manner.
inline constexpr std::array<std::string_view, 4> manner_names{"blocking", "nonblocking", "persistent", "stream"};

/// The files of schedules that somebody has read, by the algorithms that stand for them (named_file).
using FiledAlgorithms = std::map<const Algorithm*, std::unique_ptr<const FiledAlgorithm>>;

/// The facts that a choice depends on: only those that all ranks know alike, so that all choose the same.
struct Question {
  Collective collective = Collective::barrier;
  int ranks = 1, nodes = 1;
  int most_on_a_node = 0;  ///< Ranks of the node that has most; 0: they are spread evenly.
  Bytes bytes{};           ///< Size of the larger buffer; negative: ranks know only their own counts.
  bool is_uneven = false, is_commutative = true;
  Bits bits = Bits::same;  ///< Of reductions: `same`, or `fixed`.
  bool gathers = false;    ///< The operation has to have all operands of an element at once (exact_sum, accumulate).
  bool shares_memory = false;      ///< All messages go through shared memory.
  bool shares_processors = false;  ///< So they do, and the node runs two ranks or more for each processor.
  bool maps_devices = false;       ///< So they do, to peers that map the memory of devices.
  AssumedMemory memory = AssumedMemory::host;
  std::optional<records::Manner> manner{};  ///< Nothing where calls of all manners match each other.
  std::span<const int> spread{};            ///< The node of each rank, as in Problem; empty: there is one.
  Count count{-1};                          ///< As in Problem; negative: any.
  Rank root{};
  const FiledAlgorithms* files = nullptr;  ///< Those that the communicator has read; nullptr: none.

  [[nodiscard]] int ranks_per_node() const { return most_on_a_node > 0 ? most_on_a_node : (ranks + nodes - 1) / nodes; }
};

/// Numbers from `least` to `most`, both included.
struct Range {
  static constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();
  std::int64_t least = 0, most = no_end;

  [[nodiscard]] constexpr bool is_open() const { return least == 0 && most == no_end; }
  [[nodiscard]] constexpr bool contains(std::int64_t value) const { return value >= least && value <= most; }
  [[nodiscard]] constexpr bool contains(const Range& other) const { return least <= other.least && most >= other.most; }
  /// Whether it contains the share that each of `parts` has of `whole`, which need not be a whole number.
  [[nodiscard]] constexpr bool contains_share(std::int64_t whole, int parts) const {
    return whole / parts >= least && whole / parts + (whole % parts != 0 ? 1 : 0) <= most;
  }
  friend constexpr bool operator==(const Range&, const Range&) = default;
};

/// The calls that a rule is for. Every condition is optional: an open range, or nothing, holds for all calls.
struct Conditions {
  Range ranks{}, nodes{}, ppn{};  ///< Of the communicator. `ppn`: ranks of the node that has most.
  Range bytes{}, bytes_per_rank{}, bytes_per_node{};
  std::optional<AssumedMemory> memory{};
  std::optional<records::Manner> mode{};
  std::optional<bool> commutative{}, uneven{}, shares_memory{}, shares_processors{}, maps_devices{};
  std::optional<bool> power_of_two{};  ///< The number of ranks is one.
  std::optional<bool> consecutive{};   ///< The ranks of each node follow each other.

  [[nodiscard]] bool hold_for(const Question& question) const;
  /// Whether they hold wherever the others do.
  [[nodiscard]] bool include(const Conditions& others) const;
  bool operator==(const Conditions&) const = default;
};

/// The times of a rule's algorithm where it was measured, and of others: medians of a call in microseconds, each the
/// geometric mean over the sizes of the rule. 0: not measured.
struct Measured {
  double us = 0, spread = 0;  ///< `spread`: the width of the middle half, as a share of the median.
  double default_us = 0;      ///< Of the built-in rules' choice.
  double next_us = 0;         ///< Of the fastest of the others.
  double mpi_us = 0;          ///< Of the MPI's own collective.
  int runs = 0;
  std::string next{};  ///< The fastest of the others.
};

struct Rule {
  Collective collective = Collective::barrier;
  Conditions when{};
  Choice choice{};
  std::string why{};   ///< "as few bytes want few rounds"
  std::string note{};  ///< For people who read the file.
  Measured measured{};
  int line = 0;                             ///< In its file.
  std::int64_t most_bytes = Range::no_end;  ///< For more, the rule is passed over: there would be too many segments.
  /// Whether it serves every call that a later rule is for, which then never counts.
  [[nodiscard]] bool hides(const Rule& later) const;
};

/// The answer.
struct Selection {
  Choice choice;
  std::string_view why;        ///< "as few bytes want few rounds"
  bool is_users = false;       ///< The user chose it, in a call, a setting or a file of rules.
  const Rule* rule = nullptr;  ///< The rule that says so; nullptr: a call or a setting does.
};

/// Why the algorithm of a file does not serve; empty: it does.
[[nodiscard]] std::string why_unfit(const FiledAlgorithm& file, const Question& question);
/// Whether an algorithm combines operands in the order that the question asks for.
[[nodiscard]] bool keeps_order(const Algorithm& algorithm, const Question& question);
/// The choice, with the algorithm of a file in the place of its name, if it serves: the operation may be combined in
/// the order that the algorithm keeps there, which is the fixed one if that is asked for, and the file has been read,
/// and is for such calls.
[[nodiscard]] std::optional<Choice> serving(const Choice& choice, const Question& question);

/// Rules in their order.
class RuleTable {
 public:
  explicit RuleTable(std::vector<Rule> rules);
  /// The first that holds, and whose algorithm serves; nullptr: none. Cost: the rules of that collective are looked at
  /// one by one.
  [[nodiscard]] const Rule* first_for(const Question& question) const;
  [[nodiscard]] std::span<const Rule> of(Collective collective) const {
    return by_collective_[static_cast<std::size_t>(collective)];
  }

 private:
  std::array<std::vector<Rule>, collective_count> by_collective_{};
};

}  // namespace tutti
