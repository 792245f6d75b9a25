#include "apps/sgd/host_learner.hpp"

#include <algorithm>

namespace tutti::sgd {

template <class T>
HostLearner<T>::HostLearner(const Shape& shape, const Split& data, const Settings& settings)
    : data_(data),
      rate_(static_cast<T>(settings.rate)),
      momentum_(static_cast<T>(settings.momentum)),
      model_(shape),
      weights_(shape.parameter_count()),
      velocity_(shape.parameter_count()),
      sums_(shape.parameter_count() + 2),
      image_(static_cast<std::size_t>(data.train.features)) {}

template <class T>
Plan HostLearner<T>::plan_sums(const Communicator& comm, std::string_view algorithm) {
  return plan_allreduce(std::span{sums_}, Op::sum, comm, {.algorithm = algorithm});
}

template <class T>
void HostLearner<T>::load(const Progress<T>& progress) {
  weights_ = progress.weights;
  velocity_ = progress.velocity;
}

template <class T>
void HostLearner<T>::save(Progress<T>& progress) const {
  progress.weights = weights_;
  progress.velocity = velocity_;
}

template <class T>
void HostLearner<T>::begin_epoch(std::span<const int> order) {
  order_ = order;
  totals_ = {};
}

template <class T>
void HostLearner<T>::differentiate(Part part) {
  std::fill(sums_.begin(), sums_.end(), T{0});
  const std::span<T> gradient = std::span{sums_}.first(weights_.size());
  for (const int image : order_.subspan(part.first, part.count)) {
    data_.train.load(image, std::span{image_});
    const Outcome<T> outcome = model_.differentiate(weights_, image_, data_.train.label(image), gradient);
    sums_[gradient.size()] += outcome.loss;
    sums_[gradient.size() + 1] += outcome.correct ? T{1} : T{0};
  }
}

template <class T>
void HostLearner<T>::update(int batch_size) {
  const Descent<T> descent{momentum_, rate_, T{1} / static_cast<T>(batch_size)};
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    descent.step(sums_[i], weights_[i], velocity_[i]);
  }
  totals_.loss += static_cast<double>(sums_[weights_.size()]);
  totals_.correct += static_cast<double>(sums_[weights_.size() + 1]);
}

template <class T>
int HostLearner<T>::correct_in_test(Part part) {
  int correct = 0;
  for (std::size_t image = part.first; image < part.first + part.count; ++image) {
    const int index = static_cast<int>(image);
    data_.test.load(index, std::span{image_});
    correct += model_.evaluate(weights_, image_, data_.test.label(index)).correct ? 1 : 0;
  }
  return correct;
}

template class HostLearner<float>;
template class HostLearner<double>;

}  // namespace tutti::sgd
