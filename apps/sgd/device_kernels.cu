// The tasks of a training as kernels, one thread for each element. Built with -fmad=false, so that their bits are those
// of the host.
#include "apps/sgd/tasks.hpp"

namespace tutti::sgd {
namespace {

template <class Task>
__device__ void run(std::uint64_t elements, const Task& task) {
  const std::uint64_t at = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (at < elements) task(at);
}

}  // namespace
}  // namespace tutti::sgd

#define TUTTI_SGD_KERNEL(name, Task, T)                                                                 \
  extern "C" __global__ void sgd_##name##_##T(std::uint64_t elements, const tutti::sgd::Task<T> task) { \
    tutti::sgd::run(elements, task);                                                                    \
  }
#define TUTTI_SGD_KERNELS(T)                               \
  TUTTI_SGD_KERNEL(load_images, LoadImages, T)             \
  TUTTI_SGD_KERNEL(fill, Fill, T)                          \
  TUTTI_SGD_KERNEL(spread, Spread, T)                      \
  TUTTI_SGD_KERNEL(squash, Squash, T)                      \
  TUTTI_SGD_KERNEL(rectify, Rectify, T)                    \
  TUTTI_SGD_KERNEL(through_squash, ThroughSquash, T)       \
  TUTTI_SGD_KERNEL(through_rectify, ThroughRectify, T)     \
  TUTTI_SGD_KERNEL(take_surroundings, TakeSurroundings, T) \
  TUTTI_SGD_KERNEL(sum_surroundings, SumSurroundings, T)   \
  TUTTI_SGD_KERNEL(take_largest, TakeLargest, T)           \
  TUTTI_SGD_KERNEL(through_largest, ThroughLargest, T)     \
  TUTTI_SGD_KERNEL(judge, Judge, T)                        \
  TUTTI_SGD_KERNEL(add_outcomes, AddOutcomes, T)           \
  TUTTI_SGD_KERNEL(narrow, Narrow, T)                      \
  TUTTI_SGD_KERNEL(widen, Widen, T)                        \
  TUTTI_SGD_KERNEL(sum_squares, SumSquares, T)             \
  TUTTI_SGD_KERNEL(descend, Descend, T)                    \
  TUTTI_SGD_KERNEL(adapt, Adapt, T)                        \
  TUTTI_SGD_KERNEL(multiply, Multiply, T)

TUTTI_SGD_KERNELS(float)
TUTTI_SGD_KERNELS(double)
