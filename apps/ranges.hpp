#pragma once

#include <string>
#include <vector>

namespace tutti::apps {

/// "0-3,8" of {0, 1, 2, 3, 8}, which must ascend.
[[nodiscard]] std::string ranges_text(const std::vector<int>& numbers);

}  // namespace tutti::apps
