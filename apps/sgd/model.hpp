#pragma once
// What a rank computes of a network by itself: how it does on images, and the gradient of its loss.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "apps/sgd/data_set.hpp"
#include "apps/sgd/machine.hpp"
#include "apps/sgd/network.hpp"
#include "apps/sgd/parameters.hpp"

namespace tutti::sgd {

/// Images by their places in an order.
struct Part {
  std::size_t first = 0, count = 0;
};

/// Sums over images.
struct Totals {
  double loss = 0, correct = 0;
};

/// Values that take room at once: a batch is computed in parts, if it needs more.
inline constexpr std::size_t most_values = std::size_t{1} << 25;

/// Computes many images at once. The bits of its sums do not depend on how many, if the machine multiplies in order:
/// each sum begins with what was there and adds in the order of the images, or of a layer's inputs or outputs.
template <class T>
class Model {
 public:
  /// Computes at most so many images of a batch at once. `machine` and `network` must outlive it.
  Model(const Machine& machine, const Network& network, const Split& data, int batch, std::size_t most = most_values);

  /// The order in which the training images come. Totals begin again.
  void begin_epoch(std::span<const int> order);
  /// Computes the outcomes of these images of the order, and adds them to the totals.
  void forward(const Parameters<T>& parameters, Part part, T scale);
  /// Adds the derivatives of the loss of the images of the last forward(), times the `scale` that it was given, to the
  /// gradient, from the last layer to the first. `on_ready` is called when that of a layer is complete.
  void backward(const Parameters<T>& parameters, T* gradient, const std::function<void(std::size_t layer)>& on_ready);
  /// How many images of a part forward() takes at once.
  [[nodiscard]] std::size_t at_once() const { return at_once_; }
  [[nodiscard]] Totals totals() const;
  /// The number of these test images that the network classifies rightly.
  [[nodiscard]] int correct_in_test(const Parameters<T>& parameters, Part part);
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Images {
    Images(const Machine& machine, const DataSet& data);
    T scale;  ///< DataSet::scale().
    Array<std::uint8_t> pixels, labels;
    Array<int> order;  ///< In which they are used.
  };
  /// The values of a layer, for the images that are computed at once.
  struct Values {
    /// `is_first`: nobody asks for the derivatives by its inputs.
    Values(const Machine& machine, const Layer& layer, std::size_t images, bool is_first);
    Array<T> rows, by_rows;        ///< Of a convolution: its inputs point by point, and the derivatives by them.
    Array<T> results, by_results;  ///< After the activation.
    Array<T> largest, by_largest;  ///< Of a convolution.
    Array<std::uint8_t> places;
    [[nodiscard]] const Array<T>& out() const { return largest.size() > 0 ? largest : results; }
    [[nodiscard]] const Array<T>& by_out() const { return largest.size() > 0 ? by_largest : by_results; }
    [[nodiscard]] std::size_t bytes() const;
  };
  void judge(const Parameters<T>& parameters, const Images& images, Part part, T scale);
  void forward_layer(const Parameters<T>& parameters, std::size_t index);
  void backward_layer(const Parameters<T>& parameters, std::size_t index, T* gradient);
  void activate(const Layer& layer, T* values, std::size_t count) const;
  void through_activation(const Layer& layer, const T* results, T* derivatives, std::size_t count) const;

  const Machine& machine_;
  const Network& network_;
  const std::size_t at_once_;
  Images train_, test_;
  Array<T> input_;
  std::vector<Values> values_;
  Array<T> losses_, ones_;
  Array<std::uint8_t> correct_;
  Array<double> totals_;
  std::size_t count_ = 0;  ///< Images of the last forward().
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace tutti::sgd
