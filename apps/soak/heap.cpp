// That of glibc 2.33 or later.
#include "apps/soak/heap.hpp"

#include <malloc.h>

namespace tutti::soak {

Bytes trimmed_heap() {
  ::malloc_trim(0);
  const struct mallinfo2 all = ::mallinfo2();
  return Bytes{all.uordblks + all.hblkhd};
}

}  // namespace tutti::soak
