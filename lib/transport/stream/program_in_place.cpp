// Programs of plans with separate buffers, for calls in place.
#include <algorithm>
#include <utility>

#include "lib/transport/stream/program.hpp"

namespace tutti::stream {
namespace {

bool is_own(const Spot& spot, Buffer buffer) { return spot.of == Spot::Of::buffer && spot.buffer == buffer; }

/// Bytes of the output that operations have written.
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

/// Whether all outputs of an operation are apart from its inputs in place, or the same bytes.
bool is_apart_or_same(const Operation& operation) {
  for (const Spot& in : operation.inputs)
    for (const Spot& out : operation.outputs)
      if (is_own(in, Buffer::input) && is_own(out, Buffer::output) && in.at != out.at &&
          in.at < out.at + operation.bytes && out.at < in.at + operation.bytes)
        return false;
  return true;
}

/// Copies of bytes to where they are.
void drop_copies_to_itself(Program& program) {
  for (Operation& operation : program.operations) {
    if (operation.does != Does::copy || !is_own(operation.inputs[0], Buffer::input)) continue;
    std::erase_if(operation.outputs,
                  [&](const Spot& out) { return is_own(out, Buffer::output) && out.at == operation.inputs[0].at; });
  }
  std::erase_if(program.operations,
                [](const Operation& operation) { return !operation.is_of_flag() && operation.outputs.empty(); });
}

}  // namespace

std::optional<Program> program_in_place(const shm::SharedPlan& plan) {
  Program program = program_of(plan);
  drop_copies_to_itself(program);
  Written written;
  for (const Operation& operation : program.operations) {
    if (!is_apart_or_same(operation)) return std::nullopt;
    for (const Spot& in : operation.inputs)
      if (is_own(in, Buffer::input) && written.overlaps(in.at, operation.bytes)) return std::nullopt;
    for (const Spot& out : operation.outputs)
      if (is_own(out, Buffer::output)) written.add(out.at, operation.bytes);
  }
  return program;
}

}  // namespace tutti::stream
