#include "lib/core/transport/shm/segment/shared_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "lib/core/memory/above_standard.hpp"

namespace tutti::shm {
namespace {

/// MFD_NOEXEC_SEAL, since Linux 6.3, where systems may insist on it; older kernels refuse flags that they do not know.
constexpr unsigned never_executable = 0x8;

Descriptor memory_descriptor() {
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  Descriptor made{above_standard(::memfd_create("tutti", flags | never_executable))};
  if (made.get() < 0 && errno == EINVAL) made = Descriptor{above_standard(::memfd_create("tutti", flags))};
  if (made.get() < 0) throw system_error("memfd_create");
  return made;
}

/// To exceed the limit is a signal, which ends the program.
void require_within_file_limit(std::int64_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) throw system_error("getrlimit");
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < static_cast<rlim_t>(bytes))
    throw Error(fmt::format("{} bytes of shared memory are more than this process's limit for files, {} (ulimit -f)",
                            bytes, limit.rlim_cur));
}

}  // namespace

Error system_error(std::string_view call) {
  const int code = errno;
  return Error(fmt::format("{}: {}", call, std::generic_category().message(code)));
}

std::int64_t page_bytes() {
  static const std::int64_t bytes = ::sysconf(_SC_PAGESIZE);
  return bytes;
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, static_cast<std::size_t>(bytes_));
}

SharedFile::SharedFile(Descriptor descriptor, std::int64_t bytes, int rank)
    : descriptor_(std::move(descriptor)), bytes_(bytes), rank_(rank) {
  struct stat facts {};
  if (::fstat(descriptor_.get(), &facts) != 0) throw system_error("fstat");
  if (!S_ISREG(facts.st_mode) || facts.st_size < bytes)
    throw Error(fmt::format("the shared memory has {} bytes, {} were expected", facts.st_size, bytes));
}

SharedFile SharedFile::make(std::int64_t bytes, int rank) {
  if (bytes <= 0) throw Error(fmt::format("{} bytes of shared memory; allowed: at least 1", bytes));
  require_within_file_limit(bytes);
  Descriptor descriptor = memory_descriptor();
  if (::ftruncate(descriptor.get(), bytes) != 0)
    throw system_error(fmt::format("ftruncate of shared memory to {} bytes", bytes));
  // With these seals nobody can make it smaller, which would be SIGBUS for all processes that map it. It works without
  // them as well.
  static_cast<void>(::fcntl(descriptor.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
  return {std::move(descriptor), bytes, rank};
}

void SharedFile::require_within(std::string_view call, std::int64_t offset, std::int64_t bytes) const {
  if (!is_open()) throw Error(fmt::format("rank {}: {}: not attached to the shared memory", rank_, call));
  if (offset < 0 || bytes <= 0 || bytes > bytes_ || offset > bytes_ - bytes)
    throw Error(fmt::format("rank {}: {}: offset {}, {} bytes; allowed: at least 1 byte, within 0 to {}", rank_, call,
                            offset, bytes, bytes_));
}

void Mapping::open(std::int64_t offset, std::int64_t bytes) {
  if (::mprotect(data_ + offset, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE) != 0)
    throw system_error(fmt::format("mprotect of {} bytes of shared memory", bytes));
}

Mapping SharedFile::map(std::int64_t offset, std::int64_t bytes) const {
  return map_as(PROT_READ | PROT_WRITE, 0, offset, bytes);
}

Mapping SharedFile::map_closed(std::int64_t offset, std::int64_t bytes) const {
  return map_as(PROT_NONE, MAP_NORESERVE, offset, bytes);
}

Mapping SharedFile::map_as(int protection, int flags, std::int64_t offset, std::int64_t bytes) const {
  require_within("map of shared memory", offset, bytes);
  if (offset % page_bytes() != 0)
    throw Error(fmt::format("rank {}: map of shared memory: offset {}; allowed: multiples of the page size, {}", rank_,
                            offset, page_bytes()));
  void* const data =
      ::mmap(nullptr, static_cast<std::size_t>(bytes), protection, MAP_SHARED | flags, descriptor_.get(), offset);
  if (data == MAP_FAILED)
    throw system_error(fmt::format("rank {}: mmap of {} bytes of shared memory at {}", rank_, bytes, offset));
  return {static_cast<std::byte*>(data), bytes};
}

/// The system call and not posix_fallocate, which would write where a file system cannot reserve: over others' data.
void SharedFile::reserve(std::int64_t offset, std::int64_t bytes) const {
  require_within("reserve of shared memory", offset, bytes);
  // All at once, so that the kernel sees a lack of memory before it takes any. A signal undoes a whole call: a
  // profiler's clock could keep a large one from ever coming to its end.
  std::int64_t piece = bytes;
  for (std::int64_t done = 0; done < bytes;) {
    const std::int64_t now = std::min(piece, bytes - done);
    if (::fallocate(descriptor_.get(), 0, offset + done, now) == 0)
      done += now;
    else if (errno == EINTR)
      piece = std::max(piece / 2, page_bytes());
    else
      throw system_error(
          fmt::format("rank {}: no memory for {} bytes of shared memory at {}, {} bytes of which were there", rank_,
                      bytes, offset, done));
  }
}

void SharedFile::release(std::int64_t offset, std::int64_t bytes) const noexcept {
  if (!process_.is_this()) return;  // a child's copy: to its parent the contents would be lost
  // Where that is not possible, the memory stays taken, for the next reservation of it.
  static_cast<void>(::fallocate(descriptor_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes));
}

}  // namespace tutti::shm
