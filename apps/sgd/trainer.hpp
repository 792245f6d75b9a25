#pragma once
// Data-parallel stochastic gradient descent: how to train on many processes with one allreduce.

#include <span>
#include <string_view>
#include <vector>

#include "apps/sgd/data_set.hpp"
#include "apps/sgd/model.hpp"
#include "apps/sgd/settings.hpp"
#include "tutti/tutti.hpp"

namespace tutti::sgd {

/// The results of one pass over the training images.
struct EpochReport {
  int epoch = 0;
  double loss = 0;            ///< Mean over the training images, each as its step met it.
  double train_accuracy = 0;  ///< Likewise.
  double test_accuracy = 0;   ///< With the weights after the epoch.
  double samples_per_s = 0;   ///< Training images per second of training (testing not counted).
  double comm_share = 0;      ///< Part of that time spent in the allreduce, waiting for slower ranks included; mean.
};

/// The state of the training: all that is needed to go on, the same on all ranks.
template <class T>
struct Progress {
  int epochs = 0;  ///< Completed.
  std::vector<T> weights, velocity;
};

/// Of `size` contiguous parts, equal or one apart and possibly empty, the one of `rank`.
[[nodiscard]] std::span<const int> part_of(std::span<const int> all, int rank, int size);

/// Trains a perceptron of type T (float or double) on all ranks of a communicator.
///
/// All ranks hold all images and the same weights. In every step each of them differentiates its part of the batch,
/// one allreduce sums the gradients, and all ranks take the same step: as the sums are the same bits everywhere, so
/// are the weights, and nothing else has to be sent. Which images make up a batch depends on the seed alone, so that
/// the number of ranks changes only the order in which gradients are added.
template <class T>
class Trainer {
 public:
  /// Collective. `data` and `comm` must outlive the trainer. Throws InputError (alike on all ranks) if the batch is
  /// larger than the training set.
  Trainer(const Settings& settings, const Split& data, const Communicator& comm);
  // The plan is bound to the place of sums_.
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Collective. Throws CommonFailure if the loss stops being a number.
  EpochReport run_epoch();

  [[nodiscard]] const Progress<T>& progress() const { return progress_; }
  /// Goes on from there; the same on all ranks.
  void resume(Progress<T> progress) { progress_ = std::move(progress); }
  [[nodiscard]] const Perceptron<T>& model() const { return model_; }
  /// Of the allreduce.
  [[nodiscard]] std::string_view algorithm() const { return plan_.algorithm(); }

 private:
  void step(std::span<const int> batch);
  void accumulate(int image);
  void sum_over_ranks();
  void update(int batch_size);
  int correct_in_test();

  const Settings settings_;
  const Split& data_;
  const Communicator& comm_;
  Perceptron<T> model_;
  Progress<T> progress_;
  std::vector<T> image_;
  std::vector<T> sums_;  ///< The gradient, then the loss, then the number of images classified rightly.
  Plan plan_;            ///< Sums sums_ over all ranks.

  // Of the epoch under way.
  double loss_ = 0, correct_ = 0, communication_seconds_ = 0;
};

extern template class Trainer<float>;
extern template class Trainer<double>;

}  // namespace tutti::sgd
