#pragma once
// Data-parallel training: how to train on many processes.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "apps/sgd/data_set.hpp"
#include "apps/sgd/exchange.hpp"
#include "apps/sgd/machine.hpp"
#include "apps/sgd/model.hpp"
#include "apps/sgd/network.hpp"
#include "apps/sgd/optimizer.hpp"
#include "apps/sgd/settings.hpp"
#include "apps/sgd/timeline.hpp"
#include "tutti/tutti.hpp"

namespace tutti::sgd {

/// Seconds of a step, or sums of them. On a device whose communication overlaps, nobody waits to know them: all but
/// `all` are then the times in which the host puts work into streams.
struct StepTimes {
  double forward = 0, backward = 0, exposed = 0, hidden = 0, optimizer = 0, all = 0;
};

/// Bytes on a rank.
struct Memory {
  std::size_t parameters = 0, gradients = 0, optimizer = 0, exchange = 0, values = 0;
};

/// The results of one pass over the training images.
struct EpochReport {
  int epoch = 0;
  double loss = 0;            ///< Mean over the training images, each as its step met it.
  double train_accuracy = 0;  ///< Share of the training images that were classified rightly, each as its step met it.
  double test_accuracy = 0;   ///< With the weights after the epoch.
  double samples_per_s = 0;   ///< Training images per second of training (testing not counted).
  StepTimes step = {};        ///< Means of the ranks and steps.
  int steps = 0;
  int skipped = 0;   ///< Steps that were not taken, as gradients of fp16 were too large.
  double rate = 0;   ///< Of the last step.
  double scale = 1;  ///< Of the loss, at the end.
};

/// The number of this rank among those of its node.
[[nodiscard]] int local_rank(const Communicator& comm);
/// The network of these settings for these images. InputError if it is too large.
[[nodiscard]] Network network_of(const Settings& settings, const DataSet& data);

/// Trains a network in numbers of type T (float or double) on all ranks of a communicator.
///
/// All ranks hold all images and the same weights. In every step each of them differentiates its part of each batch,
/// the gradients are summed (Exchange), and all ranks take the same step, or each that of its part of the parameters:
/// as the sums are the same bits everywhere, so are the weights. Which images make up a batch depends on the seed
/// alone, so that the number of ranks changes only the order in which gradients are added.
template <class T>
class Trainer {
 public:
  /// Collective. `data` and `comm` must outlive the trainer. Throws InputError (alike on all ranks) if a step has more
  /// images than the training set.
  Trainer(const Settings& settings, const Split& data, const Communicator& comm);

  /// Collective. Throws apps::CommonFailure if the loss stops being a number. `on_step`: called after each step, with
  /// the share of the epoch that is done.
  EpochReport run_epoch(const std::function<void(double done)>& on_step = {});

  [[nodiscard]] int epochs() const { return progress_.epochs; }  ///< Completed.
  /// Collective. A copy of all numbers.
  [[nodiscard]] Progress<T> progress() const;
  /// Goes on from there; the same on all ranks.
  void resume(const Progress<T>& progress);
  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] const Exchange<T>& exchange() const { return exchange_; }
  [[nodiscard]] Memory memory() const;
  /// Of the step in the middle of the last epoch, on this rank.
  [[nodiscard]] const std::vector<Timeline::Span>& timeline() const { return timeline_.spans(); }
  [[nodiscard]] int steps_of_epoch() const;

 private:
  void step(Part images);
  void differentiate(Part batch, bool is_last);
  void update(std::size_t images);
  [[nodiscard]] double length_of_gradient(double factor) const;
  [[nodiscard]] bool fits_scale(double length);
  [[nodiscard]] Part mine(Part all) const;
  [[nodiscard]] EpochReport report(const Totals& here, double seconds);

  const Settings settings_;
  const Split& data_;
  const Communicator& comm_;
  const Network network_;
  Machine machine_;
  Parameters<T> parameters_;
  Array<T> gradient_;
  Model<T> model_;
  Timeline timeline_;
  Exchange<T> exchange_;
  Optimizer<T> optimizer_;
  Progress<T> progress_;  ///< Without its arrays.
  StepTimes times_;       ///< In the epoch under way.
  int skipped_ = 0;       ///< Likewise.
};

extern template class Trainer<float>;
extern template class Trainer<double>;

}  // namespace tutti::sgd
