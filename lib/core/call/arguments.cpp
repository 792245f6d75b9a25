#include "lib/core/call/arguments.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "lib/core/memory/memory_kind.hpp"
#include "lib/core/reduce/wide_type.hpp"
#include "lib/device/staging/device_port.hpp"

namespace tutti {

void refuse(const CallSite& call, std::string_view argument, std::string_view given, std::string_view allowed) {
  throw ArgumentError(fmt::format("tutti::{} on rank {}: argument '{}' is {}; allowed: {}", call.function,
                                  call.rank.value(), argument, given, allowed));
}

namespace {

/// Whether an address lies in the lowest or in the highest page, where no system gives memory. MPIs put their marks
/// there: MPI_IN_PLACE, MPI_BOTTOM and the like.
bool is_mark(const void* data) {
  constexpr std::uintptr_t page = 4096;
  return reinterpret_cast<std::uintptr_t>(data) + page < 2 * page;  // the highest page wraps around
}

}  // namespace

void require_type(const CallSite& call, std::string_view argument, Type type) {
  if (!is_type(type) && type != detail::wide_type)
    refuse(call, argument, fmt::format("{}, which is no Type", static_cast<int>(type)), "a value of enum Type");
}

void require_count(const CallSite& call, Count count, Type type) {
  constexpr std::int64_t always_fits = std::numeric_limits<std::int64_t>::max() / 32;  // no element is larger
  if (count.value() >= 0 && count.value() <= always_fits) return;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / size_of(type).value();
  if (count.value() < 0 || count.value() > most)
    refuse(call, "count", std::to_string(count.value()), fmt::format("0 to {} elements of {}", most, to_string(type)));
}

Allocation allocation_at(const CallSite& call, std::string_view argument, const void* data) {
  try {
    return allocation_of(data);
  } catch (const DeviceError& error) {
    throw Error(fmt::format("tutti::{} on rank {}: argument '{}' cannot be looked up: {}", call.function,
                            call.rank.value(), argument, error.what()));
  }
}

namespace {

/// Refuses bytes that are not all on the device of the first; several allocations may follow each other.
void require_all_on_device(const CallSite& call, std::string_view argument, const Allocation& allocation,
                           const std::byte* first, const std::byte* last) {
  for (const std::byte* end = allocation.end; end < last;) {
    const Allocation next = allocation_at(call, argument, end);
    if (next.memory != allocation.memory || next.end <= end)
      refuse(call, argument, fmt::format("{} that ends after {} bytes", to_string(allocation.memory), end - first),
             fmt::format("all {} bytes in memory of one device", last - first));
    end = next.end;
  }
}

void require_hosts(const CallSite& call, std::string_view argument, const std::byte* first, const std::byte* last) {
  if (!may_have_devices() || (is_readable(first) && is_readable(last - 1))) return;
  refuse(call, argument,
         "memory that is neither the host's nor known to CUDA: was it freed, or does it belong to another process?",
         "memory of this process");
}

}  // namespace

BufferMemory require_buffer(const CallSite& call, std::string_view argument, const void* data, UsedElements used,
                            Type type) {
  if (used.first >= used.last) return {};
  if (data == nullptr)
    refuse(call, argument, fmt::format("null with count {}", used.last.value()), "memory of count elements");
  if (is_mark(data))
    refuse(call, argument, fmt::format("{}, where there is no memory, with count {}", data, used.last.value()),
           "memory of count elements");
  const auto* const begin = static_cast<const std::byte*>(data);
  const std::byte* const first = begin + (used.first.value() * size_of(type)).value();
  const std::byte* const last = begin + (used.last.value() * size_of(type)).value();
  const Allocation allocation = allocation_at(call, argument, first);
  if (is_readable_by_host(allocation.memory)) {
    if (allocation.memory.kind == MemoryKind::host) require_hosts(call, argument, first, last);
    return {};
  }
  if (const std::string_view why = why_no_device_buffers(); !why.empty())
    refuse(call, argument, to_string(allocation.memory), fmt::format("memory that the host can read, as {}", why));
  require_all_on_device(call, argument, allocation, first, last);
  try {
    return {device::device_of(allocation), allocation.id};
  } catch (const DeviceError& error) {
    refuse(call, argument, fmt::format("{}, where Tutti cannot work ({})", to_string(allocation.memory), error.what()),
           "memory of a device that this process can use");
  }
}

void refuse_for_memory(const CallSite& call, std::string_view argument, std::int64_t count, std::string_view missing) {
  refuse(call, argument, fmt::format("{}, on device buffers, for which there are {}", count, missing),
         "fewer elements at a time, or as much free memory (docs/gpu.md)");
}

void fail_at(const CallSite& call, const DeviceError& error) {
  throw Error(fmt::format("tutti::{} on rank {}: {}", call.function, call.rank.value(), error.what()));
}

void require_operation(const CallSite& call, const Op& op, Type type, Collective collective) {
  if (op.kind() == Op::Kind::user && op.function() == nullptr)
    refuse(call, "op", "a user operation without a function", "a function");
  if (!supports(op.kind(), type))
    refuse(call, "op", fmt::format("{} with type {}", to_string(op.kind()), to_string(type)),
           fmt::format("{} with one of {}", to_string(op.kind()), supported_types(op.kind())));
  if (op.kind() == Op::Kind::avg && (collective == Collective::scan || collective == Collective::exscan))
    refuse(call, "op", "avg, though the ranks that take part differ", "any other operation");
}

}  // namespace tutti
