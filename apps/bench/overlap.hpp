#pragma once
// How much of a nonblocking call's time computation hides.

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "apps/bench/collective.hpp"
#include "apps/bench/computation.hpp"
#include "apps/bench/statistics.hpp"

namespace tutti::bench {

/// Three measurements: the call alone, computation of the same length alone, and computation between the start of the
/// call and its wait.
struct Overlap {
  Spread pure_us, compute_us, total_us;
  /// 100 * (1 - (total - compute) / pure) of the medians, between 0 and 100: as OSU's benchmarks define it.
  double percent = 0;
  double lower = 0, upper = 0;  ///< The middle half of that of single rounds, unbounded, lies between them.
  std::vector<Doubt> doubts{};
  [[nodiscard]] bool is_resolved() const { return doubts.empty(); }
};

/// The overlap cannot be told from noise if the middle half of the rounds is wider than this, in points of per cent
/// (wide_spread), or if the unbounded value is further than that outside of 0 to 100 (extreme).
inline constexpr double most_overlap_spread = 25;

/// The seconds of each round; at least one round. `load`: as in ratio_of().
[[nodiscard]] Overlap overlap_of(std::span<const double> pure, std::span<const double> compute,
                                 std::span<const double> total, std::optional<double> load = {});

/// A call that is measured alone, beside computation, and the computation.
class OverlappedCall {
 public:
  /// `pure_seconds`: the time of the call, and so of the computation.
  explicit OverlappedCall(double pure_seconds);
  [[nodiscard]] const Computation& computation() const { return computation_; }
  /// `pure` must outlive this; `total` computes meanwhile.
  void measures(Repeater& pure, std::unique_ptr<Repeater> total);
  /// Pure, computation, total.
  [[nodiscard]] std::array<Repeater*, 3> ways() const { return {pure_, alone_.get(), total_.get()}; }

 private:
  Computation computation_;
  Repeater* pure_ = nullptr;
  std::unique_ptr<Repeater> alone_, total_;
};

}  // namespace tutti::bench
