#include <algorithm>

#include "lib/plan_checker/prove_programs.hpp"

namespace tutti::checker {
namespace {

using stream::Does;
using stream::Operation;
using stream::Program;
using stream::Spot;

class Mutants {
 public:
  explicit Mutants(const Program& program) : program_(program) {}

  std::vector<ProgramMutant> all() {
    for (number_ = 0; number_ < program_.operations.size(); ++number_)
      add(program_.operations[number_]);
    number_ = program_.operations.size();
    leave_readers();
    return std::move(mutants_);
  }

 private:
  using Operations = std::vector<Operation>;
  template <class Change>
  void make(ProgramMutation mutation, const Change& change) {
    mutants_.push_back({mutation, static_cast<int>(number_), program_});
    change(mutants_.back().program.operations);
  }
  void add(const Operation& operation) {
    const auto drop = [this](Operations& all) { all.erase(all.begin() + static_cast<std::ptrdiff_t>(number_)); };
    has_received_ |= operation.does == Does::wait_for_message;  // then others may have told that there is room
    if (operation.does == Does::wait_until_free && !has_received_ && !is_last(operation))
      make(ProgramMutation::wait_dropped, drop);
    if (operation.does == Does::wait_for_message && is_needed(operation)) {
      make(ProgramMutation::wait_dropped, drop);
      make(ProgramMutation::wait_moved, [this](Operations& all) { --all[number_].number; });
    }
    if (operation.does == Does::release || (operation.does == Does::tell && is_last(operation)))
      make(ProgramMutation::write_dropped, drop);
    if (operation.does == Does::tell) tell_early(operation);
    if (!operation.is_of_flag()) change_work(operation);
  }

  /// Whether no later wait of the same program waits for that message or a later one of the pair anyway, before the
  /// data are read: then a wait may be left out.
  [[nodiscard]] bool is_needed(const Operation& wait) const {
    for (std::size_t i = 0; i < number_; ++i) {
      const Operation& earlier = program_.operations[i];
      if (earlier.does == Does::wait_for_message && earlier.peer == wait.peer && earlier.number >= wait.number)
        return false;
    }
    for (std::size_t i = number_ + 1; i < program_.operations.size(); ++i) {
      const Operation& later = program_.operations[i];
      if (later.does == Does::wait_for_message && later.peer == wait.peer) return later.number < wait.number;
      if (std::ranges::any_of(later.inputs,
                              [&](const Spot& spot) { return spot.of == Spot::Of::landing && spot.peer == wait.peer; }))
        return true;
    }
    return false;
  }
  /// Whether the same peer is told nothing behind an operation.
  [[nodiscard]] bool is_last(const Operation& its) const {
    return std::none_of(program_.operations.begin() + static_cast<std::ptrdiff_t>(number_) + 1,
                        program_.operations.end(),
                        [&](const Operation& later) { return later.does == Does::tell && later.peer == its.peer; });
  }
  /// Puts the write of a flag in front of the operation that writes its message, if there is one.
  void tell_early(const Operation& tell) {
    const auto writes = [&](const Operation& operation) {
      return std::ranges::any_of(
          operation.outputs, [&](const Spot& spot) { return spot.of == Spot::Of::remote && spot.peer == tell.peer; });
    };
    for (std::size_t i = number_;
         i-- > 0 && !(program_.operations[i].does == Does::tell && program_.operations[i].peer == tell.peer);)
      if (writes(program_.operations[i]))
        return make(ProgramMutation::told_too_early, [&](Operations& all) {
          const auto at = all.begin() + static_cast<std::ptrdiff_t>(i);
          std::rotate(at, all.begin() + static_cast<std::ptrdiff_t>(number_),
                      all.begin() + static_cast<std::ptrdiff_t>(number_) + 1);
        });
  }
  /// A write of other data before everything else, which the right ones follow.
  void push_early(const Operation& operation) {
    const auto own = std::ranges::find_if(
        operation.inputs, [](const Spot& spot) { return spot.of == Spot::Of::buffer && spot.buffer == Buffer::input; });
    if (own == operation.inputs.end()) return;
    for (const Spot& output : operation.outputs)
      if (output.of == Spot::Of::lent)
        make(ProgramMutation::pushed_too_early, [&](Operations& all) {
          all.insert(all.begin(),
                     {.does = Does::copy, .inputs = {*own}, .outputs = {output}, .bytes = operation.bytes});
        });
  }
  /// The waits at the end.
  void leave_readers() {
    const auto is_wait = [](const Operation& operation) { return operation.does == Does::wait_until_free; };
    const auto& all = program_.operations;
    if (all.empty() || !is_wait(all.back())) return;
    make(ProgramMutation::readers_left, [&](Operations& its) {
      while (!its.empty() && is_wait(its.back()))
        its.pop_back();
    });
  }
  /// A read before everything else.
  void pull_early(const Operation& operation) {
    if (std::ranges::find(operation.inputs, Spot::Of::lent, &Spot::of) == operation.inputs.end()) return;
    make(ProgramMutation::pulled_too_early, [&](Operations& all) {
      const auto at = all.begin() + static_cast<std::ptrdiff_t>(number_);
      std::rotate(all.begin(), at, at + 1);
    });
  }
  void change_work(const Operation& operation) {
    pull_early(operation);
    push_early(operation);
    const auto is_far = [](const Spot& spot) { return spot.of != Spot::Of::buffer; };
    for (std::size_t k = 0; k < operation.outputs.size(); ++k)
      if (is_far(operation.outputs[k]))
        make(ProgramMutation::place_moved, [&](Operations& all) { all[number_].outputs[k].at += 8; });
    for (std::size_t k = 0; k < operation.inputs.size(); ++k)
      if (is_far(operation.inputs[k]))
        make(ProgramMutation::place_moved, [&](Operations& all) { all[number_].inputs[k].at += 8; });
    if (operation.inputs.size() > 1)
      make(ProgramMutation::operand_dropped, [&](Operations& all) { all[number_].inputs.pop_back(); });
  }

  const Program& program_;
  std::size_t number_ = 0;
  bool has_received_ = false;
  std::vector<ProgramMutant> mutants_;
};

}  // namespace

std::string_view to_string(ProgramMutation mutation) {
  constexpr std::string_view names[program_mutation_count] = {
      "a wait is dropped",           "a wait is for the message before",
      "a flag is not written",       "a flag is written before its message",
      "a message has another place", "an operand is dropped",
      "a peer is read too early",    "a peer is written too early",
      "readers are left alone"};
  return names[static_cast<std::size_t>(mutation)];
}

std::vector<ProgramMutant> mutants_of(const Program& program) { return Mutants{program}.all(); }

}  // namespace tutti::checker
