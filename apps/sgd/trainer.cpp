#include "apps/sgd/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "apps/root.hpp"
#include "apps/sgd/tasks.hpp"

namespace tutti::sgd {

namespace {

constexpr std::size_t most_parameters = 200'000'000;

// The scale of a loss whose gradients are of fp16: halved if one is too large, doubled after so many steps without.
constexpr double first_scale = 1024, least_scale = 1, most_scale = 0x1p24;
constexpr std::int64_t steps_to_double = 500;

/// 0, 1, ..., size - 1 in the order of this epoch.
std::vector<int> shuffled_order(int size, std::uint64_t seed, int epoch) {
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  Random{seed, Random::Purpose::order, static_cast<std::uint32_t>(epoch)}.shuffle(std::span{order});
  return order;
}

std::size_t images_of_step(const Settings& settings) {
  return static_cast<std::size_t>(settings.batch) * static_cast<std::size_t>(settings.accumulate);
}

/// Throws unless these settings can be used with these images.
const Settings& fitting(const Settings& settings, const DataSet& train) {
  if (images_of_step(settings) > static_cast<std::size_t>(train.size())) {
    throw apps::InputError(fmt::format("--batch{}: {} images, but there are only {} to train with",
                                       settings.accumulate > 1 ? " times --accumulate" : "", images_of_step(settings),
                                       train.size()));
  }
  return settings;
}

Machine machine_of(const Settings& settings, const Communicator& comm) {
  std::unique_ptr<Device> device = settings.device ? open_device(local_rank(comm)) : nullptr;
  if (settings.products == "in-order") return Machine{Products::in_order, std::move(device)};
  const std::string missing = device != nullptr ? device->open_library()
                              : has_openblas()  ? ""
                                                : "this build has no OpenBLAS";
  if (settings.products == "library" && !missing.empty())
    throw apps::InputError(fmt::format("--products library: {}; allowed: auto, in-order", missing));
  return Machine{missing.empty() ? Products::library : Products::in_order, std::move(device)};
}

}  // namespace

int local_rank(const Communicator& comm) {
  int before = 0;
  for (int rank = 0; rank < comm.rank().value(); ++rank) {
    before += comm.node_of(Rank{rank}) == comm.node_of(comm.rank()) ? 1 : 0;
  }
  return before;
}

Network network_of(const Settings& settings, const DataSet& data) {
  std::vector<int> widths{data.features};
  widths.insert(widths.end(), settings.hidden.begin(), settings.hidden.end());
  widths.push_back(data.classes);
  const Geometry image{static_cast<std::size_t>(data.height), static_cast<std::size_t>(data.features / data.height), 1};
  const bool is_dense = settings.model == "mlp";
  Network network = is_dense ? Network::perceptron(widths)
                             : Network::convolutional(image, settings.channels, settings.hidden, data.classes);
  const std::size_t parameters = network.parameter_count();
  if (parameters > most_parameters) {
    throw apps::InputError(
        fmt::format("--hidden: the model would have {} parameters, {} at most", parameters, most_parameters));
  }
  return network;
}

template <class T>
Trainer<T>::Trainer(const Settings& settings, const Split& data, const Communicator& comm)
    : settings_(fitting(settings, data.train)),
      data_(data),
      comm_(comm),
      network_(network_of(settings, data.train)),
      machine_(machine_of(settings, comm)),
      parameters_(machine_, network_, settings.format()),
      gradient_(machine_, network_.parameter_count()),
      model_(machine_, network_, data, settings.batch),
      exchange_(machine_, network_, settings_, comm, gradient_.data(), timeline_),
      optimizer_(machine_, settings_, exchange_.owned(), parameters_) {
  Progress<T> first;
  if (settings.format() == Format16::fp16) first.scale = first_scale;
  first.weights.resize(network_.parameter_count());
  first.mean.resize(network_.parameter_count());
  if (settings.optimizer == "adam") first.square.resize(network_.parameter_count());
  Random random{settings.seed, Random::Purpose::weights};
  initialize(network_, std::span{first.weights}, random);
  resume(first);
}

template <class T>
Progress<T> Trainer<T>::progress() const {
  Progress<T> progress = progress_;
  progress.weights.resize(network_.parameter_count());
  progress.mean.resize(network_.parameter_count());
  if (settings_.optimizer == "adam") progress.square.resize(network_.parameter_count());
  const bool has_all_weights = parameters_.wide() != nullptr;
  if (has_all_weights) {
    machine_.copy(parameters_.wide(), progress.weights.data(), progress.weights.size() * sizeof(T));
    machine_.wait();
  }
  optimizer_.save(progress);
  if (!has_all_weights) exchange_.gather(progress.weights);
  exchange_.gather(progress.mean);
  if (settings_.optimizer == "adam") exchange_.gather(progress.square);
  return progress;
}

template <class T>
void Trainer<T>::resume(const Progress<T>& progress) {
  const Array<T> weights{machine_, std::span{progress.weights}};
  parameters_.take(weights.data(), 0, weights.size());
  optimizer_.load(progress);
  machine_.wait();
  progress_ = {progress.epochs, progress.steps, progress.scale, progress.unscaled, {}, {}, {}};
}

template <class T>
Memory Trainer<T>::memory() const {
  return {parameters_.bytes(), gradient_.bytes(), optimizer_.bytes(), exchange_.bytes(), model_.bytes()};
}

template <class T>
int Trainer<T>::steps_of_epoch() const {
  const auto images = static_cast<std::size_t>(data_.train.size()), step = images_of_step(settings_);
  return static_cast<int>((images + step - 1) / step);
}

template <class T>
EpochReport Trainer<T>::run_epoch(const std::function<void(double done)>& on_step) {
  times_ = {};
  skipped_ = 0;
  static_cast<void>(exchange_.take_time());
  const double start = MPI_Wtime();
  const int epoch = progress_.epochs + 1;
  const std::vector<int> order = shuffled_order(data_.train.size(), settings_.seed, epoch);
  model_.begin_epoch(order);
  const std::size_t images = order.size(), at_once = images_of_step(settings_);
  for (std::size_t first = 0; first < images; first += at_once) {
    const std::size_t count = std::min(at_once, images - first);
    const bool is_middle = first / at_once == static_cast<std::size_t>(steps_of_epoch()) / 2;
    if (is_middle) timeline_.begin();
    step({first, count});
    timeline_.end();
    if (on_step) on_step(static_cast<double>(first + count) / static_cast<double>(images));
  }
  const Totals here = model_.totals();
  EpochReport found = report(here, MPI_Wtime() - start);
  if (!std::isfinite(found.loss)) {
    throw apps::CommonFailure(fmt::format("the loss grew beyond all numbers in epoch {}: try a smaller --rate", epoch));
  }
  found.epoch = progress_.epochs = epoch;
  return found;
}

/// Collective. Means of the ranks.
template <class T>
EpochReport Trainer<T>::report(const Totals& here, double seconds) {
  const CommunicationTime communication = exchange_.take_time();
  const int correct_here = model_.correct_in_test(parameters_, mine({0, static_cast<std::size_t>(data_.test.size())}));
  std::array<double, 9> sums{here.loss,
                             here.correct,
                             static_cast<double>(correct_here),
                             times_.forward,
                             times_.backward,
                             communication.exposed,
                             communication.hidden,
                             times_.optimizer,
                             seconds};
  allreduce(std::span<double>{sums}, Op::sum, comm_);
  const auto& [loss, correct, correct_in_test, forward, backward, exposed, hidden, optimizer, all] = sums;
  const int steps = steps_of_epoch(), size = data_.train.size();
  const double both = static_cast<double>(steps) * comm_.size();
  return {.loss = loss / size,
          .train_accuracy = correct / size,
          .test_accuracy = correct_in_test / data_.test.size(),
          .samples_per_s = static_cast<double>(size) * comm_.size() / all,
          .step = {forward / both, backward / both, exposed / both, hidden / both, optimizer / both, all / both},
          .steps = steps,
          .skipped = skipped_,
          .rate = rate_of(settings_, std::max<std::int64_t>(0, progress_.steps - 1),
                          std::int64_t{settings_.epochs} * steps),
          .scale = progress_.scale};
}

/// Adapts the weights to some batches of images.
template <class T>
void Trainer<T>::step(Part images) {
  machine_.run(gradient_.size(), Fill<T>{gradient_.data(), T{0}});
  const auto batch = static_cast<std::size_t>(settings_.batch);
  for (std::size_t done = 0; done < images.count; done += batch) {
    const std::size_t count = std::min(batch, images.count - done);
    differentiate({images.first + done, count}, done + count == images.count);
  }
  exchange_.finish();
  update(images.count);
}

/// Adds the gradient of this rank's part of a batch; of the last one of a step, the ranks' gradients are summed.
template <class T>
void Trainer<T>::differentiate(Part batch, bool is_last) {
  const Part part = mine(batch);
  std::size_t done = 0;
  do {  // Without images, too: the others' sums may be awaited.
    const Part now{part.first + done, std::min(model_.at_once(), part.count - done)};
    done += now.count;
    const bool is_complete = is_last && done == part.count;
    Laps laps{timeline_};
    model_.forward(parameters_, now, static_cast<T>(progress_.scale));
    laps.add_to(times_.forward, "forward");
    const double before = exchange_.time().exposed;
    if (is_complete && settings_.overlap) machine_.set_pause([this] { exchange_.poll(); });
    model_.backward(parameters_, gradient_.data(), [&](std::size_t layer) {
      laps.add_to(times_.backward, fmt::format("backward, layer {}", layer));
      if (is_complete) exchange_.ready(layer);
    });
    machine_.set_pause({});
    if (!settings_.overlap) machine_.wait();  // else nobody waits for a device
    laps.add_to(times_.backward);
    times_.backward -= exchange_.time().exposed - before;
  } while (done < part.count);
}

template <class T>
double Trainer<T>::length_of_gradient(double factor) const {
  double squares = 0;
  for (std::size_t part = 0; part < exchange_.owned().size(); ++part)
    squares += optimizer_.squares_of(exchange_.sums(part), exchange_.owned()[part].count);
  if (settings_.zero > 0) allreduce(squares, Op::sum, comm_);
  return std::sqrt(squares) * factor;
}

/// Adapts the scale; false: the step cannot be taken.
template <class T>
bool Trainer<T>::fits_scale(double length) {
  if (settings_.format() != Format16::fp16) return true;
  if (!std::isfinite(length)) {
    progress_.scale = std::max(least_scale, progress_.scale / 2);
    progress_.unscaled = 0;
    ++skipped_;
    return false;
  }
  return true;
}

/// Takes the step of a gradient, which is the sum over so many images.
template <class T>
void Trainer<T>::update(std::size_t images) {
  Laps laps{timeline_};
  double factor = 1 / (static_cast<double>(images) * progress_.scale);
  const bool needs_length = settings_.clip > 0 || settings_.format() == Format16::fp16;
  const double length = needs_length ? length_of_gradient(factor) : 0;
  const double rate = rate_of(settings_, progress_.steps, std::int64_t{settings_.epochs} * steps_of_epoch());
  if (!fits_scale(length)) return laps.add_to(times_.optimizer);
  ++progress_.steps;
  if (settings_.clip > 0 && length > settings_.clip) factor *= settings_.clip / length;
  for (std::size_t part = 0; part < exchange_.owned().size(); ++part)
    optimizer_.step(part, exchange_.sums(part), rate, factor, progress_.steps);
  if (settings_.format() == Format16::fp16 && ++progress_.unscaled == steps_to_double) {
    progress_.scale = std::min(most_scale, progress_.scale * 2);
    progress_.unscaled = 0;
  }
  laps.add_to(times_.optimizer, "optimizer");
  exchange_.share(parameters_);
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
