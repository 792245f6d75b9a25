#pragma once
// The shape of a multilayer perceptron: how wide its layers are, and where their parameters lie.

#include <cstddef>
#include <span>
#include <vector>

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

}  // namespace tutti::sgd
