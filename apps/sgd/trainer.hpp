#pragma once
// Data-parallel stochastic gradient descent: how to train on many processes with one allreduce.

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "apps/sgd/data_set.hpp"
#include "apps/sgd/learner.hpp"
#include "apps/sgd/model.hpp"
#include "apps/sgd/settings.hpp"
#include "tutti/tutti.hpp"

namespace tutti::sgd {

/// The results of one pass over the training images.
struct EpochReport {
  int epoch = 0;
  double loss = 0;            ///< Mean over the training images, each as its step met it.
  double train_accuracy = 0;  ///< Share of the training images that were classified rightly, each as its step met it.
  double test_accuracy = 0;   ///< With the weights after the epoch.
  double samples_per_s = 0;   ///< Training images per second of training (testing not counted).
  /// Part of that time spent in the allreduce, waiting for slower ranks included; mean. Nothing if it overlaps with
  /// computing.
  std::optional<double> comm_share = 0.0;
};

/// The number of this rank among those of its node.
[[nodiscard]] int local_rank(const Communicator& comm);

/// The part of `rank` when `count` items are cut into `size` contiguous parts, equal or one apart, possibly empty.
[[nodiscard]] Part part_of(std::size_t count, int rank, int size);

/// Trains a perceptron of type T (float or double) on all ranks of a communicator.
///
/// All ranks hold all images and the same weights. In every step each of them differentiates its part of the batch,
/// one allreduce sums the gradients, and all ranks take the same step: as the sums are the same bits everywhere, so
/// are the weights, and nothing else has to be sent. Which images make up a batch depends on the seed alone, so that
/// the number of ranks changes only the order in which gradients are added. With --device all numbers are on GPUs, and
/// their bits are those of the host.
template <class T>
class Trainer {
 public:
  /// Collective. `data` and `comm` must outlive the trainer. Throws InputError (alike on all ranks) if the batch is
  /// larger than the training set.
  Trainer(const Settings& settings, const Split& data, const Communicator& comm);

  /// Collective. Throws apps::CommonFailure if the loss stops being a number.
  EpochReport run_epoch();

  [[nodiscard]] int epochs() const { return epochs_; }  ///< Completed.
  /// A copy of all numbers.
  [[nodiscard]] Progress<T> progress() const;
  /// Goes on from there; the same on all ranks.
  void resume(const Progress<T>& progress);
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// Whether the sums of layers are added while others are computed.
  [[nodiscard]] bool has_overlap() const { return has_overlap_; }
  [[nodiscard]] std::string_view algorithm() const { return plan_.algorithm(); }

 private:
  void step(Part batch);
  void sum_over_ranks();
  [[nodiscard]] Part mine(Part all) const;

  const Settings settings_;
  const Split& data_;
  const Communicator& comm_;
  const Shape shape_;
  std::unique_ptr<Learner<T>> learner_;
  Plan plan_;               ///< Adds the learner's sums over all ranks.
  const bool has_overlap_;  ///< The learner adds its sums itself, beside computing.
  int epochs_ = 0;
  double communication_seconds_ = 0;  ///< In the epoch under way.
};

extern template class Trainer<float>;
extern template class Trainer<double>;

}  // namespace tutti::sgd
