#include "apps/sgd/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "apps/sgd/tasks.hpp"

namespace tutti::sgd {

namespace {

constexpr double keeps_mean = 0.9, keeps_square = 0.999, epsilon = 1e-8;  // of Adam, as its authors propose

std::size_t chunks_of(std::size_t count) { return (count + SumSquares<float>::chunk - 1) / SumSquares<float>::chunk; }

std::size_t largest_part(const std::vector<Part>& parts) {
  std::size_t largest = 0;
  for (const Part& part : parts)
    largest = std::max(largest, part.count);
  return largest;
}

}  // namespace

double rate_of(const Settings& settings, std::int64_t step, std::int64_t all_steps) {
  const auto at = static_cast<double>(step), warm_up = static_cast<double>(settings.warm_up);
  if (at < warm_up) return settings.rate * (at + 1) / warm_up;
  if (settings.schedule != "cosine") return settings.rate;
  const double left = static_cast<double>(all_steps) - warm_up;
  return settings.rate * (1 + std::cos(std::numbers::pi * std::min(1.0, (at - warm_up) / std::max(1.0, left)))) / 2;
}

template <class T>
Optimizer<T>::Optimizer(const Machine& machine, const Settings& settings, const std::vector<Part>& owned,
                        const Parameters<T>& parameters)
    : machine_(machine), settings_(settings), owned_(owned), parameters_(parameters) {
  std::size_t all = 0;
  for (const Part& part : owned) {
    begins_.push_back(all);
    all += part.count;
  }
  if (parameters.wide() == nullptr) master_ = Array<T>{machine, all};
  mean_ = Array<T>{machine, all};
  if (settings.optimizer == "adam") square_ = Array<T>{machine, all};
  squares_ = Array<double>{machine, chunks_of(largest_part(owned))};
}

template <class T>
T* Optimizer<T>::weights_of(std::size_t part) const {
  return parameters_.wide() != nullptr ? parameters_.wide() + owned_[part].first : master_.data() + begins_[part];
}

template <class T>
void Optimizer<T>::step(std::size_t part, const T* sums, double rate, double factor, std::int64_t step) {
  const std::size_t count = owned_[part].count;
  T *const weights = weights_of(part), *const mean = mean_.data() + begins_[part];
  if (settings_.optimizer == "adam") {
    const double unseen = std::sqrt(1 - std::pow(keeps_square, static_cast<double>(step)));
    const Adam<T> formula{static_cast<T>(keeps_mean), static_cast<T>(keeps_square),
                          static_cast<T>(rate * unseen / (1 - std::pow(keeps_mean, static_cast<double>(step)))),
                          static_cast<T>(epsilon * unseen), static_cast<T>(factor)};
    machine_.run(count, Adapt<T>{sums, weights, mean, square_.data() + begins_[part], formula});
  } else {
    const Descent<T> formula{static_cast<T>(settings_.momentum), static_cast<T>(rate), static_cast<T>(factor)};
    machine_.run(count, Descend<T>{sums, weights, mean, formula});
  }
  parameters_.take(weights, owned_[part].first, count);
}

template <class T>
double Optimizer<T>::squares_of(const T* sums, std::size_t count) const {
  std::vector<double> squares(chunks_of(count));
  machine_.run(squares.size(), SumSquares<T>{sums, squares_.data(), count});
  squares_.get(squares);
  return std::accumulate(squares.begin(), squares.end(), 0.0);
}

template <class T>
void Optimizer<T>::load(const Progress<T>& progress) {
  for (std::size_t part = 0; part < owned_.size(); ++part) {
    const auto [first, count] = owned_[part];
    const auto of = [first = first, count = count](const std::vector<T>& values) {
      return std::span{values}.subspan(first, count);
    };
    if (master_.size() > 0) master_.put(of(progress.weights), begins_[part]);
    mean_.put(of(progress.mean), begins_[part]);
    if (square_.size() > 0) square_.put(of(progress.square), begins_[part]);
  }
}

template <class T>
void Optimizer<T>::save(Progress<T>& progress) const {
  for (std::size_t part = 0; part < owned_.size(); ++part) {
    const auto [first, count] = owned_[part];
    const auto of = [first = first, count = count](std::vector<T>& values) {
      return std::span{values}.subspan(first, count);
    };
    if (master_.size() > 0) master_.get(of(progress.weights), begins_[part]);
    mean_.get(of(progress.mean), begins_[part]);
    if (square_.size() > 0) square_.get(of(progress.square), begins_[part]);
  }
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace tutti::sgd
