#include "tests/fake_cuda/driver/copy.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "tests/fake_cuda/driver/access.hpp"
#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/settings.hpp"
#include "tests/fake_cuda/driver/stream.hpp"

namespace fake_cuda {
namespace {

enum class Place : std::uint8_t { device, pinned, pageable };

Place place_of(const RegionPointer& region) {
  if (region == nullptr) return Place::pageable;
  return region->is_on_device() || region->kind == Kind::managed ? Place::device : Place::pinned;
}

void count(Place to, Place from, std::size_t bytes) {
  Totals& all = totals();
  ++all.copies;
  if (to == Place::device)
    (from == Place::device ? all.bytes_within_devices : all.bytes_to_device) += bytes;
  else if (from == Place::device)
    all.bytes_to_host += bytes;
}

const char* kind_of_copy(Place to, Place from) {
  if (to == Place::device) return from == Place::device ? "copy-within-devices" : "copy-to-device";
  return from == Place::device ? "copy-to-host" : "copy-on-host";
}

/// Host memory must not be read before the copy is over: until then it holds garbage.
void spoil(std::uint64_t to, std::size_t bytes) {
  constexpr int garbage = 0xcd;
  if (settings().poisons) std::memset(reinterpret_cast<void*>(to), garbage, bytes);
}

/// Pools and mapped memory are checked against the current context, whatever the stream.
bool is_refused(Context& current, const RegionPointer& region) {
  return region != nullptr && (region->kind == Kind::pool || region->kind == Kind::vmm) && !reaches(current, *region);
}

}  // namespace

CUresult copy(Context* context, std::uint64_t to, std::uint64_t from, std::size_t bytes, CUstream stream,
              Blocking blocking) {
  if (bytes == 0) return CUDA_SUCCESS;
  FAKE_CUDA_REQUIRE(to != 0 && from != 0);
  const RegionPointer target = Memory::get().find(to), source = Memory::get().find(from);
  FAKE_CUDA_REQUIRE(!is_refused(*context, target) && !is_refused(*context, source));
  const Place into = place_of(target), out_of = place_of(source);
  count(into, out_of, bytes);
  bool waits = into == Place::pageable || (target && target->sync_memops) || (source && source->sync_memops);
  if (blocking == Blocking::yes) waits |= into != Place::device || out_of != Place::device;
  if (waits) may_synchronise("a copy that the host waits for", context);
  const What what{kind_of_copy(into, out_of), bytes};
  if (!waits && out_of == Place::pageable) {  // staged: the caller may change the source once the call has returned
    const auto* const begin = reinterpret_cast<const std::byte*>(from);
    const auto staged = std::make_shared<std::vector<std::byte>>(begin, begin + bytes);
    return enqueue(context, stream,
                   {.work =
                        [=] {
                          std::memcpy(touch(to, target, bytes, Use::write, "copy to device memory").data,
                                      staged->data(), bytes);
                        },
                    .what = what});
  }
  Operation operation{.work =
                          [=] {
                            const Bytes source_bytes = touch(from, source, bytes, Use::read, "copy, read");
                            const Bytes target_bytes = touch(to, target, bytes, Use::write, "copy, write");
                            std::memmove(target_bytes.data, source_bytes.data, bytes);
                          },
                      .what = what};
  if (into == Place::pinned && out_of == Place::device) operation.spoil = [=] { spoil(to, bytes); };
  return enqueue(context, stream, std::move(operation), waits);
}

CUresult fill(Context* context, std::uint64_t to, const void* value, std::size_t element, std::size_t count,
              CUstream stream, Blocking blocking) {
  if (count == 0) return CUDA_SUCCESS;
  const RegionPointer region = Memory::get().find(to);
  FAKE_CUDA_REQUIRE(region != nullptr && to % element == 0);
  ++totals().copies;
  std::uint32_t bits = 0;
  std::memcpy(&bits, value, element);
  const bool waits = region->sync_memops || (blocking == Blocking::yes && !region->is_on_device());
  return enqueue(context, stream,
                 {.work =
                      [=] {
                        const Bytes bytes = touch(to, region, count * element, Use::write, "memset");
                        for (std::size_t i = 0; i < count; ++i)
                          std::memcpy(bytes.data + i * element, &bits, element);
                      },
                  .what = {"fill", count * element}},
                 waits);
}

}  // namespace fake_cuda
