// Each message has a place in the staging buffer; copies and reductions are made on the device.
#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "lib/device/staging/direct.hpp"
#include "lib/device/staging/growing_plan.hpp"
#include "lib/device/staging/stage.hpp"

namespace tutti::device {
namespace {

class DeviceStaging {
 public:
  DeviceStaging(shm::SharedPlan plan, const std::function<int(Buffer, std::int64_t)>& place_of, const Ways& ways)
      : plan_(std::move(plan)), device_of_(place_of), ways_(ways), last_of_(static_cast<std::size_t>(plan_.size())) {
    std::iota(last_of_.begin(), last_of_.end(), 0);  // a step may wait for one of a higher number
  }

  shm::SharedPlan run() && {
    const int count = plan_.size();
    for (int i = 0; i < count; ++i) {
      follow_last(i);
      stage(i);
    }
    shm::SharedPlan& plan = plan_.plan();
    part_groups(plan);
    if (!plan.uses(Transport::ipc)) forget_additions(plan);
    plan.staging.bytes = bytes_;
    return std::move(plan_).finished();
  }

 private:
  /// Bytes of a buffer that are also in the staging buffer.
  struct Copy {
    Buffer buffer;
    Interval bytes;
    std::int64_t at;
    int from;  ///< The step that put them there.
  };

  /// Joint reductions and answers are for data that are not staged.
  static void forget_additions(shm::SharedPlan& plan) {
    for (shm::SideStep& side : plan.sides)
      side.joint = side.forward = side.answer = -1;
    plan.joints.clear();
    plan.forwards = false;
  }

  void stage(int i) {
    const CompiledStep step = plan_[i];
    if (step.bytes == 0) return;
    const bool is_carried = step.is_message() && ways_.carry(step.transport);
    if (is_carried)
      plan_[i].device =
          step.verb == Verb::send ? device_of_(step.lhs, step.lhs_at) : device_of_(step.into, step.into_at);
    if (step.verb == Verb::send && is_carried) return;
    if (step.verb == Verb::send) return stage_send(i, device_of_(step.lhs, step.lhs_at));
    for (const Access& access : accesses_of(plan_.plan(), step))
      if (access.writes) forget(access);
    if (is_carried) return;
    if (step.verb == Verb::recv) return stage_recv(i, device_of_(step.into, step.into_at));
    if (step.is_message()) stage_reduction(i, device_of_(step.into, step.into_at));
  }

  void stage_send(int i, int device) {
    if (device < 0) return;
    const CompiledStep step = plan_[i];
    const Interval bytes{step.lhs_at, step.lhs_at + step.bytes};
    std::optional<Copy> copy = find(step.lhs, bytes);
    if (!copy) {
      copy = Copy{step.lhs, bytes, take(step.bytes), 0};
      copy->from = plan_.add_fetch(device, step.lhs, step.lhs_at, copy->at, step.bytes, plan_.after(i));
      remember(*copy);
    }
    plan_[i].lhs = staging_buffer;
    plan_[i].lhs_at = copy->at + bytes.first - copy->bytes.first;
    // Its data have left the caller's buffer. It still waits for messages of its pair.
    std::vector<int>& after = plan_.after(i);
    if (copy->from < i) std::erase(after, last_of_[static_cast<std::size_t>(copy->from)]);
    after.push_back(copy->from);
  }

  void stage_recv(int i, int device) {
    if (device < 0) return;
    const CompiledStep step = plan_[i];
    const std::int64_t at = arrive(i);
    last_of_[static_cast<std::size_t>(i)] = plan_.add_store(device, at, step.into, step.into_at, step.bytes, {i});
    remember({step.into, {step.into_at, step.into_at + step.bytes}, at, i});
  }

  void stage_reduction(int i, int device) {
    CompiledStep reduction = plan_[i];
    const bool left = reduction.lands_left;
    const int stored = plan_.add_store(device, arrive(i), left ? reduction.lhs : reduction.rhs,
                                       left ? reduction.lhs_at : reduction.rhs_at, reduction.bytes, {i});
    reduction = {.verb = Verb::reduce,
                 .lhs = reduction.lhs,
                 .rhs = reduction.rhs,
                 .into = reduction.into,
                 .lhs_at = reduction.lhs_at,
                 .rhs_at = reduction.rhs_at,
                 .into_at = reduction.into_at,
                 .bytes = reduction.bytes};
    last_of_[static_cast<std::size_t>(i)] = plan_.add(reduction, {stored});
  }

  /// Lets a message arrive in the staging buffer; returns where.
  std::int64_t arrive(int i) {
    const std::int64_t at = take(plan_[i].bytes);
    plan_[i].verb = Verb::recv;
    plan_[i].into = staging_buffer;
    plan_[i].into_at = at;
    return at;
  }
  std::int64_t take(std::int64_t bytes) { return std::exchange(bytes_, bytes_ + aligned(bytes)); }

  /// Sends of a group share a copy of their data, which are in one place: those that were given another leave.
  static void part_groups(shm::SharedPlan& plan) {
    std::map<int, Place> places;
    for (const CompiledStep& step : plan.steps) {
      if (step.verb != Verb::send || plan.side(step).group < 0) continue;
      shm::SideStep& side = plan.sides[static_cast<std::size_t>(step.side)];
      const Place place{step.lhs, step.lhs_at};
      if (places.try_emplace(side.group, place).first->second != place) side.group = -1;
    }
  }

  /// The latest few: a schedule sends on what it has just received.
  void remember(const Copy& copy) {
    constexpr std::size_t most = 64;
    if (copies_.size() == most) copies_.pop_front();
    copies_.push_back(copy);
  }
  [[nodiscard]] std::optional<Copy> find(Buffer buffer, const Interval& bytes) const {
    const auto holds = [&](const Copy& copy) {
      return copy.buffer == buffer && copy.bytes.first <= bytes.first && bytes.last <= copy.bytes.last;
    };
    const auto found = std::ranges::find_if(copies_, holds);
    return found == copies_.end() ? std::nullopt : std::optional{*found};
  }
  /// The bytes have changed.
  void forget(const Access& written) {
    const auto [buffer, at] = place_of(plan_.plan(), written.buffer, written.bytes.first);
    const Interval bytes{at, at + written.bytes.bytes()};
    std::erase_if(copies_, [&, where = buffer](const Copy& copy) {
      const auto [its, begin] = place_of(plan_.plan(), copy.buffer, copy.bytes.first);
      return its == where && bytes.overlaps({begin, begin + copy.bytes.bytes()});
    });
  }
  /// Lets a step wait for the last of those steps that took the place of each that it waits for.
  void follow_last(int i) {
    for (int& before : plan_.after(i))
      before = last_of_[static_cast<std::size_t>(before)];
  }

  GrowingPlan plan_;
  const std::function<int(Buffer, std::int64_t)>& device_of_;
  Ways ways_;
  std::vector<int> last_of_;  ///< Per step of the plan: the step that is over when all that it does is done.
  std::deque<Copy> copies_;
  std::int64_t bytes_ = 0;
};

}  // namespace

shm::SharedPlan staged_for_device(shm::SharedPlan plan, const std::function<int(Buffer, std::int64_t)>& place_of,
                                  const Ways& ways) {
  plan.staging.worker = Staging::Worker::device;
  if (ways.ipc) go_by_ipc(plan);
  return DeviceStaging{std::move(plan), place_of, ways}.run();
}

}  // namespace tutti::device
