#pragma once
// What the registry knows of an algorithm.

#include <span>
#include <string>
#include <string_view>

#include "tutti/schedule.hpp"

namespace tutti {

enum class Collective : std::uint8_t { allreduce };
[[nodiscard]] std::string_view to_string(Collective collective);

/// What a schedule costs one rank. Counts are elements.
struct Cost {
  int messages = 0;  ///< Sent by this rank.
  int rounds = 0;    ///< Longest chain of messages over all ranks, each sent only after the one before arrived.
  Count sent{};      ///< By this rank.
  Count reduced{};   ///< Results computed by this rank.
  Count copied{};
  Count scratch{};
  bool operator==(const Cost&) const = default;
};

/// Which operations an algorithm serves.
enum class Order : std::uint8_t {
  of_ranks,  ///< Operands are combined in rank order: any associative operation.
  any,       ///< Operands change places: the operation must be commutative.
};

/// One registered algorithm. `build` and `cost` are pure functions of the problem; `cost` is exact for every
/// problem, except that `rounds` is an upper bound where blocks are empty (count < size).
struct Algorithm {
  Collective collective;
  std::string_view name;
  Order order;
  Schedule (*build)(const Problem& problem);
  Cost (*cost)(const Problem& problem);
  std::string_view summary;
  std::string_view source;
};

/// All registered algorithms, in the order of algorithms/CMakeLists.txt.
[[nodiscard]] std::span<const Algorithm* const> algorithms();
/// The algorithm of that name, or nullptr.
[[nodiscard]] const Algorithm* find_algorithm(Collective collective, std::string_view name);
/// "a, b, c": the names that serve a collective (with `order`: only those that keep the order of ranks).
[[nodiscard]] std::string algorithm_names(Collective collective);
[[nodiscard]] std::string algorithm_names(Collective collective, Order order);

}  // namespace tutti
