// Programs of plans with separate buffers, for calls in place.
#include <algorithm>
#include <utility>

#include "lib/device/stream/program.hpp"

namespace tutti::stream {
namespace {

bool is_own(const Spot& spot, Buffer buffer) { return spot.of == Spot::Of::buffer && spot.buffer == buffer; }

/// Bytes of the output that commands have written.
class Written {
 public:
  void add(std::int64_t first, std::int64_t bytes) { all_.push_back({first, first + bytes}); }
  [[nodiscard]] bool overlaps(std::int64_t first, std::int64_t bytes) const {
    return std::ranges::any_of(all_,
                               [&](const auto& each) { return each.first < first + bytes && first < each.second; });
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> all_;
};

/// Whether all outputs of a command are apart from its inputs in place, or the same bytes.
bool is_apart_or_same(const Command& command) {
  for (const Spot& in : command.inputs)
    for (const Spot& out : command.outputs)
      if (is_own(in, Buffer::input) && is_own(out, Buffer::output) && in.at != out.at &&
          in.at < out.at + command.bytes && out.at < in.at + command.bytes)
        return false;
  return true;
}

/// Copies of bytes to where they are.
void drop_copies_to_itself(Program& program) {
  for (Command& command : program.commands) {
    if (command.does != Does::copy || !is_own(command.inputs[0], Buffer::input)) continue;
    std::erase_if(command.outputs,
                  [&](const Spot& out) { return is_own(out, Buffer::output) && out.at == command.inputs[0].at; });
  }
  std::erase_if(program.commands,
                [](const Command& command) { return !command.is_of_flag() && command.outputs.empty(); });
}

}  // namespace

std::optional<Program> program_in_place(const shm::SharedPlan& plan) {
  Program program = program_of(plan);
  drop_copies_to_itself(program);
  Written written;
  for (const Command& command : program.commands) {
    if (!is_apart_or_same(command)) return std::nullopt;
    for (const Spot& in : command.inputs)
      if (is_own(in, Buffer::input) && written.overlaps(in.at, command.bytes)) return std::nullopt;
    for (const Spot& out : command.outputs)
      if (is_own(out, Buffer::output)) written.add(out.at, command.bytes);
  }
  return program;
}

}  // namespace tutti::stream
