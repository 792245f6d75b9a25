#include <string>

#include "lib/memory/memory_kind.hpp"
#include "lib/runtime/run.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

/// Built without CUDA: never called, as calls on device buffers are refused.
std::unique_ptr<Run> device_run(const Route& /*route*/, const shm::SharedPlan& /*plan*/, trace::Subject* /*call*/) {
  throw Error("tutti: " + std::string{why_no_device_buffers()});
}

}  // namespace tutti::detail
