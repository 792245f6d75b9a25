#pragma once
// What the registry knows of an algorithm.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tutti/export.hpp"
#include "tutti/schedule.hpp"

namespace tutti {

/// What a schedule costs the busiest rank, each figure by itself. Counts are elements.
struct Cost {
  int messages = 0;  ///< Sent by one rank.
  int rounds = 0;    ///< Longest chain of messages over all ranks, each sent only after the one before arrived.
  Count sent{};      ///< By one rank.
  Count reduced{};   ///< Results computed by one rank.
  Count copied{};
  Count scratch{};
  bool operator==(const Cost&) const = default;
};

/// Which operations an algorithm serves. Of no meaning where nothing is reduced.
enum class Order : std::uint8_t {
  of_ranks,  ///< Operands are combined in rank order: any associative operation.
  any,       ///< Operands change places: the operation must be commutative.
  of_nodes,  ///< As `of_ranks` where each node holds ranks that follow each other, else as `any`.
};

/// What an algorithm's schedules are shaped by.
enum class Levels : std::uint8_t {
  ranks,    ///< Ranks are all alike.
  nodes,    ///< Problem::nodes: phases inside nodes and between them.
  sockets,  ///< Problem::sockets too: phases inside sockets, between those of a node, and between nodes.
};

/// What a size of segments is good for ("ring/64K").
enum class Segments : std::uint8_t {
  of_messages,  ///< Messages are cut, and what is received is passed on piece by piece.
  /// The elements are: each segment has a schedule of its own, one after the other. Of collectives whose elements have
  /// nothing to do with each other, and so that data stay in the caches from one round to the next.
  of_elements,
};

/// A number that changes an algorithm's schedules: a radix, into how many blocks it cuts the data, or a
/// size.
struct Parameter {
  std::string_view name;  ///< Empty: it has none.
  int fallback = 0;       ///< If none is asked for.
  int least = 0, most = 65536;
  enum class Unit : std::uint8_t { number, bytes };
  Unit unit = Unit::number;  ///< Bytes: users give bytes, schedules get as many elements as these are, or one.
};

/// A schedule by which ranks tell each other sizes: its elements are counts. `input` of them are the first that this
/// rank knows (known_sizes), `output` are learned.
struct Exchange {
  Schedule schedule;
  Count input, output;
};

/// One registered algorithm. `build` and `cost` are pure functions of the problem.
///
/// `cost` does not depend on the rank and is stated for blocks of equal size. It is exact where the size of the group
/// (and its largest power of two, and the parameter) divide the elements, and an upper bound else. It is that of
/// separate buffers: in place fewer elements may be copied, or in alltoall more. Of algorithms of several levels it is
/// an upper bound where nodes, or sockets, hold different numbers of ranks (has_equal_levels).
struct Algorithm {
  Collective collective;
  std::string_view name;
  Order order;
  Levels levels = Levels::ranks;
  Parameter parameter{};
  Segments segments = Segments::of_messages;
  Schedule (*build)(const Problem& problem);
  Cost (*cost)(const Problem& problem);
  /// What has to run before `build`, if blocks are uneven and ranks know only their own sizes; nullptr: nothing.
  Exchange (*exchange)(const Problem& problem) = nullptr;
  std::string_view summary;
  std::string_view source;
};

// Each throws ArgumentError where an argument is none of the values of its enum.

/// All registered algorithms, in the order of algorithms/CMakeLists.txt.
[[nodiscard]] TUTTI_API std::span<const Algorithm* const> algorithms();
/// The algorithm of that name, or nullptr.
[[nodiscard]] TUTTI_API const Algorithm* find_algorithm(Collective collective, std::string_view name);
/// Whether each node holds ranks that follow each other: nodes as in Problem.
[[nodiscard]] TUTTI_API bool follow_each_other(std::span<const int> nodes);
/// The order that an algorithm keeps on such nodes: of ranks, or any.
[[nodiscard]] TUTTI_API Order order_on(std::span<const int> nodes, const Algorithm& algorithm);
/// Whether all nodes of the problem that an algorithm sees hold as many ranks, and all sockets, so that its cost may be
/// exact. A scan's nodes are rows of ranks that follow each other. An algorithm that sees no nodes: true.
[[nodiscard]] TUTTI_API bool has_equal_levels(const Problem& problem, const Algorithm& algorithm);
/// "a, b, c": the names that serve a collective (with `order`: only those that keep the order of ranks).
[[nodiscard]] TUTTI_API std::string algorithm_names(Collective collective);
[[nodiscard]] TUTTI_API std::string algorithm_names(Collective collective, Order order);
/// The collective of that name.
[[nodiscard]] TUTTI_API std::optional<Collective> find_collective(std::string_view name);
/// Whether the collective combines elements.
[[nodiscard]] TUTTI_API bool reduces(Collective collective);
/// Whether the collective has a root.
[[nodiscard]] TUTTI_API bool has_root(Collective collective);

}  // namespace tutti
