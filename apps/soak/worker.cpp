#include "apps/soak/worker.hpp"

#include <utility>

#include "lib/transport/mpi/check.hpp"

namespace tutti::soak {

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
