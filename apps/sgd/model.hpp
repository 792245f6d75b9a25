#pragma once
// A multilayer perceptron that tells classes apart: layers of weighted sums with tanh between them, then softmax. How
// wide its layers are, where their parameters lie, and what it computes.

#include <cstddef>
#include <span>
#include <vector>

#include "apps/sgd/formulas.hpp"
#include "apps/sgd/random.hpp"

namespace tutti::sgd {

/// The number of weights and biases of a perceptron whose layers have these widths (see Shape).
[[nodiscard]] std::size_t parameter_count(std::span<const int> widths);

/// One layer: where its parameters start, how wide it is.
struct Layer {
  std::size_t weights, biases, inputs, outputs;
};

/// The parameters of a perceptron are kept all in one array, as an optimizer updates them and an allreduce sums them:
/// layer by layer the weights, weight[input][output], then the biases, bias[output].
class Shape {
 public:
  /// The widths of all layers: input, hidden ones, output (classes). At least two, each at least 1.
  explicit Shape(std::vector<int> widths);

  [[nodiscard]] const std::vector<int>& widths() const { return widths_; }
  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  [[nodiscard]] std::size_t parameter_count() const { return parameter_count_; }

 private:
  std::vector<int> widths_;
  std::vector<Layer> layers_;
  std::size_t parameter_count_ = 0;
};

/// Weights drawn evenly from +-sqrt(6 / (inputs + outputs)), which keeps signals as large from layer to layer; biases
/// 0. Source: Glorot & Bengio, Understanding the difficulty of training deep feedforward neural networks, AISTATS 2010.
template <class T>
void initialize(const Shape& shape, std::span<T> parameters, Random& random);

/// The state of a training: all that is needed to go on, the same on all ranks.
template <class T>
struct Progress {
  int epochs = 0;  ///< Completed.
  std::vector<T> weights, velocity;
};

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
