#include "lib/calls/arguments.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

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
  if (!is_type(type))
    refuse(call, argument, fmt::format("{}, which is no Type", static_cast<int>(type)), "a value of enum Type");
}

void require_count(const CallSite& call, Count count, Type type) {
  constexpr std::int64_t always_fits = std::numeric_limits<std::int64_t>::max() / 16;  // no element is larger
  if (count.value() >= 0 && count.value() <= always_fits) return;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / size_of(type).value();
  if (count.value() < 0 || count.value() > most)
    refuse(call, "count", std::to_string(count.value()), fmt::format("0 to {} elements of {}", most, to_string(type)));
}

void require_readable(const CallSite& call, std::string_view argument, const Memory& memory) {
  if (!is_readable_by_host(memory)) refuse(call, argument, to_string(memory), "memory that the host can read");
}

void require_buffer(const CallSite& call, std::string_view argument, const void* data, Count count) {
  if (count.value() == 0) return;
  if (data == nullptr)
    refuse(call, argument, fmt::format("null with count {}", count.value()), "memory of count elements");
  if (is_mark(data))
    refuse(call, argument, fmt::format("{}, where there is no memory, with count {}", data, count.value()),
           "memory of count elements");
  require_readable(call, argument, memory_of(data));
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
