#include "tests/fake_cuda/driver/hardware_queue.hpp"

#include "tests/fake_cuda/driver/settings.hpp"

namespace fake_cuda {

void HardwareQueues::issue(const Context* context, Operation& operation) {
  if (!settings().has_one_queue) return;
  operation.issued = ++issued_;
  queues_[context].insert(operation.issued);
}

bool HardwareQueues::is_first(const Context* context, const Operation& operation) const {
  return !settings().has_one_queue || *queues_.at(context).begin() == operation.issued;
}

bool HardwareQueues::start(const Context* context, const Operation& operation) {
  // Behind a function of the program the queue waits for the host.
  if (!settings().has_one_queue || operation.waits || operation.calls_host) return false;
  end(context, operation);
  return true;
}

void HardwareQueues::end(const Context* context, const Operation& operation) {
  if (settings().has_one_queue) queues_.at(context).erase(operation.issued);
}

}  // namespace fake_cuda
