#include "apps/soak/call.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apps/soak/random.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::soak {
namespace {

std::string_view to_string(InPlace in_place) {
  return in_place == InPlace::no             ? "separate"
         : in_place == InPlace::on_all_ranks ? "in place"
                                             : "in place on some ranks";
}

std::string_view to_string(Kind kind) {
  return kind == Kind::batch ? "batch" : kind == Kind::sendrecv ? "sendrecv" : "send";
}

/// The numbers, or the first of them if they are many.
template <class Each>
std::string listed(std::size_t count, Each each) {
  constexpr std::size_t most = 16;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(count, most); ++i)
    texts.push_back(each(i));
  return fmt::format("{}{}", fmt::join(texts, " "), count > most ? " ..." : "");
}

std::string sizes_of(const Call& call) {
  if (call.kind != Kind::collective)
    return listed(call.messages.size(), [&](std::size_t i) {
      const Message& message = call.messages[i];
      return fmt::format("{}>{}:{}", message.from, message.to, message.count);
    });
  if (!call.is_uneven) return std::to_string(call.count);
  return fmt::format("({})", listed(call.counts.size(), [&](std::size_t i) { return std::to_string(call.counts[i]); }));
}

}  // namespace

std::vector<std::string> call_names() {
  std::vector<std::string> names;
  names.reserve(name_count);
  for (int i = 0; i < collective_count; ++i)
    names.emplace_back(tutti::to_string(static_cast<Collective>(i)));
  for (const Kind kind : {Kind::batch, Kind::sendrecv, Kind::send})
    names.emplace_back(to_string(kind));
  return names;
}

std::string to_text(const Call& call) {
  const bool is_collective = call.kind == Kind::collective;
  std::string text{is_collective ? tutti::to_string(call.collective) : to_string(call.kind)};
  if (is_collective) text += fmt::format(" '{}'", call.algorithm.empty() ? "auto" : call.algorithm);
  text += fmt::format(" of {} {}", sizes_of(call), tutti::to_string(call.type));
  if (is_collective && reduces(call.collective)) {
    text += fmt::format(", {}", tutti::to_string(call.op.kind()));
    if (!call.op.commutative()) text += " (noncommutative)";
    if (call.op.kind() == Op::Kind::scaled_sum) text += fmt::format(" {}", call.op.scale());
  }
  if (is_collective && has_root(call.collective)) text += fmt::format(", root {}", call.root);
  text += fmt::format(", {}, {}", way_names[static_cast<std::size_t>(call.way)], to_string(call.in_place));
  if (call.has_gaps) text += ", gaps";
  return text + fmt::format(", communicator {} of {} ranks", call.communicator, call.size);
}

bool is_in_place(const Call& call, int rank) {
  if (call.in_place != InPlace::on_some_ranks) return call.in_place == InPlace::on_all_ranks;
  return Random{mixed({call.key, 0x70, static_cast<std::uint64_t>(rank)})}.chance(50);
}

}  // namespace tutti::soak
