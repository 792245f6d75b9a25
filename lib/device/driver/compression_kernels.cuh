#pragma once
// Compression on a device: the formats of the host (lib/core/reduce/compression_elements.hpp), and a selection of the
// largest elements. Included by kernels.cu. A thread takes four elements at a time where they are aligned.
#include "lib/core/reduce/compression_elements.hpp"
#include "lib/device/driver/kernel_arguments.hpp"

namespace tutti::cuda {
namespace {

template <class T, int width>
__device__ Few<T, width> read_few(const void* array, std::uint64_t i) {
  return Whole<Few<T, width>>{}.read(static_cast<const std::byte*>(array) + i * sizeof(T));
}
template <class T, int width>
__device__ void write_few(void* array, std::uint64_t i, const Few<T, width>& values) {
  Whole<Few<T, width>>{}.write(static_cast<std::byte*>(array) + i * sizeof(T), values);
}

template <int width_>
struct Width {
  static constexpr int width = width_;
};

/// Some of the elements: those of one thread of a team. Not `is_wide`: one at a time.
struct Share {
  std::uint64_t begin, end, thread, threads;
  bool is_wide = false;
};
__device__ Share share_of_grid(std::uint64_t count, bool is_wide = false) {
  return {0, count, blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x, gridDim.x * std::uint64_t{blockDim.x},
          is_wide};
}
/// Calls what(Width<4>{}, i) for four neighbours from i on, and with a width of one for the rest.
template <class What>
__device__ void for_each_few(const Share& share, const What& what) {
  constexpr int width = 4;
  const std::uint64_t few = share.is_wide ? (share.end - share.begin) / width : 0, rest = share.begin + few * width;
#pragma unroll 1
  for (std::uint64_t k = share.thread; k < few; k += share.threads)
    what(Width<width>{}, share.begin + k * width);
#pragma unroll 1
  for (std::uint64_t i = rest + share.thread; i < share.end; i += share.threads)
    what(Width<1>{}, i);
}

/// in, or in + error.
template <int width>
__device__ Few<float, width> summand(const CompressArguments& a, std::uint64_t i) {
  auto values = read_few<float, width>(a.in, i);
  if (a.error == nullptr) return values;
  const auto error = read_few<float, width>(a.error, i);
#pragma unroll
  for (int k = 0; k < width; ++k)
    values.values[k] = values.values[k] + error.values[k];
  return values;
}

template <class Format, bool is_stochastic>
__device__ void compress_each(const CompressArguments& a, bool is_wide) {
  using InMemory = typename Format::InMemory;
  for_each_few(share_of_grid(a.count, is_wide), [&](auto few, std::uint64_t i) {
    constexpr int n = decltype(few)::width;
    auto values = summand<n>(a, i);
    Few<InMemory, n> packed;
#pragma unroll
    for (int k = 0; k < n; ++k) {
      packed.values[k] = Format::template packed<is_stochastic>(values.values[k]);
      values.values[k] = rest_of(values.values[k], Format::unpacked(packed.values[k]));
    }
    write_few(a.elements, i, packed);
    if (a.error != nullptr) write_few(a.error, i, values);
  });
}

constexpr unsigned team = 64, most_threads = 256;  // threads that have a scale in common; of a block

/// Each team of threads has a block of elements at a time.
template <class Format, bool is_stochastic>
__device__ void compress_blocks(const CompressArguments& a, bool is_wide) {
  using InMemory = typename Format::InMemory;
  __shared__ std::uint32_t largest[most_threads];
  const unsigned member = threadIdx.x % team, first = threadIdx.x - member, teams = blockDim.x / team;
  const std::uint64_t blocks = (a.count + a.block - 1) / a.block;
  // All threads turn as often, as they wait for each other: blocks behind the last one are empty.
#pragma unroll 1
  for (std::uint64_t turn = blockIdx.x * teams; turn < blocks; turn += gridDim.x * teams) {
    const std::uint64_t block = turn + threadIdx.x / team;
    const std::uint64_t begin = block < blocks ? block * a.block : a.count;
    const std::uint64_t end = a.count - begin < a.block ? a.count : begin + a.block;
    const Share share{begin, end, member, team, is_wide};
    std::uint32_t mine = 0;
    for_each_few(share, [&](auto few, std::uint64_t i) {
      const auto values = summand<decltype(few)::width>(a, i);
      if (a.error != nullptr) write_few(a.error, i, values);
#pragma unroll
      for (const float value : values.values) {
        const std::uint32_t magnitude = cast<std::uint32_t>(value) & 0x7fffffffu;
        mine = mine < magnitude ? magnitude : mine;
      }
    });
    largest[threadIdx.x] = mine;
#pragma unroll 1
    for (unsigned half = team / 2; half > 0; half /= 2) {
      __syncthreads();
      if (member < half && largest[threadIdx.x] < largest[threadIdx.x + half])
        largest[threadIdx.x] = largest[threadIdx.x + half];
    }
    __syncthreads();
    const BlockScale scale = Format::scale_of(largest[first]);
    __syncthreads();
    if (member == 0 && begin < end) reinterpret_cast<float*>(a.scales)[block] = scale.unit;
    const float* const from = a.error == nullptr ? a.in : a.error;
    for_each_few(share, [&](auto few, std::uint64_t i) {
      constexpr int n = decltype(few)::width;
      auto values = read_few<float, n>(from, i);
      Few<InMemory, n> packed;
#pragma unroll
      for (int k = 0; k < n; ++k) {
        packed.values[k] = Format::template packed<is_stochastic>(values.values[k], scale.reciprocal);
        values.values[k] = rest_of(values.values[k], Format::unpacked(packed.values[k]) * scale.unit);
      }
      write_few(a.elements, i, packed);
      if (a.error != nullptr) write_few(a.error, i, values);
    });
  }
}

/// `has_scales`: neighbours are of one block, as its length is a multiple of the width.
template <class Format, bool has_scales, bool adds>
__device__ void decompress(const DecompressLaunch& launch) {
  const DecompressArguments& a = launch.call;
  const bool is_wide = launch.is_wide;
  for_each_few(share_of_grid(a.count, is_wide), [&](auto few, std::uint64_t i) {
    constexpr int n = decltype(few)::width;
    const auto packed = read_few<typename Format::InMemory, n>(a.elements, i);
    Few<float, n> values{};
    if (adds) values = read_few<float, n>(a.out, i);
    const float unit = has_scales ? reinterpret_cast<const float*>(a.scales)[i / a.block] : 1;
#pragma unroll
    for (int k = 0; k < n; ++k) {
      const float value = has_scales ? Format::unpacked(packed.values[k]) * unit : Format::unpacked(packed.values[k]);
      values.values[k] = adds ? values.values[k] + value : value;
    }
    write_few(a.out, i, values);
  });
}

// The largest elements: a radix select of the k-th magnitude, then the elements in their order.

/// As the host has it (lib/core/reduce/top_k.cpp).
__device__ std::uint32_t magnitude_of(float value) {
  const std::uint32_t bits = cast<std::uint32_t>(value) & 0x7fffffffu;
  return bits < 0x7f800001u ? bits : 0x7f800001u;
}
__device__ const float* values_of(const TopArguments& a) { return a.call.error == nullptr ? a.call.in : a.call.error; }

/// The first pass: error = in + error, and no counts yet.
__device__ void top_begin(const TopArguments& a) {
  const Share share = share_of_grid(a.call.count);
  if (a.call.error != nullptr)
    for (std::uint64_t i = share.thread; i < share.end; i += share.threads)
      a.call.error[i] = a.call.in[i] + a.call.error[i];
  for (std::uint64_t i = share.thread; i < sizeof(TopState) / sizeof(std::uint32_t); i += share.threads)
    reinterpret_cast<std::uint32_t*>(a.state)[i] = 0;
}

/// Counts a digit of the magnitudes that begin as the k-th does.
__device__ void top_count(const TopArguments& a) {
  __shared__ std::uint32_t counts[top_digits];
  for (unsigned i = threadIdx.x; i < top_digits; i += blockDim.x)
    counts[i] = 0;
  __syncthreads();
  const std::uint32_t known = a.state->known, begin = a.state->magnitude, digits = (1u << a.width) - 1;
  const float* const values = values_of(a);
  const Share share = share_of_grid(a.call.count);
  for (std::uint64_t i = share.thread; i < share.end; i += share.threads) {
    const std::uint32_t magnitude = magnitude_of(values[i]);
    if ((magnitude & known) == begin) atomicAdd(&counts[magnitude >> a.shift & digits], 1u);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i <= digits; i += blockDim.x)
    if (counts[i] != 0) atomicAdd(&a.state->counts[i], counts[i]);
}

/// One block of threads finds the digit of the k-th magnitude, and clears the counts.
__device__ void top_choose(const TopArguments& a) {
  __shared__ std::uint32_t sums[most_threads];
  TopState& state = *a.state;
  const unsigned digits = 1u << a.width, each = (digits + blockDim.x - 1) / blockDim.x;
  const auto count_at = [&](unsigned from_largest) {
    return from_largest < digits ? state.counts[digits - 1 - from_largest] : 0;
  };
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < each; ++i)
    sum += count_at(threadIdx.x * each + i);
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    std::uint32_t larger = state.larger;
    unsigned at = 0;
    while (larger + sums[at] < a.call.block)
      larger += sums[at++];
    at *= each;
    while (larger + count_at(at) < a.call.block)
      larger += count_at(at++);
    state.larger = larger;
    state.magnitude |= (digits - 1 - at) << a.shift;
    state.known |= (digits - 1) << a.shift;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < digits; i += blockDim.x)
    state.counts[i] = 0;
}

/// The elements of this block of threads, which lie together.
__device__ Share chunk_of(const TopArguments& a) {
  const std::uint64_t each = (a.call.count + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * each;
  const std::uint64_t end = begin + each < a.call.count ? begin + each : a.call.count;
  return {begin < end ? begin : end, end, threadIdx.x, blockDim.x};
}

/// How many elements of each chunk are larger than the k-th magnitude, and how many have it.
__device__ void top_tally(const TopArguments& a) {
  __shared__ TopTally tally;
  if (threadIdx.x == 0) tally = {0, 0};
  __syncthreads();
  const float* const values = values_of(a);
  const std::uint32_t threshold = a.state->magnitude;
  const Share chunk = chunk_of(a);
  for (std::uint64_t i = chunk.begin + chunk.thread; i < chunk.end; i += chunk.threads) {
    const std::uint32_t magnitude = magnitude_of(values[i]);
    if (magnitude > threshold) atomicAdd(&tally.larger, 1u);
    if (magnitude == threshold) atomicAdd(&tally.equal, 1u);
  }
  __syncthreads();
  if (threadIdx.x == 0) a.state->tallies[blockIdx.x] = tally;
}

/// Writes the places and the values of the chosen elements, in their order. What is sent leaves the error, and so does
/// what is not finite.
__device__ void top_place(const TopArguments& a) {
  __shared__ TopTally before, of_threads[most_threads];
  const TopState& state = *a.state;
  if (threadIdx.x == 0) before = {0, 0};
  __syncthreads();
  for (unsigned i = threadIdx.x; i < blockIdx.x; i += blockDim.x) {
    atomicAdd(&before.larger, state.tallies[i].larger);
    atomicAdd(&before.equal, state.tallies[i].equal);
  }
  __syncthreads();
  const float* const values = values_of(a);
  const auto equals = static_cast<std::uint32_t>(a.call.block) - state.larger;
  const Share chunk = chunk_of(a);
#pragma unroll 1
  for (std::uint64_t begin = chunk.begin; begin < chunk.end; begin += blockDim.x) {
    const std::uint64_t i = begin + threadIdx.x;
    const bool is_there = i < chunk.end;
    const float value = is_there ? values[i] : 0;
    const std::uint32_t magnitude = magnitude_of(value);
    const bool is_larger = is_there && magnitude > state.magnitude;
    const bool is_equal = is_there && magnitude == state.magnitude;
    // Sums over the threads up to this one.
    TopTally mine{is_larger ? 1u : 0u, is_equal ? 1u : 0u};
    of_threads[threadIdx.x] = mine;
#pragma unroll 1
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
      __syncthreads();
      const TopTally other = threadIdx.x >= step ? of_threads[threadIdx.x - step] : TopTally{0, 0};
      __syncthreads();
      mine = {mine.larger + other.larger, mine.equal + other.equal};
      of_threads[threadIdx.x] = mine;
    }
    __syncthreads();
    const std::uint32_t larger = before.larger + mine.larger - (is_larger ? 1 : 0);
    const std::uint32_t equal = before.equal + mine.equal - (is_equal ? 1 : 0);
    const bool is_chosen = is_larger || (is_equal && equal < equals);
    if (is_chosen) {
      const std::uint32_t place = larger + (equal < equals ? equal : equals);
      reinterpret_cast<std::uint32_t*>(a.call.scales)[place] = static_cast<std::uint32_t>(i);
      reinterpret_cast<float*>(a.call.elements)[place] = value;
    }
    if (is_there && a.call.error != nullptr) a.call.error[i] = !is_chosen && value - value == 0 ? value : 0;
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) before = {before.larger + mine.larger, before.equal + mine.equal};
    __syncthreads();
  }
}

__device__ void top_clear(const DecompressArguments& a) {
  const Share share = share_of_grid(a.count);
  for (std::uint64_t i = share.thread; i < share.end; i += share.threads)
    a.out[i] = 0;
}

/// Places beyond the end are passed over.
template <bool adds>
__device__ void top_put(const DecompressArguments& a) {
  const Share share = share_of_grid(a.block);
  for (std::uint64_t i = share.thread; i < share.end; i += share.threads) {
    const std::uint32_t place = reinterpret_cast<const std::uint32_t*>(a.scales)[i];
    const float value = reinterpret_cast<const float*>(a.elements)[i];
    if (place < a.count) a.out[place] = adds ? a.out[place] + value : value;
  }
}

template <class Format, bool has_scales, bool is_stochastic>
__device__ void compress(const CompressLaunch& launch) {
  if constexpr (has_scales)
    compress_blocks<Format, is_stochastic>(launch.call, launch.is_wide);
  else
    compress_each<Format, is_stochastic>(launch.call, launch.is_wide);
}

}  // namespace
}  // namespace tutti::cuda

#define TUTTI_COMPRESSION(format, has_scales, ...)                                                          \
  extern "C" __global__ void tutti_compress_##format(const tutti::cuda::CompressLaunch launch) {            \
    tutti::cuda::compress<__VA_ARGS__, has_scales, false>(launch);                                          \
  }                                                                                                         \
  extern "C" __global__ void tutti_compress_stochastic_##format(const tutti::cuda::CompressLaunch launch) { \
    tutti::cuda::compress<__VA_ARGS__, has_scales, true>(launch);                                           \
  }                                                                                                         \
  extern "C" __global__ void tutti_decompress_##format(const tutti::cuda::DecompressLaunch launch) {        \
    tutti::cuda::decompress<__VA_ARGS__, has_scales, false>(launch);                                        \
  }                                                                                                         \
  extern "C" __global__ void tutti_decompress_add_##format(const tutti::cuda::DecompressLaunch launch) {    \
    tutti::cuda::decompress<__VA_ARGS__, has_scales, true>(launch);                                         \
  }
#define TUTTI_TOP(pass, Arguments, ...) \
  extern "C" __global__ void tutti_top_##pass(const Arguments arguments) { tutti::cuda::__VA_ARGS__(arguments); }

TUTTI_COMPRESSION(bf16, false, tutti::PackedBfloat)
TUTTI_COMPRESSION(fp16, false, tutti::PackedFp16<tutti::PortableHalf>)
TUTTI_COMPRESSION(fp8_e4m3, true, tutti::PackedE4m3)
TUTTI_COMPRESSION(fp8_e5m2, true, tutti::PackedE5m2)
TUTTI_COMPRESSION(int8, true, tutti::PackedInt8)
TUTTI_TOP(begin, tutti::cuda::TopArguments, top_begin)
TUTTI_TOP(count, tutti::cuda::TopArguments, top_count)
TUTTI_TOP(choose, tutti::cuda::TopArguments, top_choose)
TUTTI_TOP(tally, tutti::cuda::TopArguments, top_tally)
TUTTI_TOP(place, tutti::cuda::TopArguments, top_place)
TUTTI_TOP(clear, tutti::DecompressArguments, top_clear)
TUTTI_TOP(put, tutti::DecompressArguments, top_put<false>)
TUTTI_TOP(add, tutti::DecompressArguments, top_put<true>)
