#pragma once
// Calls in the order of a CUDA stream.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/core/communicator/communicator_state.hpp"
#include "lib/device/stream/launcher.hpp"
#include "lib/device/stream/parts.hpp"
#include "lib/watch/observers.hpp"

namespace tutti::detail {

/// A call that has been checked, once or as a plan. All members need an Entry (lib/core/run/progress.hpp).
class StreamedCall {
 public:
  struct Buffers {
    const void* in = nullptr;
    void* out = nullptr;
    int device = -1;  ///< The number of the one that holds them, and whose stream it is.
    KnownAllocations allocations{};
  };
  /// The plan stays as long as the call. Throws StateError if the host has to move the call and cannot.
  StreamedCall(CommunicatorState& state, CachedPlan& plan, const Buffers& buffers, CUstream_st* stream,
               std::string_view why);
  StreamedCall(const StreamedCall&) = delete;
  StreamedCall& operator=(const StreamedCall&) = delete;
  ~StreamedCall();

  // A Plan calls these once it is made.
  void remember_memory();
  /// What all ranks tell each other, where is_for_all(), which is the same on all.
  struct Offer {
    stream::Loan loan{};
    Aliasing aliasing{};
    records::Signature call{};  ///< It has to match those of the others.
  };
  [[nodiscard]] bool is_for_all() const;
  [[nodiscard]] Offer lend();
  /// Maps the buffers of peers; to be repeated while any rank's are `coming`.
  [[nodiscard]] stream::Reach::State reach(std::span<const Offer> of_all);
  /// Whether all ranks reach their peers' buffers. Else messages pass landing areas.
  void settle(bool is_reached);

  /// Throws Error unless the buffers are those of then.
  void require_same_memory() const;
  /// Puts it into its stream. Throws Error: if the stream is captured and the host has to move the call, too.
  void start();
  /// Whether the communicator's calls in streams are over, this one among them.
  [[nodiscard]] bool is_over() const { return !state_.streams().is_busy(); }
  [[nodiscard]] CommunicatorState& communicator() const { return state_; }
  [[nodiscard]] PreparedPlan& plan() const { return plan_; }
  /// The text for Plan::explain().
  [[nodiscard]] std::string explain() const;

  /// Keeps the communicator alive, for a Plan.
  std::shared_ptr<CommunicatorState> keep_alive{};

 private:
  void start_gated();
  void prepare_gates();
  [[nodiscard]] Operation& bound_operation();
  /// "tutti::allreduce on rank 0"
  [[nodiscard]] std::string in_words() const;

  CommunicatorState& state_;
  CachedPlan& plan_;
  Buffers buffers_;
  CUstream_st* stream_;
  std::string_view why_;
  const void *watched_in_ = nullptr, *watched_out_ = nullptr;  ///< The buffers that this rank uses.
  Observers observers_;
  const stream::Pieces* pieces_ = nullptr;  ///< nullptr: the host moves it.
  stream::Reach* reach_ = nullptr;          ///< One that the launcher has. Not nullptr: its program is `direct_`.
  std::optional<stream::Pieces> direct_{};
};

}  // namespace tutti::detail
