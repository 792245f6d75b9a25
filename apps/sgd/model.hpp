#pragma once
// A multilayer perceptron that tells classes apart: layers of weighted sums with tanh between them, then softmax.

#include <span>
#include <vector>

#include "apps/sgd/formulas.hpp"
#include "apps/sgd/shape.hpp"

namespace tutti::sgd {

/// A shape and room for computations on the host. The parameters are kept by the caller. T is float or double. Not for
/// use by several threads at once.
template <class T>
class Perceptron {
 public:
  explicit Perceptron(const Shape& shape);

  /// How the model does on one image.
  Outcome<T> evaluate(std::span<const T> parameters, std::span<const T> input, int label);
  /// Evaluates, and adds the loss's derivative by each parameter to `gradient`.
  Outcome<T> differentiate(std::span<const T> parameters, std::span<const T> input, int label, std::span<T> gradient);

 private:
  void forward(std::span<const T> parameters, std::span<const T> input);
  void backward(std::span<const T> parameters, std::span<T> gradient);

  Shape shape_;
  std::vector<std::vector<T>> values_;       ///< The input, then the outputs of each layer.
  std::vector<std::vector<T>> derivatives_;  ///< The derivatives of the loss by each of `values_`.
};

extern template class Perceptron<float>;
extern template class Perceptron<double>;

}  // namespace tutti::sgd
