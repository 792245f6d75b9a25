#include "apps/sgd/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "apps/sgd/root.hpp"

namespace tutti::sgd {

namespace {

constexpr std::size_t most_parameters = 200'000'000;

std::vector<int> widths_of(const Settings& settings, const DataSet& data) {
  std::vector<int> widths{data.features};
  widths.insert(widths.end(), settings.hidden.begin(), settings.hidden.end());
  widths.push_back(data.classes);
  return widths;
}

/// 0, 1, ..., size - 1 in the order of this epoch.
std::vector<int> shuffled_order(int size, std::uint64_t seed, int epoch) {
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  Random{seed, Random::Purpose::order, static_cast<std::uint32_t>(epoch)}.shuffle(std::span{order});
  return order;
}

/// Throws unless these settings can be used with these images.
const Settings& fitting(const Settings& settings, const DataSet& train) {
  if (settings.batch > train.size()) {
    throw apps::InputError(
        fmt::format("--batch: {} images, but there are only {} to train with", settings.batch, train.size()));
  }
  const std::size_t parameters = parameter_count(widths_of(settings, train));
  if (parameters > most_parameters) {
    throw apps::InputError(
        fmt::format("--hidden: the model would have {} parameters, {} at most", parameters, most_parameters));
  }
  return settings;
}

}  // namespace

std::span<const int> part_of(std::span<const int> all, int rank, int size) {
  const auto begin = [&](int part) {
    return all.size() * static_cast<std::size_t>(part) / static_cast<std::size_t>(size);
  };
  return all.subspan(begin(rank), begin(rank + 1) - begin(rank));
}

template <class T>
Trainer<T>::Trainer(const Settings& settings, const Split& data, const Communicator& comm)
    : settings_(fitting(settings, data.train)),
      data_(data),
      comm_(comm),
      model_(widths_of(settings, data.train)),
      image_(static_cast<std::size_t>(data.train.features)),
      sums_(model_.parameter_count() + 2),
      // The same sum is needed in every step: as a plan it is prepared once. One buffer for all layers, and for the
      // loss, makes it one large message instead of many small ones.
      plan_(plan_allreduce(std::span{sums_}, Op::sum, comm, {.algorithm = settings_.algorithm})) {
  progress_.weights.resize(model_.parameter_count());
  progress_.velocity.resize(model_.parameter_count());
  Random random{settings.seed, Random::Purpose::weights};
  model_.initialize(progress_.weights, random);
}

template <class T>
EpochReport Trainer<T>::run_epoch() {
  loss_ = correct_ = communication_seconds_ = 0;
  const double start = MPI_Wtime();
  const int size = data_.train.size(), epoch = progress_.epochs + 1;
  const std::vector<int> order = shuffled_order(size, settings_.seed, epoch);
  for (int first = 0; first < size; first += std::min(settings_.batch, size - first)) {
    const int count = std::min(settings_.batch, size - first);
    step(std::span{order}.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
  }
  const double seconds = MPI_Wtime() - start;
  if (!std::isfinite(loss_)) {
    throw CommonFailure(fmt::format("the loss grew beyond all numbers in epoch {}: try a smaller --rate", epoch));
  }
  progress_.epochs = epoch;

  std::array<double, 3> totals{static_cast<double>(correct_in_test()), communication_seconds_, seconds};
  allreduce(std::span<double>{totals}, Op::sum, comm_);
  const auto& [correct, all_communication, all_seconds] = totals;
  return {.epoch = epoch,
          .loss = loss_ / size,
          .train_accuracy = correct_ / size,
          .test_accuracy = correct / data_.test.size(),
          .samples_per_s = static_cast<double>(size) * comm_.size() / all_seconds,
          .comm_share = all_communication / all_seconds};
}

/// Adapts the weights to a batch of images.
template <class T>
void Trainer<T>::step(std::span<const int> batch) {
  std::fill(sums_.begin(), sums_.end(), T{0});
  for (const int image : part_of(batch, comm_.rank().value(), comm_.size())) {
    accumulate(image);
  }
  sum_over_ranks();
  update(static_cast<int>(batch.size()));
}

template <class T>
void Trainer<T>::accumulate(int image) {
  data_.train.load(image, std::span{image_});
  const std::span<T> gradient = std::span{sums_}.first(model_.parameter_count());
  const auto [loss, correct] = model_.differentiate(progress_.weights, image_, data_.train.label(image), gradient);
  sums_[gradient.size()] += loss;
  sums_[gradient.size() + 1] += correct ? T{1} : T{0};
}

template <class T>
void Trainer<T>::sum_over_ranks() {
  const double start = MPI_Wtime();
  plan_.start();
  plan_.wait();
  communication_seconds_ += MPI_Wtime() - start;
}

/// Gradient descent with momentum: the velocity is a running sum of gradients in which old ones fade.
template <class T>
void Trainer<T>::update(int batch_size) {
  const T momentum = static_cast<T>(settings_.momentum), rate = static_cast<T>(settings_.rate);
  const T per_image = T{1} / static_cast<T>(batch_size);
  auto& [epochs, weights, velocity] = progress_;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    velocity[i] = momentum * velocity[i] + per_image * sums_[i];
    weights[i] -= rate * velocity[i];
  }
  loss_ += static_cast<double>(sums_[weights.size()]);
  correct_ += static_cast<double>(sums_[weights.size() + 1]);
}

/// Of this rank's part of the test images, those that the model classifies rightly.
template <class T>
int Trainer<T>::correct_in_test() {
  std::vector<int> images(static_cast<std::size_t>(data_.test.size()));
  std::iota(images.begin(), images.end(), 0);
  int correct = 0;
  for (const int image : part_of(images, comm_.rank().value(), comm_.size())) {
    data_.test.load(image, std::span{image_});
    correct += model_.evaluate(progress_.weights, image_, data_.test.label(image)).correct ? 1 : 0;
  }
  return correct;
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace tutti::sgd
