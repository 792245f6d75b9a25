#include "lib/transport/shm/rendezvous/single_copy.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "lib/transport/shm/segment/geometry.hpp"

namespace tutti::shm {

/// The announcement of a rank; written once, before the ranks meet.
struct alignas(line_bytes) SingleCopy::Identity {
  std::atomic<std::uint32_t> takes_part;
  std::int32_t pid;
  std::uint64_t nonce_at;
  Nonce nonce;
};

namespace {

/// A page for the nonce. Without MADV_WIPEONFORK (before Linux 4.14) children inherit it: whose memory is then a copy.
Mapping nonce_page() {
  const std::int64_t bytes = page_bytes();
  void* const data =
      ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw system_error("mmap of a page");
  static_cast<void>(::madvise(data, static_cast<std::size_t>(bytes), MADV_WIPEONFORK));
  return {static_cast<std::byte*>(data), bytes};
}

iovec part(void* data, std::size_t bytes) { return {.iov_base = data, .iov_len = bytes}; }
/// Of another process's memory.
iovec part(std::uint64_t address, std::size_t bytes) {
  return part(reinterpret_cast<void*>(address), bytes);  // NOLINT(performance-no-int-to-ptr): no pointer of ours
}

}  // namespace

std::int64_t SingleCopy::shared_bytes(int ranks) { return ranks * static_cast<std::int64_t>(sizeof(Identity)); }

SingleCopy::SingleCopy(std::byte* shared, int ranks, int me)
    : shared_(shared), ranks_(ranks), me_(me), nonce_(nonce_page()) {
  Identity& mine = identity(me);
  mine.nonce = random_nonce();
  std::ranges::copy(mine.nonce, nonce_.data());
  mine.pid = ::getpid();
  mine.nonce_at = reinterpret_cast<std::uintptr_t>(nonce_.data());
  mine.takes_part.store(1, std::memory_order_release);
}

bool SingleCopy::is_restricted() {
  int level = 0;
  std::ifstream{"/proc/sys/kernel/yama/ptrace_scope"} >> level;
  return level == 1;
}

/// Ranks are siblings: their parent is the narrowest name for them all. Process 1 is never named: everything descends
/// from it.
void SingleCopy::allow_siblings() {
  const pid_t parent = ::getppid();
  if (parent > 1) static_cast<void>(::prctl(PR_SET_PTRACER, parent, 0, 0, 0));
}

void SingleCopy::hide() const { std::fill_n(nonce_.data(), std::ssize(Nonce{}), std::byte{0}); }

SingleCopy::Identity& SingleCopy::identity(int rank) const {
  return reinterpret_cast<Identity*>(shared_)[static_cast<std::size_t>(rank)];
}

SingleCopy::Verdict SingleCopy::probe(int owner) const {
  if (identity(owner).takes_part.load(std::memory_order_acquire) == 0) return {};
  const int error = read(owner, 0, nullptr, 0).error;  // the nonce alone: it may be a stranger's memory
  if (error == 0) return {.access = Access::granted};
  if (error == ESRCH) return {.access = Access::other_process};
  return {.access = Access::refused, .error = error};
}

std::string SingleCopy::why_not(int owner) const {
  const auto [access, error] = probe(owner);
  if (access == Access::granted) return {};
  const std::string pair = fmt::format("rank {} of the node's {} cannot read from rank {}: ", me_, ranks_, owner);
  if (access == Access::no_part) return pair + "that takes no part";
  if (access == Access::other_process)
    return pair + fmt::format("process {} is another one there (PID namespaces)", identity(owner).pid);
  return pair + "process_vm_readv: " + std::generic_category().message(error);
}

SingleCopy::Outcome SingleCopy::read(int owner, std::uint64_t from, std::byte* into, std::int64_t bytes) const {
  const Identity& whose = identity(owner);
  Outcome outcome;
  do {
    Nonce nonce{};
    const auto size = static_cast<std::size_t>(std::min(bytes - outcome.bytes, most_at_a_time));
    const std::array<iovec, 2> local{part(nonce.data(), nonce.size()), part(into + outcome.bytes, size)};
    const std::array<iovec, 2> remote{part(whose.nonce_at, nonce.size()),
                                      part(from + static_cast<std::uint64_t>(outcome.bytes), size)};
    const unsigned long parts = size > 0 ? 2 : 1;
    const ssize_t came = ::process_vm_readv(whose.pid, local.data(), parts, remote.data(), parts, 0);
    if (came < 0 && errno != EFAULT) return {outcome.bytes, errno};
    // Another nonce, or no memory where it should be: the number leads to another process.
    if (came < std::ssize(nonce) || nonce != whose.nonce) return {0, ESRCH};
    const auto data = static_cast<std::int64_t>(came) - std::ssize(nonce);
    if (data == 0 && size > 0) return {outcome.bytes, EFAULT};
    outcome.bytes += data;
  } while (outcome.bytes < bytes);
  return outcome;
}

}  // namespace tutti::shm
