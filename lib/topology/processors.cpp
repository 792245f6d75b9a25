#include "lib/topology/processors.hpp"

#include <sched.h>

#include <memory>

namespace tutti::topology {

Numbers allowed_processors() {
  // Machines may have more of them than the fixed cpu_set_t: ask with a larger set.
  constexpr int most = 8192;
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  const std::unique_ptr<cpu_set_t, Free> set{CPU_ALLOC(most)};
  const std::size_t size = CPU_ALLOC_SIZE(most);
  CPU_ZERO_S(size, set.get());
  Numbers allowed;
  if (sched_getaffinity(0, size, set.get()) != 0) return allowed;
  for (int processor = 0; processor < most; ++processor)
    if (CPU_ISSET_S(static_cast<std::size_t>(processor), size, set.get())) allowed.push_back(processor);
  return allowed;
}

}  // namespace tutti::topology
