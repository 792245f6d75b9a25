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
  const auto& [a, b, result, rows, columns, depth] = product;
  if (rows == 0 || columns == 0 || depth == 0) return;
  if (device_ != nullptr) {
    if (products_ == Products::library) return device_->multiply(product);
    return run(rows * columns,
               Multiply<T>{a.data, b.data, result, columns, depth, a.down(), a.right(), b.down(), b.right()});
  }
  const std::size_t at_once = pause_ ? std::clamp(most_work / (columns * depth), std::size_t{1}, rows) : rows;
  for (std::size_t row = 0; row < rows; row += at_once) {
    if (row > 0) pause_();
    const Product<T> part{a.from(row, 0), b, result + row * columns, std::min(at_once, rows - row), columns, depth};
    if (products_ == Products::library)
      multiply_by_openblas(part);
    else
      multiply_in_order(part);
  }
}

template void Machine::multiply(const Product<float>&) const;
template void Machine::multiply(const Product<double>&) const;

}  // namespace tutti::sgd
