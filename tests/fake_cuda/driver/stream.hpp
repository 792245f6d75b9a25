#pragma once
// Streams: a thread each, which runs its operations in order, as late as random delays make it.

#include <cuda.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
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
  std::function<void()> work;
  What what{};
  std::vector<Point> after{};
  bool waits = false;             ///< For a value in memory, or for another process.
  bool calls_host = false;        ///< A function of the program.
  bool even_if_lost = false;      ///< Also where the context is lost: others wait for it.
  std::function<void()> spoil{};  ///< What its destination holds until it is over, written once it may run.
  Clock known{};                  ///< To the host when it queued this.
  std::uint64_t posted_ns = 0;
};

struct Stream {
  Context* context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  bool is_closing = false;
  std::deque<Operation> queue{};
  std::uint64_t queued = 0, done = 0;
  int waiting = 0;  ///< Operations queued, or under way, that wait.
  std::atomic<bool> is_in_host_function{false};
  std::uint64_t key = 0;  ///< Unique over all processes.
  Clock clock{};
  std::deque<Clock> completed{};  ///< The clock when each operation was over, where races are looked for.
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

class Streams {
 public:
  static Streams& get();

  CUstream create(Context* context, unsigned flags, int priority);
  /// False: there is no such. Its queued operations still run.
  bool destroy(CUstream handle);
  /// nullptr and CU_STREAM_LEGACY: the legacy stream of the context; CU_STREAM_PER_THREAD: that of this thread. Other
  /// handles: of any context. nullptr: no such.
  StreamPointer find(Context* context, CUstream handle);

  /// Queues an operation; it has a number in the stream.
  Point push(const StreamPointer& stream, Operation operation);
  void wait(const Point& point);
  /// Whether it is over. The program may spin on this: where it is not, another thread gets the processor.
  [[nodiscard]] bool is_over(const Point& point);
  [[nodiscard]] Point last(const StreamPointer& stream);
  /// Waits for all operations of the context.
  void drain(Context* context);
  /// Whether an operation of the context waits for a value in memory, for another process, or in a function of the
  /// program that does not end soon.
  [[nodiscard]] bool has_waits(Context* context);
  [[nodiscard]] std::size_t count();

  // Clocks, where races are looked for.
  /// The host may tell other processes, in ways that nobody sees here.
  void host_learns(const Clock& clock);
  [[nodiscard]] Clock host_clock();

 private:
  void run(const StreamPointer& stream);
  Running begin(Stream& stream, const Operation& operation);
  static void end(Stream& stream, const Operation& operation, const Running& now);
  StreamPointer start(Context* context, unsigned flags);
  void order_with_legacy(const StreamPointer& stream, std::vector<Point>& after);
  [[nodiscard]] Clock clock_of(const Point& point);

  std::mutex mutex_;
  std::condition_variable changed_;  ///< Any stream made progress.
  std::vector<StreamPointer> all_;   ///< Those that were destroyed and still have work, too.
  std::map<CUstream, StreamPointer> streams_;
  std::map<std::pair<Context*, int>, StreamPointer> defaults_;  ///< By thread; 0: the legacy stream.
  std::uint64_t next_ = 1;
  Clock host_;
};

/// Queues work in a stream. With `wait` the host waits for it, and gets the context's error.
CUresult enqueue(Context* context, CUstream handle, Operation operation, bool wait = false);

}  // namespace fake_cuda
