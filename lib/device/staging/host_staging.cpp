// The plan runs on a staging buffer: it is fetched from the device before, and stored there behind.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "lib/device/staging/growing_plan.hpp"
#include "lib/device/staging/stage.hpp"
#include "lib/device/staging/tuning.hpp"

namespace tutti::device {
namespace {

/// A part of a buffer that is copied at once.
struct Chunk {
  Interval bytes{};
  int first_user = std::numeric_limits<int>::max();
  int step = -1;
  std::vector<int> writers{};
};

/// The chunk that holds a byte, and those behind it up to `last`: calls use(chunk) for each that overlaps.
template <class Use>
void for_overlapping(std::vector<Chunk>& chunks, const Interval& bytes, const Use& use) {
  auto next = std::ranges::upper_bound(chunks, bytes.first, {}, [](const Chunk& chunk) { return chunk.bytes.last; });
  for (; next != chunks.end() && next->bytes.first < bytes.last; ++next)
    use(*next);
}

/// One buffer, or two that share memory, of which the input is then part of the output.
struct Space {
  Buffer buffer = Buffer::input;
  int device = -1;
  Intervals used{}, fetched{}, written{};
  std::vector<std::int64_t> ends{};  ///< Where steps' regions begin or end.
  std::vector<std::pair<Interval, std::int64_t>>
      places{};  ///< Used intervals, and where they begin in the staging buffer.
  std::vector<Chunk> fetches{}, stores{};

  [[nodiscard]] std::int64_t staged(std::int64_t at) const {
    const auto behind = std::ranges::upper_bound(places, at, {}, [](const auto& place) { return place.first.first; });
    const auto& [interval, begin] = *std::prev(behind);
    return begin + at - interval.first;
  }
};

class HostStaging {
 public:
  HostStaging(shm::SharedPlan plan, const BufferDevices& places, std::int64_t chunk_bytes)
      : plan_(std::move(plan)), chunk_bytes_(chunk_bytes) {
    const bool is_one = plan_.plan().problem.aliasing.offset().has_value();
    input_ = {.buffer = Buffer::input, .device = is_one ? -1 : places.input};
    output_ = {.buffer = Buffer::output, .device = places.output};
  }

  shm::SharedPlan run() && {
    const int count = plan_.size();
    for (int i = 0; i < count; ++i)
      for (const Access& access : accesses_of(plan_.plan(), plan_[i]))
        note(access);
    note_finish();
    lay_out();
    for (Space* space : spaces()) {
      space->fetches = cut(*space, space->fetched);
      space->stores = cut(*space, space->written);
    }
    for (int i = 0; i < count; ++i)
      for (const Access& access : accesses_of(plan_.plan(), plan_[i]))
        find_users(i, access);
    add_fetches();
    for (int i = 0; i < count; ++i)
      wait_for_fetches(i);
    add_stores();
    for (int i = 0; i < count; ++i)
      move(plan_[i]);
    move_sides();
    return std::move(plan_).finished();
  }

 private:
  [[nodiscard]] std::array<Space*, 2> spaces() { return {&input_, &output_}; }
  /// Where bytes of a buffer are, if that is on a device.
  [[nodiscard]] std::pair<Space*, std::int64_t> locate(Buffer buffer, std::int64_t at) {
    if (buffer != Buffer::input && buffer != Buffer::output) return {nullptr, at};
    const auto [where, its] = place_of(plan_.plan(), buffer, at);
    Space& space = where == Buffer::input ? input_ : output_;
    return {space.device < 0 ? nullptr : &space, its};
  }
  [[nodiscard]] std::pair<Space*, Interval> locate(const Access& access) {
    const auto [space, at] = locate(access.buffer, access.bytes.first);
    return {space, {at, at + access.bytes.bytes()}};
  }

  void note(const Access& access) {
    const auto [space, bytes] = locate(access);
    if (space == nullptr) return;
    space->used.add(bytes);
    space->ends.push_back(bytes.first);
    space->ends.push_back(bytes.last);
    if (access.writes)
      space->written.add(bytes);
    else
      fetch(*space, bytes);
  }
  /// The parts that no step has written: steps that depend on each other have ascending numbers.
  static void fetch(Space& space, const Interval& bytes) {
    for (const Interval& part : space.written.missing(bytes))
      space.fetched.add(part);
  }
  /// The last pass over the output is made on the device, behind each store, so that all of it has to be stored.
  void note_finish() {
    shm::SharedPlan& plan = plan_.plan();
    if (!needs_finish(plan.op) || output_.device < 0 || plan.count == 0) return;
    const Interval all{0, plan.count * plan.element};
    output_.used.add(all);
    fetch(output_, all);
    output_.written.add(all);
    plan.staging.finish = std::exchange(plan.op, Op::sum);
  }
  void lay_out() {
    std::int64_t at = 0;
    for (Space* space : spaces())
      for (const Interval& interval : space->used.all()) {
        space->places.emplace_back(interval, at);
        at += aligned(interval.bytes());
      }
    plan_.plan().staging.bytes = at;
  }
  [[nodiscard]] std::vector<Chunk> cut(Space& space, const Intervals& what) const {
    std::ranges::sort(space.ends);
    std::vector<Chunk> chunks;
    for (const Interval& whole : what.all()) {
      Interval chunk{whole.first, whole.first};
      for (auto end = std::ranges::upper_bound(space.ends, whole.first); chunk.first < whole.last;) {
        chunk.last = end == space.ends.end() ? whole.last : std::min(*end++, whole.last);
        if (chunk.bytes() < chunk_bytes_ && chunk.last < whole.last) continue;
        chunks.push_back({.bytes = chunk});
        chunk = {chunk.last, chunk.last};
      }
    }
    return chunks;
  }

  void find_users(int step, const Access& access) {
    const auto [space, bytes] = locate(access);
    if (space == nullptr) return;
    for_overlapping(space->fetches, bytes, [&](Chunk& chunk) { chunk.first_user = std::min(chunk.first_user, step); });
    if (access.writes) for_overlapping(space->stores, bytes, [&](Chunk& chunk) { chunk.writers.push_back(step); });
  }
  /// Adds the fetches of both buffers in the order in which they are needed.
  void add_fetches() {
    std::vector<std::pair<Space*, Chunk*>> all;
    for (Space* space : spaces())
      for (Chunk& chunk : space->fetches)
        all.emplace_back(space, &chunk);
    std::ranges::stable_sort(all, {}, [](const auto& fetch) { return fetch.second->first_user; });
    for (const auto& [space, chunk] : all)
      chunk->step = plan_.add_fetch(space->device, space->buffer, chunk->bytes.first, space->staged(chunk->bytes.first),
                                    chunk->bytes.bytes(), {});
  }
  void wait_for_fetches(int step) {
    const auto wait_for = [&](const Access& access) {
      const auto [space, bytes] = locate(access);
      if (space == nullptr) return;
      for_overlapping(space->fetches, bytes, [&](const Chunk& chunk) { plan_.after(step).push_back(chunk.step); });
    };
    for (const Access& access : accesses_of(plan_.plan(), plan_[step]))
      wait_for(access);
    // A receive that is part of a joint reduction may make all of it.
    const int number = plan_.plan().side(plan_[step]).joint;
    if (number < 0) return;
    const shm::JointReduction& joint = plan_.plan().joints[static_cast<std::size_t>(number)];
    for (const shm::JointReduction::Operand& operand : joint.operands)
      if (operand.message < 0) wait_for({operand.buffer, {operand.at, operand.at + joint.bytes}});
    wait_for({joint.into, {joint.into_at, joint.into_at + joint.bytes}, true});
  }
  void add_stores() {
    for (Chunk& chunk : output_.stores) {
      std::vector<int> after = std::move(chunk.writers);
      for_overlapping(output_.fetches, chunk.bytes, [&](const Chunk& fetch) { after.push_back(fetch.step); });
      plan_.add_store(output_.device, output_.staged(chunk.bytes.first), output_.buffer, chunk.bytes.first,
                      chunk.bytes.bytes(), std::move(after));
    }
  }

  void move(Buffer& buffer, std::int64_t& at) {
    const auto [space, its] = locate(buffer, at);
    if (space == nullptr) return;
    at = space->staged(its);
    buffer = staging_buffer;
  }
  /// Moves the data of a step to the staging buffer.
  void move(CompiledStep& step) {
    if (step.bytes == 0) return;
    if (step.operands >= 0) {
      for (auto& [buffer, at] : plan_.plan().operands[static_cast<std::size_t>(step.operands)])
        move(buffer, at);
      return move(step.into, step.into_at);
    }
    const bool reads = step.verb != Verb::recv, combines = reads && step.verb != Verb::send && step.verb != Verb::copy;
    if (reads) move(step.lhs, step.lhs_at);
    if (combines) move(step.rhs, step.rhs_at);
    if (step.verb != Verb::send) move(step.into, step.into_at);
  }
  void move_sides() {
    for (shm::JointReduction& joint : plan_.plan().joints) {
      for (shm::JointReduction::Operand& operand : joint.operands)
        if (operand.message < 0) move(operand.buffer, operand.at);
      move(joint.into, joint.into_at);
    }
    // No peer writes to the staging buffer.
    for (shm::SideStep& side : plan_.plan().sides)
      if (side.answer >= 0 && locate(side.answer_into, side.answer_at).first != nullptr) side.answer = -1;
  }

  GrowingPlan plan_;
  std::int64_t chunk_bytes_;
  Space input_, output_;
};

}  // namespace

shm::SharedPlan staged_for_host(shm::SharedPlan plan, const BufferDevices& places, const Tuning& tuning) {
  plan.staging.worker = Staging::Worker::host;
  plan.staging.device = std::max(places.input, places.output);
  return HostStaging{std::move(plan), places, tuning.chunk_bytes}.run();
}

}  // namespace tutti::device
