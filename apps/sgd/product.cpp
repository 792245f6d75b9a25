#include "apps/sgd/product.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace tutti::sgd {

namespace {

constexpr std::size_t tile_rows = 4, tile_columns = 64, tile_depth = 256;

/// So many rows of the result, of a tile's columns. `b` lies row by row, tile_columns apart.
template <class T, std::size_t rows>
void add_rows(const Matrix<T>& a, const T* b, std::size_t depth, T* result, std::size_t stride) {
  std::array<std::array<T, tile_columns>, rows> sums{};
  for (std::size_t r = 0; r < rows; ++r)
    std::copy_n(result + r * stride, tile_columns, sums[r].begin());
  for (std::size_t k = 0; k < depth; ++k)
    for (std::size_t r = 0; r < rows; ++r) {
      const T factor = a.data[r * a.down() + k * a.right()];
      for (std::size_t c = 0; c < tile_columns; ++c)
        sums[r][c] += factor * b[k * tile_columns + c];
    }
  for (std::size_t r = 0; r < rows; ++r)
    std::copy_n(sums[r].begin(), tile_columns, result + r * stride);
}

/// The columns of a tile that are left over get products with 0, which nobody reads.
template <class T>
void add_narrow_row(const Matrix<T>& a, const T* b, std::size_t depth, T* result, std::size_t columns) {
  std::array<T, tile_columns> sums{};
  std::copy_n(result, columns, sums.begin());
  add_rows<T, 1>(a, b, depth, sums.data(), tile_columns);
  std::copy_n(sums.begin(), columns, result);
}

}  // namespace

template <class T>
void multiply_in_order(const Product<T>& product) {
  const auto& [a, b, result, rows, columns, depth, stride] = product;
  std::vector<T> tile(tile_depth * tile_columns);
  for (std::size_t column = 0; column < columns; column += tile_columns) {
    const std::size_t width = std::min(tile_columns, columns - column);
    for (std::size_t k = 0; k < depth; k += tile_depth) {
      const std::size_t deep = std::min(tile_depth, depth - k);
      for (std::size_t i = 0; i < deep; ++i)
        for (std::size_t c = 0; c < width; ++c)
          tile[i * tile_columns + c] = b.data[(k + i) * b.down() + (column + c) * b.right()];
      std::size_t row = 0;
      for (; width == tile_columns && row + tile_rows <= rows; row += tile_rows)
        add_rows<T, tile_rows>(a.from(row, k), tile.data(), deep, result + row * stride + column, stride);
      for (; row < rows; ++row)
        add_narrow_row(a.from(row, k), tile.data(), deep, result + row * stride + column, width);
    }
  }
}

template void multiply_in_order(const Product<float>&);
template void multiply_in_order(const Product<double>&);

}  // namespace tutti::sgd
