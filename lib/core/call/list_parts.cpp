#include "lib/core/call/list_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>

#include "lib/core/call/layout.hpp"
#include "lib/core/communicator/communicator_state.hpp"

namespace tutti::detail {
namespace {

/// Bytes that a buffer of the list has in memory.
struct Used {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  std::size_t buffer = 0;
};

/// Refuses an output that shares memory with another buffer.
class Overlaps {
 public:
  Overlaps(const CallSite& site, std::size_t buffers) : site_(site) {
    outputs_.reserve(buffers);
    inputs_.reserve(buffers);
  }
  void add(std::size_t buffer, const Member& member, std::int64_t in_bytes, std::int64_t out_bytes) {
    const Used in{member.in, member.in + in_bytes, buffer}, out{member.out, member.out + out_bytes, buffer};
    if (out_bytes > 0) outputs_.push_back(out);
    const std::less_equal<> is_before;
    const bool is_inside = out_bytes > 0 && is_before(out.begin, in.begin) && is_before(in.end, out.end);
    if (in_bytes > 0 && !is_inside) inputs_.push_back(in);
  }
  void require_none() {
    const std::less<> before;
    const auto begin = &Used::begin;
    if (!std::ranges::is_sorted(outputs_, before, begin)) std::ranges::sort(outputs_, before, begin);
    for (std::size_t i = 1; i < outputs_.size(); ++i)
      if (before(outputs_[i].begin, outputs_[i - 1].end)) refuse_both("outputs", outputs_[i - 1], outputs_[i]);
    for (const Used& in : inputs_) {
      auto out = std::ranges::upper_bound(outputs_, in.begin, before, &Used::end);
      for (; out != outputs_.end() && before(out->begin, in.end); ++out)
        if (out->buffer != in.buffer) refuse_both("the output and the input", *out, in);
    }
  }

 private:
  [[noreturn]] void refuse_both(std::string_view what, const Used& first, const Used& second) const {
    const bool in_order = what != "outputs" || first.buffer < second.buffer;
    const auto [a, b] = in_order ? std::pair{first.buffer, second.buffer} : std::pair{second.buffer, first.buffer};
    refuse(site_, "buffers", fmt::format("a list in which {} of buffers {} and {} share memory", what, a, b),
           "outputs apart from all other buffers of the list");
  }

  CallSite site_;
  std::vector<Used> outputs_{}, inputs_{};
};

/// The problem of one buffer. Errors name it.
Problem checked(const ListCall& list, std::size_t buffer, const CallSite& site, Call& call, int ranks,
                CallMemory& memory) {
  const Call given = call;
  try {
    return problem_of(site, call, ranks, memory);
  } catch (const ArgumentError&) {
    call = given;
    const std::string name = fmt::format("{}, buffer {} of {}", list.function, buffer, list.buffers.size());
    return problem_of({name, site.rank}, call, ranks, memory);
  }
}

void require_device(const CallSite& site, std::size_t buffer, const Member& member, int& device) {
  const auto require = [&](std::string_view argument, const std::byte* data, const BufferMemory& memory) {
    if (data == nullptr) return;
    if (memory.device < 0)
      refuse(site, fmt::format("buffers[{}].{}", buffer, argument), "memory of the host, in a call with a stream",
             "memory of the device of the stream");
    if (device < 0) device = memory.device;
    if (memory.device != device)
      refuse(site, fmt::format("buffers[{}].{}", buffer, argument), "on another device than the buffers before",
             "memory of the device of the stream");
  };
  require("in", member.in, member.in_memory);
  require("out", member.out, member.out_memory);
}

/// Adds a buffer to the part that is filled, or makes a part for it.
class Cutter {
 public:
  Cutter(int rows, bool packs) : rows_(rows), packs_(packs) {}
  void add(const Member& member) {
    const bool is_short = packs_ && member.block <= list_tuning.packed / rows_;
    if (is_short && filled_ < parts_.size() && parts_[filled_].block + member.block <= list_tuning.most / rows_) {
      parts_[filled_].members.push_back(member);
      parts_[filled_].block += member.block;
      return;
    }
    if (is_short) filled_ = parts_.size();
    parts_.push_back({{member}, member.block});
  }
  [[nodiscard]] std::vector<ListPart> take() { return std::move(parts_); }

 private:
  int rows_;
  bool packs_;
  std::vector<ListPart> parts_{};
  std::size_t filled_ = static_cast<std::size_t>(-1);  ///< The part that is filled.
};

}  // namespace

Call call_of(const ListCall& list, const void* in, void* out, Count count) {
  return {.function = list.function,
          .collective = list.collective,
          .in = in,
          .out = out,
          .count = count,
          .type = list.type,
          .op = list.op,
          .root = list.root};
}

std::vector<ListPart> parts_of(const ListCall& list, const Communicator& comm, const Options& options) {
  CommunicatorState& state = comm.state();
  state.require_working();
  const CallSite site{list.function, state.rank()};
  const int ranks = state.members().size();
  Overlaps overlaps{site, list.buffers.size()};
  Cutter cutter{rows_of(list.collective, ranks), !options.stream.has_value()};
  int device = -1;
  for (std::size_t i = 0; i < list.buffers.size(); ++i) {
    const ListedBuffer& buffer = list.buffers[i];
    Call call = call_of(list, buffer.in, buffer.out, buffer.count);
    CallMemory memory;
    const auto [in, out] = shape_of(checked(list, i, site, call, ranks, memory));
    if (buffer.count == Count{0}) continue;
    const std::int64_t element = size_of(list.type).value();
    const Member member{in > Count{0} ? static_cast<const std::byte*>(call.in) : nullptr,
                        static_cast<std::byte*>(call.out), buffer.count.value() * element, memory.in, memory.out};
    overlaps.add(i, member, in.value() * element, out.value() * element);
    if (options.stream) require_device(site, i, member, device);
    cutter.add(member);
  }
  overlaps.require_none();
  return cutter.take();
}

}  // namespace tutti::detail
