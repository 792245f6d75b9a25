#pragma once
// Plans in words.

#include <string>
#include <string_view>

namespace tutti::detail {

class CachedPlan;
class CommunicatorState;
class Operation;

[[nodiscard]] std::string explain(const Operation& operation);
/// Of a call in a stream, but for how it runs there.
[[nodiscard]] std::string explain(const CommunicatorState& communicator, const CachedPlan& cached,
                                  std::string_view why);

}  // namespace tutti::detail
