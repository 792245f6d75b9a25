#pragma once
// How a call is watched: the one interface for whatever looks at operations without moving them.

#include <cstdint>
#include <optional>

#include "lib/core/plan/compiled_plan.hpp"
#include "lib/watch/records/record.hpp"
#include "lib/watch/records/signature.hpp"

namespace tutti::detail {

/// A call that waits, as one look finds it.
struct Look {
  const records::Signature& call;
  const CompiledPlan& plan;  ///< The plan of the current run.
  records::Wait wait{};
  std::int64_t now = 0;                  ///< coarse_now().
  std::optional<std::uint64_t> moved{};  ///< A number that changes when the run moves bytes; nothing: it has not begun.
  bool is_for_stream = false;            ///< Only a stream waits for the call.
  std::optional<std::uint64_t> device_work{};  ///< Work done on the device, while a stream's work there is pending.
  int step_of_another_call = -1;  ///< The step for which a message of another call has come; -1: none, or not looked.
};

/// A run of a call, as it begins.
struct Entrance {
  const records::Signature& call;
  std::uint64_t sequence = 0;  ///< The operation's number; the signature has its lower half.
  bool for_stream = false;     ///< The run is in the order of a stream.
  bool has_gaps = false;       ///< Elements have bytes that hold nothing.
  const void* in = nullptr;    ///< The buffers of the run.
  void* out = nullptr;
};

/// Watches one operation, run after run. Each run is entered, started once it may begin, and left, or it has failed.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  /// The program has made the call.
  virtual void entered(const Entrance& run) = 0;
  /// What the operation has to wait for before it may begin; nothing: it may begin. Throws if it never may.
  [[nodiscard]] virtual std::optional<records::Wait> delays() { return std::nullopt; }
  /// The turn of the run has come: messages leave. Called again, with the next number, once it has exchanged sizes.
  virtual void started(std::uint64_t /*sequence*/) {}
  /// The run has waited for some milliseconds at least. Throws if it will never be over.
  virtual void waits(const Look& /*look*/) {}
  virtual void left() {}
  virtual void failed() {}
};

}  // namespace tutti::detail
