#include "tests/fake_cuda/driver/copy.hpp"

#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/fake_cuda/driver/access.hpp"
#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/capture.hpp"
#include "tests/fake_cuda/driver/posting.hpp"
#include "tests/fake_cuda/driver/settings.hpp"

namespace fake_cuda {
namespace {

enum class Residence : std::uint8_t { device, pinned, pageable };

Residence residence_of(const RegionPointer& region) {
  if (region == nullptr) return Residence::pageable;
  return region->is_on_device() || region->kind == RegionKind::managed ? Residence::device : Residence::pinned;
}

void count(Residence to, Residence from, std::uint64_t bytes) {
  Totals& all = totals();
  ++all.copies;
  if (to == Residence::device)
    (from == Residence::device ? all.bytes_within_devices : all.bytes_to_device) += bytes;
  else if (from == Residence::device)
    all.bytes_to_host += bytes;
}

const char* kind_of_copy(Residence to, Residence from) {
  if (to == Residence::device) return from == Residence::device ? "copy-within-devices" : "copy-to-device";
  return from == Residence::device ? "copy-to-host" : "copy-on-host";
}

/// Host memory must not be read before the copy is over: until then it holds garbage.
void spoil(std::uint64_t to, std::size_t bytes) {
  constexpr int garbage = 0xcd;
  if (settings().poisons) std::memset(reinterpret_cast<void*>(to), garbage, bytes);
}

/// Pools and mapped memory are checked against the current context, whatever the stream.
bool is_refused(Context& current, const RegionPointer& region) {
  return region != nullptr && (region->kind == RegionKind::pool || region->kind == RegionKind::vmm) &&
         !reaches(current, *region);
}

struct Copy {
  std::uint64_t to, from;
  std::size_t bytes;
  RegionPointer target, source;  ///< nullptr: pageable memory.
  [[nodiscard]] Residence into() const { return residence_of(target); }
  [[nodiscard]] Residence out_of() const { return residence_of(source); }
};

bool is_waited_for(const Copy& copy, Blocking blocking) {
  if (copy.into() == Residence::pageable || (copy.target && copy.target->sync_memops) ||
      (copy.source && copy.source->sync_memops))
    return true;
  return blocking == Blocking::yes && (copy.into() != Residence::device || copy.out_of() != Residence::device);
}

/// The caller may change the source once the call has returned.
std::function<void()> staged_work(const Copy& copy) {
  const auto* const begin = reinterpret_cast<const std::byte*>(copy.from);
  const auto staged = std::make_shared<std::vector<std::byte>>(begin, begin + copy.bytes);
  return [=] {
    std::memcpy(touch(copy.to, copy.target, copy.bytes, Use::write, "copy to device memory").data, staged->data(),
                copy.bytes);
  };
}
std::function<void()> work(const Copy& copy) {
  return [=] {
    const Bytes source = touch(copy.from, copy.source, copy.bytes, Use::read, "copy, read");
    const Bytes target = touch(copy.to, copy.target, copy.bytes, Use::write, "copy, write");
    std::memmove(target.data, source.data, copy.bytes);
  };
}

/// A node of a graph is nothing that the host waits for.
CUresult find_captured(Context* context, CUstream handle, bool& is_captured) {
  StreamPointer stream;
  const CUresult result = find_stream(context, handle, stream);
  is_captured = result == CUDA_SUCCESS && Captures::get().of(stream) != nullptr;
  return result;
}

}  // namespace

CUresult copy(Context* context, std::uint64_t to, std::uint64_t from, std::size_t bytes, CUstream stream,
              Blocking blocking) {
  if (bytes == 0) return CUDA_SUCCESS;
  FAKE_CUDA_REQUIRE(to != 0 && from != 0);
  const Copy copy{to, from, bytes, Memory::get().find(to), Memory::get().find(from)};
  FAKE_CUDA_REQUIRE(!is_refused(*context, copy.target) && !is_refused(*context, copy.source));
  bool is_captured = false;
  if (const CUresult bad = find_captured(context, stream, is_captured); bad != CUDA_SUCCESS) return bad;
  const bool waits = !is_captured && is_waited_for(copy, blocking);
  if (waits && blocking == Blocking::yes) FAKE_CUDA_UNSAFE_IN_CAPTURE();
  if (waits && blocking == Blocking::yes) may_synchronise("a copy that the host waits for", context);
  if (waits && blocking == Blocking::no) may_wait_for_stream("a copy to pageable memory", context, stream);
  const Residence into = copy.into(), out_of = copy.out_of();
  const bool is_staged = !waits && !is_captured && out_of == Residence::pageable;
  Operation operation{.work = is_staged ? staged_work(copy) : work(copy),
                      .what = {kind_of_copy(into, out_of), bytes},
                      .count = [=] { count(into, out_of, bytes); }};
  if (into == Residence::pinned && out_of == Residence::device) operation.spoil = [=] { spoil(to, bytes); };
  return enqueue(context, stream, std::move(operation), waits);
}

CUresult fill(Context* context, std::uint64_t to, const void* value, std::size_t element, std::size_t count,
              CUstream stream, Blocking blocking) {
  if (count == 0) return CUDA_SUCCESS;
  const RegionPointer region = Memory::get().find(to);
  FAKE_CUDA_REQUIRE(region != nullptr && to % element == 0);
  std::uint32_t bits = 0;
  std::memcpy(&bits, value, element);
  bool is_captured = false;
  if (const CUresult bad = find_captured(context, stream, is_captured); bad != CUDA_SUCCESS) return bad;
  const bool waits = region->sync_memops || (blocking == Blocking::yes && !region->is_on_device());
  return enqueue(context, stream,
                 {.work =
                      [=] {
                        const Bytes bytes = touch(to, region, count * element, Use::write, "memset");
                        for (std::size_t i = 0; i < count; ++i)
                          std::memcpy(bytes.data + i * element, &bits, element);
                      },
                  .what = {"fill", count * element},
                  .count = [] { ++totals().copies; }},
                 waits && !is_captured);
}

}  // namespace fake_cuda
