#include "call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "random.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::differential {
namespace {

std::string_view to_string(Way way) {
  return way == Way::blocking ? "blocking" : way == Way::async ? "async" : "persistent";
}

std::string_view to_string(InPlace in_place) {
  return in_place == InPlace::no             ? "separate"
         : in_place == InPlace::on_all_ranks ? "in place"
                                             : "in place on some ranks";
}

std::string_view to_string(Kind kind) {
  return kind == Kind::batch ? "batch" : kind == Kind::sendrecv ? "sendrecv" : "send and recv";
}

/// The numbers, or the first of them if they are many.
template <class Each>
std::string listed(std::size_t count, Each each) {
  constexpr std::size_t most = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(count, most); ++i)
    text += (i == 0 ? "" : " ") + each(i);
  return count > most ? text + " ..." : text;
}

std::string sizes_of(const Call& call) {
  if (call.kind != Kind::collective)
    return listed(call.messages.size(), [&](std::size_t i) {
      const Message& message = call.messages[i];
      return fmt::format("{}>{}:{}", message.from, message.to, message.count);
    });
  if (!call.is_uneven) return std::to_string(call.count);
  return "(" + listed(call.counts.size(), [&](std::size_t i) { return std::to_string(call.counts[i]); }) + ")";
}

}  // namespace

std::string to_text(const Call& call) {
  const bool is_collective = call.kind == Kind::collective;
  std::string text{is_collective ? tutti::to_string(call.collective) : to_string(call.kind)};
  if (is_collective) text += fmt::format(" '{}'", call.algorithm);
  text += fmt::format(" of {} {}", sizes_of(call), tutti::to_string(call.type));
  if (is_collective && reduces(call.collective)) {
    text += fmt::format(", {}", tutti::to_string(call.op.kind()));
    if (!call.op.commutative()) text += " (noncommutative)";
    if (call.op.kind() == Op::Kind::scaled_sum) text += fmt::format(" {}", call.op.scale());
  }
  if (is_collective && has_root(call.collective)) text += fmt::format(", root {}", call.root);
  text += fmt::format(", {}, {}", to_string(call.way), to_string(call.in_place));
  if (call.has_gaps) text += ", gaps";
  return text + fmt::format(", communicator {} of {} ranks", call.communicator, call.size);
}

bool is_in_place(const Call& call, int rank) {
  if (call.in_place != InPlace::on_some_ranks) return call.in_place == InPlace::on_all_ranks;
  return Random{mixed({call.key, 0x70, static_cast<std::uint64_t>(rank)})}.chance(50);
}

}  // namespace tutti::differential
