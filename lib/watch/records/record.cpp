#include "lib/watch/records/record.hpp"

#include <algorithm>

namespace tutti::records {
namespace {

constexpr std::uint64_t at(std::uint64_t value, unsigned shift) { return value << shift; }
constexpr std::uint64_t bits(std::uint64_t word, unsigned shift, unsigned width) {
  return word >> shift & ((std::uint64_t{1} << width) - 1);
}
constexpr std::uint64_t unsigned_of(int value) { return static_cast<std::uint32_t>(value); }
constexpr int int_of(std::uint64_t word, unsigned shift) {
  return static_cast<int>(static_cast<std::uint32_t>(word >> shift));
}

}  // namespace

Packed pack(const Signature& call) {
  const auto algorithm = static_cast<std::uint64_t>(call.algorithm + 1) & 0xffU;
  const auto parameter = static_cast<std::uint64_t>(std::clamp(call.parameter, 0, 0xffff));
  return {static_cast<std::uint64_t>(call.count), at(call.communicator.value, 32) | call.sequence,
          at(unsigned_of(call.root), 32) | at(static_cast<std::uint64_t>(call.manner), manner_shift) |
              at(call.mpi & ((1U << mpi_bits) - 1), mpi_shift) | at(static_cast<std::uint64_t>(call.op), 16) |
              at(static_cast<std::uint64_t>(call.type), 8) | static_cast<std::uint64_t>(call.action),
          at(unsigned_of(call.ranks), 32) | unsigned_of(call.rank),
          at(call.fingerprint, 32) | at(parameter, 16) | at(algorithm, 8) | at(call.adding & 7U, 2) |
              (call.any_manner ? 2U : 0U) | (call.is_uneven ? 1U : 0U)};
}

Signature unpack(const Packed& words) {
  Signature call;
  call.count = static_cast<std::int64_t>(words[0]);
  call.communicator = {static_cast<std::uint32_t>(words[1] >> 32U)};
  call.sequence = static_cast<std::uint32_t>(words[1]);
  call.root = int_of(words[2], 32);
  call.manner = static_cast<Manner>(bits(words[2], manner_shift, manner_bits));
  call.mpi = static_cast<std::uint8_t>(bits(words[2], mpi_shift, mpi_bits));
  call.op = static_cast<Op::Kind>(bits(words[2], 16, 8));
  call.type = static_cast<Type>(bits(words[2], 8, 8));
  call.action = static_cast<Action>(bits(words[2], 0, 8));
  call.ranks = int_of(words[3], 32);
  call.rank = int_of(words[3], 0);
  call.fingerprint = static_cast<std::uint32_t>(words[4] >> 32U);
  call.parameter = static_cast<int>(bits(words[4], 16, 16));
  call.algorithm = static_cast<int>(bits(words[4], 8, 8)) - 1;
  call.is_uneven = bits(words[4], 0, 1) != 0;
  call.any_manner = bits(words[4], 1, 1) != 0;
  call.adding = static_cast<std::uint8_t>(bits(words[4], 2, 3));
  return call;
}

std::optional<Entry> Record::read() const {
  const std::uint64_t before = state_.load(std::memory_order_acquire);
  const auto state = static_cast<State>(bits(before, 0, state_bits));
  if (state == State::none || state == State::being_written) return std::nullopt;
  Packed words{};
  const std::uint64_t since = since_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = words_[i].load(std::memory_order_acquire);
  const std::uint64_t wait = wait_.load(std::memory_order_acquire);
  const std::uint64_t after = state_.load(std::memory_order_relaxed);
  if (after >> state_bits != before >> state_bits) return std::nullopt;
  return Entry{before >> state_bits, state, static_cast<std::int64_t>(since), unpack(words), unpacked(wait)};
}

}  // namespace tutti::records
