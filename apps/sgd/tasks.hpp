#pragma once
// What a training computes element by element. Each task is a function of an element's number: the host calls it in a
// loop, a GPU in a kernel that is named for the task and for T, as sgd_squash_float. Both compile the same text, so
// that their bits agree. Every pointer is to memory of the machine that runs the task.

#include <array>
#include <cstddef>
#include <cstdint>

#include "apps/sgd/formulas.hpp"

namespace tutti::sgd {

/// values[image][point] = scale * pixels[images[image]][point]
template <class T>
struct LoadImages {
  static constexpr const char* name = "load_images";
  const std::uint8_t* pixels;
  const int* images;
  T* values;
  T scale;
  std::uint64_t features;
  constexpr void operator()(std::uint64_t at) const {
    const auto image = static_cast<std::uint64_t>(images[at / features]);
    values[at] = scale * static_cast<T>(pixels[image * features + at % features]);
  }
};

/// values[i] = value
template <class T>
struct Fill {
  static constexpr const char* name = "fill";
  T* values;
  T value;
  constexpr void operator()(std::uint64_t at) const { values[at] = value; }
};

/// rows[r][j] = row[j]
template <class T>
struct Spread {
  static constexpr const char* name = "spread";
  const T* row;
  T* rows;
  std::uint64_t width;
  constexpr void operator()(std::uint64_t at) const { rows[at] = row[at % width]; }
};

/// values[i] = tanh(values[i])
template <class T>
struct Squash {
  static constexpr const char* name = "squash";
  T* values;
  constexpr void operator()(std::uint64_t at) const { values[at] = tanh(values[at]); }
};

/// values[i] = the larger of values[i] and 0
template <class T>
struct Rectify {
  static constexpr const char* name = "rectify";
  T* values;
  constexpr void operator()(std::uint64_t at) const { values[at] = values[at] > T{0} ? values[at] : T{0}; }
};

/// derivatives[i], by the result of tanh, becomes the one by its argument.
template <class T>
struct ThroughSquash {
  static constexpr const char* name = "through_squash";
  const T* results;
  T* derivatives;
  constexpr void operator()(std::uint64_t at) const { derivatives[at] = through_tanh(results[at], derivatives[at]); }
};

/// The same of the maximum with 0.
template <class T>
struct ThroughRectify {
  static constexpr const char* name = "through_rectify";
  const T* results;
  T* derivatives;
  constexpr void operator()(std::uint64_t at) const {
    if (!(results[at] > T{0})) derivatives[at] = T{0};
  }
};

/// rows[image, y, x][dy, dx, channel] = values[image][y + dy - 1][x + dx - 1][channel], and 0 beyond the border.
template <class T>
struct TakeSurroundings {
  static constexpr const char* name = "take_surroundings";
  const T* values;
  T* rows;
  std::uint64_t height, width, channels;
  constexpr void operator()(std::uint64_t at) const {
    const std::uint64_t channel = at % channels, cell = at / channels % 9, point = at / (9 * channels);
    const std::uint64_t x = point % width + cell % 3, y = point / width % height + cell / 3;  // one more than they are
    const std::uint64_t image = point / (width * height);
    const bool is_inside = x > 0 && x <= width && y > 0 && y <= height;
    rows[at] = is_inside ? values[((image * height + y - 1) * width + x - 1) * channels + channel] : T{0};
  }
};

/// values[image][y][x][channel] = the sum of its derivatives in all rows that TakeSurroundings put it into.
template <class T>
struct SumSurroundings {
  static constexpr const char* name = "sum_surroundings";
  const T* rows;
  T* values;
  std::uint64_t height, width, channels;
  constexpr void operator()(std::uint64_t at) const {
    const std::uint64_t channel = at % channels, x = at / channels % width, y = at / (channels * width) % height;
    const std::uint64_t image = at / (channels * width * height);
    T sum = 0;
    for (std::uint64_t cell = 0; cell < 9; ++cell) {
      const std::uint64_t row_x = x + 2 - cell % 3, row_y = y + 2 - cell / 3;  // one more than they are
      if (row_x > 0 && row_x <= width && row_y > 0 && row_y <= height)
        sum += rows[(((image * height + row_y - 1) * width + row_x - 1) * 9 + cell) * channels + channel];
    }
    values[at] = sum;
  }
};

/// The largest of each 2 x 2 points, and which of them it is: the first one. Points of an odd last row or column are
/// left out. `height` and `width` are those before.
template <class T>
struct TakeLargest {
  static constexpr const char* name = "take_largest";
  const T* values;
  T* largest;
  std::uint8_t* places;
  std::uint64_t height, width, channels;
  constexpr void operator()(std::uint64_t at) const {
    const std::uint64_t channel = at % channels, x = at / channels % (width / 2);
    const std::uint64_t row = at / (channels * (width / 2));
    const std::uint64_t image = row / (height / 2), y = row % (height / 2);
    const T* const first = values + ((image * height + 2 * y) * width + 2 * x) * channels + channel;
    std::uint8_t best = 0;
    for (std::uint8_t place = 1; place < 4; ++place) {
      if (first[offset(best)] < first[offset(place)]) best = place;
    }
    largest[at] = first[offset(best)];
    places[at] = best;
  }

 private:
  [[nodiscard]] constexpr std::uint64_t offset(std::uint8_t place) const {
    return (place / 2 * width + place % 2) * channels;
  }
};

/// derivatives[image][y][x][channel]: that of the largest for the point that it came from, else 0.
template <class T>
struct ThroughLargest {
  static constexpr const char* name = "through_largest";
  const T* by_largest;
  const std::uint8_t* places;
  T* derivatives;
  std::uint64_t height, width, channels;
  constexpr void operator()(std::uint64_t at) const {
    const std::uint64_t channel = at % channels, x = at / channels % width, y = at / (channels * width) % height;
    const std::uint64_t image = at / (channels * width * height);
    derivatives[at] = T{0};
    if (y / 2 >= height / 2 || x / 2 >= width / 2) return;
    const std::uint64_t from = ((image * (height / 2) + y / 2) * (width / 2) + x / 2) * channels + channel;
    if (places[from] == y % 2 * 2 + x % 2) derivatives[at] = by_largest[from];
  }
};

/// How the network does on each image, and the derivatives of its loss by the scores, times `scale`.
template <class T>
struct Judge {
  static constexpr const char* name = "judge";
  const T* scores;
  const std::uint8_t* labels;  ///< Of all images.
  const int* images;
  T* losses;
  std::uint8_t* correct;
  T* derivatives;
  T scale;
  int classes;
  constexpr void operator()(std::uint64_t at) const {
    const std::uint64_t first = at * static_cast<std::uint64_t>(classes);
    const int label = labels[images[at]];
    const Outcome<T> outcome = outcome_of(scores + first, classes, label);
    losses[at] = outcome.loss;
    correct[at] = outcome.correct ? 1 : 0;
    differentiate_scores(scores + first, classes, label, outcome.log_sum, derivatives + first);
    for (int i = 0; i < classes; ++i) {
      derivatives[first + static_cast<std::uint64_t>(i)] *= scale;
    }
  }
};

/// totals[0] += losses[0] + losses[1] + ... from left to right, totals[1] likewise of `correct`: one element.
template <class T>
struct AddOutcomes {
  static constexpr const char* name = "add_outcomes";
  const T* losses;
  const std::uint8_t* correct;
  double* totals;
  std::uint64_t count;
  constexpr void operator()(std::uint64_t /*at*/) const {
    double loss = totals[0], right = totals[1];
    for (std::uint64_t image = 0; image < count; ++image) {
      loss += static_cast<double>(losses[image]);
      right += static_cast<double>(correct[image]);
    }
    totals[0] = loss;
    totals[1] = right;
  }
};

/// narrow[i] = values[i], rounded
template <class T>
struct Narrow {
  static constexpr const char* name = "narrow";
  const T* values;
  std::uint16_t* narrow;
  Format16 format;
  constexpr void operator()(std::uint64_t at) const { narrow[at] = narrowed(format, static_cast<float>(values[at])); }
};

/// values[i] = narrow[i]
template <class T>
struct Widen {
  static constexpr const char* name = "widen";
  const std::uint16_t* narrow;
  T* values;
  Format16 format;
  constexpr void operator()(std::uint64_t at) const { values[at] = static_cast<T>(widened(format, narrow[at])); }
};

/// squares[i] = the sum of the squares of values i * chunk, i * chunk + 1, ..., of `count` in all.
template <class T>
struct SumSquares {
  static constexpr const char* name = "sum_squares";
  static constexpr std::uint64_t chunk = 256;
  const T* values;
  double* squares;
  std::uint64_t count;
  constexpr void operator()(std::uint64_t at) const {
    const std::uint64_t end = (at + 1) * chunk < count ? (at + 1) * chunk : count;
    double sum = 0;
    for (std::uint64_t i = at * chunk; i < end; ++i) {
      sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
    squares[at] = sum;
  }
};

/// Takes a step of gradient descent with momentum.
template <class T>
struct Descend {
  static constexpr const char* name = "descend";
  const T* sums;
  T *weights, *velocity;
  Descent<T> formula;
  constexpr void operator()(std::uint64_t at) const { formula.step(sums[at], weights[at], velocity[at]); }
};

/// Takes a step of Adam.
template <class T>
struct Adapt {
  static constexpr const char* name = "adapt";
  const T* sums;
  T *weights, *mean, *square;
  Adam<T> formula;
  constexpr void operator()(std::uint64_t at) const { formula.step(sums[at], weights[at], mean[at], square[at]); }
};

/// result[r][c] += a[r][0] * b[0][c] + a[r][1] * b[1][c] + ... from left to right, of `depth` products. A stride is the
/// distance of elements whose first, or second, index differs by one.
template <class T>
struct Multiply {
  static constexpr const char* name = "multiply";
  const T *a, *b;
  T* result;
  std::uint64_t columns, depth;
  std::uint64_t a_row, a_column, b_row, b_column;
  constexpr void operator()(std::uint64_t at) const {
    const T* const left = a + at / columns * a_row;
    const T* const right = b + at % columns * b_column;
    T sum = result[at];
    for (std::uint64_t k = 0; k < depth; ++k) {
      sum += left[k * a_column] * right[k * b_row];
    }
    result[at] = sum;
  }
};

/// The names of all tasks.
inline constexpr std::array task_names{LoadImages<float>::name,      Fill<float>::name,
                                       Spread<float>::name,          Squash<float>::name,
                                       Rectify<float>::name,         ThroughSquash<float>::name,
                                       ThroughRectify<float>::name,  TakeSurroundings<float>::name,
                                       SumSurroundings<float>::name, TakeLargest<float>::name,
                                       ThroughLargest<float>::name,  Judge<float>::name,
                                       AddOutcomes<float>::name,     Narrow<float>::name,
                                       Widen<float>::name,           SumSquares<float>::name,
                                       Descend<float>::name,         Adapt<float>::name,
                                       Multiply<float>::name};

}  // namespace tutti::sgd
