#pragma once
// The arguments of the kernels, as host and device see them. Each type is that of one kernel, which is named for it and
// for T: sgd_forward_float. Every pointer is to memory of the device. Rows of `count` images lie one behind the other.

#include <cstddef>
#include <cstdint>

#include "apps/sgd/formulas.hpp"

namespace tutti::sgd {

/// values[image][pixel] = scale * pixels[images[image]][pixel]
template <class T>
struct LoadImages {
  static constexpr const char* name = "load_images";
  const std::uint8_t* pixels;
  const int* images;
  T* values;
  T scale;
  std::uint64_t count, features;
};

/// out[image][j] = biases[j] + in[image][0] * weights[0][j] + in[image][1] * weights[1][j] + ...
template <class T>
struct Forward {
  static constexpr const char* name = "forward";
  const T *weights, *biases, *in;
  T* out;
  std::uint64_t count, inputs, outputs;
};

/// values[i] = tanh(values[i])
template <class T>
struct Squash {
  static constexpr const char* name = "squash";
  T* values;
  std::uint64_t size;
};

/// How the model does on each image, and the derivatives of its loss by the scores.
template <class T>
struct Judge {
  static constexpr const char* name = "judge";
  const T* scores;
  const std::uint8_t* labels;  ///< The labels of all images.
  const int* images;
  T* losses;
  std::uint8_t* correct;
  T* derivatives;
  std::uint64_t count;
  int classes;
};

/// sums[0] += losses[0] + losses[1] + ... from left to right, sums[1] likewise of `correct`: one thread.
template <class T>
struct AddOutcomes {
  static constexpr const char* name = "add_outcomes";
  const T* losses;
  const std::uint8_t* correct;
  T* sums;
  std::uint64_t count;
};

/// gradient[i][j] += in[0][i] * by_out[0][j] + in[1][i] * by_out[1][j] + ... from left to right. A last row, of the
/// biases, has 1 for `in`.
template <class T>
struct AddGradient {
  static constexpr const char* name = "add_gradient";
  const T *in, *by_out;
  T* gradient;
  std::uint64_t count, inputs, outputs;
};

/// transposed[j][i] = weights[i][j]
template <class T>
struct Transpose {
  static constexpr const char* name = "transpose";
  const T* weights;
  T* transposed;
  std::uint64_t inputs, outputs;
};

/// by_in[image][i] = through_tanh(in[image][i], transposed[0][i] * by_out[image][0] + ...)
template <class T>
struct Backward {
  static constexpr const char* name = "backward";
  const T *transposed, *in, *by_out;
  T* by_in;
  std::uint64_t count, inputs, outputs;
};

/// Takes a step of every parameter, and adds the sums behind the gradient, two or none, to the totals. The sums are 0
/// then.
template <class T>
struct Update {
  static constexpr const char* name = "update";
  T *sums, *weights, *velocity;
  double* totals;
  Descent<T> descent;
  std::uint64_t parameters, outcomes;
};

}  // namespace tutti::sgd
