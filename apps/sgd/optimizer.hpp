#pragma once
// How parameters follow from gradients: the rules, their state, and how long their steps are.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/sgd/checkpoint.hpp"
#include "apps/sgd/machine.hpp"
#include "apps/sgd/model.hpp"
#include "apps/sgd/parameters.hpp"
#include "apps/sgd/settings.hpp"

namespace tutti::sgd {

/// The learning rate of a step: it grows evenly for `warm_up` steps, and then stays, or falls like a cosine to 0.
[[nodiscard]] double rate_of(const Settings& settings, std::int64_t step, std::int64_t all_steps);

/// Updates the parameters that this rank owns. It keeps its state of these alone.
template <class T>
class Optimizer {
 public:
  /// All must outlive it. `owned`: parts of the parameters.
  Optimizer(const Machine& machine, const Settings& settings, const std::vector<Part>& owned,
            const Parameters<T>& parameters);

  /// Takes a step (from 1) of a part, of whose gradients `sums` are the sums; the gradient is a sum times `factor`.
  void step(std::size_t part, const T* sums, double rate, double factor, std::int64_t step);
  /// The sum of the squares of so many sums. Waits for them.
  [[nodiscard]] double squares_of(const T* sums, std::size_t count) const;

  /// Takes or gives the values of the parts that it owns; other values stay as they are.
  void load(const Progress<T>& progress);
  void save(Progress<T>& progress) const;

  [[nodiscard]] std::size_t bytes() const { return master_.bytes() + mean_.bytes() + square_.bytes(); }

 private:
  /// The weights of a part in full precision.
  [[nodiscard]] T* weights_of(std::size_t part) const;

  const Machine& machine_;
  const Settings& settings_;
  const std::vector<Part>& owned_;
  const Parameters<T>& parameters_;
  std::vector<std::size_t> begins_;  ///< Where a part begins in the arrays.
  Array<T> master_;                  ///< The parameters, where those of the network are rounded.
  Array<T> mean_, square_;
  mutable Array<double> squares_;
};

extern template class Optimizer<float>;
extern template class Optimizer<double>;

}  // namespace tutti::sgd
