#include "apps/sgd/parameters.hpp"

#include <algorithm>

namespace tutti::sgd {

namespace {

std::size_t largest_layer(const Network& network) {
  std::size_t largest = 0;
  for (const Layer& layer : network.layers())
    largest = std::max(largest, layer.parameters());
  return largest;
}

}  // namespace

template <class T>
Parameters<T>::Parameters(const Machine& machine, const Network& network, std::optional<Format16> format)
    : machine_(machine),
      format_(format),
      narrow_(machine, format ? network.parameter_count() : 0),
      wide_(machine, format ? largest_layer(network) : network.parameter_count()) {}

template <class T>
const T* Parameters<T>::of(const Layer& layer) const {
  if (!format_) return wide_.data() + layer.weights;
  machine_.run(layer.parameters(), Widen<T>{narrow_.data() + layer.weights, wide_.data(), *format_});
  return wide_.data();
}

template <class T>
void Parameters<T>::take(const T* parameters, std::size_t first, std::size_t count) const {
  if (format_)
    machine_.run(count, Narrow<T>{parameters, narrow_.data() + first, *format_});
  else if (parameters != wide_.data() + first)
    machine_.copy(parameters, wide_.data() + first, count * sizeof(T));
}

template class Parameters<float>;
template class Parameters<double>;

}  // namespace tutti::sgd
