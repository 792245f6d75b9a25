#include "apps/sgd/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/options.hpp"

namespace tutti::sgd {

namespace {

constexpr std::size_t side = 3;  // of the points that a convolution looks at

std::size_t size_of(int width) { return static_cast<std::size_t>(width); }

}  // namespace

Network Network::perceptron(const std::vector<int>& widths) {
  Network network;
  Geometry in{1, 1, size_of(widths.front())};
  for (std::size_t layer = 1; layer < widths.size(); ++layer) {
    const bool is_last = layer + 1 == widths.size();
    network.add_dense(size_of(widths[layer]), in, is_last ? Activation::none : Activation::tanh);
    in = network.layers_.back().out;
  }
  return network;
}

Network Network::convolutional(Geometry image, std::span<const int> channels, std::span<const int> hidden,
                               int classes) {
  if (std::min(image.height, image.width) < 4)
    throw apps::InputError(
        fmt::format("--model cnn: images of {} x {} points, allowed: 4 x 4 and more, at least 4 either way",
                    image.height, image.width));
  Network network;
  for (const int each : channels) {
    network.add_convolution(size_of(each), image);
    image = network.layers_.back().out;
  }
  for (const int width : hidden) {
    network.add_dense(size_of(width), image, Activation::rectify);
    image = network.layers_.back().out;
  }
  network.add_dense(size_of(classes), image, Activation::none);
  return network;
}

void Network::add_dense(std::size_t outputs, Geometry in, Activation activation) {
  add({.activation = activation, .in = in, .out = {1, 1, outputs}, .inputs = in.size(), .outputs = outputs});
}

void Network::add_convolution(std::size_t channels, Geometry in) {
  add({.is_convolution = true,
       .activation = Activation::rectify,
       .in = in,
       .out = {in.height / 2, in.width / 2, channels},
       .inputs = side * side * in.channels,
       .outputs = channels});
}

void Network::add(Layer layer) {
  layer.weights = parameter_count_;
  layer.biases = layer.weights + layer.inputs * layer.outputs;
  parameter_count_ += layer.parameters();
  layers_.push_back(layer);
}

std::string Network::name() const {
  const Geometry& image = layers_.front().in;
  std::string name = layers_.front().is_convolution ? fmt::format("{}x{}x{}", image.height, image.width, image.channels)
                                                    : fmt::format("{}", image.size());
  for (const Layer& layer : layers_)
    name += layer.is_convolution ? fmt::format(" conv {}", layer.outputs) : fmt::format("-{}", layer.outputs);
  return name;
}

template <class T>
void initialize(const Network& network, std::span<T> parameters, Random& random) {
  std::fill(parameters.begin(), parameters.end(), T{0});
  for (const Layer& layer : network.layers()) {
    const std::size_t both = layer.inputs + (layer.activation == Activation::rectify ? 0 : layer.outputs);
    const double limit = std::sqrt(6.0 / static_cast<double>(both));
    for (T& weight : parameters.subspan(layer.weights, layer.inputs * layer.outputs)) {
      weight = static_cast<T>(random.uniform(-limit, limit));
    }
  }
}

template void initialize<float>(const Network&, std::span<float>, Random&);
template void initialize<double>(const Network&, std::span<double>, Random&);

}  // namespace tutti::sgd
