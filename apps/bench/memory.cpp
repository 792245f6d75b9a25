#include "apps/bench/memory.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <string>

#include "apps/bench/cuda.hpp"
#include "apps/options.hpp"
#include "apps/root.hpp"
#include "lib/core/transport/mpi/dialect.hpp"
#include "lib/device/driver/state.hpp"
#include "tutti/error.hpp"
#include "tutti/memory.hpp"

namespace tutti::bench {

namespace {

namespace host {

constexpr std::int64_t page = 4096;
constexpr std::align_val_t page_alignment{page};

std::byte* allocate(Bytes size) {
  const auto bytes = static_cast<std::size_t>(size.value());
  return static_cast<std::byte*>(::operator new(bytes, page_alignment, std::nothrow));
}

void free(std::byte* data) { ::operator delete(data, page_alignment); }

void rewrite(std::span<std::byte> data) {
  // Page by page: memset of a large block bypasses the caches, which programs that compute their data do not.
  while (!data.empty()) {
    const std::size_t size = std::min<std::size_t>(page, data.size());
    std::memset(data.data(), 0, size);
    data = data.subspan(size);
  }
}

void write(std::byte* data, std::span<const std::byte> from) { std::memcpy(data, from.data(), from.size()); }

void read(const std::byte* data, std::span<std::byte> into) { std::memcpy(into.data(), data, into.size()); }

Bytes available() {
  std::ifstream meminfo{"/proc/meminfo"};
  std::string name;
  for (std::int64_t kibibytes = 0; meminfo >> name >> kibibytes;) {
    if (name == "MemAvailable:") return Bytes{kibibytes * 1024};
    meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return Bytes{0};
}

}  // namespace host

namespace tutti_memory {

std::byte* allocate(Bytes size) {
  try {
    return static_cast<std::byte*>(tutti::allocate(size));
  } catch (const Error&) {
    return nullptr;
  }
}

void free(std::byte* data) { deallocate(data); }

}  // namespace tutti_memory

namespace device {

Bytes available() { return Bytes{0}; }

}  // namespace device

constexpr std::array table = {
    BenchMemory{"host", MemoryKind::host, host::allocate, host::free, host::rewrite, host::write, host::read,
                host::available},
    BenchMemory{"tutti", MemoryKind::host, tutti_memory::allocate, tutti_memory::free, host::rewrite, host::write,
                host::read, host::available},
    BenchMemory{"pinned", MemoryKind::pinned, cuda::allocate_pinned, cuda::free_pinned, host::rewrite, host::write,
                host::read, host::available},
    BenchMemory{"managed", MemoryKind::managed, cuda::allocate_managed, cuda::free, cuda::fill_with_zeros, host::write,
                host::read, host::available},
    BenchMemory{"device", MemoryKind::device, cuda::allocate, cuda::free, cuda::fill_with_zeros, cuda::write,
                cuda::read, device::available},
};

/// Why this rank cannot have the memory; else empty, and the device is described.
std::string chosen_here(const BenchMemory& memory, const Communicator& comm, std::string& device) {
  if (memory.kind == MemoryKind::device && !why_no_device_buffers().empty())
    return std::string{why_no_device_buffers()};
  try {
    device = cuda::use_device(comm.node().me);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

std::span<const BenchMemory> memories() { return table; }

void FreeBuffer::operator()(std::byte* data) const noexcept { memory->free(data); }

Buffer allocate(const BenchMemory& memory, Bytes size) { return {memory.allocate(size), FreeBuffer{&memory}}; }

std::string choose_device(const BenchMemory& memory, const Communicator& comm) {
  if (!memory.needs_driver()) return {};
  // A build without CUDA takes all memory for the host's, or refuses it.
  if (tutti::cuda::state().empty()) {
    throw apps::InputError(fmt::format("--memory {}: this program was built without CUDA", memory.name));
  }
  std::string device;
  const std::string problem = chosen_here(memory, comm, device);
  apps::refuse_if_any(
      MPI_COMM_WORLD,
      problem.empty() ? "" : fmt::format("--memory {}: rank {}: {}", memory.name, comm.rank().value(), problem));
  return device;
}

bool mpi_takes(const BenchMemory& memory) { return memory.is_readable_by_host() || mpi::reads_device_memory(); }

}  // namespace tutti::bench
