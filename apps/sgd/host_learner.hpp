#pragma once
// The learner on the host: one image after the other.

#include "apps/sgd/data_set.hpp"
#include "apps/sgd/learner.hpp"
#include "apps/sgd/model.hpp"
#include "apps/sgd/settings.hpp"

namespace tutti::sgd {

template <class T>
class HostLearner : public Learner<T> {
 public:
  /// `data` must outlive it.
  HostLearner(const Shape& shape, const Split& data, const Settings& settings);

  [[nodiscard]] Plan plan_sums(const Communicator& comm, std::string_view algorithm) override;
  void load(const Progress<T>& progress) override;
  void save(Progress<T>& progress) const override;
  void begin_epoch(std::span<const int> order) override;
  void differentiate(Part part) override;
  void update(int batch_size) override;
  [[nodiscard]] Totals totals() const override { return totals_; }
  [[nodiscard]] int correct_in_test(Part part) override;

 private:
  const Split& data_;
  const T rate_, momentum_;
  Perceptron<T> model_;
  std::vector<T> weights_, velocity_;
  std::vector<T> sums_;  ///< The gradient, then the loss, then the number of images classified rightly.
  std::vector<T> image_;
  std::span<const int> order_;
  Totals totals_;
};

extern template class HostLearner<float>;
extern template class HostLearner<double>;

}  // namespace tutti::sgd
