#pragma once

#include <cstdint>
#include <type_traits>

namespace tutti::interpose {

/// A handle of MPI's as a number: it is a pointer or an integer.
using HandleKey = std::uintptr_t;
template <class Handle>
HandleKey key_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<HandleKey>(handle);
  else
    return static_cast<HandleKey>(handle);
}

}  // namespace tutti::interpose
