#pragma once
// Messages between every pair of ranks, pair by pair: --pairs.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/machine.hpp"
#include "apps/bench/settings.hpp"
#include "apps/json.hpp"
#include "tutti/communicator.hpp"

namespace tutti::bench {

/// The figures of a pair.
enum class LinkFigure : std::uint8_t {
  latency,    ///< Half the time of a short message and its answer, in microseconds.
  bandwidth,  ///< Of batches of long messages, in GB/s (1e9).
  rate        ///< Of batches of short messages, in millions of messages a second.
};
inline constexpr LinkFigure link_figures[] = {LinkFigure::latency, LinkFigure::bandwidth, LinkFigure::rate};
[[nodiscard]] std::string_view to_string(LinkFigure figure);  ///< "latency".
[[nodiscard]] std::string_view unit_of(LinkFigure figure);    ///< "us".

/// A figure of each link from one rank to another, by from * ranks + to; 0 from a rank to itself.
struct LinkMatrix {
  std::vector<double> median;  ///< Over the rounds.
  std::vector<double> best;    ///< At least a quarter of the rounds was as good.
};

/// A link that is slow: even its best quarter of rounds is more than most_behind times worse than the median of the
/// links of its kind, which are those inside nodes, or those between nodes.
struct SlowLink {
  LinkFigure figure{};
  int from = 0, to = 0;
  double value = 0, usual = 0;  ///< The median of the rounds, and that of the medians of its kind.
  bool is_between_nodes = false;
};
inline constexpr double most_behind = 1.5;
inline constexpr std::size_t least_links_of_kind = 6;  ///< With fewer, none is called slow: nothing is usual.

struct Pairs {
  std::vector<int> nodes;  ///< Of each rank.
  std::int64_t short_bytes = 0, long_bytes = 0;
  int rounds = 0;
  std::array<LinkMatrix, std::size(link_figures)> figures{};
  [[nodiscard]] int ranks() const { return static_cast<int>(nodes.size()); }
  [[nodiscard]] const LinkMatrix& of(LinkFigure figure) const { return figures[static_cast<std::size_t>(figure)]; }
  [[nodiscard]] std::size_t at(int from, int to) const { return static_cast<std::size_t>(from * ranks() + to); }
  [[nodiscard]] bool is_between_nodes(int from, int to) const;
  /// The median of the links of a kind; 0: there are none.
  [[nodiscard]] double usual(LinkFigure figure, bool between_nodes) const;
};

/// By figure, then by rank.
[[nodiscard]] std::vector<SlowLink> slow_links(const Pairs& pairs);

/// Collective over `comm`, which is all of MPI_COMM_WORLD. While a pair measures, the other ranks sleep. Rank 0 gets
/// the figures. Cost: p (p - 1) / 2 times a few milliseconds a round; buffers of 8 long messages on each rank.
[[nodiscard]] Pairs measure_pairs(const Settings& settings, const Communicator& comm);

/// A matrix for each figure, with slow links marked, and the slow links. Up to most_ranks_shown ranks; of more, the
/// usual figures and the slow links alone.
[[nodiscard]] std::string to_text(const Pairs& pairs);
inline constexpr int most_ranks_shown = 32;

/// {"environment": {...}, "pairs": {...}}.
[[nodiscard]] std::string json_text(const Machine& machine, const Pairs& pairs);

}  // namespace tutti::bench
