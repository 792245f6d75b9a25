#pragma once
// The ranks of a node in one process, for the fuzzer of shared memory: they run a collective as they do in a program,
// but only when they are told to, and whoever holds the node may write to the memory that they share.

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/core/exec/execution.hpp"
#include "lib/core/transport/shm/shm_port.hpp"
#include "lib/proof/checker/problems.hpp"
#include "tests/fuzz/target.hpp"
#include "tutti/error.hpp"

namespace tutti::fuzz {

inline constexpr int ranks = 3;
inline constexpr shm::Geometry geometry{.cells = 4, .buffers = 6, .kept = 1, .buffer_bytes = 8 * 1024L};

/// A process that is alone.
class Alone : public Bootstrap {
 public:
  Alone() : Bootstrap(0, 1) {}
  void broadcast(void* /*data*/, std::size_t /*bytes*/, int /*root*/) const override {}
  void gather_to_all(const void* mine, std::size_t bytes, void* all) const override { std::memcpy(all, mine, bytes); }
  [[nodiscard]] int sum_on_first(int number) const override { return number; }
  void and_of_all(std::span<int> /*flags*/) const override {}
  void barrier() const override {}
};

/// A collective, compiled for each rank.
struct Scenario {
  std::vector<shm::SharedPlan> plans;
  std::vector<std::int64_t> input, output;  ///< Bytes, by rank.
};

/// Memory with margins that nobody may touch. AddressSanitizer sees if somebody does; without it a write is seen.
class Guarded {
 public:
  explicit Guarded(std::int64_t bytes) : memory_(static_cast<std::size_t>(bytes + 2 * margin), filling) { poison(); }
  Guarded(const Guarded&) = delete;
  Guarded(Guarded&&) = default;
  Guarded& operator=(const Guarded&) = delete;
  Guarded& operator=(Guarded&&) = delete;
  ~Guarded() {
    if (!memory_.empty()) ASAN_UNPOISON_MEMORY_REGION(memory_.data(), memory_.size());
  }
  [[nodiscard]] std::byte* data() { return memory_.data() + margin; }
  void require_whole() {
    ASAN_UNPOISON_MEMORY_REGION(memory_.data(), memory_.size());
    static const std::vector<std::byte> whole(margin, filling);
    const std::byte* const behind = memory_.data() + memory_.size() - margin;
    require(std::memcmp(memory_.data(), whole.data(), margin) == 0, "bytes before a buffer were written");
    require(std::memcmp(behind, whole.data(), margin) == 0, "bytes behind a buffer were written");
    poison();
  }

 private:
  static constexpr std::int64_t margin = 256;
  static constexpr std::byte filling{0xa5};
  void poison() {
    ASAN_POISON_MEMORY_REGION(memory_.data(), margin);
    ASAN_POISON_MEMORY_REGION(memory_.data() + memory_.size() - margin, margin);
  }
  std::vector<std::byte> memory_;
};

/// What outlives the runs: files, and address space.
struct SharedByRuns {
  static constexpr std::int64_t heap_at = shm::Segment::first_free + geometry.window_bytes(ranks);
  static constexpr std::int64_t most_data = 128 * 1024L;  ///< Bytes of a rank in the heap, half input and half output.

  std::shared_ptr<shm::Segment> segment =
      std::make_shared<shm::Segment>(Alone{}, heap_at + ranks * shm::NodeHeap::bytes_of_each(ranks));
  std::shared_ptr<shm::NodeHeap> heap = std::make_shared<shm::NodeHeap>(segment, heap_at, ranks, 0);
  shm::Mapping window = segment->map(shm::Segment::first_free, geometry.window_bytes(ranks));

  [[nodiscard]] std::byte* heap_of(int rank) const {
    return heap->at(rank * shm::NodeHeap::bytes_of_each(ranks), std::int64_t{1} << 20);
  }
  /// Makes the memory new. Pages that were only read are memory, too.
  void clear() const { segment->release(0, segment->bytes()); }
};

class Node {
 public:
  enum class Memory : std::uint8_t { ordinary, heap };

  Node(const SharedByRuns& shared, const Scenario& scenario, Memory memory, int lane)
      : shared_(&shared), scenario_(&scenario), lane_(lane) {
    for (int me = 0; me < ranks; ++me)
      add(me, memory);
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() {
    for (int me = 0; me < ranks; ++me)
      ASAN_UNPOISON_MEMORY_REGION(pair_of_others(me), geometry.pair_bytes());
  }

  [[nodiscard]] const shm::SharedPlan& plan(int rank) const { return scenario_->plans[at(rank)]; }
  [[nodiscard]] shm::PortContext& context(int rank) { return runs_[at(rank)].execution->port().context(); }
  [[nodiscard]] shm::Channel& channel(int rank, int peer) { return links_[at(rank)]->open(peer); }
  /// What two ranks share.
  [[nodiscard]] std::byte* pair(int a, int b) const {
    return shared_->window.data() + geometry.pair_at(std::min(a, b), std::max(a, b));
  }
  [[nodiscard]] const SharedByRuns& shared() const { return *shared_; }

  /// Lets a rank do what it can; once a collective is over, it begins the next one. An error ends its part.
  void advance(int rank) {
    Run& run = runs_[at(rank)];
    if (run.has_failed || run.sequence > most_collectives) return;
    try {
      if (!run.is_under_way) return begin(rank);
      if (run.execution->advance()) run.is_under_way = false;
    } catch (const Error& error) {
      require(std::string_view{error.what()}.find("rank ") != std::string_view::npos, "an error names no rank");
      run.execution->abandon();
      run.has_failed = true;
    }
  }
  void require_whole() {
    for (Run& run : runs_) {
      run.input.require_whole();
      run.output.require_whole();
    }
  }

 private:
  static constexpr std::uint64_t most_collectives = 4;
  struct Run {
    Guarded input, output;
    std::unique_ptr<Execution<shm::ShmPort>> execution;
    std::uint64_t sequence = 0;
    bool is_under_way = false, has_failed = false;
  };
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  void add(int me, Memory memory) {
    links_.push_back(std::make_unique<shm::Links>(shared_->segment, memory == Memory::heap ? shared_->heap : nullptr,
                                                  geometry, shm::Segment::first_free, ranks, me));
    const shm::Route route{.links = links_.back().get(), .locals = locals, .counters = &counters_, .patience = 2};
    Run run{Guarded{scenario_->input[at(me)]}, Guarded{scenario_->output[at(me)]},
            std::make_unique<Execution<shm::ShmPort>>(plan(me), shm::ShmPort{route, plan(me)})};
    std::byte* const in_heap = shared_->heap_of(me);
    run.execution->bind(memory == Memory::heap ? in_heap : run.input.data(),
                        memory == Memory::heap ? in_heap + SharedByRuns::most_data / 2 : run.output.data());
    runs_.push_back(std::move(run));
    ASAN_POISON_MEMORY_REGION(pair_of_others(me), geometry.pair_bytes());
  }
  /// In a rank's own mapping: it has nothing to do there.
  [[nodiscard]] std::byte* pair_of_others(int me) const {
    const int low = me == 0 ? 1 : 0, high = me == 2 ? 1 : 2;
    std::byte* const window = links_[at(me)]->pool().at(0) - geometry.pool_at(ranks, me);
    return window + geometry.pair_at(low, high);
  }
  /// On the fast path, if the plan takes it.
  void begin(int rank) {
    Run& run = runs_[at(rank)];
    Execution<shm::ShmPort>& execution = *run.execution;
    const std::uint64_t sequence = run.sequence++;
    auto again = [looks = 0]() mutable { return ++looks < 4; };
    std::size_t done = 0;
    if (plan(rank).takes_fast_path && lane_ == shm::Geometry::blocking_lane) {
      execution.port().begin_fast_path(sequence, lane_);
      done = execution.run_fast_path(again);
      if (done == plan(rank).steps.size()) return;
    }
    run.is_under_way = true;
    execution.port().begin({.sequence = sequence, .lane = lane_});
    execution.begin();
    execution.skip(done);
  }

  static constexpr std::array<int, ranks> locals{0, 1, 2};
  const SharedByRuns* shared_;
  const Scenario* scenario_;
  int lane_;
  shm::Counters counters_;
  std::vector<std::unique_ptr<shm::Links>> links_;
  std::vector<Run> runs_;
};

}  // namespace tutti::fuzz
