#include "lib/watch/traced_run.hpp"

namespace tutti::detail {

std::unique_ptr<Run> traced_host_run(const Routes& route, const shm::SharedPlan& plan, trace::Subject& call) {
  return std::make_unique<TracedRunOn<HostExecutor>>(route, plan, HostExecutor{plan}, call);
}

}  // namespace tutti::detail
