#include "apps/sgd/machine.hpp"

#include <algorithm>

#include "apps/sgd/tasks.hpp"

namespace tutti::sgd {

namespace {

/// Multiplications between two pauses: about a millisecond.
constexpr std::size_t most_work = std::size_t{1} << 24;

}  // namespace

template <class T>
void Machine::multiply(const Product<T>& product) const {
  const auto& [a, b, result, rows, columns, depth, stride] = product;
  if (rows == 0 || columns == 0 || depth == 0) return;
  if (device_ != nullptr) {
    if (products_ == Products::library) return device_->multiply(product);
    return run(rows * columns,
               Multiply<T>{a.data, b.data, result, columns, depth, a.down(), a.right(), b.down(), b.right()});
  }
  if (!pause_) return multiply_on_host(product);
  // Cut along the longer side, as libraries want the other one whole.
  const bool cuts_rows = rows >= columns;
  const std::size_t longer = cuts_rows ? rows : columns, shorter = cuts_rows ? columns : rows;
  const std::size_t at_once = std::clamp(most_work / (shorter * depth), std::size_t{1}, longer);
  for (std::size_t at = 0; at < longer; at += at_once) {
    if (at > 0) pause_();
    const std::size_t size = std::min(at_once, longer - at);
    if (cuts_rows)
      multiply_on_host(Product<T>{a.from(at, 0), b, result + at * stride, size, columns, depth, stride});
    else
      multiply_on_host(Product<T>{a, b.from(0, at), result + at, rows, size, depth, stride});
  }
}

template <class T>
void Machine::multiply_on_host(const Product<T>& product) const {
  if (products_ == Products::library)
    multiply_by_openblas(product);
  else
    multiply_in_order(product);
}

template void Machine::multiply(const Product<float>&) const;
template void Machine::multiply(const Product<double>&) const;

}  // namespace tutti::sgd
