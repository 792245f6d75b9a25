#pragma once
// Looks after an operation that waits for long: whether its call matches those of its peers, whether they live, and the
// report of a hang.

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/core/communicator/workspace.hpp"
#include "lib/watch/observer.hpp"

namespace tutti::detail {

/// Since when looks have seen the same number. All times are coarse_now().
class Stillness {
 public:
  Stillness() = default;
  explicit Stillness(std::int64_t begin) : since_(begin) {}
  /// The first look finds what has been there since the beginning.
  void note(std::uint64_t seen, std::int64_t now) {
    if (last_ && *last_ != seen) {
      since_ = now;
      ++changes_;
    }
    last_ = seen;
  }
  [[nodiscard]] std::int64_t since() const { return since_; }
  [[nodiscard]] unsigned changes() const { return changes_; }

 private:
  std::optional<std::uint64_t> last_{};
  std::int64_t since_ = 0;
  unsigned changes_ = 0;
};

/// It costs nothing before the operation has waited for some milliseconds.
class HangWatch final : public Observer {
 public:
  explicit HangWatch(Workspace& workspace) : workspace_(workspace) {}

  void entered(const Entrance& run) override;
  void started(std::uint64_t /*sequence*/) override { step_of_another_call_ = missing_step_ = -1; }
  [[nodiscard]] std::int64_t since() const { return since_; }
  /// Whether it is time for a look; the times grow farther apart.
  [[nodiscard]] bool wants_a_look(std::int64_t now) const { return now >= next_look_; }
  /// Notes what has moved. Returns a number that counts the changes: records::Wait::progress.
  [[nodiscard]] unsigned note(const Look& look);
  /// Throws MismatchError or Error that says why the operation will never be over, if a sign of that is there. Reports
  /// a hang.
  void waits(const Look& look) override;

 private:
  void require_right_messages(const Look& look);
  void require_alive(const Look& look) const;
  void require_no_cycle(const Look& look);
  void require_no_loss(const Look& look);
  void require_device_moves(const Look& look) const;
  void report_hang(const Look& look);
  [[nodiscard]] std::uint64_t progress_of_others(const records::Signature& mine) const;
  [[nodiscard]] std::int64_t still_for(const Look& look) const;
  [[nodiscard]] bool leaves_report_to_others(const std::vector<records::Situation>& all, const records::Signature& mine,
                                             std::int64_t overdue) const;

  Workspace& workspace_;
  std::int64_t since_ = 0, next_look_ = 0;
  Stillness own_bytes_{}, others_bytes_{};  ///< What looks have seen move, on this rank and on others.
  std::optional<Stillness> device_work_{};  ///< Nothing: none is pending, as far as is known.
  int step_of_another_call_ = -1;           ///< The step that the last look saw.
  int missing_step_ = -1;                   ///< The step whose message the last look found to be missing.
  std::int64_t missing_since_ = 0;
  bool has_reported_ = false;
};

}  // namespace tutti::detail
