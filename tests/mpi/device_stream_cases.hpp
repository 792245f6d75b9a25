#pragma once
// Calls in the order of a stream, compared to the last bit with the same calls on the host's memory.

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/mpi/device_cases.hpp"
#include "tests/support/device_streams.hpp"

namespace tutti::test {

/// A test with a communicator and a stream of the device.
class OnStream : public OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (IsSkipped()) return;
    comm_.emplace(MPI_COMM_WORLD);
    stream_.emplace();
  }
  void TearDown() override {
    stream_.reset();
    comm_.reset();
    if (!expects_faults_) OnDevices::TearDown();
  }
  /// What a call throws; "no error": nothing.
  template <class Thrown = Error>
  static std::string text_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Thrown& error) {
      return error.what();
    }
    return "no error";
  }

  std::optional<Communicator> comm_;
  std::optional<TestStream> stream_;
  bool expects_faults_ = false;
};

/// How a call gets into a stream.
enum class Streamed : std::uint8_t { call, plan, graph, graph_of_plan };
inline constexpr int streamed_ways = 4;

/// Memory on a device that gets its contents, and gives them back, in the order of a stream.
class StreamedArray {
 public:
  StreamedArray(const void* data, std::size_t bytes, TestDevices::Kind kind)
      : bytes_(bytes),
        device_(at_least_one(bytes), kind),
        before_(at_least_one(bytes), TestDevices::Kind::pinned),
        after_(at_least_one(bytes), TestDevices::Kind::pinned) {
    set(data);
  }
  /// The contents that it gets next.
  void set(const void* data) {
    if (bytes_ > 0) std::memcpy(before_.data(), data, bytes_);
  }
  void send(const TestStream& stream) { stream.copy(device_.data(), before_.data(), bytes_); }
  void fetch(const TestStream& stream) { stream.copy(after_.data(), device_.data(), bytes_); }
  [[nodiscard]] std::byte* data() { return device_.data(); }
  [[nodiscard]] bool is(const void* expected) const {
    return bytes_ == 0 || std::memcmp(after_.data(), expected, bytes_) == 0;
  }

 private:
  static std::size_t at_least_one(std::size_t bytes) { return std::max<std::size_t>(bytes, 1); }
  std::size_t bytes_;
  DeviceArray device_, before_, after_;
};

/// A call whose data come and go in the order of a stream.
template <class T>
class StreamedTrial {
 public:
  StreamedTrial(const Trial& trial, const Op& op, const Communicator& comm,
                TestDevices::Kind kind = TestDevices::Kind::device)
      : trial_(trial),
        op_(op),
        comm_(comm),
        problems_(problems_of(trial, comm.size())),
        host_(memory_of(0)),
        all_(host_.all().data(), host_.all().size() * sizeof(T), kind),
        apart_(host_.apart().data(), host_.apart().size() * sizeof(T), kind) {}

  /// Puts the call into the stream in one of the ways, as often as `times`, with other data each time.
  void run(const TestStream& stream, Streamed way, int times) {
    const bool as_plan = way == Streamed::plan || way == Streamed::graph_of_plan;
    if (as_plan) plan_.emplace(prepared(stream));
    std::optional<TestGraph> graph;
    if (way == Streamed::graph || way == Streamed::graph_of_plan) graph.emplace(stream, [&] { put(stream); });
    for (int time = 0; time < times; ++time) {
      host_ = memory_of(time);
      all_.set(host_.all().data());
      apart_.set(host_.apart().data());
      if (graph)
        graph->launch(stream);
      else
        put(stream);
      if (graph) stream.synchronize();  // its waits are the program's affair
      expect_bits(stream, time);
    }
    plan_.reset();
  }

 private:
  CallMemory<T> memory_of(int time) const {
    const Problem& problem = problems_.of(comm_.rank());
    return {problem, inputs<T>(op_, comm_.rank().value() + time, shape_of(problem).input.value()), element<T>(85, 0)};
  }
  void place(detail::Call& call, const void* in, void* out) const {
    call.in = in;
    call.out = out;
    if (!host_.is_aliased() || trial_.buffers != BufferUse::mpi_in_place) return;
    if (trial_.collective == Collective::scatter)
      call.out = MPI_IN_PLACE;
    else
      call.in = MPI_IN_PLACE;
  }
  [[nodiscard]] detail::Call call() {
    detail::Call call = call_of(trial_, problems_.of(comm_.rank()), type_of<T>, op_);
    std::byte* const in = host_.is_aliased() ? all_.data() + host_.input_at() * sizeof(T) : apart_.data();
    place(call, in, all_.data() + host_.output_at() * sizeof(T));
    return call;
  }
  [[nodiscard]] Options options(const TestStream& stream) const {
    return {.algorithm = trial_.algorithm, .stream = stream.get()};
  }
  [[nodiscard]] Plan prepared(const TestStream& stream) { return detail::prepare(call(), comm_, options(stream)); }
  void put(const TestStream& stream) {
    all_.send(stream);
    apart_.send(stream);
    if (plan_)
      plan_->start();
    else
      detail::run(call(), comm_, options(stream));
    all_.fetch(stream);
    apart_.fetch(stream);
  }
  void expect_bits(const TestStream& stream, int time) {
    detail::Call call = call_of(trial_, problems_.of(comm_.rank()), type_of<T>, op_);
    place(call, host_.in(), host_.out());
    detail::run(call, comm_, {.algorithm = trial_.algorithm});  // while the stream is at work
    stream.synchronize();
    EXPECT_TRUE(all_.is(host_.all().data()) && apart_.is(host_.apart().data()))
        << describe(trial_, op_, type_of<T>) << ", run " << time;
  }

  Trial trial_;
  Op op_;
  const Communicator& comm_;
  checker::Problems problems_;
  CallMemory<T> host_;
  StreamedArray all_, apart_;
  std::optional<Plan> plan_;
};

}  // namespace tutti::test
