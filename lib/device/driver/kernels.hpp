#pragma once
// The kernels that reduce on a device, loaded once for a context.

#include <cuda.h>

#include <span>
#include <string_view>

#include "lib/device/driver/compression_kernels.hpp"
#include "lib/device/driver/kernel_arguments.hpp"
#include "tutti/datatype.hpp"
#include "tutti/op.hpp"

namespace tutti::cuda {

/// Every operation of the host, with its bits (but for which NaN a NaN is): see lib/core/reduce/functors.hpp.
class Kernels {
 public:
  /// Loads all of them into the current context, which has to be current in every call. Throws Error if there is no
  /// driver, no image, or no memory.
  Kernels();
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;
  /// Unloads them, if the driver still works. No launch may be pending.
  ~Kernels();
  /// The context is gone, and they with it.
  void forget() { module_ = nullptr; }

  /// Queues outputs[k][i] = inputs[0][i] (+) ... for i < count, as ReduceArguments; 1 to most_inputs inputs, 1 to
  /// most_outputs outputs. avg and scaled_sum combine as sum. Throws Error.
  void reduce(Op::Kind kind, Type type, std::span<const CUdeviceptr> inputs, std::span<const CUdeviceptr> outputs,
              Count count, CUstream stream) const {
    reduce_by(function_of(static_cast<int>(kind), type, to_string(kind)), 1, type, inputs, outputs, count, stream);
  }
  /// The same; an operation with accumulate() adds in that type, and avg is then divided by the number of inputs.
  void reduce(const Op& op, Type type, std::span<const CUdeviceptr> inputs, std::span<const CUdeviceptr> outputs,
              Count count, CUstream stream) const;
  /// Queues into[i] = lhs[i] (+) rhs[i] for i < count, by a user's kernel. Throws Error.
  void combine(DeviceKernel kernel, CUdeviceptr lhs, CUdeviceptr rhs, CUdeviceptr into, Count count,
               CUstream stream) const;
  /// Queues the last pass of avg (on so many ranks) or scaled_sum: divide() or scale().
  void finish(const Op& op, Type type, CUdeviceptr data, Count count, int ranks, CUstream stream) const;
  /// Queues the pass that finishes avg: data[i] = data[i] / divisor.
  void divide(Type type, CUdeviceptr data, Count count, int divisor, CUstream stream) const;
  /// Queues the pass that finishes scaled_sum: data[i] = data[i] * factor. Not for integers.
  void scale(Type type, CUdeviceptr data, Count count, double factor, CUstream stream) const;
  [[nodiscard]] const CompressionKernels& compression() const { return compression_; }

 private:
  /// The numbers of the last passes, behind those of the operations; a user's operation has no kernel.
  static constexpr int divides = static_cast<int>(Op::Kind::user) + 1, scales = divides + 1, sums_in = scales + 1,
                       kinds = sums_in + 4;

  void find_all();
  void load();
  [[nodiscard]] CUfunction function_of(int row, Type type, std::string_view operation) const;
  void reduce_by(CUfunction function, int divisor, Type type, std::span<const CUdeviceptr> inputs,
                 std::span<const CUdeviceptr> outputs, Count count, CUstream stream) const;
  void launch(CUfunction function, void* arguments, const Split& split, Type type, CUstream stream) const;

  CUmodule module_ = nullptr;
  unsigned most_blocks_ = 1;
  CUfunction functions_[kinds][type_count] = {};  ///< By operation, or what finishes one; nullptr: not for the type.
  CompressionKernels compression_;
};

}  // namespace tutti::cuda
