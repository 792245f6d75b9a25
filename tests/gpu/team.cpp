#include "tests/gpu/team.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>

#include "tests/gpu/functions.hpp"

namespace tutti::gpu {
namespace {

template <std::size_t size>
void put(std::array<char, size>& to, const std::string& text) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(to.data(), text.data(), length);
  to[length] = '\0';
}

void add(Shared& shared, const Figure& figure) {
  if (shared.figure_count == Shared::most_figures) throw std::runtime_error("there are more figures than room");
  shared.figures[static_cast<std::size_t>(shared.figure_count++)] = figure;
}

/// The first failure is the cause of the others.
void fail(Shared& shared, const std::string& why, bool is_unanswered) {
  if (shared.has_failed.exchange(true)) return;
  shared.is_unanswered = is_unanswered;
  put(shared.why, why);
}

[[noreturn]] void live(Shared& shared, int rank, int size, const std::function<void(Team&)>& ask) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int code = 0;
  try {
    Team team{shared, rank, size};
    ask(team);
  } catch (const Unanswered& error) {
    fail(shared, error.what(), true);
    code = 1;
  } catch (const std::exception& error) {
    fail(shared, error.what(), false);
    code = 1;
  }
  ::_exit(code);
}

/// Whether all ended by themselves.
bool wait_for(std::vector<pid_t>& processes, double limit_seconds, Shared& shared) {
  for (const double begin = now(); !processes.empty() && now() - begin < limit_seconds;) {
    std::erase_if(processes, [&](pid_t process) {
      int status = 0;
      if (::waitpid(process, &status, WNOHANG) != process) return false;
      if (WIFSIGNALED(status)) fail(shared, "a process ended by signal " + std::to_string(WTERMSIG(status)), false);
      return true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  const bool is_over = processes.empty();
  for (const pid_t process : processes) {
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
  }
  return is_over;
}

}  // namespace

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

void Team::barrier() {
  const int all = ++barriers_ * size_;
  ++shared_->arrived;
  while (shared_->arrived < all) {
    if (shared_->has_failed) throw std::runtime_error("another process has failed");
    ::sched_yield();
  }
}

double Team::longest(double seconds) {
  shared_->seconds[static_cast<std::size_t>(rank_)] = seconds;
  barrier();
  const double longest = *std::max_element(shared_->seconds.begin(), shared_->seconds.begin() + size_);
  barrier();
  return longest;
}

void Team::tell(const std::string& name, double value, const char* unit, std::int64_t bytes, int processes) const {
  if (rank_ != 0) return;
  Figure figure{.bytes = bytes, .processes = processes, .value = value};
  put(figure.name, name);
  put(figure.unit, unit);
  add(*shared_, figure);
}

void Team::tell(const std::string& name, const std::string& text) const {
  if (rank_ != 0) return;
  Figure figure;
  put(figure.name, name);
  put(figure.text, text);
  add(*shared_, figure);
}

Answer ask_together(int size, double limit_seconds, const std::function<void(Team&)>& ask) {
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {.state = Answer::State::failed, .why = "no memory to share"};
  auto& shared = *new (memory) Shared{};
  std::vector<pid_t> processes;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t process = ::fork();
    if (process == 0) live(shared, rank, size, ask);
    if (process < 0) fail(shared, "fork failed", false);
    if (process > 0) processes.push_back(process);
  }
  if (!wait_for(processes, limit_seconds, shared))
    fail(shared, "no answer in " + std::to_string(static_cast<int>(limit_seconds)) + " s", false);
  Answer answer;
  if (shared.has_failed) answer.state = shared.is_unanswered ? Answer::State::unanswered : Answer::State::failed;
  answer.why = shared.why.data();
  answer.figures.assign(shared.figures.begin(), shared.figures.begin() + shared.figure_count);
  ::munmap(memory, sizeof(Shared));
  return answer;
}

}  // namespace tutti::gpu
