#pragma once
// The networks that can be trained, as layers: where their parameters lie, and how large everything is.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/sgd/random.hpp"

namespace tutti::sgd {

/// The height and width of an image in a layer, and the values of each of its points.
struct Geometry {
  std::size_t height = 1, width = 1, channels = 1;
  [[nodiscard]] std::size_t points() const { return height * width; }
  [[nodiscard]] std::size_t size() const { return points() * channels; }
};

enum class Activation : std::uint8_t { none, tanh, rectify };

/// A row of inputs times a matrix of weights[input][output], plus the biases, then the activation. A dense layer has
/// one row an image: the whole image. A convolution has a row for each point: the 3 x 3 points around it, with zeros
/// beyond the border; and of every 2 x 2 points of its results the largest is kept.
struct Layer {
  bool is_convolution = false;
  Activation activation = Activation::none;
  Geometry in, out;                     ///< `out`: after the largest were taken.
  std::size_t inputs = 0, outputs = 0;  ///< Of a row.
  std::size_t weights = 0, biases = 0;  ///< Where they begin in the array of all parameters.

  [[nodiscard]] std::size_t rows() const { return is_convolution ? in.points() : 1; }  ///< Of an image.
  [[nodiscard]] std::size_t parameters() const { return (inputs + 1) * outputs; }
  /// Multiplications and additions of an image, forward.
  [[nodiscard]] std::size_t work() const { return 2 * rows() * inputs * outputs; }
};

/// The parameters of a network are kept all in one array, layer by layer: the weights, then the biases.
class Network {
 public:
  /// The inputs, hidden layers with tanh between them, the classes. At least two widths, each at least 1.
  [[nodiscard]] static Network perceptron(const std::vector<int>& widths);
  /// Two convolutions with so many channels, then hidden layers, then the classes; maxima with 0 between them all.
  /// InputError: an image of less than 4 x 4 points.
  [[nodiscard]] static Network convolutional(Geometry image, std::span<const int> channels, std::span<const int> hidden,
                                             int classes);

  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  [[nodiscard]] std::size_t parameter_count() const { return parameter_count_; }
  [[nodiscard]] int classes() const { return static_cast<int>(layers_.back().outputs); }
  /// "64-64-10", or "8x8x1 conv 16 conv 32 64-10".
  [[nodiscard]] std::string name() const;

 private:
  void add_dense(std::size_t outputs, Geometry in, Activation activation);
  void add_convolution(std::size_t channels, Geometry in);
  void add(Layer layer);
  std::vector<Layer> layers_;
  std::size_t parameter_count_ = 0;
};

/// Weights drawn evenly from +-sqrt(6 / (inputs + outputs)), or from +-sqrt(6 / inputs) behind which is a maximum with
/// 0: this keeps signals as large from layer to layer. Biases are 0. Sources: Glorot & Bengio, Understanding the
/// difficulty of training deep feedforward neural networks, AISTATS 2010; He et al., Delving deep into rectifiers,
/// ICCV 2015.
template <class T>
void initialize(const Network& network, std::span<T> parameters, Random& random);

}  // namespace tutti::sgd
