#pragma once
// How a rank waits: its pause between two polls, and the number of polls before it looks at anything else.

#include <sched.h>

#include "lib/core/exec/relax.hpp"

namespace tutti::detail {

/// After a look that found nothing.
inline void give_way(bool yields) {
  if (yields)
    sched_yield();
  else
    relax();
}

/// About every 10 us: others may wait for this rank's messages of the program itself.
inline bool is_time_for_others(int looks, bool yields) {
  const int patience = yields ? 16 : 256;
  return looks % patience == patience - 1;
}

}  // namespace tutti::detail
