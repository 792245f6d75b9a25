#pragma once
// Sums of the ranks' gradients, layer by layer, while the gradients of other layers are still being computed.

#include <string>
#include <vector>

#include "apps/sgd/gpu.hpp"
#include "apps/sgd/model.hpp"
#include "tutti/tutti.hpp"

namespace tutti::sgd {

/// Elements of the sums of a step.
struct Range {
  std::size_t first, size;
};
/// The gradient of a layer; of the last layer also the two sums behind it. Layers lie one after the other.
[[nodiscard]] Range range_of(const Shape& shape, std::size_t layer);

/// Whether the ranks can sum by layers: the bits are those of one sum over all layers, made by `algorithm`, and calls
/// in streams need nothing that may be missing. The same on all ranks.
[[nodiscard]] bool can_sum_layers(const Shape& shape, const Communicator& comm, std::string_view algorithm);

/// A stream of allreduces beside that of the kernels. Events order the two: no call waits on the host.
template <class T>
class LayerSums {
 public:
  /// `sums` are on the device. All must outlive it.
  LayerSums(const Gpu& gpu, const Shape& shape, T* sums, const Communicator& comm, std::string_view algorithm);

  /// Collective. Queues the sum over all ranks of a layer's gradient, behind the kernels that were queued so far.
  void begin(std::size_t layer) const;
  /// Kernels that are queued from now on find the sum of the layer.
  void end(std::size_t layer) const { gpu_.wait_for(summed_[layer]); }

 private:
  const Gpu& gpu_;
  const Shape& shape_;
  T* sums_;
  const Communicator& comm_;
  const std::string algorithm_;
  std::vector<GpuEvent> computed_, summed_;  ///< By layer.
  GpuStream stream_;                         ///< Has the allreduces. Destroyed first: what is in it may use the events.
};

extern template class LayerSums<float>;
extern template class LayerSums<double>;

}  // namespace tutti::sgd
