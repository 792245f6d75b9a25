// tutti export goal: what LogGOPSim simulates. A send is complete when it has been posted there, so that what waits for
// it does not wait for the message.
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "apps/options.hpp"
#include "apps/tutti/scene.hpp"

namespace tutti::tool {
namespace {

class GoalWriter {
 public:
  explicit GoalWriter(const GoalRates& rates) : rates_(rates) {}

  std::string text(const Scene& scene) && {
    text_ = fmt::format("// {}, {} bytes an element\nnum_ranks {}\n", scene.title(), rates_.element, scene.what.size);
    for (int rank = 0; rank < scene.what.size; ++rank) {
      fmt::format_to(std::back_inserter(text_), "\nrank {} {{\n", rank);
      const std::vector<Step>& steps = scene.schedule_of(rank).schedule.steps;
      for (int number = 0; number < std::ssize(steps); ++number)
        add(steps, number);
      text_ += "}\n";
    }
    return std::move(text_);
  }

 private:
  /// A receive that reduces is two lines: what waits for it waits for the second.
  static std::string label_of(const std::vector<Step>& steps, int number) {
    const auto* const recv = std::get_if<Recv>(&steps[static_cast<std::size_t>(number)].action);
    return fmt::format("l{}{}", number, recv != nullptr && recv->then ? "r" : "");
  }

  void add(const std::vector<Step>& steps, int number) {
    const auto& [action, after] = steps[static_cast<std::size_t>(number)];
    const std::string label = fmt::format("l{}", number);
    if (const auto* const send = std::get_if<Send>(&action))
      line(fmt::format("{}: send {}b to {} tag {}", label, bytes_of(send->from), send->to.value(), send->message));
    else if (const auto* const recv = std::get_if<Recv>(&action))
      line(fmt::format("{}: recv {}b from {} tag {}", label, bytes_of(recv->into), recv->from.value(), recv->message));
    else if (const auto* const reduce = std::get_if<Reduce>(&action))
      line(fmt::format("{}: calc {}", label, time_of(reduce->into, rates_.reduced)));
    else
      line(fmt::format("{}: calc {}", label, time_of(std::get<Copy>(action).into, rates_.copied)));
    for (const int before : after)
      line(fmt::format("{} requires {}", label, label_of(steps, before)));
    if (const auto* const recv = std::get_if<Recv>(&action); recv != nullptr && recv->then) {
      line(fmt::format("{}r: calc {}", label, time_of(recv->then->into, rates_.reduced)));
      line(fmt::format("{0}r requires {0}", label));
    }
  }

  void line(const std::string& text) { text_ += "  " + text + "\n"; }

  /// A signal has one byte: the simulator charges for all bytes but the first.
  [[nodiscard]] std::int64_t bytes_of(const Regions& regions) const {
    return std::max<std::int64_t>(1, checker::total(regions).value() * rates_.element);
  }
  [[nodiscard]] std::int64_t time_of(const Region& region, double rate) const {
    return std::llround(static_cast<double>(region.count.value() * rates_.element) * rate);
  }

  GoalRates rates_;
  std::string text_{};
};

}  // namespace

std::string to_goal(const Scene& scene, const GoalRates& rates) {
  if (!scene.verdict.proved()) throw apps::InputError(fmt::format("{}: {}", scene.title(), scene.cost_text()));
  return GoalWriter{rates}.text(scene);
}

}  // namespace tutti::tool
