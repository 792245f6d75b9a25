#pragma once
// What a stream runs, one after the other.

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/fake_cuda/driver/clock.hpp"
#include "tests/fake_cuda/driver/context.hpp"
#include "tests/fake_cuda/driver/timeline.hpp"

namespace fake_cuda {

struct Stream;
using StreamPointer = std::shared_ptr<Stream>;
/// An operation of a stream, by its number there.
using Point = std::pair<StreamPointer, std::uint64_t>;

struct Operation {
  std::function<void()> work{};
  What what{};
  std::vector<Point> after{};
  bool waits = false;             ///< For a value in memory, or for another process.
  bool calls_host = false;        ///< A function of the program.
  bool even_if_lost = false;      ///< It runs also where the context is lost: others wait for it.
  std::function<void()> spoil{};  ///< What its destination holds until it is over, written once it may run.
  std::function<void()> count{};  ///< Adds to the totals, when it is queued.
  std::function<void(const Point&)> queued{};  ///< Learns where it was queued, before it may run.
  /// A node of a graph that every launch makes anew, as it depends on what an event is then.
  std::function<Operation()> renewed{};
  Clock known{};  ///< To the host when it queued this.
  std::uint64_t posted_ns = 0;
  std::uint64_t issued = 0;  ///< Its number in the hardware queues, if the device has one queue.
};

/// The operation that a stream's thread runs.
struct Running {
  Context* context;
  std::uint64_t stream, sequence;
  Clock clock;
  std::uint64_t bytes, started_ns;
};
extern thread_local Running* running;
/// Whether this thread runs a function of the program that a stream called.
extern thread_local bool is_in_host_function;

/// Does the operation's work, unless the context is lost. A fault of it loses the context.
void perform(const Operation& operation, Context& context);
/// Adds it to the timeline.
void keep(const Operation& operation, const Running& now);

}  // namespace fake_cuda
