#include <algorithm>

#include "lib/proof/plan_checker/prove_programs.hpp"

namespace tutti::checker {
namespace {

using stream::Command;
using stream::Does;
using stream::Program;
using stream::Spot;

class Mutants {
 public:
  explicit Mutants(const Program& program) : program_(program) {}

  std::vector<ProgramMutant> all() {
    for (number_ = 0; number_ < program_.commands.size(); ++number_)
      add(program_.commands[number_]);
    number_ = program_.commands.size();
    leave_readers();
    return std::move(mutants_);
  }

 private:
  using Commands = std::vector<Command>;
  template <class Change>
  void make(ProgramMutation mutation, const Change& change) {
    mutants_.push_back({mutation, static_cast<int>(number_), program_});
    change(mutants_.back().program.commands);
  }
  void add(const Command& command) {
    const auto drop = [this](Commands& all) { all.erase(all.begin() + static_cast<std::ptrdiff_t>(number_)); };
    has_received_ |= command.does == Does::wait_for_message;  // then others may have told that there is room
    if (command.does == Does::wait_until_free && !has_received_ && !is_last(command))
      make(ProgramMutation::wait_dropped, drop);
    if (command.does == Does::wait_for_message && is_needed(command)) {
      make(ProgramMutation::wait_dropped, drop);
      make(ProgramMutation::wait_moved, [this](Commands& all) { --all[number_].number; });
    }
    if (command.does == Does::release || (command.does == Does::tell && is_last(command)))
      make(ProgramMutation::write_dropped, drop);
    if (command.does == Does::tell) tell_early(command);
    if (!command.is_of_flag()) change_work(command);
  }

  /// Whether no later wait of the same program waits for that message or a later one of the pair anyway, before the
  /// data are read: then a wait may be left out.
  [[nodiscard]] bool is_needed(const Command& wait) const {
    for (std::size_t i = 0; i < number_; ++i) {
      const Command& earlier = program_.commands[i];
      if (earlier.does == Does::wait_for_message && earlier.peer == wait.peer && earlier.number >= wait.number)
        return false;
    }
    for (std::size_t i = number_ + 1; i < program_.commands.size(); ++i) {
      const Command& later = program_.commands[i];
      if (later.does == Does::wait_for_message && later.peer == wait.peer) return later.number < wait.number;
      if (std::ranges::any_of(later.inputs,
                              [&](const Spot& spot) { return spot.of == Spot::Of::landing && spot.peer == wait.peer; }))
        return true;
    }
    return false;
  }
  /// Whether the same peer is told nothing behind a command.
  [[nodiscard]] bool is_last(const Command& its) const {
    return std::none_of(program_.commands.begin() + static_cast<std::ptrdiff_t>(number_) + 1, program_.commands.end(),
                        [&](const Command& later) { return later.does == Does::tell && later.peer == its.peer; });
  }
  /// Puts the write of a flag in front of the command that writes its message, if there is one.
  void tell_early(const Command& tell) {
    const auto writes = [&](const Command& command) {
      return std::ranges::any_of(
          command.outputs, [&](const Spot& spot) { return spot.of == Spot::Of::remote && spot.peer == tell.peer; });
    };
    for (std::size_t i = number_;
         i-- > 0 && !(program_.commands[i].does == Does::tell && program_.commands[i].peer == tell.peer);)
      if (writes(program_.commands[i]))
        return make(ProgramMutation::told_too_early, [&](Commands& all) {
          const auto at = all.begin() + static_cast<std::ptrdiff_t>(i);
          std::rotate(at, all.begin() + static_cast<std::ptrdiff_t>(number_),
                      all.begin() + static_cast<std::ptrdiff_t>(number_) + 1);
        });
  }
  /// A write of other data before everything else, which the right ones follow.
  void push_early(const Command& command) {
    const auto own = std::ranges::find_if(
        command.inputs, [](const Spot& spot) { return spot.of == Spot::Of::buffer && spot.buffer == Buffer::input; });
    if (own == command.inputs.end()) return;
    for (const Spot& output : command.outputs)
      if (output.of == Spot::Of::lent)
        make(ProgramMutation::pushed_too_early, [&](Commands& all) {
          all.insert(all.begin(), {.does = Does::copy, .inputs = {*own}, .outputs = {output}, .bytes = command.bytes});
        });
  }
  /// The waits at the end.
  void leave_readers() {
    const auto is_wait = [](const Command& command) { return command.does == Does::wait_until_free; };
    const auto& all = program_.commands;
    if (all.empty() || !is_wait(all.back())) return;
    make(ProgramMutation::readers_left, [&](Commands& its) {
      while (!its.empty() && is_wait(its.back()))
        its.pop_back();
    });
  }
  /// A read before everything else.
  void pull_early(const Command& command) {
    if (std::ranges::find(command.inputs, Spot::Of::lent, &Spot::of) == command.inputs.end()) return;
    make(ProgramMutation::pulled_too_early, [&](Commands& all) {
      const auto at = all.begin() + static_cast<std::ptrdiff_t>(number_);
      std::rotate(all.begin(), at, at + 1);
    });
  }
  void change_work(const Command& command) {
    pull_early(command);
    push_early(command);
    const auto is_far = [](const Spot& spot) { return spot.of != Spot::Of::buffer; };
    for (std::size_t k = 0; k < command.outputs.size(); ++k)
      if (is_far(command.outputs[k]))
        make(ProgramMutation::place_moved, [&](Commands& all) { all[number_].outputs[k].at += 8; });
    for (std::size_t k = 0; k < command.inputs.size(); ++k)
      if (is_far(command.inputs[k]))
        make(ProgramMutation::place_moved, [&](Commands& all) { all[number_].inputs[k].at += 8; });
    if (command.inputs.size() > 1)
      make(ProgramMutation::operand_dropped, [&](Commands& all) { all[number_].inputs.pop_back(); });
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
