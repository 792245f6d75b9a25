#include "apps/sgd/model.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::sgd {

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

/// log(sum of exp(values)), without overflow.
template <class T>
T log_sum_exp(const std::vector<T>& values) {
  const T largest = *std::max_element(values.begin(), values.end());
  T sum = 0;
  for (const T value : values) {
    sum += std::exp(value - largest);
  }
  return largest + std::log(sum);
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

std::size_t parameter_count(std::span<const int> widths) {
  std::size_t count = 0;
  for (std::size_t layer = 1; layer < widths.size(); ++layer) {
    count += (static_cast<std::size_t>(widths[layer - 1]) + 1) * static_cast<std::size_t>(widths[layer]);
  }
  return count;
}

template <class T>
Perceptron<T>::Perceptron(std::vector<int> widths)
    : widths_(std::move(widths)), values_(rows<T>(widths_)), derivatives_(values_) {
  for (std::size_t layer = 0; layer + 1 < values_.size(); ++layer) {
    const std::size_t inputs = values_[layer].size(), outputs = values_[layer + 1].size();
    const std::size_t biases = parameter_count_ + inputs * outputs;
    layers_.push_back({parameter_count_, biases, inputs, outputs});
    parameter_count_ = biases + outputs;
  }
}

template <class T>
void Perceptron<T>::initialize(std::span<T> parameters, Random& random) const {
  std::fill(parameters.begin(), parameters.end(), T{0});
  for (const Layer& layer : layers_) {
    const double limit = std::sqrt(6.0 / static_cast<double>(layer.inputs + layer.outputs));
    for (T& weight : parameters.subspan(layer.weights, layer.inputs * layer.outputs)) {
      weight = static_cast<T>(random.uniform(-limit, limit));
    }
  }
}

template <class T>
void Perceptron<T>::forward(std::span<const T> parameters, std::span<const T> input) {
  std::copy(input.begin(), input.end(), values_.front().begin());
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const Layer& layer = layers_[index];
    const std::vector<T>& in = values_[index];
    std::vector<T>& out = values_[index + 1];
    std::copy_n(parameters.data() + layer.biases, layer.outputs, out.begin());
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      add_scaled(in[i], parameters.data() + layer.weights + i * layer.outputs, std::span{out});
    }
    const bool hidden = index + 1 < layers_.size();
    if (hidden) std::transform(out.begin(), out.end(), out.begin(), [](T value) { return std::tanh(value); });
  }
}

/// From the derivatives by the last layer's outputs to those by all parameters, layer by layer (the chain rule).
template <class T>
void Perceptron<T>::backward(std::span<const T> parameters, std::span<T> gradient) {
  for (std::size_t index = layers_.size(); index-- > 0;) {
    const Layer& layer = layers_[index];
    const std::vector<T>& in = values_[index];
    const std::vector<T>& by_out = derivatives_[index + 1];
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      add_scaled(in[i], by_out.data(), gradient.subspan(layer.weights + i * layer.outputs, layer.outputs));
    }
    add_scaled(T{1}, by_out.data(), gradient.subspan(layer.biases, layer.outputs));
    if (index == 0) break;  // Nobody asks for the derivatives by the image.
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      // The derivative of tanh, by its result: 1 - tanh^2.
      const T* const weights = parameters.data() + layer.weights + i * layer.outputs;
      derivatives_[index][i] = (T{1} - in[i] * in[i]) * dot(weights, std::span<const T>{by_out});
    }
  }
}

template <class T>
auto Perceptron<T>::evaluate(std::span<const T> parameters, std::span<const T> input, int label) -> Outcome {
  forward(parameters, input);
  const std::vector<T>& scores = values_.back();
  const auto guess = std::max_element(scores.begin(), scores.end()) - scores.begin();
  return {log_sum_exp(scores) - scores[static_cast<std::size_t>(label)], guess == label};
}

template <class T>
auto Perceptron<T>::differentiate(std::span<const T> parameters, std::span<const T> input, int label,
                                  std::span<T> gradient) -> Outcome {
  const Outcome outcome = evaluate(parameters, input, label);
  // Softmax and cross-entropy together: the derivative by a score is the class's probability, less 1 for the right one.
  const std::vector<T>& scores = values_.back();
  const T log_sum = log_sum_exp(scores);
  std::transform(scores.begin(), scores.end(), derivatives_.back().begin(),
                 [log_sum](T score) { return std::exp(score - log_sum); });
  derivatives_.back()[static_cast<std::size_t>(label)] -= T{1};
  backward(parameters, gradient);
  return outcome;
}

template class Perceptron<float>;
template class Perceptron<double>;

}  // namespace tutti::sgd
