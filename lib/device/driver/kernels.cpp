#include "lib/device/driver/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/device_error.hpp"
#include "lib/device/driver/driver.hpp"
#include "lib/device/driver/image.hpp"

namespace tutti::cuda {
namespace {

constexpr unsigned threads = 256;

const Driver& required_driver() {
  if (driver() == nullptr) throw DeviceError("no kernels: " + why_no_driver());
  if (image() == nullptr) throw DeviceError("no kernels: the library was built without nvcc");
  return *driver();
}

/// By the rows of Kernels from sums_in on.
constexpr std::array<std::string_view, 4> sums_in_names{"sum_in_fp32", "sum_in_fp32_stochastic", "sum_in_fp64",
                                                        "sum_in_fp64_stochastic"};

/// The one that combines: avg and scaled_sum are finished by a pass of their own.
Op::Kind combining(Op::Kind kind) {
  return kind == Op::Kind::avg || kind == Op::Kind::scaled_sum ? Op::Kind::sum : kind;
}

/// Vectors where the arrays lie alike modulo 16, and their elements do not straddle the vectors.
Split split_of(Type type, Count count, std::span<const CUdeviceptr> inputs, std::span<const CUdeviceptr> outputs) {
  const auto element = static_cast<std::uint64_t>(size_of(type).value());
  const std::uint64_t first = inputs[0] % vector_bytes;
  std::uint64_t differing = 0, joined = 0;  // The bits in which the addresses differ, or which any of them has.
  for (const auto arrays : {inputs, outputs})
    for (const CUdeviceptr array : arrays) {
      differing |= array ^ inputs[0];
      joined |= array;
    }
  Split split{static_cast<std::uint64_t>(count.value()), 0, 0,
              joined % (is_complex(type) ? element / 2 : element) == 0};
  if (differing % vector_bytes != 0 || first % element != 0) return split;
  split.head = std::min((vector_bytes - first) % vector_bytes / element, split.count);
  split.vectors = (split.count - split.head) / (vector_bytes / element);
  return split;
}

}  // namespace

Kernels::Kernels() {
  const Driver& table = required_driver();
  CUdevice device = 0;
  int multiprocessors = 1;
  check(table.CtxGetDevice(&device), "cuCtxGetDevice");
  check(table.DeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
        "cuDeviceGetAttribute");
  most_blocks_ = 8 * static_cast<unsigned>(multiprocessors);
  check(table.ModuleLoadData(&module_, image()), "cuModuleLoadData");
  try {
    find_all();
    compression_.find(module_, most_blocks_);
    load();
  } catch (...) {
    static_cast<void>(table.ModuleUnload(module_));
    throw;
  }
}

void Kernels::find_all() {
  const auto find = [&](int row, int type, std::string_view operation) {
    const std::string name = fmt::format("tutti_{}_{}", operation, to_string(static_cast<Type>(type)));
    CUfunction& function = functions_[row][type];
    const CUresult result = driver()->ModuleGetFunction(&function, module_, name.c_str());
    if (result == CUDA_SUCCESS) return;
    function = nullptr;
    if (result != CUDA_ERROR_NOT_FOUND) check(result, "cuModuleGetFunction");
  };
  constexpr int boolean = static_cast<int>(Type::boolean), byte = static_cast<int>(Type::uint8);
  for (int type = 0; type < boolean; ++type) {
    for (int kind = 0; kind < static_cast<int>(Op::Kind::user); ++kind)
      find(kind, type, to_string(combining(static_cast<Op::Kind>(kind))));
    find(divides, type, "divide");
    find(scales, type, "scale");
    for (int way = 0; way < static_cast<int>(sums_in_names.size()); ++way)
      find(sums_in + way, type, sums_in_names[way]);
  }
  for (int kind = 0; kind < static_cast<int>(Op::Kind::user); ++kind)
    if (const auto logical = tutti::detail::of_booleans(static_cast<Op::Kind>(kind)))
      functions_[kind][boolean] = functions_[static_cast<int>(*logical)][byte];
}

/// Ahead of any launch: a first launch that has to load its function may wait for the device, and must not beside work
/// that waits for the host.
void Kernels::load() {
  const Driver& table = *driver();
  if (table.FuncLoad == nullptr) return;
  const auto load_each = [&table](std::span<const CUfunction> functions) {
    for (auto* const function : functions)
      if (function != nullptr) check(table.FuncLoad(function), "cuFuncLoad");
  };
  for (const auto& of_types : functions_)
    load_each(of_types);
  load_each(compression_.all());
}

Kernels::~Kernels() {
  if (module_ != nullptr) static_cast<void>(driver()->ModuleUnload(module_));
}

CUfunction Kernels::function_of(int row, Type type, std::string_view operation) const {
  auto* const function = functions_[row][static_cast<int>(type)];
  if (function == nullptr)
    throw DeviceError(fmt::format("there is no kernel for {} of {}", operation, to_string(type)));
  return function;
}

void Kernels::launch(CUfunction function, void* arguments, const Split& split, Type type, CUstream stream) const {
  if (split.count == 0) return;
  const std::uint64_t in_vectors = split.vectors * (vector_bytes / static_cast<std::uint64_t>(size_of(type).value()));
  const std::uint64_t steps = std::max(split.vectors, split.count - in_vectors);
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>((steps + threads - 1) / threads, most_blocks_));
  void* parameters[] = {arguments};
  check(driver()->LaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr),
        "cuLaunchKernel");
}

void Kernels::reduce(const Op& op, Type type, std::span<const CUdeviceptr> inputs, std::span<const CUdeviceptr> outputs,
                     Count count, CUstream stream) const {
  if (!op.accumulate()) return reduce(op.kind(), type, inputs, outputs, count, stream);
  const int way = (*op.accumulate() == Type::fp64 ? 2 : 0) + (op.rounding() == Rounding::stochastic ? 1 : 0);
  const int divisor = op.kind() == Op::Kind::avg ? static_cast<int>(inputs.size()) : 1;
  reduce_by(function_of(sums_in + way, type, to_string(op.kind())), divisor, type, inputs, outputs, count, stream);
}

void Kernels::reduce_by(CUfunction function, int divisor, Type type, std::span<const CUdeviceptr> inputs,
                        std::span<const CUdeviceptr> outputs, Count count, CUstream stream) const {
  if (inputs.empty() || inputs.size() > most_inputs || outputs.empty() || outputs.size() > most_outputs)
    throw DeviceError(fmt::format("a kernel has 1 to {} inputs and 1 to {} outputs, not {} and {}", most_inputs,
                                  most_outputs, inputs.size(), outputs.size()));
  ReduceArguments arguments{};
  arguments.input_count = static_cast<int>(inputs.size());
  arguments.output_count = static_cast<int>(outputs.size());
  arguments.divisor = divisor;
  arguments.split = split_of(type, count, inputs, outputs);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    arguments.inputs[k] = std::bit_cast<const std::byte*>(inputs[k]);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    arguments.outputs[k] = std::bit_cast<std::byte*>(outputs[k]);
  launch(function, &arguments, arguments.split, type, stream);
}

void Kernels::combine(DeviceKernel kernel, CUdeviceptr lhs, CUdeviceptr rhs, CUdeviceptr into, Count count,
                      CUstream stream) const {
  if (count == Count{0}) return;
  auto elements = static_cast<unsigned long long>(count.value());
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>((elements + threads - 1) / threads, most_blocks_));
  void* parameters[] = {&lhs, &rhs, &into, &elements};
  check(driver()->LaunchKernel(static_cast<CUfunction>(kernel.handle), blocks, 1, 1, threads, 1, 1, 0, stream,
                               parameters, nullptr),
        "cuLaunchKernel of a user's operation");
}

void Kernels::finish(const Op& op, Type type, CUdeviceptr data, Count count, int ranks, CUstream stream) const {
  if (op.kind() == Op::Kind::avg)
    divide(type, data, count, ranks, stream);
  else
    scale(type, data, count, op.scale(), stream);
}

void Kernels::divide(Type type, CUdeviceptr data, Count count, int divisor, CUstream stream) const {
  FinishArguments arguments{std::bit_cast<std::byte*>(data), split_of(type, count, {&data, 1}, {}), 0, divisor};
  launch(function_of(divides, type, "division"), &arguments, arguments.split, type, stream);
}

void Kernels::scale(Type type, CUdeviceptr data, Count count, double factor, CUstream stream) const {
  FinishArguments arguments{std::bit_cast<std::byte*>(data), split_of(type, count, {&data, 1}, {}), factor, 1};
  launch(function_of(scales, type, "scaling"), &arguments, arguments.split, type, stream);
}

}  // namespace tutti::cuda
