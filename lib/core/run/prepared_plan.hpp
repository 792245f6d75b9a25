#pragma once
// A plan that is prepared for calls of a communicator: compiled, or, where sizes have to be exchanged first, ready to
// be compiled for them.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lib/core/plan/shared_plan.hpp"
#include "lib/core/run/plan_key.hpp"
#include "lib/device/stream/parts.hpp"

namespace tutti::detail {

class PreparedPlan {
 public:
  /// Copies the lists of `key`. Compiles the schedule; if sizes have to be exchanged first, that of the exchange.
  PreparedPlan(const PlanKey& key, const Routing& routing, const shm::SharedMemory& memory,
               const device::Transfers& devices);
  /// Messages between pairs of ranks that are part of no collective. The lists of `key` describe them.
  PreparedPlan(const PlanKey& key, shm::SharedPlan messages);

  [[nodiscard]] const PlanKey& key() const { return key_; }
  /// The signature of its calls, but for what the communicator adds.
  [[nodiscard]] const records::Signature& signature() const { return signature_; }
  [[nodiscard]] const shm::SharedPlan& compiled() const { return compiled_; }
  /// Whether the compiled plan only exchanges sizes; the schedule proper is then compiled from the sizes that were
  /// learned.
  [[nodiscard]] bool exchanges() const { return exchanged_ != nullptr; }
  [[nodiscard]] const Exchange& exchange() const { return *exchanged_; }
  /// The sizes that this rank knows; the first Exchange::input of them are told.
  [[nodiscard]] std::span<const Count> known() const { return known_; }
  [[nodiscard]] shm::SharedPlan compile_learned(std::span<const Count> learned) const;

  /// The programs of the call in a stream; nullptr: the host has to move it. The room is always the same.
  [[nodiscard]] const stream::Pieces* pieces(const stream::Room& room);
  /// The programs of the call on buffers that peers reach; the aliasings are of all ranks. Nothing: there are none.
  [[nodiscard]] std::optional<stream::Pieces> direct_pieces(std::span<const Aliasing> aliasings,
                                                            const stream::Room& room) const {
    return stream::direct_pieces_of(source(), aliasings, room);
  }

 private:
  void keep_lists();
  [[nodiscard]] shm::SharedPlan compile(const Problem& problem) const;
  [[nodiscard]] stream::Source source() const;
  std::span<const Count> keep(std::span<const Count> list);

  PlanKey key_;
  records::Signature signature_;
  shm::SharedPlan compiled_;
  Routing routing_{};
  shm::SharedMemory memory_{};
  device::Transfers devices_{};
  std::vector<std::vector<Count>> lists_;
  std::optional<std::optional<stream::Pieces>> pieces_{};  ///< Once they were asked for.
  std::unique_ptr<Exchange> exchanged_;
  std::vector<Count> known_;
};

}  // namespace tutti::detail
