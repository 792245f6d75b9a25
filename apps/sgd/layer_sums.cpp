#include "apps/sgd/layer_sums.hpp"

#include <mpi.h>

namespace tutti::sgd {

Range range_of(const Shape& shape, std::size_t layer) {
  const bool is_last = layer + 1 == shape.layers().size();
  const std::size_t first = shape.layers()[layer].weights;
  return {first, (is_last ? shape.parameter_count() + 2 : shape.layers()[layer + 1].weights) - first};
}

bool can_sum_layers(const Shape& shape, const Communicator& comm, std::string_view algorithm) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  const bool has_calls_in_streams = comm.node_count() == 1 && level == MPI_THREAD_MULTIPLE;
  // These add in the order of ranks, at any length. Other algorithms add in orders that depend on it.
  const bool has_same_bits = algorithm == "one_shot" || algorithm == "two_shot";
  return comm.size() > 1 && shape.layers().size() > 1 && has_calls_in_streams && has_same_bits;
}

template <class T>
LayerSums<T>::LayerSums(const Gpu& gpu, const Shape& shape, T* sums, const Communicator& comm,
                        std::string_view algorithm)
    : gpu_(gpu),
      shape_(shape),
      sums_(sums),
      comm_(comm),
      algorithm_(algorithm),
      computed_(shape.layers().size()),
      summed_(shape.layers().size()) {}

template <class T>
void LayerSums<T>::begin(std::size_t layer) const {
  const auto [first, size] = range_of(shape_, layer);
  gpu_.record(computed_[layer]);
  stream_.wait_for(computed_[layer]);
  allreduce(DeviceSpan<T>{sums_ + first, size}, Op::sum, comm_, {.algorithm = algorithm_, .stream = stream_.get()});
  stream_.record(summed_[layer]);
}

template class LayerSums<float>;
template class LayerSums<double>;

}  // namespace tutti::sgd
