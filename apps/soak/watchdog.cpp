#include "apps/soak/watchdog.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "apps/standard_output.hpp"

namespace tutti::soak {

std::string Position::text() const {
  const auto text = [this](std::string_view doing) { return fmt::format("call {}, {}", call.load(), doing); };
  switch (phase.load()) {
    case Phase::between_rounds:
      return fmt::format("after call {}, making communicators or waiting for other threads or ranks", call.load());
    case Phase::preparing:
      return text("preparing its data");
    case Phase::starting:
      return text("starting it");
    case Phase::waiting:
      return text("waiting for it");
    case Phase::comparing:
      return text("comparing its result");
    case Phase::finished:
      return "finished";
  }
  return "?";
}

Watchdog::Watchdog(const std::vector<Position>& positions, int seconds, std::function<void()> report)
    : positions_(positions),
      seconds_(seconds),
      report_(std::move(report)),
      seen_(positions.size()),
      idle_(positions.size()),
      thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock{mutex_};
    stops_ = true;
  }
  stop_.notify_one();
  thread_.join();
}

bool Watchdog::is_stuck() {
  bool is_stuck = false;
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const std::int64_t now = positions_[i].changes();
    const bool stands = now == seen_[i] && positions_[i].phase.load() != Position::Phase::finished;
    idle_[i] = stands ? idle_[i] + 1 : 0;
    seen_[i] = now;
    is_stuck = is_stuck || idle_[i] >= seconds_;
  }
  return is_stuck;
}

void Watchdog::watch() {
  std::unique_lock lock{mutex_};
  while (!stop_.wait_for(lock, std::chrono::seconds{1}, [this] { return stops_; })) {
    if (!is_stuck()) continue;
    report_();
    // Ranks came to a stop within a moment, but not at the same time.
    stop_.wait_for(lock, std::chrono::seconds{3}, [this] { return stops_; });
    std::_Exit(apps::exit_failure);
  }
}

}  // namespace tutti::soak
