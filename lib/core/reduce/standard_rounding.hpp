#pragma once
// The rounding of IEEE 754 while an exact sum is computed, whatever the program has set for itself.
//
// The namespace is unnamed for the reason given in convert.hpp.

namespace tutti {
namespace {

#ifdef __SSE2__
/// While it lives, this thread rounds to nearest and keeps subnormal numbers.
class StandardRounding {
 public:
  StandardRounding() : before_(__builtin_ia32_stmxcsr()) {
    constexpr unsigned masked_traps = 0x1f80;
    __builtin_ia32_ldmxcsr(masked_traps);
  }
  StandardRounding(const StandardRounding&) = delete;
  StandardRounding& operator=(const StandardRounding&) = delete;
  ~StandardRounding() { __builtin_ia32_ldmxcsr(before_); }

 private:
  unsigned before_;
};
#else
struct StandardRounding {
  StandardRounding() {}  // NOLINT(modernize-use-equals-default): else the object seems unused
};
#endif

}  // namespace
}  // namespace tutti
