#pragma once
// The UCX context, and the transports and devices that UCX found on this machine.

#include <ucp/api/ucp.h>

#include "ucx/handles.hpp"
#include "ucx/resources.hpp"

namespace tutti::ucx {

/// A context with the settings of UCX's environment variables. Local. Throws UcxError if it cannot be made.
[[nodiscard]] UniqueContext make_context(int processes);

[[nodiscard]] Resources resources_of(ucp_context_h context);
[[nodiscard]] bool reads_cuda(ucp_context_h context);

}  // namespace tutti::ucx
