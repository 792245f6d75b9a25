#pragma once
// The buffers of a run, made once for its largest size.

#include "apps/bench/collective.hpp"
#include "apps/bench/record.hpp"
#include "apps/bench/settings.hpp"

namespace tutti::bench {

class Buffers {
 public:
  /// Collective over `comm`. Throws apps::InputError, on all ranks alike, if the memory does not suffice.
  Buffers(const Experiment& what, const Communicator& comm);

  /// The call on `count` elements; in place it reads and writes the output buffer. Both then hold zeros, which no
  /// operation turns into numbers that grow from call to call.
  [[nodiscard]] Call call(Count count, Placement placement) const;
  /// What a program would write before such a call.
  [[nodiscard]] std::span<std::byte> input_of(const Call& call) const;

 private:
  const Experiment& what_;
  const Communicator& comm_;
  Buffer in_, out_;
};

}  // namespace tutti::bench
