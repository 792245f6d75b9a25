// Every collective with every algorithm in the order of a stream, by call, plan and graph: the bits of the host.
#include "tests/mpi/device_stream_cases.hpp"

namespace tutti::test {
namespace {

class DeviceStreams : public OnStream, public testing::WithParamInterface<Collective> {
 protected:
  void TearDown() override {
    if (comm_) {
      EXPECT_EQ(comm_->status(), "");
    }
    comm_.reset();
    OnStream::TearDown();
  }

  template <class T>
  void expect_bits(const Trial& trial, const Op& op, Streamed way, int times = 3) {
    if (needs_host(trial) && has_one_queue_) return;  // the host's copies would wait behind the stream
    const bool is_captured = way == Streamed::graph || way == Streamed::graph_of_plan;
    if (is_captured && needs_host(trial)) way = Streamed::call;
    StreamedTrial<T>{trial, op, *comm_}.run(*stream_, way, times);
  }
  /// Algorithms that exchange sizes first need the host, for blocks that differ in size and long calls that are cut.
  [[nodiscard]] bool needs_host(const Trial& trial) const {
    if (is_gated_) return true;
    if (trial.algorithm.empty() || (trial.counts.empty() && !has_little_memory_)) return false;
    const std::string name = trial.algorithm.substr(0, trial.algorithm.find_first_of(":/"));
    return find_algorithm(trial.collective, name)->exchange != nullptr;
  }

  const bool is_gated_ = std::getenv("TUTTI_TEST_GATED") != nullptr;
  const bool has_little_memory_ = std::getenv("TUTTI_STREAM_MEMORY") != nullptr;
  const bool has_one_queue_ = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS") != nullptr;
};

/// All ways and uses of buffers, in turn.
class StreamTurn {
 public:
  Trial next(Trial trial) {
    trial.buffers = static_cast<BufferUse>(++turn_ / streamed_ways % buffer_uses);
    return trial;
  }
  [[nodiscard]] Streamed way() const { return static_cast<Streamed>(turn_ % streamed_ways); }

 private:
  int turn_ = 0;
};

TEST_P(DeviceStreams, GiveTheBitsOfTheHost) {
  StreamTurn turn;
  for (const std::string& choice : choices_of(GetParam()))
    for (const int root : roots_of(GetParam()))
      for (const std::int64_t count : {0, 1, 37}) {
        const Trial trial = turn.next({.collective = GetParam(), .algorithm = choice, .count = count, .root = root});
        expect_bits<float>(trial, Op::sum, turn.way(), count == 1 ? 1 : 3);
      }
  const Counters counters = comm_->counters();
  EXPECT_EQ(counters.at("device.stream.programs") > 0, !is_gated_);
  if (is_gated_ || !has_little_memory_) {
    EXPECT_EQ(counters.at("device.stream.gated") > 0, is_gated_);
  }
}

TEST_P(DeviceStreams, OfEveryTypeAndOperation) {
  const bool is_prefix = GetParam() == Collective::scan || GetParam() == Collective::exscan;
  StreamTurn turn;
  for_each_type(AllTypes{}, [&]<class T>() {
    for (const Op& op : all_operations()) {
      if (!supports(op.kind(), type_of<T>) || (is_prefix && op == Op::avg)) continue;
      if (!reduces(GetParam()) && op != Op::sum) continue;
      const Trial trial{.collective = GetParam(), .count = 19, .root = world_size() - 1};
      expect_bits<T>(turn.next(trial), op, turn.way(), 1);
    }
  });
}

TEST_P(DeviceStreams, OfUnevenBlocks) {
  if (GetParam() < Collective::reduce_scatter || GetParam() > Collective::alltoall)
    GTEST_SKIP() << "has no such blocks";
  StreamTurn turn;
  for (const std::string& choice : choices_of(GetParam()))
    for (const int gap : {0, 2})
      for (int again = 0; again < 3; ++again) {
        Trial trial{.collective = GetParam(), .algorithm = choice, .root = world_size() / 2};
        trial.counts = uneven_counts(GetParam());
        trial.gap = Count{gap};
        expect_bits<double>(turn.next(trial), Op::sum, turn.way(), 2);
      }
}

TEST_P(DeviceStreams, OfLongData) {
  const bool has_blocks = GetParam() >= Collective::reduce_scatter && GetParam() <= Collective::alltoall;
  const std::int64_t count = (std::int64_t{1} << 16) / 4 / (has_blocks ? world_size() : 1) + 1;
  StreamTurn turn;
  for (const std::string& choice : whole_choices_of(GetParam())) {
    const Trial trial{.collective = GetParam(), .algorithm = choice, .count = count, .root = world_size() / 2};
    expect_bits<float>(turn.next(trial), Op::max, turn.way(), 2);
  }
  if (has_little_memory_ && !is_gated_ && GetParam() != Collective::barrier && world_size() > 1) {
    EXPECT_GT(comm_->counters().at("device.stream.parts"), 0U);
  }
}

const auto name_of = [](const auto& info) { return std::string{to_string(info.param)}; };
INSTANTIATE_TEST_SUITE_P(All, DeviceStreams, testing::ValuesIn(all_collectives()), name_of);

}  // namespace
}  // namespace tutti::test
