#pragma once
// The key of a cached plan, and the signature of the calls that run it.

#include <cstddef>
#include <cstdint>

#include "lib/core/schedule/choice.hpp"
#include "lib/device/staging/stage.hpp"
#include "lib/watch/records/signature.hpp"
#include "tutti/datatype.hpp"
#include "tutti/op.hpp"
#include "tutti/schedule.hpp"

namespace tutti::detail {

/// Everything that the compilation of a plan depends on. It holds no pointers to data, so that any buffers fit. The
/// lists of the problem are views: of the caller's lists while the key is looked up, of the plan's own copies once it
/// is kept. The nodes and sockets of the problem follow from the choice: views of the communicator's lists, or empty.
struct PlanKey {
  Choice choice{};
  Problem problem{};
  Type type = Type::int8;
  Op op = Op::sum;
  std::uint32_t form = 0;  ///< Call::form
  device::BufferDevices places{};
  friend bool operator==(const PlanKey& a, const PlanKey& b);
};

struct HashPlanKey {
  std::size_t operator()(const PlanKey& key) const noexcept;
};

/// The signature of calls with this plan, but for what the communicator adds. Its fingerprint differs, but for a chance
/// of one in 2^32, between calls that do not match: in the collective, the root, the count, the type, the operation, or
/// the algorithm with its parameter and segments; none of which only one rank knows. Messages between pairs have 0.
[[nodiscard]] records::Signature signature_of(const PlanKey& key);

}  // namespace tutti::detail
