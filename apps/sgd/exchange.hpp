#pragma once
// The communication of a step: the ranks' gradients are summed, in buckets, while others are computed or after; and if
// each rank updates a part of the parameters (ZeRO), all get all parts.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "apps/sgd/model.hpp"
#include "apps/sgd/parameters.hpp"
#include "apps/sgd/settings.hpp"
#include "apps/sgd/timeline.hpp"
#include "tutti/tutti.hpp"

namespace tutti::sgd {

/// Seconds of a rank.
struct CommunicationTime {
  double exposed = 0;  ///< In which it did nothing but communicate, waiting for slower ranks included.
  double hidden = 0;   ///< In which communication was under way while it computed.
};

/// The part of `rank` when `count` items are cut into `size` contiguous parts, equal or one apart, possibly empty.
[[nodiscard]] Part part_of(std::size_t count, int rank, int size);

template <class T>
class Exchange {
 public:
  /// Collective. Sums what is in `gradient`, in place. All must outlive it.
  Exchange(const Machine& machine, const Network& network, const Settings& settings, const Communicator& comm,
           T* gradient, Timeline& timeline);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  /// The parameters that this rank updates: of each bucket all, or with ZeRO a part.
  [[nodiscard]] const std::vector<Part>& owned() const { return owned_; }
  /// Their gradients over all ranks, after finish().
  [[nodiscard]] const T* sums(std::size_t bucket) const;

  // A step: ready() of all layers, from the last to the first, then finish().

  /// The gradient of a layer is complete. A bucket that is complete is begun, if communication overlaps.
  void ready(std::size_t layer);
  /// Lets the buckets that are under way go on.
  void poll();
  void finish();
  /// Collective. All ranks get the parameters that the others own.
  void share(const Parameters<T>& parameters);

  /// Collective. All ranks get all values of an array of the host, of which each has those that it owns.
  void gather(std::span<T> values) const;

  /// Of the steps since the last call.
  [[nodiscard]] CommunicationTime take_time();
  [[nodiscard]] const CommunicationTime& time() const { return time_; }
  /// Bytes that a rank gives to collectives in a step.
  [[nodiscard]] std::size_t bytes_of_step() const;
  /// Memory for it, without the gradient.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::size_t bucket_count() const { return ranges_.size(); }
  [[nodiscard]] std::string_view algorithm() const;

 private:
  struct Sum;
  class Exposed;
  [[nodiscard]] double exposed_until(double now) const { return time_.exposed + (entered_ > 0 ? now - entered_ : 0); }
  [[nodiscard]] bool can_begin() const;
  void begin(std::size_t bucket);
  void start(std::size_t bucket);
  void move_on(std::size_t bucket);
  void put_into_stream(std::size_t bucket) const;
  void end(std::size_t bucket);
  [[nodiscard]] void* travelling(std::size_t bucket) const;
  [[nodiscard]] Plan plan_sum(std::size_t bucket) const;
  [[nodiscard]] CompressedAllreduce compressed_sum(Count count, Compression compression) const;
  [[nodiscard]] std::vector<Count> counts_of(Part range) const;
  [[nodiscard]] Options options() const;
  [[nodiscard]] bool uses_stream() const { return settings_.overlap && machine_.device() != nullptr; }

  const Machine& machine_;
  const Settings settings_;
  const Communicator& comm_;
  T* const gradient_;
  Timeline& timeline_;
  const std::optional<Format16> format_;  ///< Of the numbers that travel; nothing: T.
  const Buckets buckets_;
  std::vector<Part>
      ranges_;  ///< Of the buckets, in the array of all parameters: their layers lie one behind the other.
  std::vector<Part> owned_;
  std::vector<std::unique_ptr<Sum>> sums_;  ///< By bucket.
  std::size_t begun_ = 0, ended_ = 0;       ///< Buckets of the step; they begin and end in order.
  std::size_t first_ready_ = SIZE_MAX;      ///< Layers from here on have their gradients.
  double busy_since_ = 0;                   ///< Since when a bucket is under way, if any is,
  double exposed_then_ = 0;                 ///< and the exposed time then.
  double entered_ = 0;                      ///< When the time of which nothing else is made began; 0: it has not.
  CommunicationTime time_;
};

extern template class Exchange<float>;
extern template class Exchange<double>;

}  // namespace tutti::sgd
