#pragma once
// The registry's description of an algorithm.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tutti/export.hpp"
#include "tutti/schedule.hpp"

namespace tutti {

/// The cost of a schedule: each figure is that of the rank where it is largest. Counts are elements.
struct Cost {
  int messages = 0;  ///< Sent by one rank.
  int rounds = 0;    ///< The longest chain of messages over all ranks, each sent only after the one before has arrived.
  Count sent{};      ///< By one rank.
  Count reduced{};   ///< Results computed by one rank.
  Count copied{};
  Count scratch{};
  bool operator==(const Cost&) const = default;
};

/// The operations that an algorithm serves. Without meaning where nothing is reduced.
enum class Order : std::uint8_t {
  of_ranks,  ///< Operands are combined in rank order: for any associative operation.
  any,       ///< Operands change places: the operation must be commutative.
  of_nodes,  ///< As `of_ranks` if the ranks of each node are consecutive, else as `any`.
};

/// The levels of the machine that shape an algorithm's schedules.
enum class Levels : std::uint8_t {
  ranks,    ///< None: all ranks are alike.
  nodes,    ///< Problem::nodes: phases inside nodes and between them.
  sockets,  ///< Problem::sockets too: phases inside sockets, between those of a node, and between nodes.
};

/// How an algorithm uses a segment size ("ring/64K").
enum class Segments : std::uint8_t {
  of_messages,  ///< Messages are cut, and received data are passed on piece by piece.
  /// The elements are cut: each segment has a schedule of its own, one after the other, so that data stay in the caches
  /// from one round to the next. For collectives whose elements are independent of each other.
  of_elements,
};

/// A number that changes an algorithm's schedules: a radix, the number of blocks that the data are cut into, or a size.
struct Parameter {
  std::string_view name;  ///< Empty: the algorithm has no parameter.
  int fallback = 0;       ///< The value if the user gives none.
  int least = 0, most = 65536;
  enum class Unit : std::uint8_t { number, bytes };
  Unit unit = Unit::number;  ///< `bytes`: users give bytes, schedules get the number of elements in them, at least one.
};

/// A schedule by which ranks tell each other sizes: its elements are counts. Its input is the first `input` sizes that
/// this rank knows (known_sizes); its output is the `output` sizes that the rank learns.
struct Exchange {
  Schedule schedule;
  Count input, output;
};

/// Schedules that are made of data, as those of a file, and not by a function alone.
class ScheduleSource {
 public:
  ScheduleSource() = default;
  ScheduleSource(const ScheduleSource&) = delete;
  ScheduleSource& operator=(const ScheduleSource&) = delete;
  virtual ~ScheduleSource() = default;
  [[nodiscard]] virtual Schedule build(const Problem& problem) const = 0;
  [[nodiscard]] virtual Cost cost(const Problem& problem) const = 0;
};

/// One algorithm. `build` and `cost` are pure functions of the problem.
///
/// `cost` does not depend on the rank and is stated for blocks of equal size. It is exact where the size of the group
/// (and its largest power of two, and the parameter) divide the elements, and an upper bound otherwise. It is stated
/// for separate buffers: in place, fewer elements may be copied, or in alltoall more. For algorithms of several levels
/// it is an upper bound where nodes, or sockets, hold different numbers of ranks (has_equal_levels).
struct Algorithm {
  Collective collective = Collective::barrier;
  std::string_view name = {};
  Order order = Order::of_ranks;
  Levels levels = Levels::ranks;
  Parameter parameter{};
  Segments segments = Segments::of_messages;
  Schedule (*build)(const Problem& problem) = nullptr;  ///< nullptr: `data` makes the schedules.
  Cost (*cost)(const Problem& problem) = nullptr;       ///< nullptr: it is counted from the schedules.
  /// The exchange of sizes before `build`, if blocks are uneven and ranks know only their own sizes; nullptr: none.
  Exchange (*exchange)(const Problem& problem) = nullptr;
  std::string_view summary = {};
  std::string_view source = {};
  const ScheduleSource* data = nullptr;
  Bits bits = Bits::same;  ///< The proof demands it.
  /// All operands of an element come together on one rank, which combines them: no other rank's partial result is an
  /// operand. Op::exact_sum needs it; the proof demands it.
  bool gathers = false;
};

/// The schedule of the problem's rank. ArgumentError if the algorithm is only known by name, as a file that nobody has
/// read (read_choice).
[[nodiscard]] TUTTI_API Schedule schedule_of(const Algorithm& algorithm, const Problem& problem);
/// The stated cost. Where none is stated, each figure but `rounds`, which is 0, is counted from the schedules of all
/// ranks: O(their steps).
[[nodiscard]] TUTTI_API Cost cost_of(const Algorithm& algorithm, const Problem& problem);

// Each function throws ArgumentError if an argument is not one of the values of its enum.

/// All registered algorithms, in the order of algorithms/CMakeLists.txt, and behind them those of loaded libraries
/// (tutti/plugin.hpp).
[[nodiscard]] TUTTI_API std::span<const Algorithm* const> algorithms();
/// The algorithm of that name, or nullptr.
[[nodiscard]] TUTTI_API const Algorithm* find_algorithm(Collective collective, std::string_view name);
/// Whether the ranks of each node are consecutive; `nodes` is as in Problem.
[[nodiscard]] TUTTI_API bool follow_each_other(std::span<const int> nodes);
/// The order that an algorithm keeps on these nodes: `of_ranks` or `any`.
[[nodiscard]] TUTTI_API Order order_on(std::span<const int> nodes, const Algorithm& algorithm);
/// Whether the nodes that an algorithm sees in the problem all hold equally many ranks, and so do the sockets: then its
/// cost may be exact. A scan counts each row of consecutive ranks on one node as a node. True for an algorithm that
/// sees no nodes.
[[nodiscard]] TUTTI_API bool has_equal_levels(const Problem& problem, const Algorithm& algorithm);
/// "a, b, c": the names of the algorithms for a collective (with `order` or `bits`: only those that keep these; with
/// `gathers`: only those that say so, or do not).
[[nodiscard]] TUTTI_API std::string algorithm_names(Collective collective);
[[nodiscard]] TUTTI_API std::string algorithm_names(Collective collective, Order order);
[[nodiscard]] TUTTI_API std::string algorithm_names(Collective collective, Bits bits);
[[nodiscard]] TUTTI_API std::string algorithm_names(Collective collective, bool gathers);
/// The collective of that name.
[[nodiscard]] TUTTI_API std::optional<Collective> find_collective(std::string_view name);
/// Whether the collective combines elements.
[[nodiscard]] TUTTI_API bool reduces(Collective collective);
/// Whether the collective has a root.
[[nodiscard]] TUTTI_API bool has_root(Collective collective);

}  // namespace tutti
