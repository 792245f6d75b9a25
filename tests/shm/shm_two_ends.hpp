#pragma once
// Both ends of a pair's messages in one process, moved by hand.

#include <gtest/gtest.h>
#include <mpi.h>

#include <memory>
#include <vector>

#include "lib/core/exec/execution.hpp"
#include "lib/core/plan/shm_compile.hpp"
#include "lib/core/transport/mpi/mpi_bootstrap.hpp"
#include "lib/core/transport/shm/shm_port.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti::shm {

/// Rank 1 sends rank 0 its input in two messages. Both are in this process, and move only when they are told to.
class TwoEnds : public testing::Test {
 protected:
  static constexpr int ranks = 3;  ///< The third one does nothing.
  static constexpr Geometry geometry{.cells = 4};

  TwoEnds() {
    const std::int64_t heap_at = Segment::first_free + geometry.window_bytes(ranks);
    segment_ =
        std::make_shared<Segment>(mpi::MpiBootstrap{MPI_COMM_WORLD}, heap_at + ranks * NodeHeap::bytes_of_each(ranks));
    heap_ = std::make_shared<NodeHeap>(segment_, heap_at, ranks, 1);
    for (int me = 0; me < ranks; ++me)
      links_.push_back(std::make_unique<Links>(segment_, heap_, geometry, Segment::first_free, ranks, me));
  }

  /// Posts both receives and sends both messages, of a half of the data each.
  void begin(const std::byte* data, std::int64_t bytes) {
    plans_.clear();
    for (int me = 0; me < ranks; ++me)
      plans_.push_back(plan_of(me, bytes));
    received_.resize(static_cast<std::size_t>(bytes));
    receiver_ = std::make_unique<ShmPort>(route_of(0), plans_[0]);
    receiver_->begin({});
    for (int i = 0; i < 2; ++i)
      ASSERT_EQ(receiver_->post_recv(i, plans_[0].steps[static_cast<std::size_t>(i)], received_.data() + i * bytes / 2),
                Posted::pending);
    sender_ = std::make_unique<Execution<ShmPort>>(plans_[1], ShmPort{route_of(1), plans_[1]});
    sender_->bind(data, nullptr);
    sender_->port().begin({});
    sender_->begin();
    sender_->advance();
  }
  /// How many messages the receiver's next look ends.
  int look() {
    int over = 0;
    receiver_->poll([&over](int /*step*/) { ++over; });
    return over;
  }
  static SharedPlan compiled(const Schedule& schedule, const Problem& problem, const Op& op) {
    const std::vector<std::uint8_t> reaches(ranks, 1);
    return compile(schedule, problem, Type::int8, op, {}, {.reaches = reaches, .piece_bytes = geometry.buffer_bytes});
  }
  static SharedPlan plan_of(int me, std::int64_t bytes) {
    Problem problem{.rank = Rank{me}, .size = ranks, .count = Count{bytes}};
    problem.collective = Collective::gather;
    const auto half = [bytes](Region all, int i) { return Region{all.buffer, Count{i * bytes / 2}, Count{bytes / 2}}; };
    ScheduleBuilder builder{problem};
    for (int i = 0; i < 2; ++i)
      if (me == 0)
        builder.recv(half(builder.output(), i), Rank{1});
      else
        builder.send(half(builder.input(), i), Rank{0});
    return compiled(builder.build(), problem, Op::sum);
  }

  Route route_of(int me) {
    return {.links = links_[static_cast<std::size_t>(me)].get(), .locals = locals_, .counters = &counters_};
  }

  std::shared_ptr<const Segment> segment_;
  std::shared_ptr<NodeHeap> heap_;
  std::vector<std::byte> received_;
  shm::Counters counters_;
  std::unique_ptr<Execution<ShmPort>> sender_;

  std::vector<std::unique_ptr<Links>> links_;

 private:
  std::vector<int> locals_{0, 1, 2};
  std::vector<SharedPlan> plans_;
  std::unique_ptr<ShmPort> receiver_;
};

inline std::vector<std::byte> numbered(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<std::byte>(i % 251);
  return data;
}

}  // namespace tutti::shm
