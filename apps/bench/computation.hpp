#pragma once
// Work of the processor beside a call.

#include <cstdint>

namespace tutti::bench {

/// Arithmetic that takes a certain time on this rank, and touches no memory. It is a number of steps, so that it takes
/// longer, as a program does, when something else needs the processor.
class Computation {
 public:
  explicit Computation(double seconds);
  void run() const;
  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  std::int64_t steps_;
};

inline void compute(const Computation* computation) {
  if (computation != nullptr) computation->run();
}

}  // namespace tutti::bench
