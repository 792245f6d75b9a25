#include "executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "invocation.hpp"
#include "mpi_result.hpp"
#include "random.hpp"
#include "reference.hpp"

namespace tutti::differential {

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
  [[nodiscard]] const Layout& layout() const { return *layout_; }

  void prepare(int repetition) {
    memory_->prepare(mixed({call_.key, static_cast<std::uint64_t>(repetition)}),
                     input_of(call_, repetition, rank_, 0, layout_->in.total()));
  }
  void start() {
    if (call_.way == Way::blocking) return invocation_->run();
    if (call_.way == Way::async) requests_ = invocation_->start();
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
  [[nodiscard]] std::optional<ByteVector> expected(int repetition) const {
    return is_by_mpi() ? mpi_result(call_, repetition, rank_, on_.mpi.get())
                       : reference_result(call_, repetition, rank_);
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

void Executor::run(const Step& step, const Communicators& on, bool spoils) {
  position_.enter(Phase::preparing);
  pool_.reset();
  std::vector<Flight> flights;
  for (const Call& call : step.calls)
    flights.emplace_back(call, on.members[static_cast<std::size_t>(call.communicator)], pool_);
  for (int repetition = 0; repetition < step.repetitions; ++repetition) {
    position_.enter(Phase::preparing);
    for (Flight& flight : flights)
      flight.prepare(repetition);
    start(step, flights);
    wait(step, repetition, flights);
    for (std::size_t i = 0; i < flights.size(); ++i) {
      position_.enter(Phase::comparing, static_cast<int>(i));
      compare(flights[i], repetition, spoils && i == 0 && repetition == 0);
    }
  }
  position_.enter(Phase::between_steps);
}

/// Calls of one communicator in the same order on all ranks.
void Executor::start(const Step& step, std::vector<Flight>& flights) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < flights.size(); ++i)
    order.push_back(i);
  if (step.has_mixed_order) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      const auto communicator = static_cast<std::uint64_t>(step.calls[i].communicator);
      return mixed({step.key, 0x57, static_cast<std::uint64_t>(rank), communicator});
    });
  }
  for (const std::size_t i : order) {
    position_.enter(Phase::starting, static_cast<int>(i));
    flights[i].start();
  }
}

/// In random order, each by wait or by test.
void Executor::wait(const Step& step, int repetition, std::vector<Flight>& flights) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Random random{mixed({step.key, 0x3a, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(repetition)})};
  for (const int i : random.order(static_cast<int>(flights.size()))) {
    position_.enter(Phase::waiting, i);
    Flight& flight = flights[static_cast<std::size_t>(i)];
    if (random.chance(25))
      while (!flight.test())
        std::this_thread::yield();
    flight.wait();
  }
}

void Executor::compare(Flight& flight, int repetition, bool spoils) {
  flight.memory().collect();
  const auto expected = flight.expected(repetition);
  if (expected) flight.memory().expect_output(*expected);
  if (spoils) flight.memory().spoil();
  ++tally_.calls;
  tally_.elements += flight.layout().out.total();
  const auto difference = flight.memory().difference();
  if (!difference) return;
  ++tally_.wrong;
  report_(fmt::format("call {} of this rank: {}; repetition {}: {} ({})", tally_.calls, to_text(flight.call()),
                      repetition, *difference, flight.is_by_mpi() ? "the MPI's result" : "computed here"));
}

}  // namespace tutti::differential
