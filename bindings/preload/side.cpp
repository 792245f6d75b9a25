#include "bindings/preload/side.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::interpose {
namespace {

using mpi::api;
using mpi::check;

std::intptr_t address(const void* data) { return reinterpret_cast<std::intptr_t>(data); }

void* moved(const void* data, std::int64_t bytes) {
  // Numbers, as MPI_BOTTOM with absolute addresses is no pointer into an object.
  return reinterpret_cast<void*>(address(data) + bytes);  // NOLINT(performance-no-int-to-ptr)
}

constexpr std::int64_t most_counted = std::numeric_limits<int>::max();  ///< Bytes, by MPI_Pack.

/// A type of so many bytes, for one element.
mpi::UniqueType bytes_type(std::int64_t bytes) {
  constexpr std::int64_t piece = std::int64_t{1} << 30;
  mpi::UniqueType pieces, all;
  check(api.Type_contiguous(piece, MPI_BYTE, pieces.receive()), "MPI_Type_contiguous");
  const std::array<int, 2> counts{mpi::narrow(bytes / piece), static_cast<int>(bytes % piece)};
  const std::array<MPI_Aint, 2> places{0, bytes / piece * piece};
  const std::array<MPI_Datatype, 2> types{pieces.get(), MPI_BYTE};
  MPI_Datatype* const type = all.receive();
  check(api.Type_create_struct(2, counts.data(), places.data(), types.data(), type), "MPI_Type_create_struct");
  check(api.Type_commit(type), "MPI_Type_commit");
  return all;
}

/// One element, as a message of this rank to itself.
void move_element(const void* from, MPI_Datatype from_type, void* to, MPI_Datatype to_type) {
  static std::mutex mutex;  // messages of two threads are not told apart
  const std::lock_guard lock{mutex};
  check(api.Sendrecv(from, 1, from_type, 0, 0, to, 1, to_type, 0, 0, own_comm(), MPI_STATUS_IGNORE), "MPI_Sendrecv");
}

/// Elements of the program and their bytes without gaps: one element, or as many as MPI_Pack counts.
struct Elements {
  void* data;
  int count;
  MPI_Datatype type;
  std::byte* packed;
  std::int64_t bytes;
};

void pack_elements(const Elements& all) {
  if (all.bytes > most_counted) return move_element(all.data, all.type, all.packed, bytes_type(all.bytes).get());
  int position = 0;
  const int bytes = mpi::narrow(all.bytes);
  check(api.Pack(all.data, all.count, all.type, all.packed, bytes, &position, MPI_COMM_SELF), "MPI_Pack");
}

void unpack_elements(const Elements& all) {
  if (all.bytes > most_counted) return move_element(all.packed, bytes_type(all.bytes).get(), all.data, all.type);
  int position = 0;
  const int bytes = mpi::narrow(all.bytes);
  check(api.Unpack(all.packed, bytes, &position, all.data, all.count, all.type, MPI_COMM_SELF), "MPI_Unpack");
}

/// Whether two parts have bytes in common.
template <class Part>
bool overlap(const std::vector<Part>& parts) {
  const auto end = [](const Part& part) { return address(part.data) + part.bytes; };
  std::intptr_t free = std::numeric_limits<std::intptr_t>::min();
  const auto lies_behind = [&](const Part& part) {
    return part.bytes == 0 || std::exchange(free, end(part)) <= address(part.data);
  };
  if (std::ranges::all_of(parts, lies_behind)) return false;  // as most programs list their blocks: without a copy
  std::vector<Part> order = parts;
  std::erase_if(order, [](const Part& part) { return part.bytes == 0; });
  std::ranges::sort(order, {}, [](const Part& part) { return address(part.data); });
  const auto meet = [&](const Part& a, const Part& b) { return end(a) > address(b.data); };
  return std::ranges::adjacent_find(order, meet) != order.end();
}

/// `move`: pack_elements or unpack_elements.
template <class Part, class Move>
void move_all(const std::vector<Part>& parts, std::byte* packed, const Move& move) {
  for (const Part& part : parts) {
    if (part.bytes == 0) continue;
    const std::int64_t size = part.bytes / part.count;
    const std::int64_t at_a_time = std::max<std::int64_t>(1, most_counted / size);
    for (std::int64_t done = 0; done < part.count; done += at_a_time) {
      const std::int64_t count = std::min(at_a_time, part.count - done);
      move({moved(part.data, done * part.extent), static_cast<int>(count), part.type, packed, count * size});
      packed += count * size;
    }
  }
}

}  // namespace

/// False: MPI has to say that there is no buffer. MPI_BOTTOM is one, with types that have absolute addresses.
bool Side::add(const Part& part, const Layout& layout) {
  if (part.data == nullptr && part.bytes > 0 && (layout.is_contiguous || layout.kind != TypeKind::derived))
    return false;
  is_packed_ |= part.bytes > 0 && !layout.is_contiguous;
  has_gaps_ |= layout.has_gaps;
  parts_.push_back(part.data == nullptr && part.bytes > 0 ? from_elsewhere(part) : part);
  return true;
}

/// MPICH packs nothing at MPI_BOTTOM, which is null: the same data, as a type with places that count from elsewhere.
Side::Part Side::from_elsewhere(const Part& part) {
  constexpr std::intptr_t elsewhere = 4096;
  const int count = mpi::narrow(part.count);
  const MPI_Aint place = -elsewhere;
  MPI_Datatype* const type = kept_.emplace_back().receive();
  check(api.Type_create_hindexed(1, &count, &place, part.type, type), "MPI_Type_create_hindexed");
  check(api.Type_commit(type), "MPI_Type_commit");
  return {moved(nullptr, elsewhere), 1, *type, part.bytes, 0};
}

bool Side::set(const Even& given, int blocks) {
  const Layout* const layout = layout_of(given.type);
  if (layout == nullptr || given.count < 0) return false;
  count_ = Count{given.count * layout->size};
  blocks_ = blocks;
  name_ = layout->name;
  has_gaps_ = layout->has_gaps;
  data_ = const_cast<void*>(given.data);
  if (layout->is_contiguous) return given.data != nullptr || count_ == Count{0};  // in few steps: calls may be short
  return add({data_, given.count * blocks, given.type, count_.value() * blocks, layout->extent}, *layout);
}

bool Side::set(const Listed& given, int blocks) {
  const Layout* const layout = layout_of(given.type);
  if (layout == nullptr || given.counts.is_null() || given.displacements.is_null()) return false;
  name_ = layout->name;
  for (int i = 0; i < blocks; ++i) {
    const std::int64_t count = given.counts[i];
    if (count < 0) return false;
    void* const data = moved(given.data, given.displacements[i] * layout->extent);
    if (!add({data, count, given.type, count * layout->size, layout->extent}, *layout)) return false;
  }
  list(given.data);
  return true;
}

bool Side::set(const Typed& given, int blocks) {
  if (given.counts.is_null() || given.displacements.is_null() || given.types == nullptr) return false;
  name_ = records::of_several_types;
  for (int i = 0; i < blocks; ++i) {
    const std::int64_t count = given.counts[i];
    if (count < 0) return false;
    if (count == 0) {  // its type does not count either
      parts_.push_back({moved(given.data, given.displacements[i]), 0, MPI_BYTE, 0, 1});
      continue;
    }
    const Layout* const layout = layout_of(given.types[i]);
    if (layout == nullptr) return false;
    void* const data = moved(given.data, given.displacements[i]);
    if (!add({data, count, given.types[i], count * layout->size, layout->extent}, *layout)) return false;
  }
  list(given.data);
  return true;
}

/// Tutti has no negative offsets: where data are not packed, they count from the lowest block.
void Side::list(const void* base) {
  for (const Part& part : parts_)
    counts_.emplace_back(part.bytes);
  if (is_packed_) return list_packed();
  std::intptr_t lowest = std::numeric_limits<std::intptr_t>::max();
  for (const Part& part : parts_)
    if (part.bytes > 0) lowest = std::min(lowest, address(part.data));
  if (lowest == std::numeric_limits<std::intptr_t>::max()) lowest = address(base);
  for (const Part& part : parts_)
    offsets_.emplace_back(part.bytes > 0 ? address(part.data) - lowest : 0);
  data_ = moved(nullptr, lowest);
}

void Side::list_packed() {
  offsets_.clear();
  std::int64_t packed = 0;
  for (const Part& part : parts_) {
    offsets_.emplace_back(packed);
    packed += part.bytes;
  }
}

MPI_Datatype Side::committed(MPI_Datatype type) {
  MPI_Datatype* const made = kept_.emplace_back().receive();
  check(api.Type_contiguous(1, type, made), "MPI_Type_contiguous");
  check(api.Type_commit(made), "MPI_Type_commit");
  return *made;
}

std::pair<std::intptr_t, std::intptr_t> Side::range() const {
  if (counts_.empty()) return {address(data_), address(data_) + count_.value() * blocks_};
  std::pair<std::intptr_t, std::intptr_t> all{std::numeric_limits<std::intptr_t>::max(), 0};
  for (const Part& part : parts_)
    if (part.bytes > 0)
      all = {std::min(all.first, address(part.data)), std::max(all.second, address(part.data) + part.bytes)};
  return all;
}

bool Side::begins_at(int block, const void* data) const {
  const std::int64_t at = offsets_.empty() ? block * count_.value() : offsets_[static_cast<std::size_t>(block)].value();
  return !is_packed_ && moved(data_, at) == data;
}

void Side::read_ahead_of(const Side& written) {
  if (is_packed_ || written.is_packed_) return;
  const auto [begin, end] = range();
  const auto [other, other_end] = written.range();
  if (end <= other || other_end <= begin) return;
  if (counts_.empty()) parts_.push_back({data_, end - begin, MPI_BYTE, end - begin, 1});
  is_packed_ = true;
  if (!counts_.empty()) list_packed();
}

void Side::keep_apart() {
  if (is_packed_ || !overlap(parts_)) return;
  is_packed_ = true;
  list_packed();
}

void Side::fill(int block, Side& with) {
  const std::int64_t bytes = std::min(count_of(block), with.count_of(0)).value();
  const std::int64_t at = offsets_.empty() ? block * count_.value() : offsets_[static_cast<std::size_t>(block)].value();
  if (bytes > 0) std::memmove(moved(data(), at), with.data(), static_cast<std::size_t>(bytes));
}

std::int64_t Side::listed_bytes() const {
  const auto add = [](std::int64_t sum, Count count) { return sum + count.value(); };
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}, add);
}

void* Side::data() {
  if (!is_packed_) return data_;
  if (packed_ == nullptr) {
    std::int64_t bytes = 0;
    for (const Part& part : parts_)
      bytes += part.bytes;
    packed_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  }
  return packed_.get();
}

void Side::keep_types() {
  if (!is_packed_) return;
  MPI_Datatype last = MPI_DATATYPE_NULL;
  for (Part& part : parts_) {
    if (part.type != last) static_cast<void>(committed(part.type));
    last = std::exchange(part.type, kept_.back().get());
  }
}

void Side::pack() {
  if (is_packed_) move_all(parts_, static_cast<std::byte*>(data()), pack_elements);
}

void Side::unpack() {
  if (is_packed_) move_all(parts_, static_cast<std::byte*>(data()), unpack_elements);
}

}  // namespace tutti::interpose
