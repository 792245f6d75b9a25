#include "apps/soak/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::soak {
namespace {

using bench::BenchMemory;

constexpr std::size_t line = 64;

/// 0, a whole number of elements, or any number of bytes.
std::size_t random_misalignment(Random& random, std::int64_t element) {
  if (random.chance(40)) return 0;
  return static_cast<std::size_t>(random.chance(60) ? element * random.between(1, 9) : random.between(1, 63));
}

bench::Buffer allocated(const BenchMemory& memory, std::size_t bytes) {
  bench::Buffer buffer = bench::allocate(memory, Bytes{std::max<std::size_t>(bytes, 1)});
  if (buffer == nullptr) throw Error(fmt::format("there are no {} bytes of memory '{}'", bytes, memory.name));
  return buffer;
}

/// Calls use(offset in the buffer in bytes, the same in bytes, number of the block) for each block.
template <class Use>
void for_each_block(const Side& side, std::int64_t at, std::int64_t element, Use use) {
  for (std::size_t block = 0; block < side.counts.size(); ++block)
    use(static_cast<std::size_t>((at + side.offsets[block]) * element),
        static_cast<std::size_t>(side.counts[block] * element), block);
}

template <class T>
std::string value_text(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  if constexpr (std::integral<T>)
    return fmt::format("{}", +value);  // numbers of 8 bits are no letters
  else if constexpr (is_complex(type_of<T>))
    return fmt::format("({}, {})", value.real(), value.imag());
  else if constexpr (sizeof(T) <= 2)
    return fmt::format("{}", static_cast<float>(value));
  else
    return fmt::format("{}", value);
}

}  // namespace

Arena::Arena(const BenchMemory& memory, std::size_t bytes) : data_(allocated(memory, bytes)), bytes_(bytes) {
  // Pages are there from the start: what the process needs later on is not the arena's.
  memory.rewrite({data_.get(), bytes_});
}

std::optional<std::span<std::byte>> Arena::take(std::size_t bytes) {
  const std::size_t first = (used_ + line - 1) / line * line;
  if (first > bytes_ || bytes_ - first < bytes) return std::nullopt;
  used_ = first + bytes;
  return std::span{data_.get() + first, bytes};
}

MemoryPool::MemoryPool(std::vector<const BenchMemory*> memories, std::size_t bytes) : memories_(std::move(memories)) {
  for (const BenchMemory* const memory : memories_)
    arenas_.emplace_back(*memory, bytes);
  arenas_.emplace_back(bench::memories().front(), 2 * bytes);
}

std::span<std::byte> MemoryPool::take(const BenchMemory& memory, Lifetime lifetime, std::size_t bytes) {
  const auto place = static_cast<std::size_t>(std::ranges::find(memories_, &memory) - memories_.begin());
  if (lifetime == Lifetime::lasting)
    if (const auto piece = arenas_[place].take(bytes)) return *piece;
  pieces_.push_back(allocated(memory, bytes));
  return {pieces_.back().get(), bytes};
}

std::span<std::byte> MemoryPool::scratch(std::size_t bytes) {
  if (const auto piece = arenas_.back().take(bytes)) return *piece;
  pieces_.push_back(allocated(bench::memories().front(), bytes));
  return {pieces_.back().get(), bytes};
}

void MemoryPool::reset() {
  pieces_.clear();
  for (Arena& arena : arenas_)
    arena.reset();
}

GuardedBuffer::GuardedBuffer(MemoryPool& pool, const BenchMemory& memory, MemoryPool::Lifetime lifetime,
                             std::size_t bytes, std::size_t misaligned)
    : kind_(&memory) {
  const std::size_t guard = lifetime == MemoryPool::Lifetime::of_step ? 0 : line;
  start_ = guard + misaligned;
  memory_ = pool.take(memory, lifetime, start_ + bytes + guard);
  view_ = memory.is_readable_by_host() ? memory_ : pool.scratch(memory_.size());
  expected_ = pool.scratch(memory_.size());
}

std::span<std::byte> GuardedBuffer::at(std::size_t offset, std::size_t bytes) const {
  return view_.subspan(start_ + offset, bytes);
}

std::span<std::byte> GuardedBuffer::expected_at(std::size_t offset, std::size_t bytes) const {
  return expected_.subspan(start_ + offset, bytes);
}

void GuardedBuffer::to_memory() const {
  if (view_.data() != memory_.data() && !view_.empty()) kind_->write(memory_.data(), view_);
}

void GuardedBuffer::from_memory() const {
  if (view_.data() != memory_.data() && !view_.empty()) kind_->read(memory_.data(), view_);
}

void GuardedBuffer::clear(std::uint64_t key) const {
  constexpr std::size_t odd = 509;  // A prime, so that it differs from place to place.
  const std::size_t known = std::min(odd, view_.size());
  for (std::size_t i = 0; i < known; ++i)
    view_[i] = std::byte{static_cast<unsigned char>(key + i * 151)};
  bench::repeat(view_, known);
  std::ranges::copy(view_, expected_.begin());
}

std::optional<std::int64_t> GuardedBuffer::first_wrong() const {
  if (view_.empty() || std::memcmp(view_.data(), expected_.data(), view_.size()) == 0) return std::nullopt;
  const auto wrong = std::ranges::mismatch(view_, expected_).in1;
  return wrong - view_.begin() - static_cast<std::ptrdiff_t>(start_);
}

std::int64_t GuardedBuffer::count_wrong() const {
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < view_.size(); ++i)
    wrong += view_[i] != expected_[i] ? 1 : 0;
  return wrong;
}

CallMemory::CallMemory(const Call& call, int rank, const Layout& layout, MemoryPool& pool)
    : call_(call), rank_(rank), layout_(layout), element_(size_of(call.type).value()) {
  // On all ranks all buffers of a call are in one memory, or half of them and the others in any.
  Random common{mixed({call.key, 0x3e3})}, own{mixed({call.key, 0x3e4, static_cast<std::uint64_t>(rank)})};
  const BenchMemory* const usual = common.one_of(pool.memories());
  const int percent = common.chance(60) ? 100 : 50;
  const auto add = [&](std::int64_t elements) {
    const BenchMemory& memory = own.chance(percent) ? *usual : *own.one_of(pool.memories());
    const auto lifetime = own.chance(50) ? MemoryPool::Lifetime::lasting : MemoryPool::Lifetime::of_step;
    buffers_.emplace_back(pool, memory, lifetime, static_cast<std::size_t>(elements * element_),
                          random_misalignment(own, element_));
  };
  null_where_empty_ = own.chance(50);
  if (!layout.input_in_output) {
    add(layout.out.extent);
    add(layout.in.extent);
    return;
  }
  out_at_ = std::max<std::int64_t>(0, -*layout.input_in_output);
  in_at_ = out_at_ + *layout.input_in_output;
  add(std::max(out_at_ + layout.out.extent, in_at_ + layout.in.extent));
}

void CallMemory::prepare(int repetition) {
  std::uint64_t key = mixed({call_.key, static_cast<std::uint64_t>(repetition)});
  for (const GuardedBuffer& buffer : buffers_)
    buffer.clear(mixed(key++));
  std::int64_t first = 0;
  const GuardedBuffer& buffer = buffers_.back();
  for_each_block(layout_.in, in_at_, element_, [&](std::size_t offset, std::size_t bytes, std::size_t block) {
    bench::write_input(operands_of(call_, repetition), rank_, first, buffer.at(offset, bytes));
    std::ranges::copy(buffer.at(offset, bytes), buffer.expected_at(offset, bytes).begin());
    first += layout_.in.counts[block];
  });
  for (const GuardedBuffer& each : buffers_)
    each.to_memory();
}

void CallMemory::collect(int repetition, const std::vector<std::byte>* by_mpi) {
  for (const GuardedBuffer& buffer : buffers_)
    buffer.from_memory();
  const std::vector<bench::Source> sources = sources_of(call_, rank_);
  if (sources.empty()) return;
  std::size_t first = 0;
  for_each_block(layout_.out, out_at_, element_, [&](std::size_t offset, std::size_t bytes, std::size_t block) {
    const std::span<std::byte> into = buffers_.front().expected_at(offset, bytes);
    if (by_mpi == nullptr)
      bench::write_result(operands_of(call_, repetition), sources[block], into);
    else
      std::copy_n(by_mpi->begin() + static_cast<std::ptrdiff_t>(first), bytes, into.begin());
    first += bytes;
  });
}

bool CallMemory::spoil() {
  std::byte* last = nullptr;
  for_each_block(layout_.out, out_at_, element_, [&](std::size_t offset, std::size_t bytes, std::size_t) {
    if (bytes > 0) last = &buffers_.front().at(offset, bytes).back();
  });
  if (last != nullptr) *last ^= std::byte{1};
  return last != nullptr;
}

std::byte* CallMemory::in() const {
  if (layout_.in.extent == 0 && null_where_empty_ && !layout_.input_in_output) return nullptr;
  return buffers_.back().data() + in_at_ * element_;
}

std::byte* CallMemory::out() const {
  if (layout_.out.extent == 0 && null_where_empty_ && !layout_.input_in_output) return nullptr;
  return buffers_.front().data() + out_at_ * element_;
}

std::string CallMemory::difference_at(std::size_t buffer, std::int64_t byte) const {
  const Side& side = buffer == 0 ? layout_.out : layout_.in;
  const std::int64_t start = (buffer == 0 ? out_at_ : in_at_) * element_, at = byte - start;
  for (std::size_t block = 0; block < side.counts.size(); ++block) {
    const std::int64_t first = side.offsets[block] * element_, last = first + side.counts[block] * element_;
    if (at < first || at >= last) continue;
    const std::int64_t element = (at - first) / element_;
    const auto offset = static_cast<std::size_t>(start + first + element * element_);
    const auto bytes = static_cast<std::size_t>(element_);
    const auto text = [&](std::span<const std::byte> value) {
      return bench::with_type(call_.type, [&]<class T>() { return value_text<T>(value.data()); });
    };
    return fmt::format("element {} of block {} is {}, expected {}", element, block,
                       text(buffers_[buffer].at(offset, bytes)), text(buffers_[buffer].expected_at(offset, bytes)));
  }
  return fmt::format("byte {} from the start, outside of all blocks, was changed", at);
}

std::optional<std::string> CallMemory::difference() const {
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (const auto wrong = buffers_[i].first_wrong())
      return fmt::format("{}: {}; {} bytes differ", i == 0 ? "output" : "input", difference_at(i, *wrong),
                         buffers_[i].count_wrong());
  return std::nullopt;
}

}  // namespace tutti::soak
