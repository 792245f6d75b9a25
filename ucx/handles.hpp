#pragma once

#include <ucp/api/ucp.h>

#include "lib/core/transport/mpi/handles.hpp"
#include "ucx/library.hpp"

namespace tutti::ucx {

struct ConfigTraits {
  using Handle = ucp_config_t*;
  static Handle null() { return nullptr; }
  static void destroy(Handle& config) noexcept { library().config_release(config); }
};
struct ContextTraits {
  using Handle = ucp_context_h;
  static Handle null() { return nullptr; }
  static void destroy(Handle& context) noexcept { library().cleanup(context); }
};
struct WorkerTraits {
  using Handle = ucp_worker_h;
  static Handle null() { return nullptr; }
  static void destroy(Handle& worker) noexcept { library().worker_destroy(worker); }
};

/// An endpoint is closed by its worker, which has to move meanwhile.
struct Endpoint {
  ucp_ep_h handle = nullptr;
  ucp_worker_h worker = nullptr;
  bool operator==(const Endpoint&) const = default;
};
struct EndpointTraits {
  using Handle = Endpoint;
  static Handle null() { return {}; }
  static void destroy(Handle& endpoint) noexcept;
};

using UniqueConfig = UniqueHandle<ConfigTraits>;
using UniqueContext = UniqueHandle<ContextTraits>;
using UniqueWorker = UniqueHandle<WorkerTraits>;
using UniqueEndpoint = UniqueHandle<EndpointTraits>;

}  // namespace tutti::ucx
