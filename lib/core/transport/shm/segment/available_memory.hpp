#pragma once

#include <cstdint>

namespace tutti::shm {

/// Bytes of memory that this process could still take, as far as the system says: of the machine, and of the control
/// groups (version 2) that it is in. A reservation beyond that ends the program instead of being refused.
[[nodiscard]] std::int64_t available_memory();

}  // namespace tutti::shm
