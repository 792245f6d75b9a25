// The kernels: the host's functors, one thread for 16 bytes or for one element at a time (Split). Built with
// -fmad=false, so that their bits are those of the host; no atomics. Loops whose length is not known are not unrolled:
// that would triple the size. A kernel is named for its operation and its type: tutti_sum_fp32.
#include "lib/core/reduce/wide_elements.hpp"
#include "lib/device/driver/kernel_arguments.hpp"

namespace tutti::cuda {
namespace {

/// Neighbours that are read and written as one word.
template <class T, int size_>
struct Few {
  enum : std::uint64_t { size = size_ };
  alignas(size_ * sizeof(T)) T values[size_];
};
/// The elements of 16 bytes.
template <class Element>
using Vector = Few<typename Element::template Value<1>, static_cast<int>(vector_bytes / Element::bytes)>;

template <std::size_t bytes>
struct MakeWord;
template <>
struct MakeWord<16> {
  using Type = uint4;
};
template <>
struct MakeWord<8> {
  using Type = uint2;
};
template <>
struct MakeWord<4> {
  using Type = std::uint32_t;
};
template <>
struct MakeWord<2> {
  using Type = std::uint16_t;
};
template <>
struct MakeWord<1> {
  using Type = std::uint8_t;
};

template <class To, class From>
__device__ To same_bytes(const From& from) {
  To to;
  static_assert(sizeof to == sizeof from);
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

/// The memory of one element: whole, or byte by byte where it is not aligned.
template <class Value>
struct One {
  struct Bytes {
    alignas(Value) std::byte bytes[sizeof(Value)];
  };
  bool is_aligned;

  __device__ Value read(const std::byte* from) const {
    if (is_aligned) return *reinterpret_cast<const Value*>(from);
    Bytes copy;
    for (std::size_t b = 0; b < sizeof(Value); ++b)
      copy.bytes[b] = from[b];
    return same_bytes<Value>(copy);
  }
  __device__ void write(std::byte* to, const Value& value) const {
    if (is_aligned) {
      *reinterpret_cast<Value*>(to) = value;
      return;
    }
    const auto copy = same_bytes<Bytes>(value);
    for (std::size_t b = 0; b < sizeof(Value); ++b)
      to[b] = copy.bytes[b];
  }
};

/// The memory of neighbours.
template <class Values>
struct Whole {
  using Word = typename MakeWord<sizeof(Values)>::Type;
  __device__ Values read(const std::byte* from) const {
    const Word word = *reinterpret_cast<const Word*>(from);  // A reference to it would be read byte by byte.
    return same_bytes<Values>(word);
  }
  __device__ void write(std::byte* to, const Values& values) const {
    *reinterpret_cast<Word*>(to) = same_bytes<Word>(values);
  }
};

/// Calls one(memory, at) and vector(memory, at) for the elements and the vectors of this thread, which begin `at` bytes
/// into every array. Values: what is taken at a time of the vectors of 16 bytes.
template <class Element, class Values = Vector<Element>, class OfOne, class OfVector>
__device__ void for_each(const Split& split, OfOne one, OfVector vector) {
  const std::uint64_t thread = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  const std::uint64_t threads = gridDim.x * std::uint64_t{blockDim.x};
  const One<typename Element::template Value<1>> memory_of_one{Element::bytes == 1 || split.is_aligned};
  const std::uint64_t in_vectors = split.vectors * Vector<Element>::size;
#pragma unroll 1
  for (std::uint64_t n = thread; n < in_vectors / Values::size; n += threads)
    vector(Whole<Values>{}, split.head * Element::bytes + n * sizeof(Values));
#pragma unroll 1
  for (std::uint64_t n = thread; n < split.count - in_vectors; n += threads)
    one(memory_of_one, (n < split.head ? n : n + in_vectors) * Element::bytes);
}

template <class Memory, class Combine>
__device__ void reduce_at(const ReduceArguments& a, std::uint64_t at, Memory memory, Combine combine) {
  auto result = memory.read(a.inputs[0] + at);
#pragma unroll 1
  for (int k = 1; k < a.input_count; ++k)
    combine(result, memory.read(a.inputs[k] + at));
#pragma unroll 1
  for (int k = 0; k < a.output_count; ++k)
    memory.write(a.outputs[k] + at, result);
}

template <class Element, template <class> class Operation>
__device__ void reduce(const ReduceArguments& a) {
  using Value = typename Element::template Value<1>;
  using Values = Vector<Element>;
  const auto combine_one = [](Value& result, Value operand) {
    result = Element::template combine<Operation>(result, operand);
  };
  const auto combine_vector = [&](Values& result, const Values& operand) {
#pragma unroll
    for (std::uint64_t n = 0; n < Values::size; ++n)
      combine_one(result.values[n], operand.values[n]);
  };
  for_each<Element>(
      a.split, [&](auto memory, std::uint64_t at) { reduce_at(a, at, memory, combine_one); },
      [&](auto memory, std::uint64_t at) { reduce_at(a, at, memory, combine_vector); });
}

template <class Element, template <class> class Operation, class Argument>
__device__ void finish(const FinishArguments& a, Argument argument) {
  const auto finished = [&](auto value) { return Element::template transform<Operation>(value, argument); };
  for_each<Element>(
      a.split, [&](auto memory, std::uint64_t at) { memory.write(a.data + at, finished(memory.read(a.data + at))); },
      [&](auto memory, std::uint64_t at) {
        auto values = memory.read(a.data + at);
#pragma unroll
        for (auto& value : values.values)
          value = finished(value);
        memory.write(a.data + at, values);
      });
}

/// The sum of the elements of the inputs from `at` on, by its digits.
template <class Exact>
__device__ typename Exact::InMemory sum_of_digits(const ReduceArguments& a, std::uint64_t at) {
  const One<typename Exact::InMemory> memory{a.split.is_aligned};
  const auto operand = [&](std::size_t k) { return cast<std::uint64_t>(Exact::widen(memory.read(a.inputs[k] + at))); };
  const SumOfDigits digits{operand, static_cast<std::size_t>(a.input_count)};
  using Bits = typename Exact::Form::Bits;
  return cast<typename Exact::InMemory>(static_cast<Bits>(digits.template rounded<typename Exact::Form>()));
}

/// The memory of one element, as a vector of one.
template <class Number>
struct Alone {
  struct Values {
    static constexpr std::uint64_t size = 1;
    Number values[1];
  };
  One<Number> memory;
  __device__ Values read(const std::byte* from) const { return {{memory.read(from)}}; }
  __device__ void write(std::byte* to, const Values& values) const { memory.write(to, values.values[0]); }
};

/// The elements of the inputs from `at` on, each of whose sums is rounded once.
template <class Exact, class Memory>
__device__ void exact_sum_at(const ReduceArguments& a, std::uint64_t at, Memory memory) {
  auto values = memory.read(a.inputs[0] + at);
  constexpr std::uint64_t size = decltype(values)::size;
  SumWithRest<double> sums[size];
#pragma unroll
  for (std::uint64_t n = 0; n < size; ++n)
    sums[n] = SumWithRest<double>{Exact::widen(values.values[n])};
#pragma unroll 1
  for (int k = 1; k < a.input_count; ++k) {
    values = memory.read(a.inputs[k] + at);
#pragma unroll
    for (std::uint64_t n = 0; n < size; ++n)
      sums[n].add(Exact::widen(values.values[n]));
  }
  std::uint64_t lost = 0;  // a bit for each
#pragma unroll
  for (std::uint64_t n = 0; n < size; ++n) {
    values.values[n] = Exact::narrow(sums[n]);
    lost |= sums[n].lost() == 0 ? 0 : std::uint64_t{1} << n;
  }
  // A loop, as the code is long; registers have no index.
#pragma unroll 1
  for (std::uint64_t n = 0; lost >> n != 0; ++n) {
    if ((lost >> n & 1) == 0) continue;
    const auto sum = sum_of_digits<Exact>(a, at + n * sizeof(typename Exact::InMemory));
#pragma unroll
    for (std::uint64_t m = 0; m < size; ++m)
      values.values[m] = m == n ? sum : values.values[m];
  }
#pragma unroll 1
  for (int k = 0; k < a.output_count; ++k)
    memory.write(a.outputs[k] + at, values);
}

/// The elements of the inputs from `at` on, added in the type Wide; each sum is divided and rounded once.
template <class Element, class Wide, bool is_stochastic, class Memory>
__device__ void sum_in_at(const ReduceArguments& a, std::uint64_t at, Memory memory) {
  auto values = memory.read(a.inputs[0] + at);
  constexpr std::uint64_t size = decltype(values)::size;
  using Sum = WideSum<Element, Wide, is_stochastic, 1>;
  Sum sums[size];
#pragma unroll
  for (std::uint64_t n = 0; n < size; ++n)
    sums[n] = Sum{values.values[n]};
#pragma unroll 1
  for (int k = 1; k < a.input_count; ++k) {
    values = memory.read(a.inputs[k] + at);
#pragma unroll
    for (std::uint64_t n = 0; n < size; ++n)
      sums[n].add(values.values[n]);
  }
#pragma unroll
  for (std::uint64_t n = 0; n < size; ++n) {
    if (a.divisor > 1) sums[n].divide(a.divisor);
    values.values[n] = sums[n].rounded();
  }
#pragma unroll 1
  for (int k = 0; k < a.output_count; ++k)
    memory.write(a.outputs[k] + at, values);
}

template <class Element, class Wide, bool is_stochastic>
__device__ void sum_in(const ReduceArguments& a) {
  using InMemory = typename Element::InMemory;
  for_each<Plain<InMemory>, Few<InMemory, 4>>(  // four at a time: the code is long
      a.split,
      [&](auto memory, std::uint64_t at) {
        sum_in_at<Element, Wide, is_stochastic>(a, at, Alone<InMemory>{{memory.is_aligned}});
      },
      [&](auto memory, std::uint64_t at) { sum_in_at<Element, Wide, is_stochastic>(a, at, memory); });
}

/// The elements of complex numbers are their parts.
template <class Element, class Part = Element>
__device__ void exact_sum(const ReduceArguments& a) {
  using Exact = typename MakeExact<Element>::Type;
  constexpr std::uint64_t parts = MakeExact<Element>::count;
  const Split split{a.split.count * parts, a.split.head * parts, a.split.vectors, a.split.is_aligned};
  for_each<Part>(
      split,
      [&](auto memory, std::uint64_t at) {
        exact_sum_at<Exact>(a, at, Alone<typename Exact::InMemory>{{memory.is_aligned}});
      },
      [&](auto memory, std::uint64_t at) { exact_sum_at<Exact>(a, at, memory); });
}

}  // namespace
}  // namespace tutti::cuda

#define TUTTI_REDUCE(operation, Functor, type, ...)                                                     \
  extern "C" __global__ void tutti_##operation##_##type(const tutti::cuda::ReduceArguments arguments) { \
    tutti::cuda::reduce<__VA_ARGS__, tutti::Functor>(arguments);                                        \
  }
#define TUTTI_OF_ALL(type, ...)                                                                  \
  TUTTI_REDUCE(sum, Sum, type, __VA_ARGS__)                                                      \
  TUTTI_REDUCE(prod, Product, type, __VA_ARGS__)                                                 \
  extern "C" __global__ void tutti_divide_##type(const tutti::cuda::FinishArguments arguments) { \
    tutti::cuda::finish<__VA_ARGS__, tutti::Divide>(arguments, arguments.divisor);               \
  }
#define TUTTI_OF_ORDERED(type, ...)             \
  TUTTI_REDUCE(min, Minimum, type, __VA_ARGS__) \
  TUTTI_REDUCE(max, Maximum, type, __VA_ARGS__)
#define TUTTI_OF_FLOATS(type, ...)                                                              \
  extern "C" __global__ void tutti_scale_##type(const tutti::cuda::FinishArguments arguments) { \
    tutti::cuda::finish<__VA_ARGS__, tutti::Scale>(arguments, arguments.factor);                \
  }
#define TUTTI_EXACT_SUM(type, ...)                                                                  \
  extern "C" __global__ void tutti_exact_sum_##type(const tutti::cuda::ReduceArguments arguments) { \
    tutti::cuda::exact_sum<__VA_ARGS__>(arguments);                                                 \
  }
#define TUTTI_SUM_IN(wide, Number, type, ...)                                                                        \
  extern "C" __global__ void tutti_sum_in_##wide##_##type(const tutti::cuda::ReduceArguments arguments) {            \
    tutti::cuda::sum_in<__VA_ARGS__, Number, false>(arguments);                                                      \
  }                                                                                                                  \
  extern "C" __global__ void tutti_sum_in_##wide##_stochastic_##type(const tutti::cuda::ReduceArguments arguments) { \
    tutti::cuda::sum_in<__VA_ARGS__, Number, true>(arguments);                                                       \
  }
#define TUTTI_SUMS_IN(type, ...)               \
  TUTTI_SUM_IN(fp32, float, type, __VA_ARGS__) \
  TUTTI_SUM_IN(fp64, double, type, __VA_ARGS__)
#define TUTTI_OF_INTEGERS(type, ...)                \
  TUTTI_REDUCE(land, LogicalAnd, type, __VA_ARGS__) \
  TUTTI_REDUCE(lor, LogicalOr, type, __VA_ARGS__)   \
  TUTTI_REDUCE(lxor, LogicalXor, type, __VA_ARGS__) \
  TUTTI_REDUCE(band, BitAnd, type, __VA_ARGS__)     \
  TUTTI_REDUCE(bor, BitOr, type, __VA_ARGS__)       \
  TUTTI_REDUCE(bxor, BitXor, type, __VA_ARGS__)

#define TUTTI_INTEGER(type, Number)            \
  TUTTI_OF_ALL(type, tutti::Plain<Number>)     \
  TUTTI_OF_ORDERED(type, tutti::Plain<Number>) \
  TUTTI_OF_INTEGERS(type, tutti::Plain<Number>)
#define TUTTI_FLOAT(type, ...)        \
  TUTTI_OF_ALL(type, __VA_ARGS__)     \
  TUTTI_OF_ORDERED(type, __VA_ARGS__) \
  TUTTI_OF_FLOATS(type, __VA_ARGS__)
#define TUTTI_COMPLEX(type, Part)                        \
  TUTTI_OF_ALL(type, tutti::Plain<tutti::Complex<Part>>) \
  TUTTI_OF_FLOATS(type, tutti::Plain<tutti::Complex<Part>>)

TUTTI_INTEGER(int8, std::int8_t)
TUTTI_INTEGER(int16, std::int16_t)
TUTTI_INTEGER(int32, std::int32_t)
TUTTI_INTEGER(int64, std::int64_t)
TUTTI_INTEGER(uint8, std::uint8_t)
TUTTI_INTEGER(uint16, std::uint16_t)
TUTTI_INTEGER(uint32, std::uint32_t)
TUTTI_INTEGER(uint64, std::uint64_t)
TUTTI_FLOAT(fp8_e4m3, tutti::Fp8<tutti::E4m3>)
TUTTI_FLOAT(fp8_e5m2, tutti::Fp8<tutti::E5m2>)
TUTTI_FLOAT(fp16, tutti::Narrow<tutti::PortableHalf>)
TUTTI_FLOAT(bf16, tutti::Bfloat)
TUTTI_FLOAT(fp32, tutti::Plain<float>)
TUTTI_FLOAT(fp64, tutti::Plain<double>)
TUTTI_COMPLEX(complex_fp32, float)
TUTTI_COMPLEX(complex_fp64, double)
TUTTI_SUMS_IN(fp8_e4m3, tutti::WideFp8<tutti::E4m3>)
TUTTI_SUMS_IN(fp8_e5m2, tutti::WideFp8<tutti::E5m2>)
TUTTI_SUMS_IN(fp16, tutti::WideHalf<tutti::PortableHalf>)
TUTTI_SUMS_IN(bf16, tutti::WideBfloat)
TUTTI_SUM_IN(fp64, double, fp32, tutti::FloatElement)
TUTTI_EXACT_SUM(fp16, tutti::Narrow<tutti::PortableHalf>)
TUTTI_EXACT_SUM(bf16, tutti::Bfloat)
TUTTI_EXACT_SUM(fp32, tutti::Plain<float>)
TUTTI_EXACT_SUM(fp64, tutti::Plain<double>)
TUTTI_EXACT_SUM(complex_fp32, tutti::Plain<tutti::Complex<float>>, tutti::Plain<float>)
TUTTI_EXACT_SUM(complex_fp64, tutti::Plain<tutti::Complex<double>>, tutti::Plain<double>)

#include "lib/device/driver/compression_kernels.cuh"
