// The kernels of a training, one thread for each element of the result. Threads side by side have elements side by
// side, and so have the matrices that they read. Sums are made in the order of the host. Built with -fmad=false, so
// that their bits are those of the host.
#include "apps/sgd/device_arguments.hpp"

namespace tutti::sgd {
namespace {

__device__ std::uint64_t this_thread() { return blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; }

template <class T>
__device__ void run(const LoadImages<T>& a) {
  const std::uint64_t at = this_thread();
  if (at >= a.count * a.features) return;
  const std::uint64_t image = at / a.features, pixel = at % a.features;
  a.values[at] = a.scale * static_cast<T>(a.pixels[static_cast<std::uint64_t>(a.images[image]) * a.features + pixel]);
}

template <class T>
__device__ void run(const Forward<T>& a) {
  const std::uint64_t at = this_thread();
  if (at >= a.count * a.outputs) return;
  const T* const in = a.in + at / a.outputs * a.inputs;
  const std::uint64_t j = at % a.outputs;
  T sum = a.biases[j];
  for (std::uint64_t i = 0; i < a.inputs; ++i)
    sum += in[i] * a.weights[i * a.outputs + j];
  a.out[at] = sum;
}

template <class T>
__device__ void run(const Squash<T>& a) {
  const std::uint64_t at = this_thread();
  if (at < a.size) a.values[at] = tanh(a.values[at]);
}

template <class T>
__device__ void run(const Judge<T>& a) {
  const std::uint64_t at = this_thread();
  if (at >= a.count) return;
  const T* const scores = a.scores + at * a.classes;
  const int label = a.labels[a.images[at]];
  const Outcome<T> outcome = outcome_of(scores, a.classes, label);
  a.losses[at] = outcome.loss;
  a.correct[at] = outcome.correct ? 1 : 0;
  differentiate_scores(scores, a.classes, label, outcome.log_sum, a.derivatives + at * a.classes);
}

template <class T>
__device__ void run(const AddOutcomes<T>& a) {
  if (this_thread() != 0) return;
  T loss = a.sums[0], correct = a.sums[1];
  for (std::uint64_t image = 0; image < a.count; ++image) {
    loss += a.losses[image];
    correct += static_cast<T>(a.correct[image]);
  }
  a.sums[0] = loss;
  a.sums[1] = correct;
}

template <class T>
__device__ void run(const AddGradient<T>& a) {
  const std::uint64_t at = this_thread();
  if (at >= (a.inputs + 1) * a.outputs) return;
  const std::uint64_t i = at / a.outputs, j = at % a.outputs;
  T sum = a.gradient[at];
  if (i < a.inputs) {
    for (std::uint64_t image = 0; image < a.count; ++image)
      sum += a.in[image * a.inputs + i] * a.by_out[image * a.outputs + j];
  } else {
    for (std::uint64_t image = 0; image < a.count; ++image)
      sum += a.by_out[image * a.outputs + j];
  }
  a.gradient[at] = sum;
}

template <class T>
__device__ void run(const Transpose<T>& a) {
  const std::uint64_t at = this_thread();
  if (at < a.inputs * a.outputs) a.transposed[at] = a.weights[at % a.inputs * a.outputs + at / a.inputs];
}

template <class T>
__device__ void run(const Backward<T>& a) {
  const std::uint64_t at = this_thread();
  if (at >= a.count * a.inputs) return;
  const T* const by_out = a.by_out + at / a.inputs * a.outputs;
  const std::uint64_t i = at % a.inputs;
  T sum = 0;
  for (std::uint64_t j = 0; j < a.outputs; ++j)
    sum += a.transposed[j * a.inputs + i] * by_out[j];
  a.by_in[at] = through_tanh(a.in[at], sum);
}

template <class T>
__device__ void run(const Update<T>& a) {
  const std::uint64_t at = this_thread();
  if (at >= a.parameters + a.outcomes) return;
  if (at < a.parameters)
    a.descent.step(a.sums[at], a.weights[at], a.velocity[at]);
  else
    a.totals[at - a.parameters] += static_cast<double>(a.sums[at]);
  a.sums[at] = 0;
}

}  // namespace
}  // namespace tutti::sgd

#define TUTTI_SGD_KERNEL(name, Arguments, T) \
  extern "C" __global__ void sgd_##name##_##T(const tutti::sgd::Arguments<T> arguments) { tutti::sgd::run(arguments); }
#define TUTTI_SGD_KERNELS(T)                     \
  TUTTI_SGD_KERNEL(load_images, LoadImages, T)   \
  TUTTI_SGD_KERNEL(forward, Forward, T)          \
  TUTTI_SGD_KERNEL(squash, Squash, T)            \
  TUTTI_SGD_KERNEL(judge, Judge, T)              \
  TUTTI_SGD_KERNEL(add_outcomes, AddOutcomes, T) \
  TUTTI_SGD_KERNEL(add_gradient, AddGradient, T) \
  TUTTI_SGD_KERNEL(transpose, Transpose, T)      \
  TUTTI_SGD_KERNEL(backward, Backward, T)        \
  TUTTI_SGD_KERNEL(update, Update, T)

TUTTI_SGD_KERNELS(float)
TUTTI_SGD_KERNELS(double)
