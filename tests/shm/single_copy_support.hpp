#pragma once
// Common parts of the tests of single copy: two processes as ranks, and rights that the system can deny them.

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

#include "lib/transport/shm/rendezvous/single_copy.hpp"

namespace tutti::shm {

using Access = SingleCopy::Access;
using Verdict = SingleCopy::Verdict;
using Outcome = SingleCopy::Outcome;

inline constexpr Verdict granted{.access = Access::granted};
inline constexpr Verdict not_permitted{.access = Access::refused, .error = EPERM};

/// The memory that the processes of a test share.
struct Shared {
  std::atomic<int> arrived{0};
  std::atomic<std::uint64_t> from{0};      // the address to read
  std::atomic<std::uint64_t> occupied{0};  // an address, for a stranger to put something there
  std::array<Verdict, 2> said{};           // by reader, about the other process
  std::array<Outcome, 2> outcomes{};
  std::atomic<bool> right{false}, skipped{false};
  alignas(64) std::array<std::byte, 1024> area{};
};

struct Unmap {
  void operator()(Shared* shared) const { ::munmap(shared, sizeof(Shared)); }
};

class SingleCopyTest : public testing::Test {
 protected:
  SingleCopyTest()
      : shared_(new (::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                    Shared) {}

  /// Runs body() in a child, whose end is not waited for.
  template <class Body>
  static pid_t start(Body body) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::alarm(60);  // no test hangs
    body();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  static void expect_end(pid_t child) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }
  /// Runs body(rank) as two ranks.
  template <class Body>
  void run(Body body) {
    const pid_t first = start([&] { body(0); }), second = start([&] { body(1); });
    expect_end(first);
    expect_end(second);
  }
  /// Both ranks are here: the n-th time.
  void meet(int n) {
    ++shared_->arrived;
    while (shared_->arrived < 2 * n)
      std::this_thread::yield();
  }
  /// Meetings 1 and 2.
  void probe(const SingleCopy& single_copy, int me) {
    meet(1);
    shared_->said.at(static_cast<std::size_t>(me)) = single_copy.probe(1 - me);
    meet(2);
  }
  void expect_verdicts(Verdict of_0_reading, Verdict of_1_reading) {
    EXPECT_EQ(shared_->said[0], of_0_reading);
    EXPECT_EQ(shared_->said[1], of_1_reading);
  }

  std::unique_ptr<Shared, Unmap> shared_;
};

/// Becomes a user without rights, whose processes may read each other.
inline void drop_rights() {
  constexpr uid_t nobody = 65534;
  if (::geteuid() == 0) {
    ASSERT_EQ(::setresuid(nobody, nobody, nobody), 0) << std::strerror(errno);
  }
  ASSERT_EQ(::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
}

/// From now on a system call fails with EPERM.
inline void forbid(std::uint32_t call) {
  std::array<sock_filter, 4> program{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{.len = program.size(), .filter = program.data()};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0), 0) << std::strerror(errno);
}

inline void forbid_reading() { forbid(SYS_process_vm_readv); }

inline std::uint64_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace tutti::shm
