#include "memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "random.hpp"

namespace tutti::differential {
namespace {

constexpr std::size_t line = 64;

std::size_t bytes_up_to_line(const std::byte* address) {
  return (line - reinterpret_cast<std::uintptr_t>(address) % line) % line;
}

/// 0, a whole number of elements, or any number of bytes.
std::size_t random_misalignment(Random& random, std::int64_t element) {
  if (random.chance(40)) return 0;
  return static_cast<std::size_t>(random.chance(60) ? element * random.between(1, 9) : random.between(1, 63));
}

Origin random_origin(Random& random, std::int64_t percent_in_tutti_memory, std::int64_t percent_on_devices) {
  if (percent_on_devices > 0 && random.chance(static_cast<int>(percent_on_devices)))
    return random.chance(50) ? Origin::device : Origin::device_arena;
  if (random.chance(static_cast<int>(percent_in_tutti_memory))) return Origin::tutti;
  return random.chance(50) ? Origin::heap : Origin::arena;
}

/// Of a call, on all ranks: none, some or all of its buffers are in Tutti memory.
std::int64_t percent_in_tutti_memory(const Call& call) {
  return Random{mixed({call.key, 0x3e3})}.one_of(std::vector<std::int64_t>{0, 0, 50, 100});
}

/// The same for memory of GPUs.
std::int64_t percent_on_devices(const Call& call) {
  return Random{mixed({call.key, 0x3e5})}.one_of(std::vector<std::int64_t>{50, 100, 100});
}

/// Calls write(offset in the buffer, bytes of the block) for each block; offsets in bytes.
template <class Write>
void for_each_block(const Side& side, std::int64_t at, std::int64_t element, const ByteVector& elements, Write write) {
  std::size_t first = 0;
  for (std::size_t block = 0; block < side.counts.size(); ++block) {
    const auto bytes = static_cast<std::size_t>(side.counts[block] * element);
    write(static_cast<std::size_t>((at + side.offsets[block]) * element), std::span{elements}.subspan(first, bytes));
    first += bytes;
  }
}

}  // namespace

void MemoryPool::Free::operator()(std::byte* data) const { ::operator delete[](data, std::align_val_t{line}); }

MemoryPool::MemoryPool(std::size_t bytes, bool on_devices) : arena_(bytes), shared_(bytes) {
  if (on_devices) device_arena_.emplace(bytes);
}

std::span<std::byte> MemoryPool::take_on_device(Origin origin, std::size_t bytes) {
  const std::size_t first = (device_used_ + line - 1) / line * line;
  if (origin == Origin::device || arena_.size() < first + bytes)
    return {device_pieces_.emplace_back(std::max<std::size_t>(bytes, 1)).data(), bytes};
  device_used_ = first + bytes;
  return {device_arena_->data() + first, bytes};
}

std::span<std::byte> MemoryPool::take(Origin origin, std::size_t bytes) {
  if (origin == Origin::device || origin == Origin::device_arena) return take_on_device(origin, bytes);
  const bool is_shared = origin == Origin::tutti;
  const std::span<std::byte> all = is_shared ? shared_.span() : std::span{arena_};
  std::size_t& used = is_shared ? shared_used_ : arena_used_;
  const std::size_t first = used + bytes_up_to_line(all.data() + used);
  if (origin == Origin::heap || first > all.size() || all.size() - first < bytes) {
    pieces_.emplace_back(new (std::align_val_t{line}) std::byte[bytes]);
    return {pieces_.back().get(), bytes};
  }
  used = first + bytes;
  return all.subspan(first, bytes);
}

void MemoryPool::reset() {
  pieces_.clear();
  device_pieces_.clear();
  arena_used_ = shared_used_ = device_used_ = 0;
}

GuardedBuffer::GuardedBuffer(MemoryPool& pool, Origin origin, std::size_t bytes, std::size_t misaligned) {
  const std::size_t guard = origin == Origin::heap || origin == Origin::device ? 0 : line;
  start_ = guard + misaligned;
  memory_ = pool.take(origin, start_ + bytes + guard);
  if (origin == Origin::device || origin == Origin::device_arena) {
    on_device_ = memory_;
    mirror_.resize(memory_.size());
    memory_ = mirror_;
  }
  expected_.resize(memory_.size());
}

void GuardedBuffer::to_device() {
  if (!on_device_.empty()) test::TestDevices::get().copy(on_device_.data(), memory_.data(), memory_.size());
}

void GuardedBuffer::from_device() {
  if (!on_device_.empty()) test::TestDevices::get().copy(memory_.data(), on_device_.data(), memory_.size());
}

void GuardedBuffer::clear(std::uint64_t key) {
  const auto first = static_cast<unsigned char>(key);
  for (std::size_t i = 0; i < memory_.size(); ++i)
    memory_[i] = std::byte{static_cast<unsigned char>(first + i * 151)};
  std::ranges::copy(memory_, expected_.begin());
}

void GuardedBuffer::write(std::size_t offset, std::span<const std::byte> bytes) {
  std::ranges::copy(bytes, memory_.begin() + static_cast<std::ptrdiff_t>(start_ + offset));
  expect(offset, bytes);
}

void GuardedBuffer::expect(std::size_t offset, std::span<const std::byte> bytes) {
  std::ranges::copy(bytes, expected_.begin() + static_cast<std::ptrdiff_t>(start_ + offset));
}

std::optional<std::int64_t> GuardedBuffer::first_wrong() const {
  if (memory_.empty() || std::memcmp(memory_.data(), expected_.data(), memory_.size()) == 0) return std::nullopt;
  const auto wrong = std::ranges::mismatch(memory_, expected_).in1;
  return wrong - memory_.begin() - static_cast<std::ptrdiff_t>(start_);
}

std::string GuardedBuffer::comparison(std::int64_t offset) const {
  const auto at = static_cast<std::size_t>(static_cast<std::int64_t>(start_) + offset);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < memory_.size(); ++i)
    wrong += memory_[i] != expected_[i] ? 1 : 0;
  return fmt::format("{:#04x}, expected {:#04x}; {} bytes differ", std::to_integer<unsigned>(memory_[at]),
                     std::to_integer<unsigned>(expected_[at]), wrong);
}

CallMemory::CallMemory(const Call& call, int rank, const Layout& layout, MemoryPool& pool)
    : layout_(layout), element_(size_of(call.type).value()) {
  Random random{mixed({call.key, 0x3e4, static_cast<std::uint64_t>(rank)})};
  const std::int64_t percent = percent_in_tutti_memory(call);
  const std::int64_t on_devices = pool.is_on_devices() ? percent_on_devices(call) : 0;
  const auto add = [&](std::int64_t elements) {
    const Origin origin = random_origin(random, percent, on_devices);
    buffers_.emplace_back(pool, origin, static_cast<std::size_t>(elements * element_),
                          random_misalignment(random, element_));
  };
  null_where_empty_ = random.chance(50);
  if (!layout.input_in_output) {
    add(layout.out.extent);
    add(layout.in.extent);
    return;
  }
  out_at_ = std::max<std::int64_t>(0, -*layout.input_in_output);
  in_at_ = out_at_ + *layout.input_in_output;
  add(std::max(out_at_ + layout.out.extent, in_at_ + layout.in.extent));
}

void CallMemory::prepare(std::uint64_t key, const ByteVector& input) {
  for (GuardedBuffer& buffer : buffers_)
    buffer.clear(mixed(key++));
  for_each_block(layout_.in, in_at_, element_, input,
                 [&](std::size_t offset, auto bytes) { buffers_.back().write(offset, bytes); });
  for (GuardedBuffer& buffer : buffers_)
    buffer.to_device();
}

void CallMemory::collect() {
  for (GuardedBuffer& buffer : buffers_)
    buffer.from_device();
}

void CallMemory::expect_output(const ByteVector& output) {
  for_each_block(layout_.out, out_at_, element_, output,
                 [&](std::size_t offset, auto bytes) { buffers_.front().expect(offset, bytes); });
}

std::byte* CallMemory::in() const {
  if (layout_.in.extent == 0 && null_where_empty_ && !layout_.input_in_output) return nullptr;
  return buffers_.back().data() + in_at_ * element_;
}

std::byte* CallMemory::out() const {
  if (layout_.out.extent == 0 && null_where_empty_ && !layout_.input_in_output) return nullptr;
  return buffers_.front().data() + out_at_ * element_;
}

std::string CallMemory::place(bool is_output_buffer, std::int64_t byte) const {
  const Side& side = is_output_buffer ? layout_.out : layout_.in;
  const std::int64_t at = byte - (is_output_buffer ? out_at_ : in_at_) * element_;
  for (std::size_t block = 0; block < side.counts.size(); ++block) {
    const std::int64_t first = side.offsets[block] * element_, last = first + side.counts[block] * element_;
    if (at >= first && at < last)
      return fmt::format("element {} of block {}, byte {}", (at - first) / element_, block, (at - first) % element_);
  }
  return fmt::format("byte {} from the start, outside of all blocks", at);
}

std::optional<std::string> CallMemory::difference() const {
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (const auto wrong = buffers_[i].first_wrong())
      return fmt::format("{}: {} is {}", i == 0 ? "output" : "input", place(i == 0, *wrong),
                         buffers_[i].comparison(*wrong));
  return std::nullopt;
}

}  // namespace tutti::differential
