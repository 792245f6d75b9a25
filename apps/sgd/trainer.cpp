#include "apps/sgd/trainer.hpp"
#include "apps/root.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "apps/sgd/device_learner.hpp"
#include "apps/sgd/host_learner.hpp"

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

/// Where all numbers are: on the host or on a device.
template <class T>
std::unique_ptr<Learner<T>> learner_of(const Settings& settings, const Shape& shape, const Split& data,
                                       const Communicator& comm) {
  if (settings.device) return device_learner<T>(shape, data, settings, local_rank(comm));
  return std::make_unique<HostLearner<T>>(shape, data, settings);
}

}  // namespace

int local_rank(const Communicator& comm) {
  int before = 0;
  for (int rank = 0; rank < comm.rank().value(); ++rank) {
    before += comm.node_of(Rank{rank}) == comm.node_of(comm.rank()) ? 1 : 0;
  }
  return before;
}

Part part_of(std::size_t count, int rank, int size) {
  const auto begin = [&](int part) { return count * static_cast<std::size_t>(part) / static_cast<std::size_t>(size); };
  return {begin(rank), begin(rank + 1) - begin(rank)};
}

template <class T>
Trainer<T>::Trainer(const Settings& settings, const Split& data, const Communicator& comm)
    : settings_(fitting(settings, data.train)),
      data_(data),
      comm_(comm),
      shape_(widths_of(settings, data.train)),
      learner_(learner_of<T>(settings_, shape_, data, comm)),
      // Every step needs this sum: as a plan it is prepared once. One buffer for all layers, and for the
      // loss, makes it one large message instead of many small ones.
      plan_(learner_->plan_sums(comm, settings_.algorithm)),
      has_overlap_(learner_->overlap_sums(comm, plan_.algorithm())) {
  Progress<T> first;
  first.weights.resize(shape_.parameter_count());
  first.velocity.resize(shape_.parameter_count());
  Random random{settings.seed, Random::Purpose::weights};
  initialize(shape_, std::span{first.weights}, random);
  learner_->load(first);
}

template <class T>
Progress<T> Trainer<T>::progress() const {
  Progress<T> progress{epochs_, {}, {}};
  learner_->save(progress);
  return progress;
}

template <class T>
void Trainer<T>::resume(const Progress<T>& progress) {
  epochs_ = progress.epochs;
  learner_->load(progress);
}

template <class T>
EpochReport Trainer<T>::run_epoch() {
  communication_seconds_ = 0;
  const double start = MPI_Wtime();
  const int size = data_.train.size(), epoch = epochs_ + 1;
  const std::vector<int> order = shuffled_order(size, settings_.seed, epoch);
  learner_->begin_epoch(order);
  const auto images = static_cast<std::size_t>(size), batch = static_cast<std::size_t>(settings_.batch);
  for (std::size_t first = 0; first < images; first += batch) {
    step({first, std::min(batch, images - first)});
  }
  const Totals of_training = learner_->totals();
  const double seconds = MPI_Wtime() - start;
  if (!std::isfinite(of_training.loss)) {
    throw apps::CommonFailure(fmt::format("the loss grew beyond all numbers in epoch {}: try a smaller --rate", epoch));
  }
  epochs_ = epoch;

  const int correct_here = learner_->correct_in_test(mine({0, static_cast<std::size_t>(data_.test.size())}));
  std::array<double, 3> totals{static_cast<double>(correct_here), communication_seconds_, seconds};
  allreduce(std::span<double>{totals}, Op::sum, comm_);
  const auto& [correct, all_communication, all_seconds] = totals;
  return {.epoch = epoch,
          .loss = of_training.loss / size,
          .train_accuracy = of_training.correct / size,
          .test_accuracy = correct / data_.test.size(),
          .samples_per_s = static_cast<double>(size) * comm_.size() / all_seconds,
          .comm_share = has_overlap_ ? std::nullopt : std::optional{all_communication / all_seconds}};
}

/// Adapts the weights to a batch of images.
template <class T>
void Trainer<T>::step(Part batch) {
  learner_->differentiate(mine(batch));
  if (!has_overlap_) sum_over_ranks();
  learner_->update(static_cast<int>(batch.count));
}

template <class T>
void Trainer<T>::sum_over_ranks() {
  const double start = MPI_Wtime();
  plan_.start();
  plan_.wait();
  communication_seconds_ += MPI_Wtime() - start;
}

/// This rank's part of images that all ranks share.
template <class T>
Part Trainer<T>::mine(Part all) const {
  const Part part = part_of(all.count, comm_.rank().value(), comm_.size());
  return {all.first + part.first, part.count};
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace tutti::sgd
