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

Lookup::Lookup(const std::string& path) : reader_(path) {
  try {
    count_calls();
  } catch (const FileError&) {
    is_damaged_ = true;
  }
}

void Lookup::count_calls() {
  Reader reader{reader_.path()};
  while (const std::optional<StoredCall> call = reader.next()) {
    Key key = key_of(call->record, reader.communicators()[call->record.communicator]);
    if (key.is_over) {
      key.is_over = false;
      never_over_.erase(key);
      continue;
    }
    never_over_.insert(key);
    calls_[{.communicator = key.communicator, .are_messages = key.are_messages}] = key.number;
  }
  is_whole_ = reader.is_closed();
}

bool Lookup::has(const Key& key) const {
  const auto calls = calls_.find({.communicator = key.communicator, .are_messages = key.are_messages});
  if (calls == calls_.end() || key.number > calls->second) return false;
  return !key.is_over || !never_over_.contains({key.communicator, key.number, key.are_messages, false});
}

/// The key of the next record, which is remembered.
std::optional<Key> Lookup::read_one() {
  const std::optional<StoredCall> next = reader_.next();
  if (!next) return std::nullopt;
  const Key key = key_of(next->record, reader_.communicators()[next->record.communicator]);
  ahead_.insert_or_assign(key, *next);
  order_.push_back(key);
  forget_oldest();
  return key;
}

void Lookup::forget_oldest() {
  while (ahead_.size() > most_ahead) {
    const auto oldest = ahead_.find(order_.front());
    order_.pop_front();
    if (oldest == ahead_.end()) continue;  // found meanwhile
    if (oldest->second.record.kind == RecordKind::begin) ++forgotten_;
    ahead_.erase(oldest);
  }
  if (order_.size() > 2 * most_ahead) std::erase_if(order_, [this](const Key& each) { return !ahead_.contains(each); });
}

std::optional<StoredCall> Lookup::find(const Key& key) {
  // Of a damaged file, what lies behind the damage is not known to be missing: reading on says where it is damaged.
  if (!has(key) && !is_damaged_) return std::nullopt;
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
  auto count = forgotten_ + static_cast<std::uint64_t>(std::ranges::count_if(ahead_, begun));
  while (const std::optional<StoredCall> next = reader_.next())
    if (next->record.kind == RecordKind::begin) ++count;
  return count;
}

}  // namespace tutti::bits
