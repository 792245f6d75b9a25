#include "apps/sgd/device_learner.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "apps/sgd/device_arguments.hpp"
#include "apps/sgd/gpu.hpp"
#include "apps/sgd/layer_sums.hpp"

namespace tutti::sgd {

namespace {

template <class T>
constexpr const char* type_name = "float";
template <>
constexpr const char* type_name<double> = "double";

/// Images that lie on the device.
template <class T>
struct DeviceImages {
  DeviceImages(const Gpu& gpu, const DataSet& data)
      : scale(data.scale<T>()), pixels(gpu, data.pixels), labels(gpu, data.labels), order(labels.size()) {}

  T scale;  ///< DataSet::scale().
  DeviceArray<std::uint8_t> pixels, labels;
  DeviceArray<int> order;  ///< In which they are used.
};

/// An array for each layer, with its width for so many images.
template <class T>
std::vector<DeviceArray<T>> rows_of(const Shape& shape, std::size_t images) {
  std::vector<DeviceArray<T>> rows;
  for (const int width : shape.widths()) {
    rows.emplace_back(images * static_cast<std::size_t>(width));
  }
  return rows;
}

/// How many images are computed at once: all of a batch, if they have room.
std::size_t images_at_once(const Shape& shape, int batch, std::size_t most) {
  const auto& widths = shape.widths();
  const std::size_t values = std::accumulate(widths.begin(), widths.end(), std::size_t{1});  // the loss is one
  return std::clamp(most / values, std::size_t{1}, static_cast<std::size_t>(batch));
}

template <class T>
class DeviceLearner : public Learner<T> {
 public:
  DeviceLearner(const Shape& shape, const Split& data, const Settings& settings, int ordinal, std::size_t most);

  [[nodiscard]] Plan plan_sums(const Communicator& comm, std::string_view algorithm) override {
    return plan_allreduce(DeviceSpan<T>{sums_.data(), sums_.size()}, Op::sum, comm, {.algorithm = algorithm});
  }
  [[nodiscard]] bool overlap_sums(const Communicator& comm, std::string_view algorithm) override {
    if (can_sum_layers(shape_, comm, algorithm)) layer_sums_.emplace(gpu_, shape_, sums_.data(), comm, algorithm);
    return layer_sums_.has_value();
  }
  void load(const Progress<T>& progress) override;
  void save(Progress<T>& progress) const override;
  void begin_epoch(std::span<const int> order) override;
  void differentiate(Part part) override;
  void update(int batch_size) override;
  [[nodiscard]] Totals totals() const override;
  [[nodiscard]] int correct_in_test(Part part) override;

 private:
  void judge(const DeviceImages<T>& images, Part part);
  void forward(std::size_t count);
  /// Begins to sum each layer if these images are the last of a step.
  void backward(std::size_t count, bool is_last);
  void transpose();

  const Gpu gpu_;
  const Shape shape_;
  const T rate_, momentum_;
  const std::size_t at_once_;
  DeviceImages<T> train_, test_;
  DeviceArray<T> weights_, velocity_, transposed_;
  DeviceArray<T> sums_;         ///< As the host's. 0 between the steps.
  DeviceArray<double> totals_;  ///< Loss and correct.
  // For the images that are computed at once; values_ and derivatives_ by layer.
  std::vector<DeviceArray<T>> values_, derivatives_;
  DeviceArray<T> losses_;
  DeviceArray<std::uint8_t> correct_;
  std::optional<LayerSums<T>> layer_sums_;  ///< Nothing: the plan sums.
};

template <class T>
DeviceLearner<T>::DeviceLearner(const Shape& shape, const Split& data, const Settings& settings, int ordinal,
                                std::size_t most)
    : gpu_(ordinal, type_name<T>),
      shape_(shape),
      rate_(static_cast<T>(settings.rate)),
      momentum_(static_cast<T>(settings.momentum)),
      at_once_(images_at_once(shape, settings.batch, most)),
      train_(gpu_, data.train),
      test_(gpu_, data.test),
      weights_(shape.parameter_count()),
      velocity_(shape.parameter_count()),
      transposed_(shape.parameter_count()),
      sums_(gpu_, std::vector<T>(shape.parameter_count() + 2)),
      totals_(2),
      values_(rows_of<T>(shape, at_once_)),
      derivatives_(rows_of<T>(shape, at_once_)),
      losses_(at_once_),
      correct_(at_once_) {
  std::vector<int> order(test_.order.size());
  std::iota(order.begin(), order.end(), 0);
  test_.order.put(gpu_, order);
}

template <class T>
void DeviceLearner<T>::load(const Progress<T>& progress) {
  weights_.put(gpu_, progress.weights);
  velocity_.put(gpu_, progress.velocity);
}

template <class T>
void DeviceLearner<T>::save(Progress<T>& progress) const {
  progress.weights.resize(weights_.size());
  progress.velocity.resize(velocity_.size());
  weights_.get(gpu_, progress.weights);
  velocity_.get(gpu_, progress.velocity);
}

template <class T>
void DeviceLearner<T>::begin_epoch(std::span<const int> order) {
  train_.order.put(gpu_, order);
  totals_.put(gpu_, std::array<double, 2>{});
}

template <class T>
void DeviceLearner<T>::differentiate(Part part) {
  transpose();
  std::size_t done = 0;
  do {  // Without images, too: the others' sums may be awaited.
    const std::size_t count = std::min(at_once_, part.count - done);
    judge(train_, {part.first + done, count});
    gpu_.launch(1, AddOutcomes<T>{losses_.data(), correct_.data(), sums_.data() + shape_.parameter_count(), count});
    done += count;
    backward(count, done == part.count);
  } while (done < part.count);
  if (!layer_sums_) gpu_.wait();  // The allreduce takes the sums from here.
}

/// The outcomes of so many images of the order, and the derivatives by their scores.
template <class T>
void DeviceLearner<T>::judge(const DeviceImages<T>& images, Part part) {
  const int* const order = images.order.data() + part.first;
  const auto features = static_cast<std::uint64_t>(shape_.widths().front());
  gpu_.launch(part.count * features,
              LoadImages<T>{images.pixels.data(), order, values_.front().data(), images.scale, part.count, features});
  forward(part.count);
  gpu_.launch(part.count, Judge<T>{values_.back().data(), images.labels.data(), order, losses_.data(), correct_.data(),
                                   derivatives_.back().data(), part.count, shape_.widths().back()});
}

template <class T>
void DeviceLearner<T>::forward(std::size_t count) {
  for (std::size_t index = 0; index < shape_.layers().size(); ++index) {
    const auto& [weights, biases, inputs, outputs] = shape_.layers()[index];
    T* const out = values_[index + 1].data();
    gpu_.launch(count * outputs, Forward<T>{weights_.data() + weights, weights_.data() + biases, values_[index].data(),
                                            out, count, inputs, outputs});
    const bool hidden = index + 1 < shape_.layers().size();
    if (hidden) gpu_.launch(count * outputs, Squash<T>{out, count * outputs});
  }
}

/// The weights of the layers that backward() goes through: columns are rows, so that threads side by side read side by
/// side.
template <class T>
void DeviceLearner<T>::transpose() {
  for (std::size_t index = 1; index < shape_.layers().size(); ++index) {
    const auto& [weights, biases, inputs, outputs] = shape_.layers()[index];
    gpu_.launch(inputs * outputs,
                Transpose<T>{weights_.data() + weights, transposed_.data() + weights, inputs, outputs});
  }
}

template <class T>
void DeviceLearner<T>::backward(std::size_t count, bool is_last) {
  for (std::size_t index = shape_.layers().size(); index-- > 0;) {
    const auto& [weights, biases, inputs, outputs] = shape_.layers()[index];
    const T *const in = values_[index].data(), *const by_out = derivatives_[index + 1].data();
    gpu_.launch((inputs + 1) * outputs, AddGradient<T>{in, by_out, sums_.data() + weights, count, inputs, outputs});
    if (is_last && layer_sums_) layer_sums_->begin(index);
    if (index == 0) break;  // Nobody asks for the derivatives by the image.
    gpu_.launch(count * inputs, Backward<T>{transposed_.data() + weights, in, by_out, derivatives_[index].data(), count,
                                            inputs, outputs});
  }
}

template <class T>
void DeviceLearner<T>::update(int batch_size) {
  const Descent<T> descent{momentum_, rate_, T{1} / static_cast<T>(batch_size)};
  for (std::size_t index = shape_.layers().size(); index-- > 0;) {
    const auto [first, size] = range_of(shape_, index);
    const std::size_t parameters = std::min(size, shape_.parameter_count() - first);
    if (layer_sums_) layer_sums_->end(index);
    gpu_.launch(size, Update<T>{sums_.data() + first, weights_.data() + first, velocity_.data() + first, totals_.data(),
                                descent, parameters, size - parameters});
  }
}

template <class T>
Totals DeviceLearner<T>::totals() const {
  std::array<double, 2> totals{};
  totals_.get(gpu_, totals);
  return {totals[0], totals[1]};
}

template <class T>
int DeviceLearner<T>::correct_in_test(Part part) {
  std::vector<std::uint8_t> correct(at_once_);
  int all = 0;
  for (std::size_t done = 0; done < part.count; done += at_once_) {
    const std::size_t count = std::min(at_once_, part.count - done);
    judge(test_, {part.first + done, count});
    const std::span<std::uint8_t> found = std::span{correct}.first(count);
    correct_.get(gpu_, found);
    all = std::accumulate(found.begin(), found.end(), all);
  }
  return all;
}

}  // namespace

void use_device(int local_rank) { Gpu::use(local_rank % Gpu::count()); }

std::string why_no_device() { return cuda::driver() != nullptr ? "" : "--device: " + cuda::why_no_driver(); }

template <class T>
std::unique_ptr<Learner<T>> device_learner(const Shape& shape, const Split& data, const Settings& settings,
                                           int local_rank, std::size_t most) {
  return std::make_unique<DeviceLearner<T>>(shape, data, settings, local_rank % Gpu::count(), most);
}

template std::unique_ptr<Learner<float>> device_learner(const Shape&, const Split&, const Settings&, int, std::size_t);
template std::unique_ptr<Learner<double>> device_learner(const Shape&, const Split&, const Settings&, int, std::size_t);

}  // namespace tutti::sgd
