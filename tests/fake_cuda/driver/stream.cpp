#include "tests/fake_cuda/driver/stream.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/region.hpp"
#include "tests/fake_cuda/driver/settings.hpp"

namespace fake_cuda {

Streams& Streams::get() {
  static Streams* const streams = new Streams;  // threads outlive main
  return *streams;
}

void Streams::run(const StreamPointer& stream) {
  std::mt19937 random{static_cast<unsigned>(settings().seed * 7919 + static_cast<long>(stream->key))};
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [&] { return !stream->queue.empty() || stream->is_closing; });
    if (stream->queue.empty()) {
      std::erase(all_, stream);
      return;
    }
    Operation operation = std::move(stream->queue.front());
    stream->queue.pop_front();
    for (const Point& point : operation.after)
      changed_.wait(lock, [&] { return point.first->done >= point.second; });
    changed_.wait(lock, [&] { return queues_.is_first(stream->queue_number, operation); });
    if (queues_.start(stream->queue_number, operation)) changed_.notify_all();
    Running now = begin(*stream, operation);
    running = &now;
    lock.unlock();
    if (operation.spoil && stream->context->lost == CUDA_SUCCESS) operation.spoil();
    if (const long most = settings().delay_us; most > 0)
      ::usleep(static_cast<useconds_t>(random() % static_cast<unsigned long>(most + 1)));
    stream->is_in_host_function = operation.calls_host;
    perform(operation, *stream->context);
    operation.work = {};
    lock.lock();
    queues_.end(stream->queue_number, operation);
    end(*stream, operation, now);
    changed_.notify_all();
  }
}

/// begin() and end() are called with the lock.
Running Streams::begin(Stream& stream, const Operation& operation) {
  if (settings().finds_races) {
    stream.clock.join(operation.known);
    for (const Point& point : operation.after)
      stream.clock.join(clock_of(point));
  }
  return {stream.context, stream.key, stream.done + 1, stream.clock, operation.what.bytes, now_ns()};
}

void Streams::end(Stream& stream, const Operation& operation, const Running& now) {
  if (settings().finds_races) {
    stream.clock.join(now.clock);
    stream.clock.learn(stream.key, stream.done + 1);
    stream.completed.push_back(stream.clock);
  }
  if (Timeline::get().is_kept()) keep(operation, now);
  if (operation.waits) --stream.waiting;
  stream.is_in_host_function = false;
  ++stream.done;
}

StreamPointer Streams::start(Context* context, unsigned flags, int priority) {
  auto stream = std::make_shared<Stream>();
  stream->context = context;
  stream->flags = flags;
  stream->priority = priority;
  stream->queue_number = queues_.assign(context, priority);
  stream->key = stream_key(static_cast<std::uint64_t>(::getpid()), next_++);
  all_.push_back(stream);
  std::thread{[this, stream] {
    const Inside inside;
    run(stream);
  }}.detach();
  return stream;
}

CUstream Streams::create(Context* context, unsigned flags, int priority) {
  const std::lock_guard lock{mutex_};
  const StreamPointer stream = start(context, flags, priority);
  const auto handle = reinterpret_cast<CUstream>(0x10000 + 16 * next_++);
  streams_[handle] = stream;
  return handle;
}

bool Streams::destroy(CUstream handle) {
  const std::lock_guard lock{mutex_};
  const auto found = streams_.find(handle);
  if (found == streams_.end()) return false;
  found->second->is_closing = true;
  streams_.erase(found);
  changed_.notify_all();
  return true;
}

StreamPointer Streams::find(Context* context, CUstream handle) {
  const std::lock_guard lock{mutex_};
  if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    if (context == nullptr) return nullptr;
    StreamPointer& stream = defaults_[{context, handle == CU_STREAM_PER_THREAD ? ::gettid() : 0}];
    if (stream == nullptr) stream = start(context, 0);
    return stream;
  }
  const auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second;
}

/// An earlier graph's branches must neither delay those of another one nor seem to be ordered before them: so the host
/// knows of all that a stream did when it is used again.
StreamPointer Streams::borrow(Context* context) {
  const std::lock_guard lock{mutex_};
  const auto found = std::ranges::find_if(spare_, [&](const StreamPointer& stream) {
    return stream->context == context && stream->done == stream->queued &&
           (!settings().finds_races || host_.knows(stream->key, stream->done));
  });
  if (found == spare_.end()) return start(context, CU_STREAM_NON_BLOCKING);
  StreamPointer stream = *found;
  spare_.erase(found);
  return stream;
}

void Streams::give_back(const StreamPointer& stream) {
  const std::lock_guard lock{mutex_};
  spare_.push_back(stream);
}

/// The legacy stream waits for all blocking streams of its context, and they for it.
void Streams::order_with_legacy(const StreamPointer& stream, std::vector<Point>& after) {
  const auto legacy = defaults_.find({stream->context, 0});
  if (legacy == defaults_.end() || (stream->flags & CU_STREAM_NON_BLOCKING) != 0) return;
  const auto follow = [&](const StreamPointer& other) {
    if (other != stream && other->context == stream->context && (other->flags & CU_STREAM_NON_BLOCKING) == 0 &&
        other->done < other->queued)
      after.emplace_back(other, other->queued);
  };
  if (legacy->second != stream) return follow(legacy->second);
  for (const StreamPointer& other : all_)
    follow(other);
}

Point Streams::push(const StreamPointer& stream, Operation operation) {
  const std::lock_guard lock{mutex_};
  return push_locked(stream, std::move(operation));
}

void Streams::push(const StreamPointer& stream, std::vector<Step> steps, std::function<void()> end, Point& last) {
  const std::lock_guard lock{mutex_};
  Operation begin{.what = {"begin-graph"}};
  if (last.first != nullptr) begin.after.push_back(last);
  const Point first = push_locked(stream, std::move(begin));
  std::vector<Point> points;
  for (Step& step : steps) {
    step.operation.after.push_back(first);
    for (const std::size_t number : step.after)
      step.operation.after.push_back(points[number]);
    points.push_back(push_locked(step.stream, std::move(step.operation)));
  }
  last = push_locked(stream, {.work = std::move(end), .what = {"end-graph"}, .after = std::move(points)});
}

Point Streams::push_locked(const StreamPointer& stream, Operation operation) {
  order_with_legacy(stream, operation.after);
  operation.posted_ns = now_ns();
  if (settings().finds_races) {
    operation.known = host_;
    operation.known.hear(operation.posted_ns);
  }
  if (operation.waits) ++stream->waiting;
  queues_.issue(stream->queue_number, operation);
  const Point point{stream, ++stream->queued};
  if (operation.queued) operation.queued(point);
  stream->queue.push_back(std::move(operation));
  changed_.notify_all();
  return point;
}

/// When the operation was over, as it is.
Clock Streams::clock_of(const Point& point) {
  if (!settings().finds_races || point.second == 0) return {};
  return point.first->completed.at(point.second - 1);
}

void Streams::wait(const Point& point) {
  Clock clock;
  {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return point.first->done >= point.second; });
    clock = clock_of(point);
  }
  host_learns(clock);
}

bool Streams::is_over(const Point& point) {
  bool is_over = false;
  Clock clock;
  {
    const std::lock_guard lock{mutex_};
    is_over = point.first->done >= point.second;
    if (is_over) clock = clock_of(point);
  }
  if (is_over)
    host_learns(clock);
  else
    sched_yield();
  return is_over;
}

Point Streams::last(const StreamPointer& stream) {
  const std::lock_guard lock{mutex_};
  return {stream, stream->queued};
}

void Streams::drain(Context* context) {
  std::vector<Point> all;
  {
    const std::lock_guard lock{mutex_};
    for (const StreamPointer& stream : all_)
      if (stream->context == context) all.emplace_back(stream, stream->queued);
  }
  for (const Point& point : all)
    wait(point);
}

bool Streams::has_waits(Context* context) {
  constexpr std::chrono::milliseconds patience{100};
  std::unique_lock lock{mutex_};
  const auto has = [&](auto is) {
    return std::ranges::any_of(all_,
                               [&](const StreamPointer& stream) { return stream->context == context && is(*stream); });
  };
  if (has([](const Stream& stream) { return stream.waiting > 0; })) return true;
  return !changed_.wait_for(
      lock, patience, [&] { return !has([](const Stream& stream) { return stream.is_in_host_function.load(); }); });
}

std::size_t Streams::count() {
  const std::lock_guard lock{mutex_};
  return streams_.size();
}

void Streams::host_learns(const Clock& clock) {
  Clock known;
  bool is_quiet = false;
  {
    const std::lock_guard lock{mutex_};
    if (host_.knows_all_of(clock)) return;
    host_.join(clock);
    known = host_;
    is_quiet = std::ranges::all_of(all_, [](const StreamPointer& stream) { return stream->done == stream->queued; });
  }
  const auto process = static_cast<std::uint64_t>(::getpid());
  for (const RegionPointer& region : Memory::get().all([](const Region&) { return true; }))
    region->tracks().history.learn(process, known, is_quiet && !region->is_shared());
}

Clock Streams::host_clock() {
  const std::lock_guard lock{mutex_};
  return host_;
}

}  // namespace fake_cuda
