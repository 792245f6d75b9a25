#pragma once
// A multilayer perceptron that tells classes apart: layers of weighted sums with tanh between them, then softmax.

#include <cstddef>
#include <span>
#include <vector>

#include "apps/sgd/random.hpp"

namespace tutti::sgd {

/// The number of weights and biases of a perceptron whose layers have these widths (see Perceptron).
[[nodiscard]] std::size_t parameter_count(std::span<const int> widths);

/// The shape of a perceptron and room for its computations. Its parameters are kept by the caller, all in one array, as
/// an optimizer updates them and an allreduce sums them.
///
/// Parameters lie layer by layer: the weights, weight[input][output], then the biases, bias[output].
/// T is float or double. Not for use by several threads at once.
template <class T>
class Perceptron {
 public:
  /// The widths of all layers: input, hidden ones, output (classes). At least two, each at least 1.
  explicit Perceptron(std::vector<int> widths);

  [[nodiscard]] const std::vector<int>& widths() const { return widths_; }
  [[nodiscard]] std::size_t parameter_count() const { return parameter_count_; }

  /// Weights drawn evenly from +-sqrt(6 / (inputs + outputs)), which keeps signals as large from layer to layer; biases
  /// 0. Source: Glorot & Bengio, Understanding the difficulty of training deep feedforward neural networks, AISTATS
  /// 2010.
  void initialize(std::span<T> parameters, Random& random) const;

  struct Outcome {
    T loss = 0;            ///< Cross-entropy: -log of the probability that the model gave the right class.
    bool correct = false;  ///< Whether it gave the right class the highest one.
  };
  /// How the model does on one image.
  Outcome evaluate(std::span<const T> parameters, std::span<const T> input, int label);
  /// The same, and adds the loss's derivative by each parameter to `gradient`.
  Outcome differentiate(std::span<const T> parameters, std::span<const T> input, int label, std::span<T> gradient);

 private:
  /// One layer: where its parameters start, how wide it is.
  struct Layer {
    std::size_t weights, biases, inputs, outputs;
  };
  void forward(std::span<const T> parameters, std::span<const T> input);
  void backward(std::span<const T> parameters, std::span<T> gradient);

  std::vector<int> widths_;
  std::vector<Layer> layers_;
  std::size_t parameter_count_ = 0;
  std::vector<std::vector<T>> values_;       ///< The input, then the outputs of each layer.
  std::vector<std::vector<T>> derivatives_;  ///< Of the loss, by each of `values_`.
};

extern template class Perceptron<float>;
extern template class Perceptron<double>;

}  // namespace tutti::sgd
