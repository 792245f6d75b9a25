#include "apps/sgd/shape.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::sgd {

std::size_t parameter_count(std::span<const int> widths) {
  std::size_t count = 0;
  for (std::size_t layer = 1; layer < widths.size(); ++layer) {
    count += (static_cast<std::size_t>(widths[layer - 1]) + 1) * static_cast<std::size_t>(widths[layer]);
  }
  return count;
}

Shape::Shape(std::vector<int> widths) : widths_(std::move(widths)) {
  for (std::size_t layer = 0; layer + 1 < widths_.size(); ++layer) {
    const auto inputs = static_cast<std::size_t>(widths_[layer]),
               outputs = static_cast<std::size_t>(widths_[layer + 1]);
    const std::size_t biases = parameter_count_ + inputs * outputs;
    layers_.push_back({parameter_count_, biases, inputs, outputs});
    parameter_count_ = biases + outputs;
  }
}

template <class T>
void initialize(const Shape& shape, std::span<T> parameters, Random& random) {
  std::fill(parameters.begin(), parameters.end(), T{0});
  for (const Layer& layer : shape.layers()) {
    const double limit = std::sqrt(6.0 / static_cast<double>(layer.inputs + layer.outputs));
    for (T& weight : parameters.subspan(layer.weights, layer.inputs * layer.outputs)) {
      weight = static_cast<T>(random.uniform(-limit, limit));
    }
  }
}

template void initialize<float>(const Shape&, std::span<float>, Random&);
template void initialize<double>(const Shape&, std::span<double>, Random&);

}  // namespace tutti::sgd
