#pragma once
// Any collective to try, in any way to call it, compared with the MPI's result for the same call.

#include <algorithm>
#include <climits>
#include <string>
#include <vector>

#include "lib/proof/checker/problems.hpp"
#include "tests/mpi/allreduce_cases.hpp"
#include "tests/mpi/expected_results.hpp"
#include "tests/support/call_allocator.hpp"

namespace tutti::test {

/// One call on all ranks.
struct Trial {
  Collective collective = Collective::allreduce;
  std::string algorithm{};  ///< As in Options.
  Way way = Way::blocking;
  BufferUse buffers = BufferUse::separate;  ///< Where the collective has a call in place, else separate.
  std::int64_t count = 0;
  int root = 0;
  /// Uneven blocks, as in checker::Case.
  std::vector<Count> counts{};
  Count gap{};
  /// All ranks have started before any of them waits: the first messages are there by then, however busy the machine
  /// is. Not for blocking calls.
  bool meets = false;
};

inline std::string describe(const Trial& trial, const Op& op, Type type) {
  checker::Case what{.size = world_size(), .count = Count{trial.count}, .root = Rank{trial.root}};
  what.counts = trial.counts;
  what.gap = trial.gap;
  return std::string{to_string(trial.collective)} + " '" + trial.algorithm + "' of " + std::string{to_string(type)} +
         ", " + std::string{to_string(op.kind())} + ", " + checker::to_text(what) + ", way " +
         std::to_string(static_cast<int>(trial.way)) + ", buffers " + std::to_string(static_cast<int>(trial.buffers));
}

/// The lists and shapes of a trial on this rank.
inline checker::Problems problems_of(const Trial& trial, int size) {
  Algorithm lists_only{};
  lists_only.collective = trial.collective;
  checker::Case what{.size = size, .count = Count{trial.count}, .root = Rank{trial.root}};
  what.counts = trial.counts;
  what.gap = trial.gap;
  if (trial.buffers != BufferUse::separate) what.placement = checker::Placement::in_place;
  return {lists_only, what};
}

inline void run(const detail::Call& call, const Trial& trial, const Communicator& comm) {
  const Options options{.algorithm = trial.algorithm};
  const auto meet = [&] {
    if (trial.meets) MPI_Barrier(MPI_COMM_WORLD);
  };
  if (trial.way == Way::blocking) return detail::run(call, comm, options);
  if (trial.way == Way::async) {
    Request request = detail::start(call, comm, options);
    meet();
    return request.wait();
  }
  Plan plan = detail::prepare(call, comm, options);
  plan.start();
  meet();
  plan.wait();
}

/// The memory of a rank for one call: input and output apart, or the one inside the other, with room to spare around.
template <class T>
class CallMemory {
 public:
  CallMemory(const Problem& problem, const std::vector<T>& input, const T& filling) {
    const auto [in, out] = shape_of(problem);
    const auto offset = problem.aliasing.offset();
    const Count before = offset ? std::max(Count{0}, Count{0} - *offset) : Count{0};
    const Count end = offset ? std::max(out, *offset + in) : out;
    elements_.assign(static_cast<std::size_t>((before + end).value()) + 2 * spare, filling);
    output_ = spare + static_cast<std::size_t>(before.value());
    if (offset)
      std::copy(input.begin(), input.end(), elements_.begin() + static_cast<std::ptrdiff_t>(output_) + offset->value());
    else
      input_.assign(input.begin(), input.end());
    offset_ = offset ? offset->value() : 0;
    is_aliased_ = offset.has_value();
    size_ = static_cast<std::size_t>(out.value());
  }
  const void* in() { return is_aliased_ ? elements_.data() + output_ + offset_ : input_.data(); }
  T* out() { return elements_.data() + output_; }
  [[nodiscard]] bool is_aliased() const { return is_aliased_; }
  [[nodiscard]] std::vector<T> output() const {
    const auto begin = elements_.begin() + static_cast<std::ptrdiff_t>(output_);
    return {begin, begin + static_cast<std::ptrdiff_t>(size_)};
  }
  void set_output(const std::vector<T>& values) {
    std::copy(values.begin(), values.end(), elements_.begin() + static_cast<std::ptrdiff_t>(output_));
  }
  /// Where the output begins in all(), and the input, if it is not apart.
  [[nodiscard]] std::size_t output_at() const { return output_; }
  [[nodiscard]] std::size_t input_at() const {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(output_) + offset_);
  }
  [[nodiscard]] const auto& all() const { return elements_; }
  [[nodiscard]] const auto& apart() const { return input_; }
  /// All of it, the input if it is apart included.
  [[nodiscard]] bool same_as(const CallMemory& other) const {
    return std::equal(elements_.begin(), elements_.end(), other.elements_.begin(), same_value<T>) &&
           std::equal(input_.begin(), input_.end(), other.input_.begin(), same_value<T>);
  }

 private:
  static constexpr std::size_t spare = 3;
  std::vector<T, CallAllocator<T>> elements_, input_;
  std::size_t output_ = 0, size_ = 0;
  std::ptrdiff_t offset_ = 0;
  bool is_aliased_ = false;
};

inline detail::Call call_of(const Trial& trial, const Problem& problem, Type type, const Op& op) {
  detail::Call call{.function = to_string(trial.collective), .collective = trial.collective};
  call.count = problem.count;
  call.type = type;
  call.op = op;
  call.root = problem.root;
  call.is_uneven = problem.uneven();
  if (call.is_uneven && trial.collective == Collective::gather) call.count = problem.in.counts[0];
  if (call.is_uneven && trial.collective == Collective::scatter)
    call.count = trial.counts[static_cast<std::size_t>(problem.rank.value())];
  call.in_blocks = problem.in;
  call.out_blocks = problem.out;
  return call;
}

/// One call compared with the MPI's, or with the result computed here: the output, and that nothing else was written.
template <class T>
void expect_right(const Trial& trial, const Op& op, const Communicator& comm, MPI_Comm mpi_comm = MPI_COMM_WORLD) {
  const checker::Problems problems = problems_of(trial, comm.size());
  const Problem& problem = problems.of(comm.rank());
  const std::vector<T> input = inputs<T>(op, comm.rank().value(), shape_of(problem).input.value());
  CallMemory<T> memory{problem, input, element<T>(85, 0)};
  CallMemory<T> expected = memory;
  detail::Call call = call_of(trial, problem, type_of<T>, op);
  call.in = memory.in();
  call.out = memory.out();
  if (memory.is_aliased() && trial.buffers == BufferUse::mpi_in_place && trial.collective == Collective::scatter)
    call.out = MPI_IN_PLACE;
  else if (memory.is_aliased() && trial.buffers == BufferUse::mpi_in_place)
    call.in = MPI_IN_PLACE;
  run(call, trial, comm);
  std::vector<T> out = expected.output();
  if (!reduces(trial.collective))
    move_by_mpi(problem, input, out, mpi_comm);
  else if (!reduce_by_mpi(problem, op, input, out, mpi_comm))
    reduce_here(problem, op, out);
  if (reduces(trial.collective) || shape_of(problem).output > Count{0}) expected.set_output(out);
  EXPECT_TRUE(memory.same_as(expected)) << describe(trial, op, type_of<T>);
}

/// The names to give in Options for a collective, with other parameters and segments, and none for Tutti's own choice.
inline std::vector<std::string> choices_of(Collective collective) {
  std::vector<std::string> choices{""};
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective != collective) continue;
    const std::string name{algorithm->name};
    choices.push_back(name);
    if (algorithm->parameter.name.empty()) continue;
    choices.push_back(name + ":" + std::to_string(algorithm->parameter.least));
    choices.push_back(name + ":" + std::to_string(algorithm->parameter.least + 3) + "/16");
  }
  if (choices.size() > 1) choices.push_back(choices[1] + "/24");
  return choices;
}

/// choices_of() without segments: large counts would make thousands of them.
inline std::vector<std::string> whole_choices_of(Collective collective) {
  std::vector<std::string> choices = choices_of(collective);
  std::erase_if(choices, [](const std::string& choice) { return choice.find('/') != std::string::npos; });
  return choices;
}

/// The text of the error that a call throws; empty: it throws none.
template <class Do>
std::string error_of(const Do& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline std::vector<Collective> all_collectives() {
  std::vector<Collective> all;
  for (int i = 0; i < collective_count; ++i)
    all.push_back(static_cast<Collective>(i));
  return all;
}

/// A way to call and a use of buffers that differ from call to call, so that all pairs of them occur.
class Rotation {
 public:
  Trial next(Trial trial) {
    const int turn = turn_++;
    trial.way = static_cast<Way>(turn % ways);
    trial.buffers = static_cast<BufferUse>(turn / ways % buffer_uses);
    return trial;
  }
  /// The calls so far.
  [[nodiscard]] int taken() const { return turn_; }

 private:
  int turn_ = 0;
};

}  // namespace tutti::test
