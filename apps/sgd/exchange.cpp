#include "apps/sgd/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "apps/sgd/tasks.hpp"

namespace tutti::sgd {

namespace {

/// Layers are the tensors. Without a limit there is one bucket.
Buckets buckets_of(const Network& network, const Settings& settings, Type type) {
  std::vector<Count> sizes;
  for (const Layer& layer : network.layers())
    sizes.emplace_back(layer.parameters());
  const Bytes all{static_cast<std::int64_t>(network.parameter_count()) * size_of(type).value()};
  if (settings.bucket == 0) return {sizes, type, {all, all}};
  const Bytes limit{settings.bucket};
  return {sizes, type, {limit, std::min(limit, BucketLimits{}.first)}};
}

Type type_of_format(Format16 format) { return format == Format16::fp16 ? Type::fp16 : Type::bf16; }

}  // namespace

Part part_of(std::size_t count, int rank, int size) {
  const auto begin = [&](int part) { return count * static_cast<std::size_t>(part) / static_cast<std::size_t>(size); };
  return {begin(rank), begin(rank + 1) - begin(rank)};
}

/// The time in which it lives is exposed.
template <class T>
class Exchange<T>::Exposed {
 public:
  explicit Exposed(Exchange& exchange) : exchange_(exchange) { exchange.entered_ = MPI_Wtime(); }
  Exposed(const Exposed&) = delete;
  Exposed& operator=(const Exposed&) = delete;
  ~Exposed() {
    exchange_.time_.exposed = exchange_.exposed_until(MPI_Wtime());
    exchange_.entered_ = 0;
  }

 private:
  Exchange& exchange_;
};

/// The sum of a bucket: in place, at whose beginning ZeRO has the part that this rank owns.
template <class T>
struct Exchange<T>::Sum {
  Array<std::uint16_t> narrow;  ///< What travels, if it is not the gradient itself.
  std::optional<Plan> plan;     ///< Nothing: the call is put into a stream, or compressed.
  std::optional<CompressedAllreduce> compressed;
  double begun = 0;  ///< When it was.
};

template <class T>
Exchange<T>::Exchange(const Machine& machine, const Network& network, const Settings& settings,
                      const Communicator& comm, T* gradient, Timeline& timeline)
    : machine_(machine),
      settings_(settings),
      comm_(comm),
      gradient_(gradient),
      timeline_(timeline),
      format_(settings.format()),
      buckets_(buckets_of(network, settings, format_ ? type_of_format(*format_) : type_of<T>)) {
  for (int bucket = 0; bucket < buckets_.size(); ++bucket) {
    const auto first = static_cast<std::size_t>(buckets_.tensors(bucket).front());
    const Part all{network.layers()[first].weights, static_cast<std::size_t>(buckets_.count(bucket).value())};
    ranges_.push_back(all);
    const Part part = settings.zero > 0 ? part_of(all.count, comm.rank().value(), comm.size()) : Part{0, all.count};
    owned_.push_back({all.first + part.first, part.count});
    auto& sum = *sums_.emplace_back(std::make_unique<Sum>());
    if (format_) sum.narrow = Array<std::uint16_t>{machine, all.count};
    if (const auto compression = settings.compression())
      sum.compressed.emplace(compressed_sum(Count{all.count}, *compression));
    else if (!uses_stream())
      sum.plan.emplace(plan_sum(owned_.size() - 1));
  }
}

template <class T>
Exchange<T>::~Exchange() = default;

template <class T>
CompressedAllreduce Exchange<T>::compressed_sum(Count count, Compression compression) const {
  const CompressionOptions how{.keep = settings_.keep};
  if (machine_.device() != nullptr) return CompressedAllreduce::on_device(count, compression, comm_, how);
  return {count, compression, comm_, how};
}

template <class T>
Options Exchange<T>::options() const {
  // What travels in 16 bits is added in 32.
  return {.algorithm = settings_.algorithm, .accumulate = format_ ? std::optional{Type::fp32} : std::nullopt};
}

template <class T>
std::vector<Count> Exchange<T>::counts_of(Part range) const {
  std::vector<Count> counts;
  counts.reserve(static_cast<std::size_t>(comm_.size()));
  for (int rank = 0; rank < comm_.size(); ++rank)
    counts.emplace_back(part_of(range.count, rank, comm_.size()).count);
  return counts;
}

/// What is summed of a bucket.
template <class T>
void* Exchange<T>::travelling(std::size_t bucket) const {
  return format_ ? static_cast<void*>(sums_[bucket]->narrow.data()) : gradient_ + ranges_[bucket].first;
}

template <class T>
Plan Exchange<T>::plan_sum(std::size_t bucket) const {
  void* const data = travelling(bucket);
  const Part range = ranges_[bucket];
  if (settings_.zero > 0)
    return plan_reduce_scatter(data, data, counts_of(range), buckets_.type(), Op::sum, comm_, options());
  return plan_allreduce(data, data, Count{range.count}, buckets_.type(), Op::sum, comm_, options());
}

template <class T>
void Exchange<T>::put_into_stream(std::size_t bucket) const {
  void* const data = travelling(bucket);
  const Part range = ranges_[bucket];
  Options in_stream = options();
  in_stream.stream = machine_.device()->second_stream();
  if (settings_.zero > 0)
    reduce_scatter(data, data, counts_of(range), buckets_.type(), Op::sum, comm_, in_stream);
  else
    allreduce(data, data, Count{range.count}, buckets_.type(), Op::sum, comm_, in_stream);
}

template <class T>
const T* Exchange<T>::sums(std::size_t bucket) const {
  return gradient_ + ranges_[bucket].first;
}

template <class T>
void Exchange<T>::ready(std::size_t layer) {
  first_ready_ = layer;
  if (settings_.overlap) poll();
}

/// Whether the next bucket can be begun: its gradients are there.
template <class T>
bool Exchange<T>::can_begin() const {
  return begun_ < ranges_.size() &&
         static_cast<std::size_t>(buckets_.tensors(static_cast<int>(begun_)).front()) >= first_ready_;
}

template <class T>
void Exchange<T>::begin(std::size_t bucket) {
  const Exposed exposed{*this};
  if (begun_ == ended_) busy_since_ = entered_, exposed_then_ = time_.exposed;
  const Part range = ranges_[bucket];
  Sum& sum = *sums_[bucket];
  if (format_) machine_.run(range.count, Narrow<T>{gradient_ + range.first, sum.narrow.data(), *format_});
  if (uses_stream()) {
    machine_.device()->second_waits();
    put_into_stream(bucket);
  } else {
    machine_.wait();  // The call takes the gradient from here.
    start(bucket);
  }
  sum.begun = entered_;
  if (sum.compressed) move_on(bucket);
  ++begun_;
}

/// Compressed sums are two exchanges. While the first one of a bucket is under way, so is the second of the bucket
/// before: all ranks start them in this order.
template <class T>
void Exchange<T>::move_on(std::size_t bucket) {
  if (bucket > 0) sums_[bucket - 1]->compressed->go_on();
  if (bucket < 2) return;
  sums_[bucket - 2]->compressed->wait();
  end(bucket - 2);
}

template <class T>
void Exchange<T>::start(std::size_t bucket) {
  Sum& sum = *sums_[bucket];
  if (sum.plan) return sum.plan->start();
  if constexpr (std::is_same_v<T, float>) {
    float* const gradient = gradient_ + ranges_[bucket].first;
    if (machine_.device() != nullptr)
      sum.compressed->start(DeviceSpan{gradient, ranges_[bucket].count});
    else
      sum.compressed->start(std::span{gradient, ranges_[bucket].count});
  }
}

template <class T>
void Exchange<T>::poll() {
  if (ended_ < begun_ && sums_[ended_]->plan) {
    const Exposed exposed{*this};
    while (ended_ < begun_ && sums_[ended_]->plan->test())
      end(ended_);
  }
  while (can_begin())
    begin(begun_);
}

/// The sum is there.
template <class T>
void Exchange<T>::end(std::size_t bucket) {
  const Sum& sum = *sums_[bucket];
  const Part range = ranges_[bucket];
  if (format_) machine_.run(owned_[bucket].count, Widen<T>{sum.narrow.data(), gradient_ + range.first, *format_});
  const double now = MPI_Wtime();
  timeline_.add(Timeline::Row::communication, fmt::format("sum of bucket {}", bucket), sum.begun, now);
  if (++ended_ < begun_) return;
  time_.hidden += (now - busy_since_) - (exposed_until(now) - exposed_then_);
}

template <class T>
void Exchange<T>::finish() {
  first_ready_ = 0;
  while (ended_ < ranges_.size()) {
    while (can_begin())
      begin(begun_);
    const Exposed exposed{*this};
    if (uses_stream()) machine_.device()->tasks_wait();
    Sum& sum = *sums_[ended_];
    if (sum.plan) sum.plan->wait();
    if (sum.compressed) sum.compressed->wait();
    end(ended_);
  }
  begun_ = ended_ = 0;
  first_ready_ = SIZE_MAX;
}

template <class T>
void Exchange<T>::share(const Parameters<T>& parameters) {
  if (settings_.zero == 0) return;
  const Exposed exposed{*this};
  const auto bytes = static_cast<std::size_t>(size_of(buckets_.type()).value());
  Options how{};
  if (uses_stream()) {
    machine_.device()->second_waits();
    how.stream = machine_.device()->second_stream();
  } else {
    machine_.wait();
  }
  for (std::size_t bucket = 0; bucket < ranges_.size(); ++bucket) {
    auto* const all = static_cast<std::byte*>(parameters.data());
    const Part range = ranges_[bucket];
    allgatherv(all + owned_[bucket].first * bytes, all + range.first * bytes, CountsAndOffsets{counts_of(range)},
               buckets_.type(), comm_, how);
  }
  if (uses_stream()) machine_.device()->tasks_wait();
  timeline_.add(Timeline::Row::communication, "parameters to all", entered_, MPI_Wtime());
}

template <class T>
void Exchange<T>::gather(std::span<T> values) const {
  if (settings_.zero == 0) return;
  for (std::size_t bucket = 0; bucket < ranges_.size(); ++bucket) {
    const Part range = ranges_[bucket];
    allgatherv(values.data() + owned_[bucket].first, values.data() + range.first, CountsAndOffsets{counts_of(range)},
               type_of<T>, comm_);
  }
}

template <class T>
CommunicationTime Exchange<T>::take_time() {
  return std::exchange(time_, {});
}

template <class T>
std::size_t Exchange<T>::bytes_of_step() const {
  std::size_t numbers = 0, compressed = 0;
  for (std::size_t bucket = 0; bucket < ranges_.size(); ++bucket) {
    numbers += ranges_[bucket].count;
    if (sums_[bucket]->compressed)
      compressed += static_cast<std::size_t>(sums_[bucket]->compressed->bytes_sent().value());
  }
  if (settings_.compression()) return compressed;
  return numbers * static_cast<std::size_t>(size_of(buckets_.type()).value()) * (settings_.zero > 0 ? 2 : 1);
}

template <class T>
std::size_t Exchange<T>::bytes() const {
  std::size_t bytes = 0;
  for (const auto& sum : sums_)
    bytes += sum->narrow.bytes();
  return bytes;
}

template <class T>
std::string_view Exchange<T>::algorithm() const {
  return sums_.front()->plan ? sums_.front()->plan->algorithm() : "";
}

template class Exchange<float>;
template class Exchange<double>;

}  // namespace tutti::sgd
