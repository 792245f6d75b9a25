#pragma once
// The sum of gradients over all ranks, compressed on their way.

#include <memory>
#include <span>
#include <string_view>

#include "tutti/call.hpp"
#include "tutti/communicator.hpp"
#include "tutti/compression.hpp"
#include "tutti/device_span.hpp"
#include "tutti/export.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// Sums gradients of all ranks, which are compressed on their way. Each rank compresses its gradient in as many parts
/// as there are ranks, and sends each rank its part (alltoall). Each adds the parts it got, its own too, in fp32 and in
/// the order of ranks, compresses the sum, and sends it to all (allgather). Both compressions keep their errors for the
/// next run. top_k: each rank sends its elements to all (allgather), and all add them in the order of ranks.
///
/// The second exchange starts when this rank knows that the first is over, in test() or wait(): while a run is under
/// way, nothing else may start on the communicator. But by go_on() the program says when it starts: objects of one
/// communicator may run together if all ranks call start(), go_on() and what else they start in the same order.
///
/// All ranks get the same bits, and make these objects, and start them, in the same order with the same arguments. An
/// object keeps its memory: two floats an element and the compressed bytes. Not thread-safe.
class CompressedAllreduce {
 public:
  /// Collective. `options` are those of both exchanges; they ask for no stream and no accumulate. ArgumentError as
  /// compressed_size(), and MismatchError on the other ranks; MismatchError on all ranks if they have other counts or
  /// compression options.
  TUTTI_API CompressedAllreduce(Count count, Compression compression, const Communicator& comm,
                                const CompressionOptions& compression_options = {}, const Options& options = {});
  /// The same for gradients on the device whose context is current in this thread: what the object keeps is there, too,
  /// in one allocation, and kernels compress, with the bits of the host. Ranks may differ in it. Error as
  /// allocate_device().
  [[nodiscard]] TUTTI_API static CompressedAllreduce on_device(Count count, Compression compression,
                                                               const Communicator& comm,
                                                               const CompressionOptions& compression_options = {},
                                                               const Options& options = {});
  TUTTI_API CompressedAllreduce(CompressedAllreduce&& other) noexcept;
  TUTTI_API CompressedAllreduce& operator=(CompressedAllreduce&& other) noexcept;
  CompressedAllreduce(const CompressedAllreduce&) = delete;
  CompressedAllreduce& operator=(const CompressedAllreduce&) = delete;
  /// Waits for the exchange that is under way.
  TUTTI_API ~CompressedAllreduce();

  /// The gradient becomes the sum of all ranks' gradients times `factor`, which is the same on all ranks: 1 over the
  /// number of ranks for an average. It has `count` elements.
  TUTTI_API void run(std::span<float> gradient, float factor = 1);
  TUTTI_API void run(DeviceSpan<float> gradient, float factor = 1);
  /// run() in parts: start() compresses and starts the first exchange, test() and wait() go on. The gradient must not
  /// be touched until test() gave true or wait() has returned. StateError if a run is under way.
  TUTTI_API void start(std::span<float> gradient, float factor = 1);
  TUTTI_API void start(DeviceSpan<float> gradient, float factor = 1);
  /// True if no run is under way (any more).
  [[nodiscard]] TUTTI_API bool test();
  /// Waits for the first exchange of a run, and starts the second; from then on test() and wait() start nothing.
  /// Nothing if that was done, or no run is under way.
  TUTTI_API void go_on();
  TUTTI_API void wait();

  /// What this rank's gradients have lost so far, and the sum of its part: added in the next run.
  [[nodiscard]] TUTTI_API std::span<const float> error() const;
  [[nodiscard]] TUTTI_API std::span<const float> sum_error() const;
  /// They of an object that on_device() made: StateError for another, and from error() and sum_error() for this one.
  [[nodiscard]] TUTTI_API DeviceSpan<const float> device_error() const;
  [[nodiscard]] TUTTI_API DeviceSpan<const float> device_sum_error() const;
  /// Both errors become 0. StateError if a run is under way.
  TUTTI_API void reset();
  /// The bytes that one run has for other ranks.
  [[nodiscard]] TUTTI_API Bytes bytes_sent() const;

 private:
  class State;
  explicit CompressedAllreduce(std::unique_ptr<State> state);
  [[nodiscard]] State& state(std::string_view function) const;
  std::unique_ptr<State> state_;
};

}  // namespace tutti
