#include "lib/watch/bits_data.hpp"

#include <algorithm>
#include <span>

#include "lib/device/staging/device_port.hpp"
#include "lib/device/staging/tuning.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::detail {
namespace {

/// Facts of a message in the lists of a plan of messages: peer, place, bytes, device.
constexpr std::size_t facts_of_message = 4;

bool are_messages(const PlanKey& key) { return key.choice.algorithm == nullptr; }

DataPieces pieces_of_messages(std::span<const Count> facts) {
  DataPieces pieces;
  for (std::size_t i = 0; i < facts.size(); i += facts_of_message)
    if (facts[i + 2] > Count{0})
      pieces.push_back({facts[i + 1].value(), facts[i + 2].value(), static_cast<int>(facts[i + 3].value())});
  return pieces;
}

DataPieces pieces_of(const BlockList& list, Count whole, std::int64_t element, int device) {
  if (list.offsets.empty() && whole > Count{0}) return {{0, whole.value() * element, device}};
  DataPieces pieces;
  for (std::size_t i = 0; i < list.offsets.size(); ++i)
    if (list.counts[i] > Count{0})
      pieces.push_back({list.offsets[i].value() * element, list.counts[i].value() * element, device});
  return pieces;
}

}  // namespace

DataPieces inputs_of(const PlanKey& key) {
  const Problem& problem = key.problem;
  if (are_messages(key)) return pieces_of_messages(problem.in.counts);
  if (problem.collective == Collective::exscan && problem.rank.value() == problem.size - 1) return {};
  return pieces_of(problem.in, shape_of(problem).input, size_of(key.type).value(), key.places.input);
}

DataPieces results_of(const PlanKey& key) {
  const Problem& problem = key.problem;
  if (are_messages(key)) return pieces_of_messages(problem.out.counts);
  if (problem.collective == Collective::exscan && problem.rank == Rank{0}) return {};
  return pieces_of(problem.out, shape_of(problem).output, size_of(key.type).value(), key.places.output);
}

std::int64_t bytes_of(const DataPieces& pieces) {
  std::int64_t bytes = 0;
  for (const DataPiece& piece : pieces)
    bytes += piece.bytes;
  return bytes;
}

void read_data(const DataPieces& pieces, const void* base, std::vector<std::byte>& room,
               const std::function<void(const std::byte* data, std::size_t bytes)>& take) {
  for (const DataPiece& piece : pieces) {
    const std::byte* const data = static_cast<const std::byte*>(base) + piece.at;
    if (piece.device < 0) {
      take(data, static_cast<std::size_t>(piece.bytes));
      continue;
    }
    constexpr std::int64_t most = device::tuning.looked_at_bytes;  // whole elements of every type
    room.resize(static_cast<std::size_t>(most));
    for (std::int64_t at = 0; at < piece.bytes; at += most) {
      const std::int64_t bytes = std::min(piece.bytes - at, most);
      device::copy_to_host(piece.device, data + at, room.data(), bytes);
      take(room.data(), static_cast<std::size_t>(bytes));
    }
  }
}

std::uint64_t hash_of_lists(const PlanKey& key, bits::Hash& hash) {
  hash.reset();
  const auto add = [&](Count count) {
    const std::int64_t number = count.value();
    hash.update(&number, sizeof number);
  };
  for (const std::span<const Count> list : {key.problem.in.counts, key.problem.out.counts}) {
    add(Count{std::ssize(list)});
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!are_messages(key) || i % facts_of_message == 0 || i % facts_of_message == 2) add(list[i]);
  }
  return hash.value();
}

}  // namespace tutti::detail
