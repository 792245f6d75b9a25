#include "apps/sgd/model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

namespace {

/// into += factor * from
template <class T>
void add_scaled(T factor, const T* from, std::span<T> into) {
  for (std::size_t i = 0; i < into.size(); ++i) {
    into[i] += factor * from[i];
  }
}

template <class T>
T dot(const T* a, std::span<const T> b) {
  T sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

/// A row of zeros of each width.
template <class T>
std::vector<std::vector<T>> rows(std::span<const int> widths) {
  std::vector<std::vector<T>> rows;
  rows.reserve(widths.size());
  for (const int width : widths) {
    rows.emplace_back(static_cast<std::size_t>(width));
  }
  return rows;
}

}  // namespace

template <class T>
Perceptron<T>::Perceptron(const Shape& shape)
    : shape_(shape), values_(rows<T>(shape.widths())), derivatives_(values_) {}

template <class T>
void Perceptron<T>::forward(std::span<const T> parameters, std::span<const T> input) {
  std::copy(input.begin(), input.end(), values_.front().begin());
  for (std::size_t index = 0; index < shape_.layers().size(); ++index) {
    const Layer& layer = shape_.layers()[index];
    const std::vector<T>& in = values_[index];
    std::vector<T>& out = values_[index + 1];
    std::copy_n(parameters.data() + layer.biases, layer.outputs, out.begin());
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      add_scaled(in[i], parameters.data() + layer.weights + i * layer.outputs, std::span{out});
    }
    const bool hidden = index + 1 < shape_.layers().size();
    if (hidden) std::transform(out.begin(), out.end(), out.begin(), [](T value) { return tanh(value); });
  }
}

/// Goes from the derivatives by the last layer's outputs to those by all parameters, by layers (the chain rule).
template <class T>
void Perceptron<T>::backward(std::span<const T> parameters, std::span<T> gradient) {
  for (std::size_t index = shape_.layers().size(); index-- > 0;) {
    const Layer& layer = shape_.layers()[index];
    const std::vector<T>& in = values_[index];
    const std::vector<T>& by_out = derivatives_[index + 1];
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      add_scaled(in[i], by_out.data(), gradient.subspan(layer.weights + i * layer.outputs, layer.outputs));
    }
    add_scaled(T{1}, by_out.data(), gradient.subspan(layer.biases, layer.outputs));
    if (index == 0) break;  // Nobody asks for the derivatives by the image.
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      const T* const weights = parameters.data() + layer.weights + i * layer.outputs;
      derivatives_[index][i] = through_tanh(in[i], dot(weights, std::span<const T>{by_out}));
    }
  }
}

template <class T>
Outcome<T> Perceptron<T>::evaluate(std::span<const T> parameters, std::span<const T> input, int label) {
  forward(parameters, input);
  return outcome_of(values_.back().data(), shape_.widths().back(), label);
}

template <class T>
Outcome<T> Perceptron<T>::differentiate(std::span<const T> parameters, std::span<const T> input, int label,
                                        std::span<T> gradient) {
  const Outcome<T> outcome = evaluate(parameters, input, label);
  differentiate_scores(values_.back().data(), shape_.widths().back(), label, outcome.log_sum,
                       derivatives_.back().data());
  backward(parameters, gradient);
  return outcome;
}

template class Perceptron<float>;
template class Perceptron<double>;

}  // namespace tutti::sgd
