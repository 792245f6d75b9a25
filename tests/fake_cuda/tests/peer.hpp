#pragma once
// Another process with a context of its own, which does what a test asks of it.

#include <cuda.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace fake_cuda {

/// A program in the folder of this one, wherever both were carried to.
inline std::string beside_this_program(const std::string& program) {
  char self[4096];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self);
  if (length <= 0) return program;
  const std::string here{self, static_cast<std::size_t>(length)};
  return here.substr(0, here.rfind('/')) + program.substr(program.rfind('/'));
}

/// Runs the program peer_program.cpp, until it is destroyed.
class Peer {
 public:
  enum class Task : int {
    open,
    open_fabric,
    open_pool,
    open_pool_memory,
    wait_for,
    wait_for_value,
    hold_up,
    look,
    post_read,
    read,
    close,
    free,
    end
  };
  struct Question {
    Task task;
    CUipcMemHandle memory{};
    CUipcEventHandle event{};
    CUmemFabricHandle fabric{};
    CUmemPoolPtrExportData pool_memory{};
    std::uint64_t offset = 0;
    char fault[32] = {};  ///< The answer counts those of this name; empty: of all names.
  };
  struct Answer {
    CUresult result;
    int value;
    std::uint64_t faults;          ///< Caught in that process, ever.
    std::uint64_t bytes_imported;  ///< By its mappings.
    std::uint64_t bytes_in_use;    ///< Bytes in use on the device, as it sees them.
  };

  explicit Peer(const char* program) {
    int both[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, both) != 0) std::abort();
    const std::string path = beside_this_program(program);
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(both[0], STDIN_FILENO);
      ::execl(path.c_str(), program, nullptr);
      ::_exit(127);
    }
    ::close(both[0]);
    socket_ = both[1];
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    ask({.task = Task::end});
    ::close(socket_);
    ::waitpid(process_, nullptr, 0);
  }

  CUresult open(const CUipcMemHandle& memory) { return ask({.task = Task::open, .memory = memory}).result; }
  CUresult open(const CUmemFabricHandle& fabric) { return ask({.task = Task::open_fabric, .fabric = fabric}).result; }
  /// A pool by its file descriptor, and then memory of it.
  CUresult open_pool(int file) { return ask({.task = Task::open_pool}, file).result; }
  CUresult open(const CUmemPoolPtrExportData& memory) {
    return ask({.task = Task::open_pool_memory, .pool_memory = memory}).result;
  }
  /// Its stream waits for the event.
  CUresult wait_for(const CUipcEventHandle& event) { return ask({.task = Task::wait_for, .event = event}).result; }
  /// Its stream waits until the word at the offset in the memory is 1.
  CUresult wait_for_value(std::uint64_t offset) { return ask({.task = Task::wait_for_value, .offset = offset}).result; }
  /// Its stream is busy for some time.
  CUresult hold_up() { return ask({.task = Task::hold_up}).result; }
  Answer look() { return ask({.task = Task::look}); }
  /// Faults of a name that were caught in that process.
  std::uint64_t caught(const char* name) {
    Question question{.task = Task::look};
    std::strncpy(question.fault, name, sizeof question.fault - 1);
    return ask(question).faults;
  }
  /// A read() that nobody waits for.
  CUresult post_read() { return ask({.task = Task::post_read}).result; }
  /// The word of the memory at an offset, read by its stream.
  Answer read(std::uint64_t offset = 0) { return ask({.task = Task::read, .offset = offset}); }
  Answer close() { return ask({.task = Task::close}); }
  /// Frees memory of a pool.
  Answer free() { return ask({.task = Task::free}); }
  /// Ends without closing anything.
  void kill() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

 private:
  /// With a file, if there is any.
  [[nodiscard]] bool send(Question question, int file) const {
    iovec bytes{&question, sizeof question};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    if (file >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr* const header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof file);
      std::memcpy(CMSG_DATA(header), &file, sizeof file);
    }
    return ::sendmsg(socket_, &message, MSG_NOSIGNAL) == sizeof question;
  }
  Answer ask(const Question& question, int file = -1) {
    Answer answer{CUDA_ERROR_UNKNOWN, 0, 0, 0, 0};
    if (!send(question, file) || ::read(socket_, &answer, sizeof answer) != sizeof answer)
      answer.result = CUDA_ERROR_UNKNOWN;
    return answer;
  }

  pid_t process_ = 0;
  int socket_ = -1;
};

}  // namespace fake_cuda
