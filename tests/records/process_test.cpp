// Processes as the system sees them: running, stopped, ended by a signal.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "lib/watch/records/process_state.hpp"
#include "lib/watch/records/process_watch.hpp"

namespace tutti::records {
namespace {

/// A child that waits for signals; killed in the end.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ != 0) return;
    for (;;)
      ::pause();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  [[nodiscard]] Identity identity() const {
    Identity identity = own_identity(0, 1);
    identity.pid = pid_;
    identity.started = process_of(pid_).started;
    return identity;
  }

 private:
  pid_t pid_;
};

/// Until `is()`, for as long as a busy machine may take.
template <class Is>
bool eventually(const Is& is) {
  for (int looks = 0; looks < 2000; ++looks) {
    if (is()) return true;
    const timespec pause{.tv_sec = 0, .tv_nsec = 5'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

TEST(ProcessState, IsThatOfTheSystem) {
  EXPECT_EQ(process_of(::getpid()).life, Life::running);
  EXPECT_GT(process_of(::getpid()).started, 0U);
  const Child child;
  EXPECT_TRUE(eventually([&] { return process_of(child.pid()).life == Life::asleep; }));
  child.signal(SIGSTOP);
  EXPECT_TRUE(eventually([&] { return process_of(child.pid()).life == Life::stopped; }));
  child.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return process_of(child.pid()).life == Life::dead; }));
  EXPECT_EQ(process_of(child.pid()).signal, SIGKILL);  // a zombie: nobody has waited for it
}

TEST(ProcessState, LaterProcessOfTheNumberIsAnother) {
  EXPECT_EQ(process_of(::getpid(), process_of(::getpid()).started).life, Life::running);
  EXPECT_EQ(process_of(::getpid(), 1).life, Life::dead);
}

TEST(ProcessWatch, SeesTheEnd) {
  Child child;
  const ProcessWatch watch{child.identity()};
  EXPECT_FALSE(watch.has_ended());
  child.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return watch.has_ended(); }));
  EXPECT_EQ(watch.signal(), SIGKILL);
  child.end();
  EXPECT_TRUE(watch.has_ended());
}

TEST(ProcessWatch, SeesThatItIsTooLate) {
  Child child;
  const Identity identity = child.identity();
  child.end();
  EXPECT_TRUE(ProcessWatch{identity}.has_ended());
}

TEST(ProcessWatch, WatchesNothingInOtherNamespaces) {
  Child child;
  Identity identity = child.identity();
  ++identity.pid_namespace;
  child.end();
  EXPECT_FALSE(ProcessWatch{identity}.has_ended());
}

TEST(ProcessState, NamesSignals) {
  EXPECT_EQ(signal_in_words(SIGSEGV), "signal 11 (SIGSEGV)");
  EXPECT_EQ(signal_in_words(1000), "signal 1000");
}

}  // namespace
}  // namespace tutti::records
