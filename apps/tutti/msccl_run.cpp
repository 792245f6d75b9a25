#include "apps/tutti/msccl_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/options.hpp"

namespace tutti::tool {

MscclRun::MscclRun(const MscclAlgorithm& algorithm) : algorithm_(algorithm) {
  std::int64_t steps = 0;
  for (int gpu = 0; gpu < std::ssize(algorithm.gpus); ++gpu) {
    first_thread_.push_back(threads());
    for (int block = 0; const MscclBlock& each : algorithm.gpus[index(gpu)].blocks) {
      threads_.push_back({gpu, block++});
      steps += std::ssize(each.steps);
    }
  }
  if ((steps + threads()) * threads() > most_msccl_clocks)
    throw apps::InputError(fmt::format("{}: {} steps in {} threadblocks; allowed: {}, multiplied", algorithm.path,
                                       steps, threads(), most_msccl_clocks));
  for (Thread& thread : threads_)
    thread.clock.assign(threads_.size(), 0);
}

const MscclBlock& MscclRun::block_of(int thread) const {
  const Thread& own = threads_[index(thread)];
  return algorithm_.gpus[index(own.gpu)].blocks[index(own.block)];
}

std::string MscclRun::name_of(const MscclPlace& place) const {
  const Thread& own = threads_[index(place.thread)];
  return fmt::format("gpu {}, tb {}, step {}", own.gpu, own.block, place.step);
}

void MscclRun::fail(const MscclPlace& place, const std::string& why) const {
  const int line = block_of(place.thread).steps[index(place.step)].line;
  throw apps::InputError(fmt::format("{}:{}: {}: {}", algorithm_.path, line, name_of(place), why));
}

void MscclRun::run(const std::function<void(const Now& now)>& visit) {
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (int thread = 0; thread < threads(); ++thread)
      while (advance(thread, visit))
        goes_on = true;
  }
  for (int thread = 0; thread < threads(); ++thread)
    if (const int next = threads_[index(thread)].next; next < std::ssize(block_of(thread).steps))
      fail({thread, next}, "never ends: what it waits for never comes");
  for (const auto& [way, messages] : under_way_)
    if (!messages.empty())
      fail(messages.front().from, fmt::format("sends to gpu {}, which does not receive it", std::get<1>(way)));
}

/// Runs the next step of the threadblock if it need not wait.
bool MscclRun::advance(int thread, const std::function<void(const Now& now)>& visit) {
  Thread& own = threads_[index(thread)];
  const MscclBlock& block = block_of(thread);
  if (own.next == std::ssize(block.steps)) return false;
  const MscclStep& step = block.steps[index(own.next)];
  const bool waits = step.after_block >= 0;
  const int before = waits ? first_thread_[index(own.gpu)] + step.after_block : thread;
  if (waits && threads_[index(before)].next <= step.after_step) return false;
  const auto merge = [&](const Clock& other) {
    std::ranges::transform(own.clock, other, own.clock.begin(), [](int a, int b) { return std::max(a, b); });
  };
  int received = -1;
  if (receives(step.type)) {
    auto& messages = under_way_[{block.recv, own.gpu, block.channel}];
    if (messages.empty()) return false;
    received = messages.front().number;
    merge(messages.front().clock);
    messages.pop_front();
  }
  if (before != thread) merge(threads_[index(before)].awaited.at(step.after_step));
  const int sent = sends(step.type) ? messages_++ : -1;
  const MscclPlace place{thread, own.next};
  visit({place, step, sent, received});
  if (sent >= 0) under_way_[{own.gpu, block.send, block.channel}].push_back({sent, place, own.clock});
  own.clock[index(thread)] = ++own.next;
  if (step.is_awaited) own.awaited[place.step] = own.clock;
  return true;
}

}  // namespace tutti::tool
