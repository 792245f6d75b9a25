#pragma once
// What a rank computes in a training by itself. Trainer decides what comes when, and lets the ranks add their sums.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "apps/sgd/model.hpp"
#include "tutti/tutti.hpp"

namespace tutti::sgd {

/// Images by their places in an order.
struct Part {
  std::size_t first = 0, count = 0;
};

/// Sums over the images of an epoch, of all ranks.
struct Totals {
  double loss = 0, correct = 0;
};

/// The weights, their velocity, and the sums of a step: the gradient, the loss, and the number of images classified
/// rightly, over the images of the step. Where they are kept is a matter of the class, but not their bits: every sum
/// begins with 0 and adds in the order of the images, or of a layer's inputs or outputs.
template <class T>
class Learner {
 public:
  Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  virtual ~Learner() = default;

  /// Collective. Adds the sums of all ranks, in place. The learner must outlive the plan.
  [[nodiscard]] virtual Plan plan_sums(const Communicator& comm, std::string_view algorithm) = 0;
  /// Collective. From now on the ranks' sums are added layer by layer, while others are computed: by differentiate(),
  /// in place of the plan, whose algorithm is given. Returns whether the learner and the ranks can do that, with the
  /// same bits; else nothing changes.
  [[nodiscard]] virtual bool overlap_sums(const Communicator& /*comm*/, std::string_view /*algorithm*/) {
    return false;
  }
  /// Sets weights and velocity, of which there are as many as the model has parameters.
  virtual void load(const Progress<T>& progress) = 0;
  /// Gives weights and velocity back.
  virtual void save(Progress<T>& progress) const = 0;

  /// The order in which the training images come, which must last as long as the epoch. Totals begin again.
  virtual void begin_epoch(std::span<const int> order) = 0;
  /// Computes the sums of these images of the order. They are there when the call returns, unless sums overlap.
  virtual void differentiate(Part part) = 0;
  /// Adapts the weights to the sums of a batch of so many images, and adds to the totals.
  virtual void update(int batch_size) = 0;
  [[nodiscard]] virtual Totals totals() const = 0;

  /// The number of these test images that the model classifies rightly.
  [[nodiscard]] virtual int correct_in_test(Part part) = 0;
};

}  // namespace tutti::sgd
