#pragma once
// What is computed for one element, image or parameter: the host and the kernels share it, so that their bits agree.

#include "apps/sgd/elementary.hpp"

namespace tutti::sgd {

/// How the model does on one image.
template <class T>
struct Outcome {
  T loss = 0;            ///< Cross-entropy: -log of the probability that the model gave the right class.
  bool correct = false;  ///< Whether it gave the right class the highest one.
  T log_sum = 0;         ///< log(sum of exp(scores))
};

/// The first of the largest.
template <class T>
constexpr int index_of_largest(const T* values, int count) {
  int largest = 0;
  for (int i = 1; i < count; ++i) {
    if (values[largest] < values[i]) largest = i;
  }
  return largest;
}

/// The outcome for the last layer's values, one for each class.
template <class T>
constexpr Outcome<T> outcome_of(const T* scores, int classes, int label) {
  const int guess = index_of_largest(scores, classes);
  const T largest = scores[guess];
  T sum = 0;
  for (int i = 0; i < classes; ++i) {
    sum += exp(scores[i] - largest);  // no overflow
  }
  const T log_sum = largest + log(sum);
  return {log_sum - scores[label], guess == label, log_sum};
}

/// Softmax and cross-entropy together: the derivative by a score is the class's probability, less 1 for the right one.
template <class T>
constexpr void differentiate_scores(const T* scores, int classes, int label, T log_sum, T* derivatives) {
  for (int i = 0; i < classes; ++i) {
    derivatives[i] = exp(scores[i] - log_sum);
  }
  derivatives[label] -= T{1};
}

/// The derivative by the argument of tanh, from the one by its result: 1 - tanh^2 is that of tanh.
template <class T>
constexpr T through_tanh(T result, T derivative) {
  return (T{1} - result * result) * derivative;
}

/// Gradient descent with momentum: the velocity is a running sum of gradients in which old ones fade. `factor` makes
/// the sum of a batch the gradient.
template <class T>
struct Descent {
  T momentum, rate, factor;

  constexpr void step(T sum, T& weight, T& velocity) const {
    velocity = momentum * velocity + factor * sum;
    weight -= rate * velocity;
  }
};

/// Adam: running means of the gradient and of its square, both corrected by `rate` and `epsilon` for having begun with
/// 0. Source: Kingma & Ba, Adam: a method for stochastic optimization, ICLR 2015.
template <class T>
struct Adam {
  T keeps_mean, keeps_square, rate, epsilon, factor;

  constexpr void step(T sum, T& weight, T& mean, T& square) const {
    const T gradient = factor * sum;
    mean = keeps_mean * mean + (T{1} - keeps_mean) * gradient;
    square = keeps_square * square + (T{1} - keeps_square) * (gradient * gradient);
    weight -= rate * mean / (root(square) + epsilon);
  }
};

}  // namespace tutti::sgd
