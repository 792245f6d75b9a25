// compress() and decompress() in memory of devices.
#include <fmt/format.h>

#include "lib/core/call/arguments.hpp"
#include "lib/core/communicator/runtime.hpp"
#include "lib/core/reduce/compression.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/device/call/compression.hpp"
#include "lib/device/stream/gate.hpp"
#include "tutti/compression.hpp"
#include "tutti/device_span.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

using detail::CompressedLayout;
using detail::Named;
using detail::Runtime;

template <class T>
std::span<T> as_span(DeviceSpan<T> memory) {
  return {memory.data(), memory.size()};
}
std::span<const std::byte> bytes_of(DeviceSpan<const std::uint8_t> memory) {
  return {reinterpret_cast<const std::byte*>(memory.data()), memory.size()};
}
std::span<std::byte> bytes_of(DeviceSpan<std::uint8_t> memory) {
  return {reinterpret_cast<std::byte*>(memory.data()), memory.size()};
}

CallSite site_of(std::string_view function) {
  int rank = 0;
  mpi::api.Comm_rank(MPI_COMM_WORLD, &rank);
  return {function, Rank{rank}};
}

/// The number of the device that holds all of some arguments; -1: memory that the host may read, as managed memory is.
class OneDevice {
 public:
  OneDevice(CallSite site, std::optional<CUstream_st*> stream) : site_(site), stream_(stream) {}

  template <class T>
  void add(std::string_view argument, DeviceSpan<T> memory) {
    if (memory.size() == 0) return;
    const BufferMemory its = require_buffer(site_, argument, memory.data(), {Count{0}, Count{memory.size()}},
                                            type_of<std::remove_const_t<T>>);
    if (is_known_ && its.device != device_)
      refuse(site_, argument, "memory of another device, context or kind than the argument before it",
             "memory of one device");
    if (reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(float) != 0)
      refuse(site_, argument, fmt::format("{}", fmt::ptr(memory.data())), "an address that 4 divides");
    device_ = its.device;
    is_known_ = true;
  }
  [[nodiscard]] int get() const {
    if (!stream_ || !is_known_) return device_;
    if (device_ < 0) refuse(site_, "stream", "given with managed memory", "no stream, or memory of a device");
    if (stream::device_of(*stream_) != device_)
      refuse(site_, "stream", "a stream of another device, or of another context, than the memory",
             "a stream of the context that holds the memory");
    return device_;
  }

 private:
  CallSite site_;
  std::optional<CUstream_st*> stream_;
  int device_ = -1;
  bool is_known_ = false;
};

/// Calls queue(stream): the caller's, or one of the device's, and waits for that.
template <class Queue>
void in_stream(int device, std::optional<CUstream_st*> given, const Queue& queue) {
  CUstream_st* const stream = given ? *given : device::work_stream(device);
  queue(stream);
  if (!given) device::wait_for(device, stream);
}

void decompress_as(std::string_view function, Compression compression, DeviceSpan<const std::uint8_t> in,
                   DeviceSpan<float> out, const CompressionOptions& options, std::optional<CUstream_st*> stream,
                   bool adds) {
  const std::span<const std::byte> bytes = bytes_of(in);
  const Named values{"out", std::as_bytes(as_span(out))}, packed{"in", bytes};
  const CompressedLayout layout = detail::require_compressed(function, values, packed, compression, options);
  detail::require_apart(function, {packed, values});
  const detail::Progress::Entry entry{Runtime::get().progress()};
  const CallSite site = site_of(function);
  try {
    OneDevice device{site, stream};
    device.add("in", in);
    device.add("out", out);
    if (device.get() < 0)
      return adds ? decompress_add(compression, bytes, as_span(out), options)
                  : decompress(compression, bytes, as_span(out), options);
    const DecompressArguments call{bytes.data(), bytes.data() + layout.first, out.data(), out.size(),
                                   static_cast<std::size_t>(layout.block)};
    in_stream(device.get(), stream,
              [&](CUstream_st* in_it) { device::decompress(device.get(), compression, adds, call, in_it); });
  } catch (const DeviceError& failed) {
    fail_at(site, failed);
  }
}

}  // namespace

void compress(Compression compression, DeviceSpan<const float> in, DeviceSpan<float> error,
              DeviceSpan<std::uint8_t> out, const CompressionOptions& options, std::optional<CUstream_st*> stream) {
  const std::span<std::byte> bytes = bytes_of(out);
  const Named values{"in", std::as_bytes(as_span(in))}, packed{"out", bytes};
  const CompressedLayout layout = detail::require_compressed("compress", values, packed, compression, options);
  detail::require_as_long(as_span(in), as_span(error));
  detail::require_apart("compress", {values, {"error", std::as_bytes(as_span(error))}, packed});
  const detail::Progress::Entry entry{Runtime::get().progress()};
  const CallSite site = site_of("compress");
  try {
    OneDevice device{site, stream};
    device.add("in", in);
    device.add("error", error);
    device.add("out", out);
    if (device.get() < 0) return compress(compression, as_span(in), as_span(error), bytes, options);
    const CompressArguments call{in.data(),    error.size() == 0 ? nullptr : error.data(),
                                 bytes.data(), bytes.data() + layout.first,
                                 in.size(),    static_cast<std::size_t>(layout.block)};
    in_stream(device.get(), stream,
              [&](CUstream_st* in_it) { device::compress(device.get(), compression, options.rounding, call, in_it); });
  } catch (const DeviceError& failed) {
    fail_at(site, failed);
  }
}

void decompress(Compression compression, DeviceSpan<const std::uint8_t> in, DeviceSpan<float> out,
                const CompressionOptions& options, std::optional<CUstream_st*> stream) {
  decompress_as("decompress", compression, in, out, options, stream, false);
}

void decompress_add(Compression compression, DeviceSpan<const std::uint8_t> in, DeviceSpan<float> out,
                    const CompressionOptions& options, std::optional<CUstream_st*> stream) {
  decompress_as("decompress_add", compression, in, out, options, stream, true);
}

}  // namespace tutti
