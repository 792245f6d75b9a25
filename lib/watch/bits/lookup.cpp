#include "lib/watch/bits/lookup.hpp"

#include <algorithm>

#include "lib/watch/records/signature.hpp"

namespace tutti::bits {
namespace {

constexpr std::size_t most_ahead = std::size_t{1} << 17U;  // some 30 MB

}  // namespace

std::uint64_t key_of(const CommunicatorRecord& communicator) {
  constexpr std::uint64_t prime = 0x9e3779b97f4a7c15U;
  return communicator.members ^ (static_cast<std::uint64_t>(communicator.earlier) * prime);
}

Key key_of(const CallRecord& call, const CommunicatorRecord& communicator) {
  return {.communicator = key_of(communicator),
          .number = call.number,
          .are_messages = call.action == static_cast<std::uint8_t>(records::Action::messages),
          .is_over = call.kind == RecordKind::over};
}

/// The key of the next record, which is remembered.
std::optional<Key> Lookup::read_one() {
  const std::optional<StoredCall> next = reader_.next();
  if (!next) return std::nullopt;
  const Key key = key_of(next->record, reader_.communicators()[next->record.communicator]);
  ahead_.insert_or_assign(key, *next);
  order_.push_back(key);
  while (order_.size() > most_ahead) {
    forgotten_ += ahead_.erase(order_.front());
    order_.pop_front();
  }
  return key;
}

std::optional<StoredCall> Lookup::find(const Key& key) {
  auto found = ahead_.find(key);
  while (found == ahead_.end()) {
    const std::optional<Key> next = read_one();
    if (!next) return std::nullopt;
    if (*next == key) found = ahead_.find(key);
  }
  const StoredCall call = found->second;
  ahead_.erase(found);
  while (!order_.empty() && !ahead_.contains(order_.front()))
    order_.pop_front();
  return call;
}

std::uint64_t Lookup::left() {
  const auto begun = [](const auto& each) { return each.second.record.kind == RecordKind::begin; };
  auto count = static_cast<std::uint64_t>(std::ranges::count_if(ahead_, begun));
  while (const std::optional<StoredCall> next = reader_.next())
    if (next->record.kind == RecordKind::begin) ++count;
  return count;
}

}  // namespace tutti::bits
