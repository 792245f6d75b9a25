#pragma once
// TUTTI_CHECK=1: the arguments of each collective call are compared between all ranks before any data move.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/core/communicator/membership.hpp"
#include "lib/core/run/plan_key.hpp"
#include "lib/watch/observer.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

/// The arguments of a call, which all ranks compared, do not match: all have heard the same.
class ComparedError : public MismatchError {
 public:
  using MismatchError::MismatchError;
};

/// The arguments of one rank's call.
struct Arguments {
  records::Signature call{};
  double scale = 1.0;
  std::int64_t element = 1;               ///< Bytes.
  std::vector<std::int64_t> in{}, out{};  ///< Bytes of the blocks that it lists, by rank.
};
[[nodiscard]] Arguments arguments_of(const records::Signature& call, const PlanKey& key);

/// How the arguments of all ranks, in order, do not match: names every rank that differs from most others. Empty: they
/// match.
[[nodiscard]] std::string compare(const std::vector<Arguments>& all);

/// The check of one communicator. Rank 0 gathers the arguments of all, compares them, and tells the verdict. A rank
/// sends its own, and hears verdicts, in the order of its calls; so a call is over when its verdict has come.
class ArgumentCheck {
 public:
  explicit ArgumentCheck(Membership& communicator) : communicator_(communicator) {}

  /// A call begins. Returns its number here.
  std::uint64_t submit(const Arguments& mine);
  /// This rank makes no further call: others that still do so are told.
  void close(const records::Signature& closing);
  /// The verdict of a call: empty if all match; nothing if it is not known yet. Moves the channel.
  [[nodiscard]] std::optional<std::string> verdict(std::uint64_t number);
  /// A rank whose arguments have not come, on rank 0; rank 0 elsewhere.
  [[nodiscard]] int awaited(std::uint64_t number) const;
  /// A message of another rank.
  void take(const mpi::Letter& letter, const std::vector<std::byte>& rest);

 private:
  void judge();
  void tell_all(const mpi::Letter& letter, const std::string& text);

  Membership& communicator_;
  std::uint64_t submitted_ = 0, judged_ = 0;
  std::vector<std::deque<Arguments>> came_{};        ///< On rank 0, by rank: not judged yet.
  std::map<std::uint64_t, std::string> verdicts_{};  ///< The key is the number of the call.
};

/// Keeps an operation waiting until the arguments of all ranks have been compared. Throws ComparedError.
class CheckedCall final : public Observer {
 public:
  CheckedCall(ArgumentCheck& check, const PlanKey& key) : check_(check), key_(key) {}

  void entered(const Entrance& run) override;
  [[nodiscard]] std::optional<records::Wait> delays() override;

 private:
  ArgumentCheck& check_;
  const PlanKey& key_;
  std::optional<std::uint64_t> number_{};  ///< At the check, of a call whose verdict has not come.
};

}  // namespace tutti::detail
