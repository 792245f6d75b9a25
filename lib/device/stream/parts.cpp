#include "lib/device/stream/parts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "lib/core/plan/compile.hpp"
#include "lib/core/plan/shm_compile.hpp"
#include "lib/core/schedule/regions.hpp"
#include "lib/device/staging/stage.hpp"
#include "lib/device/stream/tuning.hpp"
#include "tutti/error.hpp"

namespace tutti::stream {
namespace {

using Sizes = std::vector<Count>;

bool has_blocks(Collective collective) {
  return collective >= Collective::reduce_scatter && collective <= Collective::alltoall;
}

int launches_of(const Program& program) {
  const stream::Counts counts = counts_of(program);
  return counts.kernels + counts.copies;
}

/// Read and written.
std::int64_t bytes_of(const Program& program) {
  std::int64_t bytes = 0;
  for (const Command& command : program.commands)
    bytes += command.bytes * (std::ssize(command.inputs) + std::ssize(command.outputs));
  return bytes;
}

shm::SharedPlan compiled(const Source& call, const Problem& problem) {
  return shm::compile(call.choice, problem, call.type, call.op, call.routing, call.memory);
}

/// In place, a copy of the input may be what peers read, so that no kernel has to wait for them before it writes.
shm::SharedPlan compiled_to_be_read(const Source& call, const Problem& problem) {
  shm::SharedPlan plan = compiled(call, problem);
  if (problem.collective != Collective::allreduce || problem.aliasing != Aliasing::in_place()) return plan;
  Problem apart = problem;
  apart.aliasing = Aliasing::separate();
  shm::SharedPlan on_copy = compiled(call, apart);
  if (plan.joints.size() >= on_copy.joints.size()) return plan;
  return device::on_copy_of_input(std::move(on_copy), problem.count.value() * plan.element);
}

PlannedProgram planned(shm::SharedPlan plan, Program program) {
  plan.steps.clear();  // the program takes their place
  plan.dependents.clear();
  return {std::move(plan), std::move(program)};
}

PlannedProgram planned(const Source& call, const Problem& problem) {
  shm::SharedPlan plan = compiled(call, problem);
  Program program = program_of(plan);
  if (problem.aliasing == Aliasing::in_place()) {
    Problem apart = problem;
    apart.aliasing = Aliasing::separate();
    shm::SharedPlan other = compiled(call, apart);
    std::optional<Program> in_place = program_in_place(other);
    if (in_place && launches_of(*in_place) < launches_of(program))
      return planned(std::move(other), std::move(*in_place));
  }
  return planned(std::move(plan), std::move(program));
}

/// What a call of so many elements, or of blocks of so many, needs of the rank that needs most: whether they are in
/// place, only the ranks themselves know.
Room needed(const Source& call, Count count) {
  Room most;
  for (Rank rank; rank.value() < call.problem.size; rank = Rank{rank.value() + 1}) {
    Problem problem = call.problem;
    problem.rank = rank;
    problem.count = count;
    problem.in = problem.out = {};
    problem.aliasing = Aliasing::separate();
    for (const Aliasing aliasing : {Aliasing::separate(), called_in_place(problem)}) {
      problem.aliasing = aliasing;
      const PlannedProgram its = planned(call, problem);
      most.part_bytes = std::max(most.part_bytes, its.program.part_bytes);
      most.scratch_bytes = std::max(most.scratch_bytes, its.plan.scratch_bytes);
    }
  }
  return most;
}

/// The elements of a piece, no more than `count`; 0: not even one fits.
Count elements_of_piece(const Source& call, const Room& room, Count count) {
  constexpr std::int64_t grain = 64;  // pieces begin where vectors do
  while (count > Count{0}) {
    const Room its = needed(call, count);
    if (its.part_bytes <= room.part_bytes && its.scratch_bytes <= room.scratch_bytes) return count;
    const auto share = [](std::int64_t there, std::int64_t wanted) {
      return wanted == 0 ? 1.0 : static_cast<double>(there) / static_cast<double>(wanted);
    };
    const double fits =
        std::min({1.0, share(room.part_bytes, its.part_bytes), share(room.scratch_bytes, its.scratch_bytes)});
    auto fewer = std::min(count.value() - 1, static_cast<std::int64_t>(static_cast<double>(count.value()) * fits));
    if (fewer > grain) fewer -= fewer % grain;
    count = Count{fewer};
  }
  return count;
}

/// The largest block, or all elements, as far as all ranks know alike; nothing: they do not.
std::optional<Count> known_to_all(const Problem& problem) {
  const auto largest = [](std::span<const Count> counts) { return *std::ranges::max_element(counts); };
  if (!problem.uneven()) return problem.count;
  if (problem.collective == Collective::reduce_scatter) return largest(problem.in.counts);
  if (problem.collective == Collective::allgather) return largest(problem.out.counts);
  return std::nullopt;
}

/// The list of a buffer, with offsets, of which a piece takes some elements of each block.
struct Blocks {
  Sizes counts{}, offsets{};
  Sizes now{};

  Blocks(const BlockList& list, Count even, int size) {
    counts = list.empty() ? Sizes(static_cast<std::size_t>(size), even) : Sizes(list.counts.begin(), list.counts.end());
    offsets.assign(list.offsets.begin(), list.offsets.end());
    if (offsets.empty()) {
      offsets.resize(counts.size());
      std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), Count{0});
    }
  }
  [[nodiscard]] Count largest() const { return counts.empty() ? Count{0} : *std::ranges::max_element(counts); }
  [[nodiscard]] BlockList from(Count first, Count most) {
    now.clear();
    for (const Count count : counts)
      now.push_back(std::clamp(count - first, Count{0}, most));
    return {now, offsets};
  }
};

/// The most elements whose segments a program may have, if there are any.
Count segmented(const Source& call) {
  if (call.choice.segment == 0) return Count{std::numeric_limits<std::int64_t>::max()};
  return Count{std::max<std::int64_t>(1, call.choice.segment / size_of(call.type).value()) * tuning.most_segments};
}

class Cutter {
 public:
  Cutter(const Source& call, Count most) : call_(call), most_(most) {}

  Pieces elements() {
    for (Count first; first < call_.problem.count; first += most_) {
      const Count count = std::min(most_, call_.problem.count - first);
      Problem problem = call_.problem;
      problem.count = count;
      add(problem, first, first, {count});
    }
    return std::move(all_);
  }

  Pieces blocks() {
    const Problem& whole = call_.problem;
    const int mine = whole.collective == Collective::gather || whole.collective == Collective::scatter ? 1 : whole.size;
    const bool at_root = whole.rank == whole.root;
    const bool reads =
        whole.collective != Collective::allgather && (whole.collective != Collective::scatter || at_root);
    const bool writes =
        whole.collective != Collective::reduce_scatter && (whole.collective != Collective::gather || at_root);
    Blocks in{whole.in, whole.count, !reads ? 0 : whole.collective == Collective::scatter ? whole.size : mine};
    Blocks out{whole.out, whole.count, !writes ? 0 : whole.collective == Collective::gather ? whole.size : mine};
    const Count end = std::max(in.largest(), out.largest());
    for (Count first; first < end; first += most_) {
      Problem problem = whole;
      problem.count = Count{0};
      problem.in = in.from(first, most_);
      problem.out = out.from(first, most_);
      Sizes counts = in.now;
      counts.insert(counts.end(), out.now.begin(), out.now.end());
      add(problem, first, first, std::move(counts));
    }
    return std::move(all_);
  }

  /// The parts of a reduce-scatter, whose blocks have no gaps: some elements of the whole input at a time.
  Pieces parts_of_input() {
    const Problem& whole = call_.problem;
    Blocks blocks{whole.in, whole.count, whole.size};
    const auto mine = static_cast<std::size_t>(whole.rank.value());
    const Count end = blocks.offsets.back() + blocks.counts.back();
    for (Count first; first < end; first += most_) {
      blocks.now.clear();
      for (std::size_t i = 0; i < blocks.counts.size(); ++i) {
        const Count begin = std::max(first, blocks.offsets[i]);
        blocks.now.push_back(std::max(Count{0}, std::min(first + most_, blocks.offsets[i] + blocks.counts[i]) - begin));
      }
      Problem problem = whole;
      problem.count = Count{0};
      problem.in = {blocks.now, {}};
      // In place the result is at the beginning: of later parts it lies where the input has been read.
      const Count output_at = std::max(Count{0}, first - blocks.offsets[mine]);
      if (blocks.now[mine] == Count{0} || first != output_at) problem.aliasing = Aliasing::separate();
      add(problem, first, output_at, blocks.now);
    }
    return std::move(all_);
  }

 private:
  void add(const Problem& problem, Count input_at, Count output_at, Sizes counts) {
    const auto known = std::ranges::find(counts_, counts);
    const auto program = static_cast<std::size_t>(known - counts_.begin());
    if (known == counts_.end()) {
      all_.programs.push_back(planned(call_, problem));
      counts_.push_back(std::move(counts));
    }
    const std::int64_t element = size_of(call_.type).value();
    all_.pieces.push_back({program, input_at.value() * element, output_at.value() * element});
  }

  const Source& call_;
  Count most_;
  Pieces all_;
  std::vector<Sizes> counts_;  ///< By program.
};

}  // namespace

namespace {

/// Whether a result of a reduce-scatter in place would overlap its block in the input in part, on any rank.
bool overlap_in_part(const Problem& problem) {
  Count offset;
  for (const Count count : problem.in.counts) {
    if (Count{0} < offset && offset < count) return true;
    offset += count;
  }
  return false;
}

std::optional<Pieces> cut(const Source& call, const Room& room) {
  const Problem& problem = call.problem;
  if (call.op.accumulate() || combines_at_once(call.op, problem)) return std::nullopt;
  const bool exchanges = call.choice.algorithm->exchange != nullptr;
  if (exchanges && problem.uneven()) return std::nullopt;
  const std::optional<Count> known = known_to_all(problem);
  if (known == Count{0}) return Pieces{{planned(call, problem)}, {{}}};
  const Count whole = known ? *known : Count{room.part_bytes / size_of(call.type).value()};
  const Count most = elements_of_piece(call, room, std::min(whole, segmented(call)));
  if (most == Count{0}) return std::nullopt;
  if (known && most == *known) return Pieces{{planned(call, problem)}, {{}}};
  if (!has_blocks(problem.collective)) return Cutter{call, most}.elements();
  if (exchanges) return std::nullopt;
  if (problem.collective == Collective::reduce_scatter && overlap_in_part(problem)) return std::nullopt;
  if (problem.collective == Collective::reduce_scatter) return Cutter{call, most}.parts_of_input();
  return Cutter{call, most}.blocks();
}

/// The ranks that memory reaches: all, the rank itself too, so that every rank sees the call alike.
std::vector<std::uint8_t> all_of(const Source& call) {
  return std::vector<std::uint8_t>(static_cast<std::size_t>(call.problem.size), 1);
}

}  // namespace

std::optional<Pieces> pieces_of(Source call, const Room& room) {
  const std::vector<std::uint8_t> all = all_of(call);
  call.memory.reaches = all;
  std::optional<Pieces> pieces = cut(call, room);
  // Blocks of differing sizes need no more than blocks that are all as large as the largest.
  const auto fits = [&](const PlannedProgram& each) {
    return each.program.part_bytes <= room.part_bytes && each.plan.scratch_bytes <= room.scratch_bytes;
  };
  if (pieces && !std::ranges::all_of(pieces->programs, fits))
    throw Error("a program needs more memory than its algorithm does with blocks of one size");
  return pieces;
}

std::optional<Pieces> direct_pieces_of(Source call, std::span<const Aliasing> aliasings, const Room& room) {
  const std::vector<std::uint8_t> all = all_of(call);
  call.memory.reaches = all;
  if (call.problem.uneven() || call.problem.count > segmented(call)) return std::nullopt;
  if (call.op.accumulate() || combines_at_once(call.op, call.problem)) return std::nullopt;
  std::vector<shm::SharedPlan> plans;
  std::int64_t moved_if_landing = 0;
  for (const Aliasing& aliasing : aliasings) {
    Problem problem = call.problem;
    problem.rank = Rank{static_cast<int>(plans.size())};
    problem.aliasing = aliasing;
    moved_if_landing += bytes_of(planned(call, problem).program);
    plans.push_back(compiled_to_be_read(call, problem));
    const shm::SharedPlan& its = plans.back();
    if (std::ssize(its.steps) > tuning.most_direct_steps || its.scratch_bytes > room.scratch_bytes) return std::nullopt;
  }
  std::vector<Program> programs = direct_programs(plans);
  std::int64_t moved = 0;
  for (const Program& program : programs) {
    if (program.part_bytes > room.part_bytes) return std::nullopt;
    moved += bytes_of(program);
  }
  if (moved >= moved_if_landing) return std::nullopt;
  const auto mine = static_cast<std::size_t>(call.problem.rank.value());
  return Pieces{{planned(std::move(plans[mine]), std::move(programs[mine]))}, {{}}};
}

}  // namespace tutti::stream
