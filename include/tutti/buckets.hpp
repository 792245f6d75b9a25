#pragma once
// Gradients of a neural network, summed over the ranks in buckets while later ones are still computed.

#include <cstddef>
#include <span>
#include <vector>

#include "tutti/call.hpp"
#include "tutti/export.hpp"

namespace tutti {

/// How large buckets may become. The first one is small, so that communication begins early.
struct BucketLimits {
  Bytes bytes{25 << 20};
  Bytes first{1 << 20};
};

/// Which tensors are summed together. Tensors are numbered in the order of the forward pass. Buckets are filled from
/// the last tensor to the first, as gradients become ready. A tensor that is larger than the limit is a bucket of its
/// own. All ranks make the same buckets from the same sizes. Buckets need no communicator.
class Buckets {
 public:
  /// `sizes`: the elements of each tensor. ArgumentError: no type, a size below 0 or too large to address, a limit
  /// below 1.
  TUTTI_API Buckets(std::span<const Count> sizes, Type type, const BucketLimits& limits = {});

  [[nodiscard]] int size() const { return static_cast<int>(buckets_.size()); }
  /// The tensors of a bucket, in the order of the forward pass. ArgumentError: there is no such bucket.
  [[nodiscard]] TUTTI_API std::span<const int> tensors(int bucket) const;
  /// The elements of a bucket.
  [[nodiscard]] TUTTI_API Count count(int bucket) const;
  /// ArgumentError: there is no such tensor.
  [[nodiscard]] TUTTI_API int bucket_of(int tensor) const;

  [[nodiscard]] Type type() const { return type_; }
  [[nodiscard]] std::span<const Count> sizes() const { return sizes_; }

 private:
  Type type_;
  std::vector<Count> sizes_;
  std::vector<std::vector<int>> buckets_{};
  std::vector<int> bucket_of_{};
};

/// The allreduce of each bucket, in place: plans that are made once (plan_allreduce_list) and used in each step.
///
///     BucketedAllreduce gradients{Buckets{sizes, Type::fp32}, pointers, Op::avg, comm};
///     // in each step, as the backward pass has computed them, from the last to the first:
///     gradients.ready(tensor);
///     // before the optimizer:
///     gradients.wait();
///
/// A bucket starts once all its tensors are ready and all buckets before it have started. So all ranks start them in
/// the same order, even if their gradients become ready in different ones. The order among other calls of the
/// communicator has to be the same, too: make a communicator for it if there are other calls during the backward pass.
/// Operations need progress (tutti/request.hpp): call test() during the backward pass, or set TUTTI_PROGRESS_THREAD=1.
class BucketedAllreduce {
 public:
  /// `tensors`: the memory of each, with the elements that `buckets` was told. Errors: those of plan_allreduce_list;
  /// ArgumentError if there are more or fewer tensors.
  TUTTI_API BucketedAllreduce(Buckets buckets, std::span<void* const> tensors, const Op& op, const Communicator& comm,
                              const Options& options = {});

  /// The tensor is computed, and belongs to the allreduce until wait() has returned. ArgumentError: there is no such
  /// tensor. StateError: it was ready before in this step.
  TUTTI_API void ready(int tensor);
  /// Makes progress, never blocks; true if all tensors are summed. Throws the error if an allreduce failed.
  [[nodiscard]] TUTTI_API bool test();
  /// Returns when all tensors are summed, and begins the next step. Throws the error if an allreduce failed.
  /// StateError: a tensor is not ready; the step goes on.
  TUTTI_API void wait();

  [[nodiscard]] const Buckets& buckets() const { return buckets_; }
  /// How many buckets have started in this step.
  [[nodiscard]] int started() const { return started_; }

 private:
  [[nodiscard]] bool is_complete(int bucket) const { return missing_[static_cast<std::size_t>(bucket)] == 0; }
  void begin_step();

  Buckets buckets_;
  Rank rank_;
  std::vector<Plan> plans_{};
  std::vector<bool> is_ready_{};
  std::vector<int> missing_{};  ///< Of each bucket: tensors that are not ready.
  int started_ = 0;
};

}  // namespace tutti
