#pragma once
// Processes that ask a question of the driver together. They are made by fork() from one that has never touched the
// driver.

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tutti::gpu {

inline constexpr int most_processes = 8;

/// One answer: a number with a unit, or a text.
struct Figure {
  std::array<char, 64> name{};
  std::array<char, 16> unit{};
  std::array<char, 96> text{};
  std::int64_t bytes = 0;  ///< The size of what was measured; 0: it has none.
  int processes = 0;       ///< That took part; 0: their number is no matter.
  double value = 0;
};

/// Memory of all processes of a team.
struct Shared {
  static constexpr int most_figures = 128;
  std::atomic<int> arrived{0};
  std::atomic<bool> has_failed{false}, is_unanswered{false};
  std::array<double, most_processes> seconds{};
  std::array<CUipcMemHandle, most_processes> memory{};
  CUipcEventHandle event{};
  int figure_count = 0;
  std::array<Figure, most_figures> figures{};
  std::array<char, 512> why{};
  alignas(4096) volatile std::uint32_t words[1024]{};  ///< Pages of their own, which CUDA may register.
};

/// The place of a process in its team.
class Team {
 public:
  Team(Shared& shared, int rank, int size) : shared_(&shared), rank_(rank), size_(size) {}
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] Shared& shared() const { return *shared_; }
  /// Throws if another process has failed.
  void barrier();
  /// The longest time of all processes.
  [[nodiscard]] double longest(double seconds);
  /// From process 0 alone; the others' are dropped.
  void tell(const std::string& name, double value, const char* unit, std::int64_t bytes = 0, int processes = 0) const;
  void tell(const std::string& name, const std::string& text) const;

 private:
  Shared* shared_;
  int rank_, size_, barriers_ = 0;
};

struct Answer {
  enum class State : std::uint8_t { answered, failed, unanswered } state = State::answered;
  std::string why{};
  std::vector<Figure> figures{};
};

/// Runs `ask` in each of `size` processes. Never throws, and kills those that need longer than `limit_seconds`.
[[nodiscard]] Answer ask_together(int size, double limit_seconds, const std::function<void(Team&)>& ask);

[[nodiscard]] double now();
[[nodiscard]] double median(std::vector<double> values);

}  // namespace tutti::gpu
