#include "lib/watch/bits/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "lib/core/reduce/wide_type.hpp"
#include "lib/watch/records/signature.hpp"
#include "lib/watch/records/text.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/op.hpp"

namespace tutti::bits {
namespace {

using records::Action;

Action action_of(const CallRecord& call) { return static_cast<Action>(call.action); }
bool is_collective(const CallRecord& call) { return action_of(call) < Action::messages; }
Collective collective_of(const CallRecord& call) { return static_cast<Collective>(call.action); }
bool has_operation(const CallRecord& call) { return is_collective(call) && reduces(collective_of(call)); }

std::string type_name(std::uint8_t type) {
  return static_cast<Type>(type) == detail::wide_type ? "elements of 32 bytes"
                                                      : std::string{to_string(static_cast<Type>(type))};
}

template <class T>
T value_at(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

/// Shortest text that gives the same bits again; of a NaN the bits tell more.
template <class T>
std::string decimal(T value) {
  return fmt::format("{}", value);
}

template <class Bits>
std::string hexadecimal(const std::byte* element) {
  return fmt::format("{:#0{}x}", value_at<Bits>(element), 2 * sizeof(Bits) + 2);
}

template <class T, class Bits>
std::string plain(const std::byte* element) {
  if constexpr (sizeof(T) == 1)
    return fmt::format("{} ({})", static_cast<int>(value_at<T>(element)), hexadecimal<Bits>(element));
  else
    return fmt::format("{} ({})", decimal(value_at<T>(element)), hexadecimal<Bits>(element));
}

template <class T, class Bits>
std::string narrow(const std::byte* element) {
  return fmt::format("{} ({})", decimal(static_cast<float>(value_at<T>(element))), hexadecimal<Bits>(element));
}

template <class T, class Bits>
std::string complex(const std::byte* element) {
  const std::byte* const imaginary = element + sizeof(T);
  return fmt::format("{}{:+}i ({}, {})", decimal(value_at<T>(element)), value_at<T>(imaginary),
                     hexadecimal<Bits>(element), hexadecimal<Bits>(imaginary));
}

std::string blob(const std::byte* element, std::size_t bytes) {
  std::string text = "0x";
  for (std::size_t i = 0; i < bytes; ++i)
    text += fmt::format("{:02x}", static_cast<unsigned>(element[i]));
  return text;
}

/// "count 8 recorded, 9 now", if they differ.
template <class T>
void note(std::vector<std::string>& found, std::string_view what, const T& first, const T& second, const Sides& sides) {
  if (first != second)
    found.push_back(
        fmt::format("{}{}{} {}, {} {}", what, what.empty() ? "" : " ", first, sides.first, second, sides.second));
}

std::string algorithm_of(const CallRecord& call) {
  return {call.algorithm.begin(), std::find(call.algorithm.begin(), call.algorithm.end(), '\0')};
}

}  // namespace

std::string in_words(const CallRecord& call) {
  if (!is_collective(call)) return fmt::format("messages of {} bytes", call.count);
  std::string text = records::to_string(action_of(call));
  if (action_of(call) == Action::barrier) return text;
  text += (call.flags & CallRecord::uneven) != 0
              ? fmt::format(" of blocks of {} that differ in size", type_name(call.type))
              : fmt::format(" of {} {}", call.count, type_name(call.type));
  if (has_operation(call)) text += fmt::format(", {}", to_string(static_cast<Op::Kind>(call.op)));
  if (has_root(collective_of(call))) {
    const bool is_from = collective_of(call) == Collective::broadcast || collective_of(call) == Collective::scatter;
    text += fmt::format(" {} rank {}", is_from ? "from" : "to", call.root);
  }
  return text;
}

std::string place_in_words(const CallRecord& call, const CommunicatorRecord& communicator) {
  return fmt::format("{} {} of communicator {}/{}", is_collective(call) ? "call" : "batch", call.number,
                     communicator.number, communicator.size);
}

std::string mismatch(const CallRecord& first, const CallRecord& second, const Sides& sides) {
  std::vector<std::string> found;
  note(found, "", records::to_string(action_of(first)), records::to_string(action_of(second)), sides);
  if (!found.empty()) return found.front();
  note(found, "type", type_name(first.type), type_name(second.type), sides);
  if (has_operation(first)) {
    note(found, "operation", to_string(static_cast<Op::Kind>(first.op)), to_string(static_cast<Op::Kind>(second.op)),
         sides);
    if (std::bit_cast<std::uint64_t>(first.scale) != std::bit_cast<std::uint64_t>(second.scale))
      found.push_back(fmt::format("scale {} {}, {} {}", first.scale, sides.first, second.scale, sides.second));
  }
  note(found, "root", first.root, second.root, sides);
  note(found, "count", first.count, second.count, sides);
  const bool differ_in_lists = first.lists != second.lists || (first.flags ^ second.flags) & CallRecord::uneven;
  if (found.empty() && differ_in_lists)
    found.emplace_back(is_collective(first) ? "other counts in the lists of blocks" : "other peers, or other sizes");
  if (found.empty() && first.kind == second.kind) note(found, "bytes", first.bytes, second.bytes, sides);
  return fmt::format("{}", fmt::join(found, "; "));
}

std::string algorithms_in_words(const CallRecord& first, const CallRecord& second, const Sides& sides) {
  const std::string a = algorithm_of(first), b = algorithm_of(second);
  if (a == b) return a.empty() ? "" : fmt::format("by {}", a);
  return fmt::format("by {} {}, {} {}", a, sides.first, b, sides.second);
}

std::string_view in_words(Hashed hashed) {
  constexpr std::array<std::string_view, hashed_count> words{
      "hashed", "a stream of a device runs the call", "elements have bytes that hold nothing",
      "the data could not be copied from the device", "the call failed"};
  return words.at(static_cast<std::size_t>(hashed));
}

std::string value_in_words(Type type, const std::byte* element) {
  switch (type) {
    case Type::int8:
      return plain<std::int8_t, std::uint8_t>(element);
    case Type::int16:
      return plain<std::int16_t, std::uint16_t>(element);
    case Type::int32:
      return plain<std::int32_t, std::uint32_t>(element);
    case Type::int64:
      return plain<std::int64_t, std::uint64_t>(element);
    case Type::uint8:
    case Type::boolean:
      return plain<std::uint8_t, std::uint8_t>(element);
    case Type::uint16:
      return plain<std::uint16_t, std::uint16_t>(element);
    case Type::uint32:
      return plain<std::uint32_t, std::uint32_t>(element);
    case Type::uint64:
      return plain<std::uint64_t, std::uint64_t>(element);
    case Type::fp8_e4m3:
      return narrow<Float8E4M3, std::uint8_t>(element);
    case Type::fp8_e5m2:
      return narrow<Float8E5M2, std::uint8_t>(element);
    case Type::fp16:
      return narrow<Half, std::uint16_t>(element);
    case Type::bf16:
      return narrow<BFloat16, std::uint16_t>(element);
    case Type::fp32:
      return plain<float, std::uint32_t>(element);
    case Type::fp64:
      return plain<double, std::uint64_t>(element);
    case Type::complex_fp32:
      return complex<float, std::uint32_t>(element);
    case Type::complex_fp64:
      return complex<double, std::uint64_t>(element);
  }
  return blob(element, static_cast<std::size_t>(size_of(type).value()));
}

ElementComparison::ElementComparison(Type type) : type_(type), size_(static_cast<std::size_t>(size_of(type).value())) {}

void ElementComparison::add(const std::byte* first, const std::byte* second, std::size_t bytes) {
  if (std::memcmp(first, second, bytes) != 0) {
    for (std::size_t at = 0; at < bytes; at += size_) {
      if (std::memcmp(first + at, second + at, size_) == 0) continue;
      if (differing_++ > 0) continue;
      element_ = seen_ + static_cast<std::int64_t>(at / size_);
      first_ = value_in_words(type_, first + at);
      second_ = value_in_words(type_, second + at);
    }
  }
  seen_ += static_cast<std::int64_t>(bytes / size_);
}

std::string ElementComparison::in_words(const Sides& sides) const {
  return fmt::format("element {} of {} is {} {}, {} {}; {} element{}", element_, seen_, first_, sides.first, second_,
                     sides.second, differing_, differing_ == 1 ? " differs" : "s differ");
}

}  // namespace tutti::bits
