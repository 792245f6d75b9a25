// Tutti memory and memory of devices, in C.
#include "bindings/c/handles.hpp"

using namespace tutti::c;

tutti_status tutti_allocate(int64_t bytes, void** data) {
  return stored("data", data, [&](const Site&) { return tutti::allocate(tutti::Bytes{bytes}); });
}

tutti_status tutti_deallocate(void* data) {
  return guarded([&](const Site&) { tutti::deallocate(data); });
}

tutti_status tutti_allocate_device(int64_t bytes, void** data) {
  return stored("data", data, [&](const Site&) { return tutti::allocate_device(tutti::Bytes{bytes}); });
}

tutti_status tutti_deallocate_device(void* data) {
  return guarded([&](const Site&) { tutti::deallocate_device(data); });
}

tutti_status tutti_require_device_memory(const void* data, int64_t bytes) {
  return guarded([&](const Site& site) {
    if (bytes < 0) site.refuse("bytes", std::to_string(bytes), "0 and more");
    tutti::detail::require_device_span(data, static_cast<std::size_t>(bytes));
  });
}
