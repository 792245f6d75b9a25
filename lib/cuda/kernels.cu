// The kernels: the host's functors, one thread for 16 bytes at a time. Built with -fmad=false, so that their bits are those
// of the host; no atomics. Loops whose length is not known are not unrolled: that would triple the size. A kernel is
// named for its operation and its type: tutti_sum_fp32.
#include "lib/cuda/kernel_arguments.hpp"
#include "lib/reduce/elements.hpp"

namespace tutti::cuda {
namespace {

constexpr std::uint64_t vector_bytes = 16;
using Word = uint4;

/// As many elements as a vector has.
template <class Element>
struct Vector {
  using Value = typename Element::template Value<1>;
  static constexpr std::uint64_t size = vector_bytes / Element::bytes;
  alignas(vector_bytes) Value values[size];
};

template <class Value>
__device__ Value loaded(const std::byte* from) {
  Value value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class Element, template <class> class Operation>
__device__ void reduce_one(const ReduceArguments& a, std::uint64_t i) {
  using Value = typename Element::template Value<1>;
  // A byte at a time: the pointers may have any alignment.
  alignas(Value) std::byte bytes[sizeof(Value)];
  const auto read = [&](const std::byte* from) {
    for (std::size_t b = 0; b < sizeof(Value); ++b)
      bytes[b] = from[i * sizeof(Value) + b];
    return loaded<Value>(bytes);
  };
  Value result = read(a.inputs[0]);
#pragma unroll 1
  for (int k = 1; k < a.input_count; ++k)
    result = Element::template combine<Operation>(result, read(a.inputs[k]));
  __builtin_memcpy(bytes, &result, sizeof result);
#pragma unroll 1
  for (int k = 0; k < a.output_count; ++k)
    for (std::size_t b = 0; b < sizeof(Value); ++b)
      a.outputs[k][i * sizeof(Value) + b] = bytes[b];
}

template <class Element, template <class> class Operation>
__device__ void reduce_vector(const ReduceArguments& a, std::uint64_t at) {
  using Values = Vector<Element>;
  const auto read = [&](const std::byte* from) {
    const Word word = *reinterpret_cast<const Word*>(from + at);
    Values values;
    __builtin_memcpy(&values, &word, sizeof word);
    return values;
  };
  Values result = read(a.inputs[0]);
#pragma unroll 1
  for (int k = 1; k < a.input_count; ++k) {
    const Values operand = read(a.inputs[k]);
    for (std::uint64_t n = 0; n < Values::size; ++n)
      result.values[n] = Element::template combine<Operation>(result.values[n], operand.values[n]);
  }
  Word word;
  __builtin_memcpy(&word, &result, sizeof word);
#pragma unroll 1
  for (int k = 0; k < a.output_count; ++k)
    *reinterpret_cast<Word*>(a.outputs[k] + at) = word;
}

/// How many elements come before the first whole vector: the same for all pointers, or all elements.
__device__ std::uint64_t head_of(const ReduceArguments& a, std::uint64_t element_bytes) {
  const std::uint64_t misaligned = reinterpret_cast<std::uint64_t>(a.inputs[0]) % vector_bytes;
  bool is_same = misaligned % element_bytes == 0;
#pragma unroll 1
  for (int k = 1; k < a.input_count; ++k)
    is_same &= reinterpret_cast<std::uint64_t>(a.inputs[k]) % vector_bytes == misaligned;
#pragma unroll 1
  for (int k = 0; k < a.output_count; ++k)
    is_same &= reinterpret_cast<std::uint64_t>(a.outputs[k]) % vector_bytes == misaligned;
  if (!is_same) return a.count;
  const std::uint64_t head = (vector_bytes - misaligned) % vector_bytes / element_bytes;
  return head < a.count ? head : a.count;
}

template <class Element, template <class> class Operation>
__device__ void reduce(const ReduceArguments& a) {
  const std::uint64_t thread = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  const std::uint64_t threads = gridDim.x * std::uint64_t{blockDim.x};
  const std::uint64_t head = head_of(a, Element::bytes);
  const std::uint64_t vectors = (a.count - head) / Vector<Element>::size;
  const std::uint64_t tail = head + vectors * Vector<Element>::size;
#pragma unroll 1
  for (std::uint64_t i = thread; i < head; i += threads)
    reduce_one<Element, Operation>(a, i);
#pragma unroll 1
  for (std::uint64_t n = thread; n < vectors; n += threads)
    reduce_vector<Element, Operation>(a, head * Element::bytes + n * vector_bytes);
#pragma unroll 1
  for (std::uint64_t i = tail + thread; i < a.count; i += threads)
    reduce_one<Element, Operation>(a, i);
}

template <class Element, template <class> class Operation, class Argument>
__device__ void finish(const FinishArguments& a, Argument argument) {
  using Value = typename Element::template Value<1>;
  const std::uint64_t threads = gridDim.x * std::uint64_t{blockDim.x};
#pragma unroll 1
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < a.count; i += threads) {
    alignas(Value) std::byte bytes[sizeof(Value)];
    std::byte* const at = a.data + i * sizeof(Value);
    for (std::size_t b = 0; b < sizeof(Value); ++b)
      bytes[b] = at[b];
    const Value result = Element::template transform<Operation>(loaded<Value>(bytes), argument);
    __builtin_memcpy(bytes, &result, sizeof result);
    for (std::size_t b = 0; b < sizeof(Value); ++b)
      at[b] = bytes[b];
  }
}

}  // namespace
}  // namespace tutti::cuda

#define TUTTI_REDUCE(operation, Functor, type, ...)                                                        \
  extern "C" __global__ void tutti_##operation##_##type(const tutti::cuda::ReduceArguments arguments) {    \
    tutti::cuda::reduce<__VA_ARGS__, tutti::Functor>(arguments);                                           \
  }
#define TUTTI_OF_ALL(type, ...)                                                                            \
  TUTTI_REDUCE(sum, Sum, type, __VA_ARGS__)                                                                \
  TUTTI_REDUCE(prod, Product, type, __VA_ARGS__)                                                           \
  extern "C" __global__ void tutti_divide_##type(const tutti::cuda::FinishArguments arguments) {           \
    tutti::cuda::finish<__VA_ARGS__, tutti::Divide>(arguments, arguments.divisor);                         \
  }
#define TUTTI_OF_ORDERED(type, ...)                                                                        \
  TUTTI_REDUCE(min, Minimum, type, __VA_ARGS__)                                                            \
  TUTTI_REDUCE(max, Maximum, type, __VA_ARGS__)
#define TUTTI_OF_FLOATS(type, ...)                                                                         \
  extern "C" __global__ void tutti_scale_##type(const tutti::cuda::FinishArguments arguments) {            \
    tutti::cuda::finish<__VA_ARGS__, tutti::Scale>(arguments, arguments.factor);                           \
  }
#define TUTTI_OF_INTEGERS(type, ...)                                                                       \
  TUTTI_REDUCE(land, LogicalAnd, type, __VA_ARGS__)                                                        \
  TUTTI_REDUCE(lor, LogicalOr, type, __VA_ARGS__)                                                          \
  TUTTI_REDUCE(lxor, LogicalXor, type, __VA_ARGS__)                                                        \
  TUTTI_REDUCE(band, BitAnd, type, __VA_ARGS__)                                                            \
  TUTTI_REDUCE(bor, BitOr, type, __VA_ARGS__)                                                              \
  TUTTI_REDUCE(bxor, BitXor, type, __VA_ARGS__)

#define TUTTI_INTEGER(type, Number)                    \
  TUTTI_OF_ALL(type, tutti::Plain<Number>)             \
  TUTTI_OF_ORDERED(type, tutti::Plain<Number>)         \
  TUTTI_OF_INTEGERS(type, tutti::Plain<Number>)
#define TUTTI_FLOAT(type, ...)         \
  TUTTI_OF_ALL(type, __VA_ARGS__)      \
  TUTTI_OF_ORDERED(type, __VA_ARGS__)  \
  TUTTI_OF_FLOATS(type, __VA_ARGS__)
#define TUTTI_COMPLEX(type, Part)                             \
  TUTTI_OF_ALL(type, tutti::Plain<tutti::Complex<Part>>)      \
  TUTTI_OF_FLOATS(type, tutti::Plain<tutti::Complex<Part>>)

TUTTI_INTEGER(int8, std::int8_t)
TUTTI_INTEGER(int16, std::int16_t)
TUTTI_INTEGER(int32, std::int32_t)
TUTTI_INTEGER(int64, std::int64_t)
TUTTI_INTEGER(uint8, std::uint8_t)
TUTTI_INTEGER(uint16, std::uint16_t)
TUTTI_INTEGER(uint32, std::uint32_t)
TUTTI_INTEGER(uint64, std::uint64_t)
TUTTI_FLOAT(fp16, tutti::Narrow<tutti::PortableHalf>)
TUTTI_FLOAT(bf16, tutti::Bfloat)
TUTTI_FLOAT(fp32, tutti::Plain<float>)
TUTTI_FLOAT(fp64, tutti::Plain<double>)
TUTTI_COMPLEX(complex_fp32, float)
TUTTI_COMPLEX(complex_fp64, double)
