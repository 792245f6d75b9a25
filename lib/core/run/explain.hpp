#pragma once
// Plans in words.

#include <string>
#include <string_view>

namespace tutti::detail {

class Operation;
class PreparedPlan;
class Workspace;

[[nodiscard]] std::string explain(const Operation& operation);
/// Explains a call in a stream, but for how it runs there.
[[nodiscard]] std::string explain(const Workspace& communicator, const PreparedPlan& prepared, std::string_view why);

}  // namespace tutti::detail
