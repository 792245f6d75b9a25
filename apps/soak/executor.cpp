#include "apps/soak/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>

#include "apps/soak/invocation.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "tutti/barrier.hpp"

namespace tutti::soak {

using Phase = Position::Phase;

/// A call with all that it needs on this rank, over all repetitions.
class Executor::Flight {
 public:
  Flight(const Call& call, const Member& on, MemoryPool& pool)
      : call_(call),
        on_(on),
        rank_(on.tutti.rank().value()),
        layout_(std::make_unique<Layout>(layout_of(call, rank_))),
        memory_(std::make_unique<CallMemory>(call, rank_, *layout_, pool)),
        invocation_(std::make_unique<Invocation>(call, *layout_, *memory_, on.tutti)) {
    if (call.way == Way::persistent) plans_ = invocation_->prepare();
  }

  [[nodiscard]] const Call& call() const { return call_; }
  [[nodiscard]] CallMemory& memory() { return *memory_; }

  [[nodiscard]] bool is_first_rank() const { return rank_ == 0; }
  [[nodiscard]] std::int64_t bytes_of_result() const { return layout_->out.total() * size_of(call_.type).value(); }

  void prepare(int repetition) { memory_->prepare(repetition); }
  void start() {
    if (call_.way == Way::blocking) return invocation_->run();
    if (call_.way == Way::nonblocking) requests_ = invocation_->start();
    for (Plan& plan : plans_)
      plan.start();
  }
  void wait() {
    for (Request& request : requests_)
      request.wait();
    for (Plan& plan : plans_)
      plan.wait();
  }
  [[nodiscard]] bool test() {
    bool is_over = true;
    for (Request& request : requests_)
      is_over = request.test() && is_over;
    for (Plan& plan : plans_)
      is_over = plan.test() && is_over;
    return is_over;
  }

  [[nodiscard]] bool is_by_mpi() const { return call_.by_mpi && has_mpi_result(call_); }
  void collect(int repetition) {
    if (!is_by_mpi()) return memory_->collect(repetition, nullptr);
    const std::vector<std::byte> by_mpi = mpi_result(call_, repetition, rank_, on_.mpi.get());
    memory_->collect(repetition, &by_mpi);
  }

 private:
  const Call& call_;
  const Member& on_;
  int rank_;
  // Each refers to the ones before it.
  std::unique_ptr<Layout> layout_;
  std::unique_ptr<CallMemory> memory_;
  std::unique_ptr<Invocation> invocation_;
  std::vector<Request> requests_;
  std::vector<Plan> plans_;
};

void Executor::run(const Step& step, const Communicators& on) {
  position_.enter(Phase::preparing, step.first_call);
  if (faults_.hang >= 0 && faults_.hang < step.number_of(0, step.repetitions))
    std::this_thread::sleep_for(std::chrono::hours{1});
  pool_.reset();
  std::vector<Flight> flights;
  for (const Call& call : step.calls)
    flights.emplace_back(call, on.members[static_cast<std::size_t>(call.communicator)], pool_);
  for (int repetition = 0; repetition < step.repetitions; ++repetition) {
    position_.enter(Phase::preparing, step.number_of(0, repetition));
    for (Flight& flight : flights)
      flight.prepare(repetition);
    start(step, repetition, flights);
    wait(step, repetition, flights);
    // A barrier, as at the end of a round: MPI does not move what UCX may still hold for others.
    if (asks_mpi_) barrier(on.members.front().tutti);
    for (std::size_t i = 0; i < flights.size(); ++i) {
      position_.enter(Phase::comparing, step.number_of(i, repetition));
      compare(flights[i], repetition, step.number_of(i, repetition));
    }
  }
  position_.enter(Phase::between_rounds);
}

/// Calls of one communicator in the same order on all ranks.
void Executor::start(const Step& step, int repetition, std::vector<Flight>& flights) {
  std::vector<std::size_t> order(flights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (step.has_mixed_order) {
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      const auto communicator = static_cast<std::uint64_t>(step.calls[i].communicator);
      return mixed({step.key, 0x57, static_cast<std::uint64_t>(world_rank()), communicator});
    });
  }
  for (const std::size_t i : order) {
    position_.enter(Phase::starting, step.number_of(i, repetition));
    flights[i].start();
  }
}

/// Waits for each in random order, or tests all one after the other until all are over.
void Executor::wait(const Step& step, int repetition, std::vector<Flight>& flights) {
  Random random{
      mixed({step.key, 0x3a, static_cast<std::uint64_t>(world_rank()), static_cast<std::uint64_t>(repetition)})};
  std::vector<std::size_t> left;
  for (const int i : random.order(static_cast<int>(flights.size())))
    left.push_back(static_cast<std::size_t>(i));
  position_.enter(Phase::waiting, step.number_of(left.front(), repetition));
  if (random.chance(25)) {
    while (!left.empty()) {
      std::erase_if(left, [&](std::size_t i) { return flights[i].test(); });
      std::this_thread::yield();
    }
  }
  for (const std::size_t i : left) {
    position_.enter(Phase::waiting, step.number_of(i, repetition));
    flights[i].wait();
  }
}

void Executor::compare(Flight& flight, int repetition, std::int64_t number) {
  flight.collect(repetition);
  CallMemory& memory = flight.memory();
  if (faults_.spoil >= 0 && number >= faults_.spoil && memory.spoil()) faults_.spoil = -1;
  CallTally& tally = tally_.of_names[name_index(flight.call())];
  tally.calls += flight.is_first_rank() ? 1 : 0;
  tally.bytes += flight.bytes_of_result();
  const auto difference = memory.difference();
  if (!difference) return;
  ++tally_.wrong;
  report_(number, fmt::format("{}; {} (as expected {})", to_text(flight.call()), *difference,
                              flight.is_by_mpi() ? "by the MPI's result" : "by own computation"));
}

Worker::Worker(const Repertoire& repertoire, CommunicatorSource source, std::unique_ptr<MemoryPool> pool,
               Position& position, Faults faults, Executor::Report report)
    : source_(std::move(source)),
      generator_(repertoire, source_.seed, source_.thread),
      pool_(std::move(pool)),
      executor_(*pool_, position, repertoire.asks_mpi, faults, std::move(report)) {
  mpi::check(MPI_Comm_dup(source_.world, world_.receive()), "MPI_Comm_dup");
  source_.world = world_.get();
}

void Worker::prepare(std::int64_t round) {
  if (has_varying_settings(round)) communicators_ = make_communicators(source_, round);
}

void Worker::run(std::int64_t round, const CallRange& range, const Listener& listener) {
  if (!has_varying_settings(round)) communicators_ = make_communicators(source_, round);
  for (const StepOutline& outline : generator_.outlines(round)) {
    if (outline.end() <= range.first || outline.first_call >= range.end) continue;
    const Step step = generator_.step(outline, communicators_.shapes);
    if (listener) listener(step);
    executor_.run(step, communicators_);
  }
}

void Worker::finish(RankFigures& figures) {
  for (const Member& member : communicators_.members)
    figures.add(member.tutti.message_counters());
  communicators_ = {};
  pool_->reset();
}

}  // namespace tutti::soak
