#include "apps/sgd/model.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "apps/sgd/tasks.hpp"

namespace tutti::sgd {

namespace {

/// Values of an image in all layers.
std::size_t values_of(const Network& network) {
  std::size_t values = 1 + network.layers().front().in.size();
  for (const Layer& layer : network.layers()) {
    const std::size_t rows = layer.rows();
    values += 2 * rows * layer.outputs + (layer.is_convolution ? 2 * rows * layer.inputs + 2 * layer.out.size() : 0);
  }
  return values;
}

std::size_t images_at_once(const Network& network, int batch, std::size_t most) {
  return std::clamp(most / values_of(network), std::size_t{1}, static_cast<std::size_t>(batch));
}

std::size_t most_rows(const Network& network) {
  std::size_t most = 0;
  for (const Layer& layer : network.layers())
    most = std::max(most, layer.rows());
  return most;
}

}  // namespace

template <class T>
Model<T>::Images::Images(const Machine& machine, const DataSet& data)
    : scale(data.scale<T>()),
      pixels(machine, data.pixels),
      labels(machine, data.labels),
      order(machine, labels.size()) {}

template <class T>
Model<T>::Values::Values(const Machine& machine, const Layer& layer, std::size_t images, bool is_first)
    : rows(machine, layer.is_convolution ? images * layer.rows() * layer.inputs : 0),
      by_rows(machine, is_first ? 0 : rows.size()),
      results(machine, images * layer.rows() * layer.outputs),
      by_results(machine, results.size()),
      largest(machine, layer.is_convolution ? images * layer.out.size() : 0),
      by_largest(machine, largest.size()),
      places(machine, largest.size()) {}

template <class T>
std::size_t Model<T>::Values::bytes() const {
  return rows.bytes() + by_rows.bytes() + 2 * (results.bytes() + largest.bytes()) + places.bytes();
}

template <class T>
Model<T>::Model(const Machine& machine, const Network& network, const Split& data, int batch, std::size_t most)
    : machine_(machine),
      network_(network),
      at_once_(images_at_once(network, batch, most)),
      train_(machine, data.train),
      test_(machine, data.test),
      input_(machine, at_once_ * network.layers().front().in.size()),
      losses_(machine, at_once_),
      ones_(machine, at_once_ * most_rows(network)),
      correct_(machine, at_once_),
      totals_(machine, 2) {
  for (const Layer& layer : network.layers())
    values_.emplace_back(machine, layer, at_once_, values_.empty());
  machine.run(ones_.size(), Fill<T>{ones_.data(), T{1}});
  std::vector<int> order(test_.order.size());
  std::iota(order.begin(), order.end(), 0);
  test_.order.put(order);
}

template <class T>
std::size_t Model<T>::bytes() const {
  std::size_t bytes = input_.bytes() + losses_.bytes() + ones_.bytes();
  for (const Values& values : values_)
    bytes += values.bytes();
  return bytes;
}

template <class T>
void Model<T>::begin_epoch(std::span<const int> order) {
  train_.order.put(order);
  totals_.put(std::array<double, 2>{});
}

template <class T>
void Model<T>::forward(const Parameters<T>& parameters, Part part, T scale) {
  judge(parameters, train_, part, scale);
  machine_.run(1, AddOutcomes<T>{losses_.data(), correct_.data(), totals_.data(), part.count});
}

/// The outcomes of so many images of the order, and the derivatives by their scores.
template <class T>
void Model<T>::judge(const Parameters<T>& parameters, const Images& images, Part part, T scale) {
  count_ = part.count;
  const int* const order = images.order.data() + part.first;
  const std::uint64_t features = network_.layers().front().in.size();
  machine_.run(count_ * features, LoadImages<T>{images.pixels.data(), order, input_.data(), images.scale, features});
  for (std::size_t layer = 0; layer < values_.size(); ++layer)
    forward_layer(parameters, layer);
  machine_.run(count_, Judge<T>{values_.back().results.data(), images.labels.data(), order, losses_.data(),
                                correct_.data(), values_.back().by_results.data(), scale, network_.classes()});
}

template <class T>
void Model<T>::forward_layer(const Parameters<T>& parameters, std::size_t index) {
  const Layer& layer = network_.layers()[index];
  Values& values = values_[index];
  const T* in = index == 0 ? input_.data() : values_[index - 1].out().data();
  const std::size_t rows = count_ * layer.rows();
  const auto& [height, width, channels] = layer.in;
  if (layer.is_convolution) {
    machine_.run(rows * layer.inputs, TakeSurroundings<T>{in, values.rows.data(), height, width, channels});
    in = values.rows.data();
  }
  T* const results = values.results.data();
  const T* const weights = parameters.of(layer);
  machine_.run(rows * layer.outputs, Spread<T>{weights + layer.inputs * layer.outputs, results, layer.outputs});
  machine_.multiply(
      Product<T>{{in, layer.inputs}, {weights, layer.outputs}, results, rows, layer.outputs, layer.inputs});
  activate(layer, results, rows * layer.outputs);
  if (layer.is_convolution)
    machine_.run(count_ * layer.out.size(),
                 TakeLargest<T>{results, values.largest.data(), values.places.data(), height, width, layer.outputs});
}

template <class T>
void Model<T>::activate(const Layer& layer, T* values, std::size_t count) const {
  if (layer.activation == Activation::tanh) machine_.run(count, Squash<T>{values});
  if (layer.activation == Activation::rectify) machine_.run(count, Rectify<T>{values});
}

template <class T>
void Model<T>::through_activation(const Layer& layer, const T* results, T* derivatives, std::size_t count) const {
  if (layer.activation == Activation::tanh) machine_.run(count, ThroughSquash<T>{results, derivatives});
  if (layer.activation == Activation::rectify) machine_.run(count, ThroughRectify<T>{results, derivatives});
}

template <class T>
void Model<T>::backward(const Parameters<T>& parameters, T* gradient,
                        const std::function<void(std::size_t layer)>& on_ready) {
  for (std::size_t layer = values_.size(); layer-- > 0;) {
    backward_layer(parameters, layer, gradient);
    on_ready(layer);
  }
}

/// Goes from the derivatives by a layer's results to those by its parameters and by the results of the layer before
/// (the chain rule).
template <class T>
void Model<T>::backward_layer(const Parameters<T>& parameters, std::size_t index, T* gradient) {
  const Layer& layer = network_.layers()[index];
  Values& values = values_[index];
  const auto& [height, width, channels] = layer.in;
  const std::size_t rows = count_ * layer.rows();
  T* const by_results = values.by_results.data();
  if (layer.is_convolution)
    machine_.run(rows * layer.outputs, ThroughLargest<T>{values.by_largest.data(), values.places.data(), by_results,
                                                         height, width, layer.outputs});
  through_activation(layer, values.results.data(), by_results, rows * layer.outputs);
  const T* const in = layer.is_convolution ? values.rows.data()
                      : index == 0         ? input_.data()
                                           : values_[index - 1].out().data();
  const Matrix<T> by_out{by_results, layer.outputs};
  machine_.multiply(Product<T>{Matrix<T>{in, layer.inputs}.transposed(), by_out, gradient + layer.weights, layer.inputs,
                               layer.outputs, rows});
  machine_.multiply(Product<T>{{ones_.data(), rows}, by_out, gradient + layer.biases, 1, layer.outputs, rows});
  if (index == 0) return;  // Nobody asks for the derivatives by the image.
  const Array<T>& by_in = values_[index - 1].by_out();
  T* const by_rows = layer.is_convolution ? values.by_rows.data() : by_in.data();
  machine_.run(rows * layer.inputs, Fill<T>{by_rows, T{0}});
  const Matrix<T> weights{parameters.of(layer), layer.outputs};
  machine_.multiply(Product<T>{by_out, weights.transposed(), by_rows, rows, layer.inputs, layer.outputs});
  if (layer.is_convolution)
    machine_.run(count_ * layer.in.size(), SumSurroundings<T>{by_rows, by_in.data(), height, width, channels});
}

template <class T>
Totals Model<T>::totals() const {
  std::array<double, 2> totals{};
  totals_.get(totals);
  return {totals[0], totals[1]};
}

template <class T>
int Model<T>::correct_in_test(const Parameters<T>& parameters, Part part) {
  std::vector<std::uint8_t> correct(at_once_);
  int all = 0;
  for (std::size_t done = 0; done < part.count; done += at_once_) {
    const std::size_t count = std::min(at_once_, part.count - done);
    judge(parameters, test_, {part.first + done, count}, T{1});
    const std::span<std::uint8_t> found = std::span{correct}.first(count);
    correct_.get(found);
    all = std::accumulate(found.begin(), found.end(), all);
  }
  return all;
}

template class Model<float>;
template class Model<double>;

}  // namespace tutti::sgd
