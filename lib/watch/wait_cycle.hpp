#pragma once
// Ranks that wait for each other, each in a call on another communicator.

#include <cstdint>
#include <optional>
#include <string>

#include "lib/core/communicator/membership.hpp"

namespace tutti::detail {

/// Ranks that wait for each other for good.
struct WaitCycle {
  std::string text;
  OpenCommunicator* last = nullptr;  ///< The communicator on which the first of them is waited for.
  unsigned progress = 0;             ///< Changes when one of them moves bytes.
};

/// Looks for cycles through the calls of one communicator.
class CycleSearch {
 public:
  explicit CycleSearch(Membership& communicator) : communicator_(communicator) {}

  /// The cycle that this rank's call, which waits for that rank, is part of; nothing: there is none, or it may still
  /// come loose. Two looks some time apart have to see the same, as another thread might make the call that is missing.
  [[nodiscard]] std::optional<WaitCycle> look(const records::Signature& mine, int rank, std::int64_t now);

 private:
  [[nodiscard]] std::optional<WaitCycle> find(const records::Signature& mine, int rank) const;

  Membership& communicator_;
  WaitCycle suspected_{};  ///< That the last look saw.
  std::int64_t suspected_at_ = 0;
};

}  // namespace tutti::detail
