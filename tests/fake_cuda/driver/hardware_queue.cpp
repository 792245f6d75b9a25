#include "tests/fake_cuda/driver/hardware_queue.hpp"

#include "tests/fake_cuda/driver/settings.hpp"

namespace fake_cuda {

int HardwareQueues::assign(const Context* context, int priority) {
  const int most = settings().queues;
  if (most == 0) return 0;
  // A device with one queue has it for all priorities.
  const std::pair sharing{context, most == 1 ? 0 : priority};
  const std::pair its{sharing, streams_[sharing]++ % most};
  return numbers_.try_emplace(its, static_cast<int>(numbers_.size()) + 1).first->second;
}

void HardwareQueues::issue(int queue, Operation& operation) {
  if (queue == 0) return;
  operation.issued = ++issued_;
  queues_[queue].insert(operation.issued);
}

bool HardwareQueues::is_first(int queue, const Operation& operation) const {
  return queue == 0 || *queues_.at(queue).begin() == operation.issued;
}

bool HardwareQueues::start(int queue, const Operation& operation) {
  // Behind a function of the program the queue waits for the host.
  if (queue == 0 || operation.waits || operation.calls_host) return false;
  end(queue, operation);
  return true;
}

void HardwareQueues::end(int queue, const Operation& operation) {
  if (queue != 0) queues_.at(queue).erase(operation.issued);
}

}  // namespace fake_cuda
