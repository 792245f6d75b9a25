// Ranks that share processors: their knowledge of each other, and when a call on the fast path waits without giving its
// processor away.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sched.h>

#include <memory>
#include <vector>

#include "lib/core/exec/execution.hpp"
#include "lib/core/plan/shm_compile.hpp"
#include "lib/core/transport/mpi/mpi_bootstrap.hpp"
#include "lib/core/transport/shm/shm_port.hpp"
#include "tests/shm/shm_support.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti::shm {
namespace {

constexpr int ranks = 3;

TEST(Processors, AreToldToAll) {
  test::Memory memory{Processors::shared_bytes(ranks)};
  Processors first{memory.data(), 0};
  first.runs_on(0);
  EXPECT_TRUE(first.is_here(1)) << "nobody knows where it is";
  Processors second{memory.data(), 1}, third{memory.data(), 2};
  second.runs_on(0);
  third.runs_on(1);
  EXPECT_TRUE(first.is_here(1));
  EXPECT_FALSE(first.is_here(2));
  EXPECT_TRUE(second.is_here(0));
  EXPECT_FALSE(third.is_here(0));
  second.runs_on(1);
  EXPECT_FALSE(first.is_here(1));
  EXPECT_TRUE(third.is_here(1));
}

/// Rank 0 receives from rank 2, then from rank 1, if not told otherwise. All are in this process.
class Waiting : public testing::Test {
 protected:
  static constexpr Geometry geometry{};
  using Run = Execution<ShmPort>;

  Waiting() {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<unsigned>(processor_), &here);
    sched_getaffinity(0, sizeof before_, &before_);
    sched_setaffinity(0, sizeof here, &here);
    for (int me = 0; me < ranks; ++me) {
      links_.push_back(std::make_unique<Links>(segment_, nullptr, geometry, Segment::first_free, ranks, me));
      processors_.emplace_back(memory_.data(), me);
    }
    prepare();
  }
  void prepare() {
    runs_.clear();
    plans_.clear();
    for (int me = 0; me < ranks; ++me)
      plans_.push_back(plan_of(me));
    for (int me = 0; me < ranks; ++me) {
      const auto i = static_cast<std::size_t>(me);
      const Route route{.links = links_[i].get(),
                        .locals = locals_,
                        .counters = &counters_,
                        .processors = me == 0 ? &processors_[i] : nullptr,
                        .looks_elsewhere = looks_elsewhere_};
      runs_.push_back(std::make_unique<Run>(plans_[i], ShmPort{route, plans_[i]}));
      runs_.back()->bind(input_.data(), output_.data());
    }
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() override { sched_setaffinity(0, sizeof before_, &before_); }

  [[nodiscard]] SharedPlan plan_of(int me) const {
    Problem problem{.rank = Rank{me}, .size = ranks, .count = Count{bytes_}};
    problem.collective = Collective::gather;
    ScheduleBuilder builder{problem};
    const auto block = [this](Region all, int i) { return Region{all.buffer, Count{i * bytes_}, Count{bytes_}}; };
    if (me == 0 && copies_) builder.copy(block(builder.input(), 0), block(builder.output(), 0));
    for (const int from : senders_)
      if (me == 0)
        builder.recv(block(builder.output(), from), Rank{from});
      else if (me == from)
        builder.send(block(builder.input(), 0), Rank{0});
    const std::vector<std::uint8_t> reaches(ranks, 1);
    return compile(builder.build(), problem, Type::int8, Op::sum, {},
                   {.reaches = reaches,
                    .cell_bytes = 256,
                    .piece_bytes = geometry.buffer_bytes,
                    .eager_messages = geometry.sure_cells()});
  }
  std::size_t run(int rank) {
    Run& run = *runs_[static_cast<std::size_t>(rank)];
    auto never = [] { return false; };
    run.port().begin_fast_path(0, 0);
    return run.run_fast_path(never);
  }
  void put(int rank, int processor) { processors_[static_cast<std::size_t>(rank)].runs_on(processor); }
  /// The looks of rank 0 before it gives its turn away, once all sent messages have arrived and it cannot go on.
  [[nodiscard]] int looks() {
    EXPECT_LT(run(0), plans_[0].steps.size());
    return runs_[0]->port().looks_before_turn();
  }
  [[nodiscard]] bool waits_for_others_alone() { return looks() == tuning.looks_a_turn; }

  const int processor_ = sched_getcpu(), another_ = processor_ + 1;
  std::vector<int> senders_{2, 1};
  std::int64_t bytes_ = 8;
  bool copies_ = false;
  int looks_elsewhere_ = 0;

 private:
  cpu_set_t before_{};
  std::shared_ptr<const Segment> segment_ =
      std::make_shared<Segment>(mpi::MpiBootstrap{MPI_COMM_WORLD}, Segment::first_free + geometry.window_bytes(ranks));
  test::Memory memory_{Processors::shared_bytes(ranks)};
  std::vector<Processors> processors_;
  std::vector<std::unique_ptr<Links>> links_;
  std::vector<SharedPlan> plans_;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<int> locals_{0, 1, 2};
  shm::Counters counters_;
  std::vector<std::byte> input_ = std::vector<std::byte>(4096), output_ = std::vector<std::byte>(ranks * 4096);
};

TEST_F(Waiting, ForThoseElsewhereAlone) {
  put(1, another_);
  put(2, another_);
  EXPECT_TRUE(waits_for_others_alone());
}

TEST_F(Waiting, ForOneHereThatHasNotSent) {
  put(1, processor_);
  put(2, another_);
  EXPECT_FALSE(waits_for_others_alone()) << "its own processor's is a later message";
  EXPECT_EQ(run(1), 1U);
  EXPECT_TRUE(waits_for_others_alone());
}

TEST_F(Waiting, ForTheOneHereItself) {
  put(1, another_);
  put(2, processor_);
  EXPECT_FALSE(waits_for_others_alone());
  EXPECT_EQ(run(2), 1U);
  EXPECT_TRUE(waits_for_others_alone()) << "what came before counts";
}

TEST_F(Waiting, NotWhereItDoesNotKnow) {
  put(1, -1);
  put(2, another_);
  EXPECT_FALSE(waits_for_others_alone());
}

/// Runs whose messages say nothing about the other ranks.
TEST_F(Waiting, NotInRunsThatDoNotHearFromAll) {
  put(1, another_);
  put(2, another_);
  for (const std::vector<int>& senders : {std::vector{1}, std::vector{1, 1}, std::vector{2, 1, 2}}) {
    senders_ = senders;
    prepare();
    EXPECT_EQ(looks(), 0);
  }
}

TEST_F(Waiting, OnTheFastPathForOneMessageFromElsewhere) {
  looks_elsewhere_ = tuning.looks_a_message;
  senders_ = {2};
  prepare();
  put(1, processor_);
  put(2, another_);
  EXPECT_EQ(looks(), tuning.looks_a_message);
  put(2, processor_);
  EXPECT_EQ(looks(), 0) << "its sender needs this processor";
  put(2, -1);
  EXPECT_EQ(looks(), 0) << "it may need it";
}

TEST_F(Waiting, LongerForALongerMessageIfNothingElseIsToBeDone) {
  looks_elsewhere_ = tuning.looks_a_message;
  bytes_ = 16 * tuning.bytes_a_look;
  senders_ = {2};
  prepare();
  put(2, another_);
  EXPECT_EQ(looks(), tuning.looks_a_message + 16);
  copies_ = true;
  prepare();
  EXPECT_EQ(looks(), tuning.looks_a_message);
}

TEST_F(Waiting, NotOnTheFastPathForOneOfSeveralMessages) {
  looks_elsewhere_ = tuning.looks_a_message;
  senders_ = {2, 2};
  prepare();
  put(1, another_);
  put(2, another_);
  EXPECT_EQ(looks(), 0);
}

}  // namespace
}  // namespace tutti::shm
