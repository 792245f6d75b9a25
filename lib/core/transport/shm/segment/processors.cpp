#include "lib/core/transport/shm/segment/processors.hpp"

#include <sched.h>

namespace tutti::shm {

void Processors::update() { runs_on(sched_getcpu()); }

}  // namespace tutti::shm
