// Single copy between two processes: where the system allows it, where it does not, and where a process number leads to
// another process. Ranks are children of the test.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "lib/transport/shm/rendezvous/single_copy.hpp"
#include "tests/shm/single_copy_support.hpp"

namespace tutti::shm {
namespace {

void fill(std::vector<std::byte>& data) {
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<std::byte>(i * 7 + (i >> 12U));
}

TEST_F(SingleCopyTest, ReadsFromAnotherProcess) {
  constexpr std::int64_t bytes = 2 * SingleCopy::most_at_a_time + 12345;  // three system calls
  run([&](int me) {
    SingleCopy single_copy(shared_->area.data(), 2, me);
    std::vector<std::byte> expected(bytes), data(bytes);
    fill(expected);
    if (me == 0) {
      data = expected;
      shared_->from = address(data.data());
    }
    probe(single_copy, me);
    if (me == 1) {
      const Outcome outcome = single_copy.read(0, shared_->from, data.data(), bytes);
      EXPECT_TRUE(outcome.is_complete());
      EXPECT_EQ(outcome.bytes, bytes);
      EXPECT_TRUE(data == expected);
      EXPECT_EQ(single_copy.why_not(0), "");
    }
    meet(3);
  });
  expect_verdicts(granted, granted);
}

TEST_F(SingleCopyTest, WhatIsNoMemoryIsReported) {
  run([&](int me) {
    SingleCopy single_copy(shared_->area.data(), 2, me);
    const auto page = static_cast<std::size_t>(page_bytes());
    if (me == 0) {
      auto* const pages = static_cast<std::byte*>(
          ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      ::munmap(pages + page, page);
      std::memset(pages, 5, page);
      shared_->from = address(pages);
    }
    probe(single_copy, me);
    if (me == 1) {
      std::vector<std::byte> data(2 * page);
      shared_->outcomes[0] = single_copy.read(0, shared_->from, data.data(), std::ssize(data));
      shared_->right = data[0] == std::byte{5} && data[page - 1] == std::byte{5};
      shared_->outcomes[1] = single_copy.read(0, shared_->from + page, data.data(), 1);
    }
    meet(3);
  });
  expect_verdicts(granted, granted);
  EXPECT_EQ(shared_->outcomes[0].error, EFAULT);
  EXPECT_EQ(shared_->outcomes[0].bytes, page_bytes());
  EXPECT_TRUE(shared_->right);
  EXPECT_EQ(shared_->outcomes[1].error, EFAULT);
  EXPECT_EQ(shared_->outcomes[1].bytes, 0);
}

TEST_F(SingleCopyTest, OneMayNotBeRead) {
  run([&](int me) {
    drop_rights();
    SingleCopy single_copy(shared_->area.data(), 2, me);
    const int dumpable = me == 0 ? 1 : 0;
    ASSERT_EQ(::prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0), 0);
    probe(single_copy, me);
    const std::string why = me == 0 ? "process_vm_readv: Operation not permitted" : "";
    EXPECT_NE(single_copy.why_not(1 - me).find(why), std::string::npos);
    EXPECT_EQ(single_copy.why_not(1 - me).empty(), me == 1);
    meet(3);  // not gone before the other has asked
  });
  expect_verdicts(not_permitted, granted);
}

TEST_F(SingleCopyTest, OneUserMayNotReadAnother) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  run([&](int me) {
    if (me == 0) drop_rights();
    SingleCopy single_copy(shared_->area.data(), 2, me);
    probe(single_copy, me);
  });
  expect_verdicts(not_permitted, granted);
}

TEST_F(SingleCopyTest, AMessageThatIsRefusedLaterIsReported) {
  run([&](int me) {
    SingleCopy single_copy(shared_->area.data(), 2, me);
    const int mine = 42;
    if (me == 0) shared_->from = address(&mine);
    probe(single_copy, me);
    if (me == 1) {
      int came = 0;
      auto* const into = reinterpret_cast<std::byte*>(&came);
      shared_->outcomes[0] = single_copy.read(0, shared_->from, into, sizeof came);
      shared_->right = came == 42;
      forbid_reading();
      shared_->outcomes[1] = single_copy.read(0, shared_->from, into, sizeof came);
    }
    meet(3);
  });
  expect_verdicts(granted, granted);
  EXPECT_TRUE(shared_->outcomes[0].is_complete());
  EXPECT_TRUE(shared_->right);
  EXPECT_EQ(shared_->outcomes[1].error, EPERM);
  EXPECT_EQ(shared_->outcomes[1].bytes, 0);
}

TEST_F(SingleCopyTest, AFilterForbidsIt) {
  run([&](int me) {
    if (me == 1) forbid_reading();
    SingleCopy single_copy(shared_->area.data(), 2, me);
    probe(single_copy, me);
  });
  expect_verdicts(granted, not_permitted);
}

TEST_F(SingleCopyTest, AnOwnerThatIsGoneIsReported) {
  run([&](int me) {
    std::optional<SingleCopy> single_copy(std::in_place, shared_->area.data(), 2, me);
    const int mine = 42;
    if (me == 0) shared_->from = address(&mine);
    probe(*single_copy, me);
    if (me == 0) single_copy.reset();
    meet(3);
    int came = 0;
    if (me == 1) {
      shared_->outcomes[0] = single_copy->read(0, shared_->from, reinterpret_cast<std::byte*>(&came), 4);
    }
    meet(4);
  });
  EXPECT_EQ(shared_->outcomes[0].error, ESRCH);
  EXPECT_EQ(shared_->outcomes[0].bytes, 0);
}

TEST_F(SingleCopyTest, AnOwnerThatHidesIsNotRead) {
  run([&](int me) {
    SingleCopy single_copy(shared_->area.data(), 2, me);
    probe(single_copy, me);
    if (me == 0) single_copy.hide();
    meet(3);
    if (me == 1) {
      EXPECT_FALSE(single_copy.probe(0).grants());
    }
    meet(4);
  });
}

TEST_F(SingleCopyTest, WhoTakesNoPartIsNotTried) {
  std::array<std::byte, 1024>& area = shared_->area;
  SingleCopy single_copy(area.data(), 2, 0);
  EXPECT_EQ(single_copy.probe(1), Verdict{});
  EXPECT_FALSE(single_copy.probe(1).grants());
  EXPECT_NE(single_copy.why_not(1), "");
}

/// Rank 0 is process 1 of its namespace; in rank 1's, process 1 is a stranger, with memory wherever rank 0 has some.
TEST_F(SingleCopyTest, AnotherProcessOfTheSameNumberIsNotRead) {
  const auto begin_namespace = [&] {
    if (::unshare(CLONE_NEWPID) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0) return true;
    shared_->skipped = true;
    return false;
  };
  const auto as_owner = [&] {
    SingleCopy single_copy(shared_->area.data(), 2, 0);
    EXPECT_EQ(::getpid(), 1);
    std::uint64_t nonce_at = 0;
    std::memcpy(&nonce_at, shared_->area.data() + 8, sizeof nonce_at);
    shared_->occupied = nonce_at;
    probe(single_copy, 0);
  };
  const auto as_stranger = [&] {
    while (shared_->occupied == 0)
      std::this_thread::yield();
    EXPECT_EQ(::getpid(), 1);
    auto* const place = reinterpret_cast<void*>(shared_->occupied.load());  // NOLINT(performance-no-int-to-ptr)
    void* const page = ::mmap(place, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    EXPECT_EQ(address(page), shared_->occupied);
    std::memset(page, 9, 4096);
    shared_->right = true;
    expect_end(start([&] {
      SingleCopy single_copy(shared_->area.data(), 2, 1);
      EXPECT_EQ(::getpid(), 2);
      probe(single_copy, 1);
      int came = 0;
      shared_->outcomes[0] = single_copy.read(0, shared_->occupied, reinterpret_cast<std::byte*>(&came), 4);
    }));
  };
  const pid_t first = start([&] {
    if (begin_namespace()) expect_end(start(as_owner));
  });
  const pid_t second = start([&] {
    if (begin_namespace()) expect_end(start(as_stranger));
  });
  int status = 0;
  ::waitpid(first, &status, 0);
  if (shared_->skipped) {
    ::kill(second, SIGKILL);
    ::waitpid(second, &status, 0);
    GTEST_SKIP() << "PID namespaces are not permitted here";
  }
  EXPECT_EQ(status, 0);
  expect_end(second);
  EXPECT_TRUE(shared_->right);
  EXPECT_EQ(shared_->said[1].access, Access::other_process);
  EXPECT_EQ(shared_->outcomes[0].error, ESRCH);
  EXPECT_EQ(shared_->outcomes[0].bytes, 0);
}

}  // namespace
}  // namespace tutti::shm
