#include "lib/shm/processors.hpp"

#include <sched.h>

namespace tutti::shm {

void Processors::update() { runs_on(sched_getcpu()); }

}  // namespace tutti::shm
