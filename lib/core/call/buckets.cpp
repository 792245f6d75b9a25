#include "tutti/buckets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "lib/core/call/arguments.hpp"
#include "tutti/error.hpp"
#include "tutti/lists.hpp"

namespace tutti {
namespace {

/// Buckets are made without a communicator, so that no rank is known.
[[noreturn]] void refuse(std::string_view function, std::string_view argument, std::int64_t given,
                         std::string_view allowed) {
  throw ArgumentError(fmt::format("tutti::{}: argument '{}' is {}; allowed: {}", function, argument, given, allowed));
}

std::size_t checked_index(std::string_view function, std::string_view argument, int given, std::size_t count) {
  if (given < 0 || static_cast<std::size_t>(given) >= count)
    refuse(function, argument, given, count == 0 ? "none, as there are none" : fmt::format("0 to {}", count - 1));
  return static_cast<std::size_t>(given);
}

void require_sizes(std::span<const Count> sizes, Type type) {
  if (!is_type(type)) refuse("Buckets", "type", static_cast<int>(type), "a value of enum Type");
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / size_of(type).value();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i].value() < 0 || sizes[i].value() > most)
      refuse("Buckets", fmt::format("sizes[{}]", i), sizes[i].value(),
             fmt::format("0 to {} elements of {}", most, to_string(type)));
}

void require_limits(const BucketLimits& limits) {
  if (limits.bytes < Bytes{1}) refuse("Buckets", "limits.bytes", limits.bytes.value(), "1 or more");
  if (limits.first < Bytes{1}) refuse("Buckets", "limits.first", limits.first.value(), "1 or more");
}

}  // namespace

Buckets::Buckets(std::span<const Count> sizes, Type type, const BucketLimits& limits)
    : type_(type), sizes_(sizes.begin(), sizes.end()), bucket_of_(sizes.size()) {
  require_sizes(sizes, type);
  require_limits(limits);
  std::int64_t room = 0;  // bytes, of the last bucket
  for (std::size_t tensor = sizes_.size(); tensor-- > 0;) {
    const std::int64_t bytes = sizes_[tensor].value() * size_of(type).value();
    if (buckets_.empty() || bytes > room) {
      room = (buckets_.empty() ? limits.first : limits.bytes).value();
      buckets_.emplace_back();
    }
    room = std::max<std::int64_t>(0, room - bytes);
    buckets_.back().push_back(static_cast<int>(tensor));
    bucket_of_[tensor] = size() - 1;
  }
  for (std::vector<int>& bucket : buckets_)
    std::ranges::reverse(bucket);
}

std::span<const int> Buckets::tensors(int bucket) const {
  return buckets_[checked_index("Buckets::tensors", "bucket", bucket, buckets_.size())];
}

Count Buckets::count(int bucket) const {
  Count count;
  for (const int tensor : buckets_[checked_index("Buckets::count", "bucket", bucket, buckets_.size())])
    count += sizes_[static_cast<std::size_t>(tensor)];
  return count;
}

int Buckets::bucket_of(int tensor) const {
  return bucket_of_[checked_index("Buckets::bucket_of", "tensor", tensor, bucket_of_.size())];
}

namespace {

/// Tensors of different buckets are summed at the same time.
void require_apart(const CallSite& site, std::span<void* const> tensors, std::span<const Count> sizes, Bytes element) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (sizes[i] == Count{0}) continue;
    if (tensors[i] == nullptr)
      refuse(site, "tensors", fmt::format("null for tensor {} of {} elements", i, sizes[i].value()), "its memory");
    order.push_back(i);
  }
  const auto begin = [&](std::size_t i) { return static_cast<const std::byte*>(tensors[i]); };
  std::ranges::sort(order, std::less{}, begin);
  for (std::size_t k = 1; k < order.size(); ++k)
    if (begin(order[k]) < begin(order[k - 1]) + sizes[order[k - 1]].value() * element.value())
      refuse(site, "tensors", fmt::format("tensors {} and {}, which share memory", order[k - 1], order[k]),
             "tensors with memory of their own");
}

}  // namespace

BucketedAllreduce::BucketedAllreduce(Buckets buckets, std::span<void* const> tensors, const Op& op,
                                     const Communicator& comm, const Options& options)
    : buckets_(std::move(buckets)), rank_(comm.rank()) {
  const std::span<const Count> sizes = buckets_.sizes();
  if (tensors.size() != sizes.size())
    refuse({"BucketedAllreduce", rank_}, "tensors", fmt::format("a list of {} tensors", tensors.size()),
           fmt::format("the {} tensors of the buckets", sizes.size()));
  require_apart({"BucketedAllreduce", rank_}, tensors, sizes, size_of(buckets_.type()));
  for (int bucket = 0; bucket < buckets_.size(); ++bucket) {
    std::vector<ListedBuffer> list;
    for (const int tensor : buckets_.tensors(bucket)) {
      const auto index = static_cast<std::size_t>(tensor);
      list.push_back({tensors[index], tensors[index], sizes[index]});
    }
    plans_.push_back(plan_allreduce_list(list, buckets_.type(), op, comm, options));
  }
  begin_step();
}

void BucketedAllreduce::begin_step() {
  started_ = 0;
  is_ready_.assign(buckets_.sizes().size(), false);
  missing_.clear();
  for (int bucket = 0; bucket < buckets_.size(); ++bucket)
    missing_.push_back(static_cast<int>(buckets_.tensors(bucket).size()));
}

void BucketedAllreduce::ready(int tensor) {
  const CallSite site{"BucketedAllreduce::ready", rank_};
  if (tensor < 0 || static_cast<std::size_t>(tensor) >= is_ready_.size())
    refuse(site, "tensor", std::to_string(tensor),
           is_ready_.empty() ? "none, as there are none" : fmt::format("0 to {}", is_ready_.size() - 1));
  const auto index = static_cast<std::size_t>(tensor);
  if (is_ready_[index])
    throw StateError(fmt::format("tutti::{} on rank {}: tensor {} was ready before in this step; call wait first",
                                 site.function, rank_.value(), tensor));
  is_ready_[index] = true;
  --missing_[static_cast<std::size_t>(buckets_.bucket_of(tensor))];
  while (started_ < buckets_.size() && is_complete(started_))
    plans_[static_cast<std::size_t>(started_++)].start();
}

bool BucketedAllreduce::test() {
  bool is_over = started_ == buckets_.size();
  for (int bucket = 0; bucket < started_; ++bucket)
    is_over &= plans_[static_cast<std::size_t>(bucket)].test();
  return is_over;
}

void BucketedAllreduce::wait() {
  const auto missing = std::ranges::find(is_ready_, false);
  if (missing != is_ready_.end())
    throw StateError(fmt::format("tutti::BucketedAllreduce::wait on rank {}: tensor {} is not ready", rank_.value(),
                                 missing - is_ready_.begin()));
  for (Plan& plan : plans_)
    plan.wait();
  begin_step();
}

}  // namespace tutti
