#include "apps/bench/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "apps/options.hpp"

namespace tutti::bench {

namespace {

using Clock = std::chrono::steady_clock;

/// Lines that a core has just written are read at half the speed while they are in its first cache, and a few of them
/// would measure the clock: so this many are written and read at once, at any size.
constexpr std::int64_t least_dirty = std::int64_t{128} * 1024;
/// Bytes that are reduced and then copied at a time: few enough for the caches.
constexpr std::int64_t piece = std::int64_t{16} * 1024;

const BenchMemory& host() { return memories().front(); }

/// Keeps the compiler from leaving out repeated work.
void everything_counts() { std::atomic_signal_fence(std::memory_order_seq_cst); }

/// Reads all, in four streams; the sum is of no use but that the compiler cannot know.
std::uint64_t read_all(const std::byte* from, std::size_t bytes) {
  std::array<std::uint64_t, 4> sums{};
  const std::size_t words = bytes / sizeof(std::uint64_t);
  const auto* const data = reinterpret_cast<const std::uint64_t*>(from);
  std::size_t i = 0;
  for (; i + 4 <= words; i += 4) {
    for (std::size_t stream = 0; stream < 4; ++stream) {
      sums[stream] += data[i + stream];
    }
  }
  for (; i < words; ++i) {
    sums[0] += data[i];
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

/// A way that measures itself: `seconds(calls)`.
template <class Seconds>
std::unique_ptr<Repeater> timed_by(Seconds seconds) {
  class Timed : public Repeater {
   public:
    explicit Timed(Seconds body) : seconds_(std::move(body)) {}
    void run(int calls) override { seconds_(calls); }
    std::optional<double> timed(int calls) override { return seconds_(calls); }

   private:
    Seconds seconds_;
  };
  return std::make_unique<Timed>(std::move(seconds));
}

/// A way whose calls are `once()`, all of which counts, back to back.
template <class Once>
std::unique_ptr<Repeater> timed_whole(Once once) {
  return timed_by([once = std::move(once)](int calls) mutable {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) {
      once();
      everything_counts();
    }
    return std::chrono::duration<double>(Clock::now() - begin).count();
  });
}

std::size_t bytes_of(const Call& call) {
  return static_cast<std::size_t>((call.count.value() * size_of(call.type)).value());
}

std::size_t dirty_bytes(std::size_t bytes) { return std::max(bytes, static_cast<std::size_t>(least_dirty)); }

double microseconds(const Timing& timing) { return spread_of(timing.seconds).median * 1e6; }

Buffer private_buffer(Bytes size) {
  Buffer buffer = allocate(host(), size);
  if (buffer) host().rewrite({buffer.get(), static_cast<std::size_t>(size.value())});
  return buffer;
}

/// So that no rank is killed when it first writes; the MPI tells nobody.
void require_memory(const Communicator& comm, Bytes of_each_rank) {
  const Bytes available = host().available();
  const bool is_enough = available == Bytes{0} || of_each_rank.value() <= available.value() / comm.size();
  int is_bad = is_enough ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &is_bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (is_bad == 0) return;
  throw apps::InputError(
      fmt::format("--limits takes {} bytes more for each rank, which do not fit into the memory of "
                  "the node: lower --max",
                  of_each_rank.value()));
}

std::int64_t slot_size(Bytes most) { return (std::max(most.value(), least_dirty) + 4095) / 4096 * 4096; }

/// Shared, of each rank.
Bytes shared_size(const Communicator& comm, Bytes most) {
  require_memory(comm, 4 * Bytes{slot_size(most)});
  return Meeting::size_of_all + 2 * Bytes{slot_size(most)};
}

}  // namespace

Traffic traffic_of(const BenchCollective& collective, int ranks) {
  const double own = 1.0 / ranks, others = 1 - own;
  if (!collective.collective) return {1, 1, true};  // sendrecv
  switch (*collective.collective) {
    case Collective::barrier:
      return {0, 0, false};
    case Collective::allreduce:
      return {1, 2 * others, true};
    case Collective::reduce_scatter:
    case Collective::alltoall:
      return {others, others, true};
    case Collective::allgather:
      return {own, others, true};
    case Collective::gather:
      return {own, others, false};
    case Collective::scatter:
      return {others, own, false};
    default:  // broadcast, reduce, scan, exscan
      return {1, 1, false};
  }
}

void add_up(Limits& parts, const Traffic& traffic, std::int64_t bytes) {
  parts.limit_us = parts.exchange_us;
  if (traffic.published * static_cast<double>(bytes) <= line_payload) return;
  const double publishing = traffic.published * parts.copy_us;
  const double reading = traffic.arriving * std::max(parts.dirty_read_us, parts.reduce_us.value_or(parts.copy_us));
  parts.limit_us += traffic.is_by_one_rank ? publishing + reading : std::max(publishing, reading);
}

LimitBench::LimitBench(const Communicator& comm, Bytes most)
    : rank_(comm.rank().value()),
      ranks_(comm.size()),
      slot_size_(slot_size(most)),
      memory_(shared_size(comm, most)),
      two_(memory_, 0, rank_, 2, Waiting::spinning),
      all_(memory_, 1, rank_, ranks_, Waiting::spinning),
      input_(private_buffer(Bytes{slot_size_})),
      output_(private_buffer(Bytes{slot_size_})) {
  if (!input_ || !output_) throw std::bad_alloc{};
}

/// Each rank writes its slot and reads its neighbour's; the reading counts.
double LimitBench::seconds_of_dirty_reads(int calls, std::size_t size) {
  const std::byte* const theirs = slot_of((rank_ + 1) % ranks_);
  std::uint64_t sum = 0;
  double seconds = 0;
  for (int i = 0; i < calls; ++i) {
    host().rewrite(own_slot(size));
    all_.exchange(sum);
    const auto begin = Clock::now();
    sum += read_all(theirs, size);
    everything_counts();
    seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    all_.exchange(sum);
  }
  return seconds;
}

/// Every rank reduces its lines of all inputs and writes them to all outputs.
void LimitBench::share_of_mapped_allreduce(const Call& call, ReduceKernel kernel) {
  const std::int64_t element = size_of(call.type).value(), lines = (call.count.value() * element + 63) / 64;
  const auto border = [&](int rank) { return std::min(call.count.value() * element, lines * rank / ranks_ * 64); };
  const std::int64_t end = border(rank_ + 1);
  for (std::int64_t begin = border(rank_); begin < end; begin += piece) {
    const std::int64_t bytes = std::min(piece, end - begin);
    const auto count = static_cast<std::size_t>(bytes / element);
    std::byte* const mine = output_of(rank_) + begin;
    kernel(slot_of(0) + begin, slot_of(1) + begin, mine, count);
    for (int from = 2; from < ranks_; ++from) {
      kernel(mine, slot_of(from) + begin, mine, count);
    }
    for (int i = 1; i < ranks_; ++i) {
      std::memcpy(output_of((rank_ + i) % ranks_) + begin, mine, static_cast<std::size_t>(bytes));
    }
  }
}

std::vector<std::unique_ptr<Repeater>> LimitBench::ways(const BenchCollective& collective, const Call& call) {
  std::vector<std::unique_ptr<Repeater>> ways;
  ways.push_back(timed_whole([this] { two_.exchange(1); }));
  ways.push_back(timed_whole([this] { all_.exchange(1); }));
  const std::size_t bytes = bytes_of(call);
  if (bytes == 0) return ways;
  ways.push_back(timed_whole([this, bytes] { std::memcpy(slot_of(rank_), input_.get(), bytes); }));
  ways.push_back(timed_by([this, bytes](int calls) { return seconds_of_dirty_reads(calls, dirty_bytes(bytes)); }));
  ways.push_back(timed_whole([this, bytes] { sum_ += read_all(output_of((rank_ + 1) % ranks_), bytes); }));
  const ReduceKernel kernel = collective.reduces() ? reduce_kernel(call.op.kind(), call.type) : nullptr;
  if (kernel == nullptr) return ways;
  const auto count = static_cast<std::size_t>(call.count.value());
  ways.push_back(timed_whole([this, kernel, count] { kernel(input_.get(), slot_of(rank_), output_.get(), count); }));
  if (collective.collective != Collective::allreduce) return ways;
  ways.push_back(timed_whole([this, call, kernel] {
    share_of_mapped_allreduce(call, kernel);
    all_.exchange(1);
  }));
  return ways;
}

Limits LimitBench::limits(const BenchCollective& collective, const Call& call, std::span<const Timing> times,
                          double median_us) const {
  const auto given = [&](std::size_t i) {
    return i < times.size() ? std::optional{microseconds(times[i])} : std::nullopt;
  };
  Limits limits;
  limits.line_hop_us = *given(0);
  limits.exchange_us = *given(1);
  limits.copy_us = given(2).value_or(0);
  const std::size_t bytes = bytes_of(call);
  limits.dirty_read_us = given(3).value_or(0) * static_cast<double>(bytes) / static_cast<double>(dirty_bytes(bytes));
  limits.mapped_read_us = given(4).value_or(0);
  limits.reduce_us = given(5);
  limits.mapped_us = given(6);
  add_up(limits, traffic_of(collective, ranks_), static_cast<std::int64_t>(bytes));
  limits.share = limits.limit_us / median_us;
  if (limits.mapped_us) limits.mapped_share = *limits.mapped_us / median_us;
  return limits;
}

void require_limits_exist(const Communicator& comm) {
  if (comm.node_count() > 1) {
    throw apps::InputError(fmt::format("--limits are those of one node: the ranks are on {}", comm.node_count()));
  }
  if (comm.size() == 1) throw apps::InputError("--limits needs at least 2 ranks: there is 1");
}

double handover_us(const Communicator& comm, int rounds) {
  const NodeMemory memory{Meeting::size_of_all};
  Meeting meeting{memory, 0, comm.rank().value(), comm.size(), Waiting::yielding};
  const std::unique_ptr<Repeater> way = timed_whole([&meeting] { meeting.exchange(1); });
  Repeater* const ways[] = {way.get()};
  const Protocol protocol{.rounds = rounds,
                          .warmup_rounds = 1,
                          .calls = 0,
                          .touching = Protocol::Touching::no,
                          .pace = Protocol::Pace::back_to_back,
                          .touched = {},
                          .memory = &host()};
  return microseconds(measure(ways, protocol).front());
}

}  // namespace tutti::bench
